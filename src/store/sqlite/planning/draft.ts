import type { Database } from 'better-sqlite3'
import { eq, getTableName, gt, max, sql } from 'drizzle-orm'
import type { FitFunds, SkippedTotal } from '../../../ledger/budget.ts'
import type { JobSettings, Target } from '../../../model/job.ts'
import { continuedQuery, type PlannedQuery, queryKey } from '../../../model/query.ts'
import type { PlanSummary, Run } from '../../../model/run.ts'
import { type StoreCache, storedTargets } from '../cache.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { drizzle } from '../connection/statements.ts'
import { loadRun } from '../runs.ts'
import { runs, runTargets } from '../schema.ts'
import { restingQueries } from '../unattended/schema.ts'
import { unaffordable } from './fit.ts'
import { askedBefore, editedQueries } from './planned.ts'
import {
  attachDrafts,
  finalKinds,
  type PlannedJob,
  restoreSkipped,
  type Staged,
  stagedJob,
} from './staging.ts'

/**
 * Opens drafts, any number at once: what a plan waits for may bring plans of others. They are staged in a separate database in a
 * temporary file: other processes do not see them, they take no lock, a million queries need no memory, and the disk space is free
 * again when the last draft is dropped. Each draft has tables of its own for the queries of its jobs; the others are filled anew by
 * whoever uses them.
 */
export function draftOpener(
  db: Database,
  writer: GroupCommit,
  watched: StoreCache['targets'],
): () => PlanDraft {
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

/**
 * @param stagedNext makes the tables of one more job
 * @param close called with the tables of all jobs of the draft
 */
function newDraft(
  db: Database,
  writer: GroupCommit,
  watched: StoreCache['targets'],
  stagedNext: () => Staged,
  close: (staged: readonly Staged[]) => void,
) {
  const byJob = new Map<string, Staged>()
  const staged = (job: string): Staged => {
    const known = byJob.get(job) ?? stagedNext()
    byJob.set(job, known)
    return known
  }
  const change = <A extends readonly unknown[], T>(work: (...args: A) => T) => db.transaction(work)
  const join = change((job: string) => staged(job).mergeDuplicates())
  const add = change((job: string, queries: readonly PlannedQuery[]) => staged(job).add(queries))
  const leaveOut = change((job: string, keys: readonly Buffer[]) => staged(job).leaveOut(keys))

  return {
    /** Adds queries of a job; the same query again joins the first. */
    add: async (job: string, queries: readonly PlannedQuery[]): Promise<void> => add(job, queries),
    /** Notes the keys of queries that the job asks, and that this plan leaves out. */
    leaveOut: async (job: string, keys: readonly Buffer[]): Promise<void> => leaveOut(job, keys),
    /** Of a job that never ran: which of these jobs asked most of what it asks, in their newest run; null where none did. */
    formerJob: async (job: string, others: readonly string[]): Promise<ReturnType<typeof askedBefore>> => {
      join(job)
      return askedBefore(db, staged(job), job, others)
    },
    /** What an edit of the job's file made of its queries; null where there is nothing to be told. */
    edited: async (job: string) => {
      join(job)
      return editedQueries(db, staged(job), job)
    },
    /** The first rows of a job that ask what an earlier row asks, once it is summed up. */
    repeats: (job: string) => staged(job).repeats,
    /** What the plan comes to beside what is stored; `continues` as given. */
    summary: async (job: PlannedJob): Promise<PlanSummary> => {
      const duplicates = join(job.settings.name)
      return staged(job.settings.name).summary(job, duplicates)
    },
    /** What would be left out of the jobs so that the rest is covered; `runs` of the funds are jobs here. */
    fit: async (jobs: readonly PlannedJob[], funds: FitFunds): Promise<ReadonlyMap<string, SkippedTotal>> => {
      for (const { settings } of jobs) join(settings.name)
      return unaffordable(db, staged, jobs, funds)
    },
    /** Makes the runs, or plans the continued ones again, in one change. */
    commit: async (jobs: readonly PlannedJob[], now: number): Promise<readonly Run[]> => {
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

/** Plans of the jobs of one command, in the making. */
export type PlanDraft = ReturnType<typeof newDraft>

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
    queries.assignIds()
    const runId =
      job.continues === null ? addRun(db, job, groupId, now) : planAgain(db, job, groupId, queries)
    plan(db, job, runId, queries)
    continueQueries(db, runId, job.settings)
    return runId
  })
}

/** A continued run stays in its group; other jobs begin a new one. */
function groupOf(db: Database, jobs: readonly PlannedJob[]): number {
  const orm = drizzle(db)
  const run = jobs.find(({ continues }) => continues !== null)?.continues ?? null
  if (run !== null) {
    const continued = orm.select({ id: runs.groupId }).from(runs).where(eq(runs.id, run)).get()
    if (continued !== undefined) return continued.id
  }
  return (
    (orm
      .select({ id: max(runs.groupId) })
      .from(runs)
      .get()?.id ?? 0) + 1
  )
}

function addRun(db: Database, { settings, date }: PlannedJob, groupId: number, now: number): number {
  const { lastInsertRowid } = drizzle(db)
    .insert(runs)
    .values({
      job: settings.name,
      groupId,
      settings,
      date,
      startedAt: now,
      planNumber: 1,
      plannedMin: 0,
      plannedMax: 0,
    })
    .run()
  return Number(lastInsertRowid)
}

function planAgain(
  db: Database,
  { settings, continues }: PlannedJob,
  groupId: number,
  staged: Staged,
): number {
  const run = continues as number
  drizzle(db)
    .update(runs)
    .set({
      groupId,
      settings,
      planNumber: sql`${runs.planNumber} + 1`,
      finishedAt: null,
      finishReason: null,
      durationMs: null,
    })
    .where(eq(runs.id, run))
    .run()
  restoreSkipped(db, run)
  // For all pages of a query, because a new page takes the priority of the page before it.
  db.prepare(
    `UPDATE tasks_ SET priority = s.priority FROM ${getTableName(staged.table)} s JOIN asked a ON a.id = s.id
      WHERE tasks_.run_id = ? AND tasks_.query_id = a.query_id AND tasks_.priority <> s.priority`,
  ).run(run)
  return run
}

function plan(db: Database, { settings, continues }: PlannedJob, run: number, staged: Staged): void {
  storeTargets(db, settings.targets, run, staged.lists)
  addQueries(db, run, staged)
  const allPages = settings.paging === 'all'
  if (settings.paging === 'smart') db.prepare(dropAhead).run({ run })
  db.prepare(addTasks(staged, allPages)).run({ run })
  // A new run has no older tasks.
  const changes = [addTasksBehindSettled(allPages), skipEnded, makeReady, ...dropUnasked]
  if (continues !== null) for (const change of changes) db.prepare(change).run({ run })
  restQueries(db, run, staged)
  db.prepare(price).run({ run })
}

/** In the order of the file, so that calls of neighbours change the same pages of the database. */
function addQueries(db: Database, run: number, { table, lists }: Staged): void {
  const staged = `${getTableName(table)} s JOIN asked a ON a.id = s.id`
  db.exec(
    `INSERT INTO queries (id, key, operation, text, params) SELECT a.query_id, s.key, s.operation, s.text, s.params
      FROM ${staged} WHERE a.added = 1 ORDER BY s.id`,
  )
  const planned = ['depth', 'pages', 'page_size', 'volume', 'url', 'tags', 'labels']
  const numbered = `(SELECT l.numbers FROM ${getTableName(lists)} l WHERE l.id = s.targets)`
  const isEnded = `(paging_kind IN ${finalKinds}
    OR (excluded.pages <= pages AND coalesce(excluded.depth, 0) <= coalesce(depth, 0)))`
  db.prepare(
    `INSERT INTO run_queries (run_id, query_id, ${planned.join(', ')}, targets, plan_number)
      SELECT r.id, a.query_id, ${planned.map((column) => `s.${column}`).join(', ')}, coalesce(${numbered}, '[]'), r.plan_number
        FROM ${staged} JOIN runs_ r ON r.id = ? WHERE true ORDER BY s.id
      ON CONFLICT DO UPDATE SET
        ${[...planned, 'targets', 'plan_number'].map((column) => `${column} = excluded.${column}`).join(', ')},
        planned_targets = NULL, paging_end = CASE WHEN ${isEnded} THEN paging_end END`,
  ).run(run)
}

/** The queries that the newest plan of a run asks. */
const askedNow = (run: string): string =>
  `run_queries q JOIN runs_ r ON r.id = q.run_id AND r.plan_number = q.plan_number WHERE q.run_id = ${run}`

/** What is left out of a plan, and was asked in the runs before, is kept as resting. */
function restQueries(db: Database, run: number, { leftOut }: Staged): void {
  drizzle(db).delete(restingQueries).where(eq(restingQueries.runId, run)).run()
  const before = `(SELECT max(before.id) FROM runs_ before JOIN runs_ now ON now.job = before.job
    WHERE now.id = @run AND before.id < now.id)`
  db.prepare(
    `INSERT INTO resting_queries (run_id, query_id, last_run) SELECT @run, query_id, last_run FROM (
        SELECT q.query_id, q.run_id AS last_run FROM ${askedNow(before)}
        UNION ALL SELECT query_id, last_run FROM resting_queries WHERE run_id = ${before})
      WHERE query_id IN (SELECT coalesce(q.same_as, q.id) FROM ${getTableName(leftOut)} l JOIN queries q ON q.key = l.key)
        AND query_id NOT IN (SELECT q.query_id FROM ${askedNow('@run')})`,
  ).run({ run })
}

/** Pages that are needed in any case become tasks at once. Others follow when the page before them is parsed. */
function addTasks({ table }: Staged, allPages: boolean): string {
  const last = allPages ? 'CASE WHEN s.depth IS NULL THEN s.pages ELSE 1 END' : '1'
  return `INSERT INTO tasks_ (run_id, query_id, page, state, ready, priority, credits)
    SELECT @run, a.query_id, n.page, 'pending', n.page = 1, s.priority, s.credits
    FROM ${getTableName(table)} s JOIN asked a ON a.id = s.id JOIN numbers n ON n.page <= ${last}
    WHERE true ORDER BY s.id, n.page ON CONFLICT DO NOTHING`
}

const queryOfTask = 'run_queries q ON q.run_id = t.run_id AND q.query_id = t.query_id'

/**
 * A deeper plan continues after the last page that was settled under a shallower plan, though one before it is tried again; where all pages
 * are planned, by depth alone.
 */
function addTasksBehindSettled(allPages: boolean): string {
  return `INSERT INTO tasks_ (run_id, query_id, page, state, ready, priority, credits)
    SELECT t.run_id, t.query_id, max(t.page) + 1, 'pending', 1, t.priority, t.credits
    FROM tasks_ t JOIN ${queryOfTask} WHERE t.run_id = @run AND q.paging_end IS NULL GROUP BY t.query_id
    HAVING max(t.page) < q.pages AND max(t.page * (t.state NOT IN ('done', 'failed'))) < max(t.page)
      AND ${allPages ? 'q.depth IS NOT NULL' : 'true'}`
}

/** A page that a page before it must be settled for. */
const waitsBehind = "tasks_.run_id = @run AND tasks_.state = 'pending' AND tasks_.ready = 0"

/** Skips pages after the end of a paging. */
const skipEnded = `UPDATE tasks_ SET state = 'skipped', cause = ended.why FROM (
    SELECT q.query_id, coalesce(q.paging_end, skipped.cause) AS why, coalesce(skipped.page, 0) AS last_page
    FROM run_queries q LEFT JOIN tasks_ skipped
      ON skipped.run_id = q.run_id AND skipped.query_id = q.query_id AND skipped.state = 'skipped'
    WHERE q.run_id = @run AND (q.paging_end IS NOT NULL OR skipped.id IS NOT NULL)) ended
  WHERE ${waitsBehind} AND tasks_.query_id = ended.query_id AND tasks_.page > ended.last_page`

const makeReady = `UPDATE tasks_ SET ready = 1 WHERE ${waitsBehind} AND EXISTS (SELECT 1 FROM tasks_ before
    WHERE before.run_id = tasks_.run_id AND before.query_id = tasks_.query_id AND before.page = tasks_.page - 1
      AND before.state IN ('done', 'failed'))`

/** Drops pages that another policy had planned: now the pages before them decide which ones are bought. */
const dropAhead = `DELETE FROM tasks_ WHERE ${waitsBehind} AND page > 1`

/** Queries of a run that an edited job file no longer has. */
const unasked = `(SELECT q.query_id FROM run_queries q JOIN runs_ r ON r.id = q.run_id
  WHERE r.id = @run AND q.plan_number < r.plan_number)`

/**
 * What an edited job file no longer asks is dropped, unless it is done: tasks, then queries, then observations. Behind a page that is still
 * to be read, no other follows.
 */
const dropUnasked = [
  `DELETE FROM tasks_ AS t WHERE t.run_id = @run AND t.state IN ('pending', 'leased') AND (t.query_id IN ${unasked}
    OR t.page > (SELECT q.pages FROM run_queries q WHERE q.run_id = t.run_id AND q.query_id = t.query_id))`,
  `UPDATE run_queries AS q SET pages = min(q.pages, coalesce((SELECT max(t.page) FROM tasks_ t
      WHERE t.run_id = q.run_id AND t.query_id = q.query_id AND t.state <> 'skipped'), q.pages))
    WHERE q.run_id = @run AND q.query_id IN ${unasked}`,
  `DELETE FROM run_queries AS q WHERE q.run_id = @run AND q.query_id IN ${unasked}
    AND NOT EXISTS (SELECT 1 FROM tasks_ t WHERE t.run_id = q.run_id AND t.query_id = q.query_id)`,
  `DELETE FROM observations AS o WHERE o.run_id = @run AND (
    NOT EXISTS (SELECT 1 FROM run_queries q WHERE q.run_id = o.run_id AND q.query_id = o.query_id)
    OR NOT EXISTS (SELECT 1 FROM run_targets t WHERE t.run_id = o.run_id AND t.target_id = o.target_id))`,
]

const price = `UPDATE runs_ SET
    planned_min = (SELECT coalesce(sum(t.credits), 0) FROM tasks_ t WHERE t.run_id = @run AND t.page = 1),
    planned_max = (SELECT coalesce(sum(t.credits * q.pages), 0) FROM tasks_ t JOIN ${queryOfTask}
      WHERE t.run_id = @run AND t.page = 1)
  WHERE id = @run`

const listsAtOnce = 1_000

/** Stores the targets of the run, and the numbers of targets of single queries. */
function storeTargets(db: Database, targets: readonly Target[], run: number, lists: Staged['lists']): void {
  const orm = drizzle(db)
  // A run may have as many targets as queries.
  const add = db.prepare<[run: number, target: number, label: string, own: number, everywhere: 0 | 1]>(
    `INSERT INTO run_targets (run_id, target_id, label, own, everywhere) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET label = excluded.label, own = excluded.own, everywhere = max(everywhere, excluded.everywhere)`,
  )
  const setNumbers = db.prepare(`UPDATE draft.${getTableName(lists)} SET numbers = ? WHERE id = ?`)
  const idOf = storedTargets.ids(db)
  const store = (target: Target, everywhere: 0 | 1): number => {
    const targetId = idOf(target)
    add.run(run, targetId, target.label, Number(target.own), everywhere)
    return targetId
  }
  orm.delete(runTargets).where(eq(runTargets.runId, run)).run()
  for (const target of targets) store(target, 1)
  const next = (after: number) =>
    orm.select().from(lists).where(gt(lists.id, after)).orderBy(lists.id).limit(listsAtOnce).all()
  for (let some = next(0); some.length > 0; some = next(some.at(-1)?.id as number))
    for (const { id, list } of some) {
      const numbers = (JSON.parse(list) as Target[]).map((target) => store(target, 0))
      setNumbers.run(JSON.stringify(numbers), id)
    }
}

/**
 * Links queries of a run to those that they go on with: one that the job asked before it first asked the query, and did not ask
 * beside it. Inside a transaction.
 */
function continueQueries(db: Database, run: number, { name, continues }: JobSettings): void {
  if (continues == null) return
  // Queries of a run that go on with no other query yet.
  const unlinked = db
    .prepare<[run: number, job: string], { id: number; operation: string; text: string; params: string }>(
      `SELECT q.id, q.operation, q.text, q.params
      FROM runs_ r JOIN run_queries rq ON rq.run_id = r.id AND rq.plan_number = r.plan_number JOIN queries q ON q.id = rq.query_id
      WHERE r.id = ? AND NOT EXISTS (SELECT 1 FROM continuations known JOIN runs_ past ON past.id = known.run_id
        WHERE past.job = ? AND known.query_id = q.id)`,
    )
    .all(run, name)
  const idOfKey = db
    .prepare<[key: Buffer], number>('SELECT coalesce(same_as, id) FROM queries WHERE key = ?')
    .pluck()
  const asking = 'runs_ r JOIN run_queries rq ON rq.run_id = r.id AND rq.plan_number = r.plan_number'
  const firstAsked = db
    .prepare<[job: string, query: number], number | null>(
      `SELECT min(r.id) FROM ${asking} WHERE r.job = ? AND rq.query_id = ?`,
    )
    .pluck()
  const asks = db.prepare<[run: number, query: number]>(
    `SELECT 1 FROM ${asking} WHERE r.id = ? AND rq.query_id = ?`,
  )
  const link = db.prepare<[run: number, query: number, former: number]>(
    'INSERT OR IGNORE INTO continuations (run_id, query_id, former_id) VALUES (?, ?, ?)',
  )
  for (const { id, operation, text, params } of unlinked) {
    const former = continuedQuery({ operation, text, params: JSON.parse(params) }, continues)
    const formerId = former === null ? undefined : idOfKey.get(queryKey(former))
    if (formerId === undefined) continue
    const first = firstAsked.get(name, id) ?? run
    const formerFirst = firstAsked.get(name, formerId) ?? null
    if (formerFirst === null || formerFirst >= first) continue
    if (asks.get(first, formerId) === undefined) link.run(first, id, formerId)
  }
}
