import type { Database } from 'better-sqlite3'
import { eq, gt, max, type Placeholder, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { JobSettings } from '../../../model/job.ts'
import type { Run } from '../../../model/run.ts'
import type { Target } from '../../../model/target.ts'
import type { PlanDraft, PlannedJob } from '../../runs.ts'
import { type RunTargets, targetIdOf } from '../cache.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { excluded, insertFrom, orm, prepared, type Values } from '../connection/statements.ts'
import { finalKinds } from '../fragments.ts'
import { loadRun } from '../runs.ts'
import { observations, queries, runQueries, runs, runTargets, tasks } from '../schema.ts'
import { restingQueries } from '../unattended/schema.ts'
import { askedBefore, continueQueries, createEdited, editedQueries } from './edited-queries.ts'
import { restoreSkipped } from './fit.ts'
import { asked, assignQueryIds, createTable, numbers, type Staged, stagedJob } from './staging.ts'
import { summarise, unaffordable } from './summary.ts'

/** In kilobytes; small, because a draft is written and read in order. */
const cacheSize = 8_000

/**
 * Opens drafts, any number at once: what a plan waits for may bring plans of others. They are staged in a separate database in a
 * temporary file: other processes do not see them, they take no lock, a million queries need no memory, and the disk space is free
 * again when the last draft is dropped. Each draft has tables of its own for the queries of its jobs; the others are filled anew by
 * whoever uses them.
 */
export function draftOpener(db: Database, writer: GroupCommit, watched: RunTargets): () => PlanDraft {
  let open = 0
  let jobs = 0
  return () => {
    if (open === 0) attachDrafts(db)
    open += 1
    const stagedNext = (): Staged => stagedJob(db, ++jobs)
    return newDraft(db, writer, watched, stagedNext, (dropped) => {
      open -= 1
      if (open === 0) db.exec('DETACH draft')
      else for (const staged of dropped) staged.drop()
    })
  }
}

function attachDrafts(db: Database): void {
  db.exec(`ATTACH '' AS draft`)
  db.pragma(`draft.cache_size = -${cacheSize}`)
  // A draft grows at its end, so its journal has few old pages.
  db.pragma('draft.journal_mode = MEMORY')
  for (const table of [asked, numbers]) createTable(db, table)
  createEdited(db)
}

/**
 * @param stagedNext makes the tables of one more job
 * @param close called with the tables of all jobs of the draft
 */
function newDraft(
  db: Database,
  writer: GroupCommit,
  watched: RunTargets,
  stagedNext: () => Staged,
  close: (staged: readonly Staged[]) => void,
): PlanDraft {
  const byJob = new Map<string, Staged>()
  const staged = (job: string): Staged => {
    const known = byJob.get(job) ?? stagedNext()
    byJob.set(job, known)
    return known
  }
  const change = <A extends readonly unknown[], T>(work: (...args: A) => T) => db.transaction(work)
  const join = change((job: string) => staged(job).mergeDuplicates())
  const add = change((job: string, queries: Parameters<PlanDraft['add']>[1]) => staged(job).add(queries))
  const leaveOut = change((job: string, keys: readonly Buffer[]) => staged(job).leaveOut(keys))

  return {
    add: async (job, queries) => add(job, queries),
    leaveOut: async (job, keys) => leaveOut(job, keys),
    formerJob: async (job, others) => {
      join(job)
      return askedBefore(db, staged(job), job, others)
    },
    edited: async (job) => {
      join(job)
      return editedQueries(db, staged(job), job)
    },
    repeats: (job) => staged(job).repeats,
    summary: async (job) => {
      const duplicates = join(job.settings.name)
      return summarise(db, staged(job.settings.name), job, duplicates)
    },
    fit: async (jobs, funds) => {
      for (const { settings } of jobs) join(settings.name)
      return unaffordable(db, staged, jobs, funds)
    },
    commit: async (jobs, now) => {
      for (const { settings } of jobs) join(settings.name)
      const ids = await writer.write(() => {
        watched.forget()
        return commitPlan(db, staged, jobs, now)
      })
      return ids.map((id) => loadRun(db, id) as Run)
    },
    [Symbol.asyncDispose]: async () => close([...byJob.values()]),
  }
}

/** Turns the staged queries of these jobs into runs with tasks; returns the ids of the runs. Inside a transaction. */
function commitPlan(
  db: Database,
  staged: (job: string) => Staged,
  jobs: readonly PlannedJob[],
  now: number,
): readonly number[] {
  const groupId = groupOf(db, jobs)
  return jobs.map((job) => {
    const queries = staged(job.settings.name)
    assignQueryIds(db, queries)
    const runId =
      job.continues === null ? addRun(db, job, groupId, now) : planAgain(db, job, groupId, queries)
    plan(db, job, runId, queries)
    continueQueries(db, runId, job.settings)
    return runId
  })
}

const groupOfRun = prepared(($: Values<{ run: number }>) =>
  orm.select({ id: runs.groupId }).from(runs).where(eq(runs.id, $.run)),
)
const newestGroup = prepared(() => orm.select({ id: max(runs.groupId) }).from(runs))

/** A continued run stays in its group; other jobs begin a new one. */
function groupOf(db: Database, jobs: readonly PlannedJob[]): number {
  const run = jobs.find(({ continues }) => continues !== null)?.continues ?? null
  const group = run === null ? undefined : groupOfRun.get(db, { run })
  return group?.id ?? (newestGroup.one(db).id ?? 0) + 1
}

const newRun = prepared(
  ($: Values<{ job: string; groupId: number; settings: JobSettings; date: string; now: number }>) =>
    orm.insert(runs).values({
      job: $.job,
      groupId: $.groupId,
      settings: $.settings,
      date: $.date,
      startedAt: $.now,
      planNumber: 1,
      plannedMin: 0,
      plannedMax: 0,
    }),
)

function addRun(db: Database, { settings, date }: PlannedJob, groupId: number, now: number): number {
  const run = { job: settings.name, groupId, settings, date, now }
  return Number(newRun.run(db, run).lastInsertRowid)
}

const reopen = prepared(($: Values<{ run: number; groupId: number; settings: JobSettings }>) =>
  orm
    .update(runs)
    .set({
      groupId: sql`${$.groupId}`,
      settings: sql`${sql.param($.settings, runs.settings)}`,
      planNumber: sql`${runs.planNumber} + 1`,
      finishedAt: null,
      finishReason: null,
      durationMs: null,
    })
    .where(eq(runs.id, $.run)),
)

function planAgain(db: Database, job: PlannedJob, groupId: number, { table }: Staged): number {
  const run = job.continues as number
  reopen.run(db, { run, groupId, settings: job.settings })
  restoreSkipped(db, run)
  // For all pages of a query, because a new page takes the priority of the page before it.
  prepared(() =>
    orm
      .update(tasks)
      .set({ priority: sql`${table.priority}` })
      .from(table)
      .innerJoin(asked, eq(asked.id, table.id))
      .where(
        sql`${tasks.runId} = ${run} AND ${tasks.queryId} = ${asked.queryId} AND ${tasks.priority} <> ${table.priority}`,
      ),
  ).run(db)
  return run
}

function plan(db: Database, { settings, continues }: PlannedJob, run: number, staged: Staged): void {
  storeTargets(db, settings.targets, run, staged.lists)
  addQueries(db, run, staged)
  const allPages = settings.paging === 'all'
  if (settings.paging === 'smart') dropAhead.run(db, { run })
  addTasks(db, run, staged.table, allPages)
  // A new run has no older tasks.
  if (continues !== null) {
    if (allPages) extendDepth.run(db, { run })
    else extend.run(db, { run })
    skipEnded.run(db, { run })
    makeReady.run(db, { run })
    for (const drop of [dropUnaskedTasks, dropUnaskedQueries, dropUnaskedObservations]) drop.run(db, { run })
  }
  restQueries(db, run, staged)
  price.run(db, { run })
}

/** In the order of the file, so that calls of neighbours change the same pages of the database. */
function addQueries(db: Database, run: number, { table, lists }: Staged): void {
  const { key, operation, text, params, ...rest } = table
  prepared(() =>
    insertFrom(
      queries,
      { id: asked.queryId, key, operation, text, params },
      sql`FROM ${table} JOIN ${asked} ON ${asked.id} = ${table.id} WHERE ${asked.added} = 1 ORDER BY ${table.id}`,
    ),
  ).run(db)
  const { depth, pages, pageSize, volume, url, tags, labels } = rest
  const numbered = sql`(SELECT ${lists.numbers} FROM ${lists} WHERE ${lists.id} = ${table.targets})`
  const planned = {
    depth,
    pages,
    pageSize,
    volume,
    url,
    tags,
    labels,
    targets: sql`coalesce(${numbered}, '[]')`,
    planNumber: runs.planNumber,
  }
  const { depth: newDepth, pages: newPages, ...more } = excluded(runQueries, planned)
  const isEnded = sql`${runQueries.pagingKind} IN ${sql.raw(finalKinds)} OR (${newPages} <= ${runQueries.pages}
    AND coalesce(${newDepth}, 0) <= coalesce(${runQueries.depth}, 0))`
  prepared(() =>
    insertFrom(
      runQueries,
      { runId: runs.id, queryId: asked.queryId, ...planned },
      sql`FROM ${table} JOIN ${asked} ON ${asked.id} = ${table.id} JOIN ${runs} ON ${runs.id} = ${run}
        WHERE true ORDER BY ${table.id}`,
      {
        depth: newDepth,
        pages: newPages,
        ...more,
        plannedTargets: null,
        pagingEnd: sql`CASE WHEN ${isEnded} THEN ${runQueries.pagingEnd} END`,
      },
    ),
  ).run(db)
}

const wakeQueries = prepared(($: Values<OfRun>) =>
  orm.delete(restingQueries).where(eq(restingQueries.runId, $.run)),
)

/** What is left out of a plan, and was asked in the runs before, is kept as resting. */
function restQueries(db: Database, run: number, { leftOut }: Staged): void {
  wakeQueries.run(db, { run })
  const before = sql`(SELECT max(before.id) FROM ${runs} before JOIN ${runs} now ON now.job = before.job
    WHERE now.id = ${run} AND before.id < now.id)`
  prepared(() =>
    insertFrom(
      restingQueries,
      { runId: sql`${run}`, queryId: sql`query_id`, lastRun: sql`last_run` },
      sql`FROM (
          SELECT ${runQueries.queryId} AS query_id, ${runQueries.runId} AS last_run FROM ${runQueries}
            JOIN ${runs} ON ${runs.id} = ${runQueries.runId} AND ${runs.planNumber} = ${runQueries.planNumber}
            WHERE ${runQueries.runId} = ${before}
          UNION ALL
          SELECT ${restingQueries.queryId}, ${restingQueries.lastRun} FROM ${restingQueries} WHERE ${restingQueries.runId} = ${before})
        WHERE query_id IN (SELECT coalesce(${queries.sameAs}, ${queries.id}) FROM ${leftOut} JOIN ${queries} ON ${queries.key} = ${leftOut.key})
          AND query_id NOT IN (SELECT ${runQueries.queryId} FROM ${runQueries}
            JOIN ${runs} ON ${runs.id} = ${runQueries.runId} AND ${runs.planNumber} = ${runQueries.planNumber}
            WHERE ${runQueries.runId} = ${run})`,
    ),
  ).run(db)
}

/** Pages that are needed in any case become tasks at once. Others follow when the page before them is parsed. */
function addTasks(db: Database, run: number, table: Staged['table'], allPages: boolean): void {
  const { priority, credits } = table
  const last = allPages ? sql`CASE WHEN ${table.depth} IS NULL THEN ${table.pages} ELSE 1 END` : 1
  prepared(() =>
    insertFrom(
      tasks,
      {
        runId: sql`${run}`,
        queryId: asked.queryId,
        page: numbers.page,
        state: 'pending',
        ready: sql`${numbers.page} = 1`,
        priority,
        credits,
      },
      sql`FROM ${table} JOIN ${asked} ON ${asked.id} = ${table.id} JOIN ${numbers} ON ${numbers.page} <= ${last}
        WHERE true ORDER BY ${table.id}, ${numbers.page} ON CONFLICT DO NOTHING`,
    ),
  ).run(db)
}

type OfRun = { run: number }

const runQueryOfTask = sql`${runQueries.runId} = ${tasks.runId} AND ${runQueries.queryId} = ${tasks.queryId}`

/** A deeper plan continues after the pages that were settled under a shallower plan. */
const extend = prepared(($: Values<OfRun>) => tasksBehindSettled($.run, sql`true`))
const extendDepth = prepared(($: Values<OfRun>) =>
  tasksBehindSettled($.run, sql`${runQueries.depth} IS NOT NULL`),
)

function tasksBehindSettled(run: Placeholder, which: SQL): SQL {
  const { runId, queryId, priority, credits } = tasks
  const next = { page: sql`max(${tasks.page}) + 1`, state: 'pending', ready: 1 }
  return insertFrom(
    tasks,
    { runId, queryId, ...next, priority, credits },
    sql`FROM ${tasks} JOIN ${runQueries} ON ${runQueryOfTask}
      WHERE ${runId} = ${run} AND ${runQueries.pagingEnd} IS NULL
      GROUP BY ${queryId}
      HAVING max(${tasks.page}) < ${runQueries.pages} AND sum(${tasks.state} NOT IN ('done', 'failed')) = 0 AND ${which}`,
  )
}

/** Skips pages after the end of a paging. */
const skipEnded = prepared(($: Values<OfRun>) => {
  const skipped = alias(tasks, 'skipped')
  const ended = orm
    .select({
      queryId: runQueries.queryId,
      why: sql<string>`coalesce(${runQueries.pagingEnd}, ${skipped.cause})`.as('why'),
      lastPage: sql<number>`coalesce(${skipped.page}, 0)`.as('last_page'),
    })
    .from(runQueries)
    .leftJoin(
      skipped,
      sql`${skipped.runId} = ${runQueries.runId} AND ${skipped.queryId} = ${runQueries.queryId} AND ${skipped.state} = 'skipped'`,
    )
    .where(
      sql`${runQueries.runId} = ${$.run} AND (${runQueries.pagingEnd} IS NOT NULL OR ${skipped.id} IS NOT NULL)`,
    )
    .as('ended')
  return orm
    .update(tasks)
    .set({ state: 'skipped', cause: sql`${ended.why}` })
    .from(ended)
    .where(
      sql`${waitsBehind($.run)} AND ${tasks.queryId} = ${ended.queryId} AND ${tasks.page} > ${ended.lastPage}`,
    )
})

const makeReady = prepared(($: Values<OfRun>) => {
  const before = alias(tasks, 'before')
  const isSettled = sql`EXISTS (SELECT 1 FROM ${tasks} ${before} WHERE ${before.runId} = ${tasks.runId}
    AND ${before.queryId} = ${tasks.queryId} AND ${before.page} = ${tasks.page} - 1 AND ${before.state} IN ('done', 'failed'))`
  return orm
    .update(tasks)
    .set({ ready: 1 })
    .where(sql`${waitsBehind($.run)} AND ${isSettled}`)
})

const waitsBehind = (run: Placeholder): SQL =>
  sql`${tasks.runId} = ${run} AND ${tasks.state} = 'pending' AND ${tasks.ready} = 0`

/** Drops pages that another policy had planned: now the pages before them decide which ones are bought. */
const dropAhead = prepared(($: Values<OfRun>) =>
  orm.delete(tasks).where(sql`${waitsBehind($.run)} AND ${tasks.page} > 1`),
)

/** Queries of a run that an edited job file no longer has. */
const staleOf = (run: Placeholder): SQL => sql`(SELECT ${runQueries.queryId} FROM ${runQueries}
  JOIN ${runs} ON ${runs.id} = ${runQueries.runId} WHERE ${runs.id} = ${run} AND ${runQueries.planNumber} < ${runs.planNumber})`

/** Tasks that an edited job file no longer asks are dropped unless they are done. */
const dropUnaskedTasks = prepared(
  ($: Values<OfRun>) => sql`DELETE FROM ${tasks}
    WHERE ${tasks.runId} = ${$.run} AND ${tasks.state} IN ('pending', 'leased') AND (${tasks.queryId} IN ${staleOf($.run)}
      OR ${tasks.page} > (SELECT ${runQueries.pages} FROM ${runQueries} WHERE ${runQueryOfTask}))`,
)
const dropUnaskedQueries = prepared(
  ($: Values<OfRun>) => sql`DELETE FROM ${runQueries}
    WHERE ${runQueries.runId} = ${$.run} AND ${runQueries.queryId} IN ${staleOf($.run)}
      AND NOT EXISTS (SELECT 1 FROM ${tasks} WHERE ${runQueryOfTask})`,
)
const dropUnaskedObservations = prepared(
  ($: Values<OfRun>) => sql`DELETE FROM ${observations} WHERE ${observations.runId} = ${$.run} AND (
    NOT EXISTS (SELECT 1 FROM ${runQueries}
      WHERE ${runQueries.runId} = ${observations.runId} AND ${runQueries.queryId} = ${observations.queryId})
    OR NOT EXISTS (SELECT 1 FROM ${runTargets}
      WHERE ${runTargets.runId} = ${observations.runId} AND ${runTargets.targetId} = ${observations.targetId}))`,
)

const price = prepared(($: Values<OfRun>) => {
  const first = sql`${tasks.runId} = ${$.run} AND ${tasks.page} = 1`
  const priced = sql`FROM ${tasks} JOIN ${runQueries} ON ${runQueryOfTask} WHERE ${first}`
  return orm
    .update(runs)
    .set({
      plannedMin: sql`(SELECT coalesce(sum(${tasks.credits}), 0) FROM ${tasks} WHERE ${first})`,
      plannedMax: sql`(SELECT coalesce(sum(${tasks.credits} * ${runQueries.pages}), 0) ${priced})`,
    })
    .where(eq(runs.id, $.run))
})

const dropTargets = prepared(($: Values<OfRun>) => orm.delete(runTargets).where(eq(runTargets.runId, $.run)))
const track = prepared(($: Values<typeof runTargets.$inferInsert>) =>
  orm
    .insert(runTargets)
    .values({ runId: $.runId, targetId: $.targetId, label: $.label, own: $.own, everywhere: $.everywhere })
    .onConflictDoUpdate({
      target: [runTargets.runId, runTargets.targetId],
      set: {
        label: sql`excluded.label`,
        own: sql`excluded.own`,
        everywhere: sql`max(${runTargets.everywhere}, excluded.everywhere)`,
      },
    }),
)

const listsAtOnce = 1_000

/** Stores the targets of the run, and the numbers of targets of single queries. */
function storeTargets(db: Database, targets: readonly Target[], run: number, lists: Staged['lists']): void {
  const store = (target: Target, everywhere: 0 | 1): number => {
    const id = targetIdOf(db, target)
    const { label, own } = target
    track.run(db, { runId: run, targetId: id, label, own, everywhere })
    return id
  }
  dropTargets.run(db, { run })
  for (const target of targets) store(target, 1)
  const next = prepared(($: Values<{ after: number }>) =>
    orm.select().from(lists).where(gt(lists.id, $.after)).orderBy(lists.id).limit(listsAtOnce),
  )
  const number = prepared(($: Values<{ id: number; numbers: readonly number[] }>) =>
    orm
      .update(lists)
      .set({ numbers: sql`${sql.param($.numbers, lists.numbers)}` })
      .where(eq(lists.id, $.id)),
  )
  for (let some = next.all(db, { after: 0 }); some.length > 0; ) {
    for (const { id, list } of some)
      number.run(db, { id, numbers: (JSON.parse(list) as Target[]).map((target) => store(target, 0)) })
    some = next.all(db, { after: some.at(-1)?.id as number })
  }
}
