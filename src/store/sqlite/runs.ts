import type { Database } from 'better-sqlite3'
import { and, count, desc, eq, gt, inArray, isNotNull, isNull, lte, ne, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core/alias'
import { isUseless, type Outcome, uselessInRow } from '../../model/call.ts'
import { fieldsOf, jobSettings, removedJob } from '../../model/job.ts'
import { kindCodes } from '../../model/result.ts'
import {
  type FinishReason,
  isComplete,
  isGoodRun,
  type Run,
  type RunQuality,
  type RunTotals,
  tooLong,
} from '../../model/run.ts'
import { errorIs } from './connection/errors.ts'
import type { GroupCommit } from './connection/group-commit.ts'
import { drizzle, each } from './connection/statements.ts'
import { rankTotals, recordUnknown, runSuspicion } from './rankings/observations.ts'
import { answers, calls, jobs, queries, runs, runTotals, tasks, unusableMark } from './schema.ts'
import { rechecks } from './unattended/schema.ts'

/** What unsettled calls are: still in flight, or lost with the process that sent them, and then ambiguous. */
type OpenCalls = 'in-the-air' | 'lost'

type StoredRunRow = typeof runs.$inferSelect

/** Of its job a run speaks, and not a second look of earlier versions at some of its queries. */
const isNoRecheck = sql`NOT EXISTS (SELECT 1 FROM ${rechecks} WHERE ${rechecks.runId} = ${runs.id})`

/** The run of that id, or null. */
export function loadRun(db: Database, id: number): Run | null {
  return loadRuns(db, eq(runs.id, id))[0] ?? null
}

/** Runs that fulfil a condition, the newest first. */
function loadRuns(db: Database, which: SQL | undefined, limit = -1): readonly Run[] {
  const found = drizzle(db).select().from(runs).where(which).orderBy(desc(runs.id)).limit(limit).all()
  return found.map(runFromRow)
}

const fileOf = (db: Database, job: string): string | null =>
  drizzle(db).select({ file: jobs.file }).from(jobs).where(eq(jobs.name, job)).get()?.file ?? null

export function runReads(db: Database) {
  const orm = drizzle(db)
  return {
    /** The file that a job name stands for, or null. */
    jobFile: async (name: string): Promise<string | null> => fileOf(db, name),
    /** All jobs that ran, with the file that each name stands for. */
    jobFiles: async (): Promise<readonly { readonly name: string; readonly file: string }[]> =>
      orm.select({ name: jobs.name, file: jobs.file }).from(jobs).orderBy(jobs.name).all(),
    /** Credits that an unfinished run may still cost, with all pages that may follow; those of failed tasks, too, where they count. */
    creditsToCome: async (runId: number, failed: 'count' | 'ignore'): Promise<number> =>
      creditsToCome(db, runId, failed === 'count'),
    jobNames: async (): Promise<readonly string[]> =>
      orm
        .select({ name: jobs.name })
        .from(jobs)
        .orderBy(jobs.name)
        .all()
        .map(({ name }) => name),
    /** The newest run of a job that is not closed, or null. One that looks again at queries of another is passed over. */
    latestRun: async (job: string): Promise<Run | null> =>
      loadRuns(db, and(eq(runs.job, job), isNull(runs.closedAt), isNoRecheck), 1)[0] ?? null,
    run: async (id: number): Promise<Run | null> => loadRun(db, id),
    /** Runs of all jobs or of one, newest first; without those that were closed where `closed` is false. */
    runs: async ({
      job,
      limit,
      closed,
    }: {
      readonly job?: string
      readonly limit?: number
      readonly closed?: false
    }): Promise<readonly Run[]> =>
      loadRuns(
        db,
        and(
          job === undefined ? undefined : eq(runs.job, job),
          closed === false ? isNull(runs.closedAt) : undefined,
        ),
        limit,
      ),
    /** How many runs one command started together with it, itself included. */
    groupSize: async (groupId: number): Promise<number> =>
      orm.select({ runs: count() }).from(runs).where(eq(runs.groupId, groupId)).get()?.runs ?? 0,
    // Closed runs with answers to be parsed or asynchronous jobs to be polled.
    /** Closed runs of these jobs that still have answers to be read or asynchronous jobs to be polled. */
    runsWithOpenWork: async (names: readonly string[]): Promise<readonly Run[]> =>
      loadRuns(
        db,
        and(
          isNotNull(runs.closedAt),
          inArray(runs.job, [...names]),
          sql`EXISTS (SELECT 1 FROM ${tasks} WHERE ${tasks.runId} = ${runs.id}
            AND (${tasks.state} = 'accepted' OR ${tasks.state} = 'answered'))`,
        ),
      ).toReversed(),
    /** Everything that a run comes to; takes seconds where there are millions of results. */
    tally: async (runId: number, open?: OpenCalls): Promise<RunTotals> => tally(db, runId, open),
    taskCounts: async (runId: number): Promise<RunTotals['tasks']> => taskCounts(db, runId),
    /**
     * Why tasks of a run failed: the most frequent kinds of causes first, up to a number. A kind is a cause without what only tells one answer
     * from another. With how many tasks it made fail, and those of them whose answers were paid for, are stored and cannot be used.
     */
    failureCauses: async (run: number, most: number) => {
      // Causes that differ only in the text of the bad answer are of one kind.
      const about = sql`instr(${tasks.cause}, ' (it begins: ')`
      const kind = sql<string>`CASE WHEN ${about} > 0 THEN substr(${tasks.cause}, 1, ${about} - 1)
        ELSE coalesce(${tasks.cause}, '') END`
      return orm
        .select({ kind, tasks: count(), answered: count(tasks.answerId) })
        .from(tasks)
        .where(and(eq(tasks.runId, run), eq(tasks.state, 'failed')))
        .groupBy(kind)
        .orderBy(desc(count()), kind)
        .limit(most)
        .all()
    },
    failures: async (run: number) =>
      orm
        .select({
          taskId: tasks.id,
          operation: queries.operation,
          query: queries.text,
          page: tasks.page,
          cause: sql<string>`coalesce(${tasks.cause}, '')`,
          params: queries.params,
        })
        .from(tasks)
        .innerJoin(queries, eq(queries.id, tasks.queryId))
        .where(and(eq(tasks.runId, run), eq(tasks.state, 'failed')))
        .orderBy(tasks.id)
        .all(),
    /** How well a run went, with its totals. */
    runQuality: (run: number): RunQuality => runQuality(db, run),
  }
}

/** What reports read of runs. */
export type RunReads = ReturnType<typeof runReads>

/**
 * Credits that a run may still cost at most; failed tasks are bought again where `retried`. Where pages may follow, all that are not
 * settled may be bought; else only those that wait.
 */
function creditsToCome(db: Database, run: number, retried: boolean): number {
  const open = `'pending', 'leased', 'sent'${retried ? ", 'failed'" : ''}`
  return db
    .prepare<[run: number], number>(
      `SELECT coalesce(sum(price * CASE WHEN follows THEN max(pages - settled, waiting) ELSE waiting END), 0)
      FROM (SELECT pages, max(credits) AS price, sum(open) AS waiting,
          sum(NOT open AND NOT skipped AND page <= pages) AS settled,
          ends IS NULL OR max(page * open) > max(page * (NOT open AND NOT skipped)) AS follows
        FROM (SELECT t.query_id AS query, t.page, t.credits, t.state IN (${open}) AS open, t.state = 'skipped' AS skipped,
            q.pages, q.paging_end AS ends
          FROM tasks_ t JOIN run_queries q ON q.run_id = t.run_id AND q.query_id = t.query_id WHERE t.run_id = ?)
        GROUP BY query HAVING waiting > 0)`,
    )
    .pluck()
    .get(run) as number
}

/** Older runs do not name newer settings. */
const defaults = fieldsOf(jobSettings, {})
const noBudget = fieldsOf(jobSettings.budget.value, {})

function runFromRow({ planNumber: _, settings, ...row }: StoredRunRow): Run {
  const targets = settings.targets.map((target) => ({ also: [], ...target }))
  return {
    ...row,
    settings: { ...defaults, ...settings, targets, budget: { ...noBudget, ...settings.budget } },
  }
}

const sumOf = (what: SQL | undefined) => sql<number>`coalesce(sum(${what}), 0)`

/** The totals of a run so far. */
function tally(db: Database, run: number, open: OpenCalls = 'in-the-air'): RunTotals {
  const orm = drizzle(db)
  // Calls without an end count only where they are lost.
  const isUnknown = and(
    isNull(calls.billed),
    or(isNotNull(calls.outcome), open === 'lost' ? gt(calls.credits, 0) : undefined),
  )
  const [ofCalls] = orm
    .select({
      sent: count(),
      billed: sumOf(eq(calls.billed, 1)),
      free: sumOf(eq(calls.billed, 0)),
      unknown: sumOf(isUnknown),
      throttled: sumOf(eq(calls.outcome, 'throttled')),
      spent: sumOf(sql`CASE WHEN ${calls.billed} = 1 THEN ${calls.credits} ELSE 0 END`),
      lost: sumOf(sql`CASE WHEN ${isUnknown} THEN ${calls.credits} ELSE 0 END`),
    })
    .from(calls)
    .where(eq(calls.runId, run))
    .all()
  const { sent, billed, free, unknown, throttled, spent, lost } = ofCalls as NonNullable<typeof ofCalls>
  // Counted page by page, in the order in which they are stored: millions of rows are not sorted by kind.
  const results = orm.all<{ kind: number; n: number }>(sql`
    SELECT CAST(of.key AS INTEGER) AS kind, sum(json_array_length(of.value)) AS n
    FROM ${tasks} CROSS JOIN ${answers} CROSS JOIN json_each(${answers.items}) of
    WHERE ${answers.id} = ${tasks.answerId} AND ${tasks.runId} = ${run} GROUP BY of.key ORDER BY 1`)
  const malformed = orm
    .select({ n: sumOf(sql`json_array_length(${answers.malformed})`) })
    .from(tasks)
    .innerJoin(answers, eq(answers.id, tasks.answerId))
    .where(eq(tasks.runId, run))
    .get()
  const nameOf = new Map(Object.entries(kindCodes).map(([kind, code]) => [code as number, kind]))
  return {
    tasks: taskCounts(db, run),
    calls: { sent, billed, free, ambiguous: unknown },
    throttled,
    spent,
    ambiguous: lost,
    results: Object.fromEntries(results.map(({ kind, n }) => [nameOf.get(kind) ?? String(kind), n])),
    malformed: malformed?.n ?? 0,
    mismatched: mismatchedIn(db, run),
    suspicion: runSuspicion(db, run),
  }
}

/** The tasks of a run by how they stand. */
function taskCounts(db: Database, run: number): RunTotals['tasks'] {
  const [counts] = drizzle(db)
    .select({
      planned: sumOf(ne(tasks.state, 'skipped')),
      done: sumOf(eq(tasks.state, 'done')),
      failed: sumOf(eq(tasks.state, 'failed')),
      reused: sumOf(sql`${tasks.reused}`),
    })
    .from(tasks)
    .where(eq(tasks.runId, run))
    .all()
  const { planned, done, failed, reused } = counts as NonNullable<typeof counts>
  return { planned, done, failed, reused, pending: planned - done - failed }
}

/** Counts the answers of a run that repeat another question than asked. There are rarely any: they are looked for first. */
export function mismatchedIn(db: Database, run: number): number {
  const found = drizzle(db)
    .select({ n: count() })
    .from(answers)
    .crossJoin(tasks)
    .where(and(eq(tasks.answerId, answers.id), isNotNull(answers.echoMismatch), eq(tasks.runId, run)))
    .get()
  return found?.n ?? 0
}

/** Work that can wait does not hold a command up for much longer. */
const shortlyMs = 2_000

/**
 * Calls in flight when their process died: free ones stay free, the others are possibly billed. A free lookup of a living process
 * beside this one may be among them: its own end overwrites the mark. Answers how many there were.
 */
function markCrashedCalls(db: Database, now: number): number {
  return drizzle(db)
    .update(calls)
    .set({
      outcome: 'ambiguous',
      billed: sql`CASE WHEN ${calls.credits} = 0 THEN 0 END`,
      finishedAt: now,
      error: 'rankline died while the call was in the air',
    })
    .where(isNull(calls.outcome))
    .run().changes
}

/** A later process, perhaps days later, gives every task all its tries again. */
function resetTasks(db: Database, run: number): void {
  drizzle(db)
    .update(tasks)
    .set({ state: 'pending', tries: 0, round: 0 })
    .where(
      and(
        eq(tasks.runId, run),
        or(
          inArray(tasks.state, ['leased', 'sent']),
          and(eq(tasks.state, 'pending'), sql`${tasks.tries} + ${tasks.round} > 0`),
        ),
      ),
    )
    .run()
}

function reopenRun(db: Database, id: number): void {
  drizzle(db)
    .update(runs)
    .set({ finishedAt: null, finishReason: null, durationMs: null })
    .where(eq(runs.id, id))
    .run()
}

export function runStore(db: Database, writer: GroupCommit) {
  const orm = drizzle(db)
  const totals = rankTotals(db)
  return {
    ...runReads(db),
    ...statusReads(db),
    /** Notes which file a job name stands for; answers the file that it stood for before, or null. */
    nameJob: (name: string, file: string): Promise<string | null> =>
      writer.write(() => {
        const known = fileOf(db, name)
        orm.insert(jobs).values({ name, file }).onConflictDoUpdate({ target: jobs.name, set: { file } }).run()
        return known
      }),
    /** Opens a run again that had ended. */
    reopenRun: (id: number): Promise<void> => writer.write(() => reopenRun(db, id)),
    /** Makes failed tasks of a run pending again and opens it; answers how many there were. */
    retryFailed: (run: number): Promise<number> =>
      writer.write(() => {
        const { changes } = orm
          .update(tasks)
          .set({ state: 'pending', ready: 1, tries: 0, cause: null })
          .where(
            and(
              eq(tasks.runId, run),
              eq(tasks.state, 'failed'),
              sql`coalesce(${tasks.cause}, '') NOT LIKE ${`${tooLong}%`}`,
            ),
          )
          .run()
        if (changes > 0) reopenRun(db, run)
        return changes
      }),
    /** Ends a run: what has no observation yet is `unknown`. */
    finishRun: (id: number, reason: FinishReason, now: number, durationMs?: number): Promise<void> =>
      writer.write(() => {
        // A failure is never `absent`: a target without any observation is `unknown`.
        recordUnknown(db, id, now)
        orm
          .update(runs)
          .set({ finishedAt: now, finishReason: reason, durationMs: durationMs ?? null })
          .where(eq(runs.id, id))
          .run()
      }),
    /** Closes a run for good: its calls in flight are ambiguous, and what has no observation yet is `unknown`. */
    closeRun: (id: number, now: number): Promise<void> =>
      writer.write(() => {
        markCrashedCalls(db, now)
        resetTasks(db, id)
        recordUnknown(db, id, now)
        totals.drop(id)
        orm
          .update(runs)
          .set({
            closedAt: now,
            finishedAt: sql`coalesce(${runs.finishedAt}, ${now})`,
            finishReason: sql`coalesce(${runs.finishReason}, 'crashed')`,
          })
          .where(eq(runs.id, id))
          .run()
      }),
    /**
     * Adds up what runs that are over observed, the newest first, until that much time has passed: two seconds, unless
     * it is said. What was not added up is read query by query, so this makes questions about the past quicker and changes no
     * answer.
     */
    countRanks: async (withinMs: number = shortlyMs): Promise<void> => {
      const began = performance.now()
      try {
        for (const run of totals.uncountedRuns()) {
          await writer.write(() => totals.count(run))
          if (performance.now() - began >= withinMs) return
        }
      } catch (error) {
        // Nothing is lost: where totals are missing, the observations themselves are read.
        if (!errorIs.diskFull(error) && !errorIs.locked(error)) throw error
      }
    },
    /** Drops what was added up of the runs of a job, or of all. */
    invalidateRankCounts: (job: string | null): Promise<void> => writer.write(() => totals.dropOfJob(job)),
    /**
     * Repairs what dead processes left: all calls in flight, of any run, are ambiguous, and the tasks of these runs are
     * pending again; answers how many calls there were. Only for the one process that holds the collector lock.
     */
    recover: (runIds: readonly number[], now: number): Promise<number> =>
      writer.write(() => {
        for (const run of runIds) resetTasks(db, run)
        return markCrashedCalls(db, now)
      }),
  }
}

/** Runs of a job that began until an instant, the newest first. They are read one by one: mostly the first ones say all. */
const runsUntil = (db: Database, job: string, until: number) =>
  each(
    db,
    sql<{
      id: number
      reason: FinishReason | null
    }>`SELECT ${runs.id} AS id, ${runs.finishReason} AS reason FROM ${runs}
      WHERE ${and(eq(runs.job, job), lte(runs.startedAt, until), isNoRecheck)} ORDER BY ${runs.id} DESC`,
  )

function statusReads(db: Database) {
  return {
    /** Names of all jobs that ever ran and were not removed, in alphabetical order. */
    jobsThatRan: async (): Promise<readonly string[]> =>
      drizzle(db)
        .selectDistinct({ job: runs.job })
        .from(runs)
        .where(ne(runs.job, removedJob))
        .orderBy(runs.job)
        .all()
        .map(({ job }) => job),
    /**
     * The newest run of a job until an instant, and the newest that gave what it was made for; null where there is none. Second
     * looks of earlier versions are passed over.
     */
    newestRuns: async (
      job: string,
      until: number,
    ): Promise<{ readonly last: Run | null; readonly good: Run | null }> => {
      let last: number | null = null
      for (const { id, reason } of runsUntil(db, job, until)) {
        last ??= id
        if (isComplete(reason) && isGoodRun(reason, taskCounts(db, id)))
          return { last: loadRun(db, last), good: loadRun(db, id) }
      }
      return { last: last === null ? null : loadRun(db, last), good: null }
    },
  }
}

/** How well a run went, with its totals. */
function runQuality(db: Database, run: number): RunQuality {
  const totals = drizzle(db).select().from(runTotals).where(eq(runTotals.run, run)).get()
  const { planned, done, failed, ...about } = totals as NonNullable<typeof totals>
  const mismatched = mismatchedIn(db, run)
  return { ...about, tasks: { planned, done, failed }, ...(mismatched === 0 ? {} : { mismatched }) }
}

/** So many of the last calls are looked through. */
const lastCalls = 1_000
/** So many answers in a row that cannot be used make an operation distrusted, as `uselessInRow` calls do, answered or not. */
const unusableInRow = 3

const newestCalls = (db: Database) =>
  drizzle(db)
    .select({
      id: calls.id,
      operation: calls.operation,
      outcome: calls.outcome,
      httpStatus: calls.httpStatus,
      billed: calls.billed,
      credits: calls.credits,
    })
    .from(calls)
    .orderBy(desc(calls.id))
    .limit(lastCalls)
    .all()

/** An answer that is not parsed yet says nothing of its operation. */
function newestAnswers(db: Database) {
  const a = alias(answers, 'a')
  const isUnread = sql`EXISTS (SELECT 1 FROM ${tasks} WHERE ${tasks.answerId} = ${a.id} AND ${tasks.state} = 'answered')`
  return drizzle(db)
    .select({
      callId: a.callId,
      unusable: sql<0 | 1>`coalesce(${a.normaliser}, ${unusableMark}) = ${unusableMark} AND NOT ${isUnread}`,
    })
    .from(a)
    .orderBy(desc(a.id))
    .limit(lastCalls)
    .all()
}

/** Operations whose last calls brought nothing that can be used, with how many in a row. */
export function operationsUnusable(db: Database): ReadonlyMap<string, number> {
  const unusable = new Map(newestAnswers(db).map((answer) => [answer.callId, answer.unusable === 1]))
  const last = new Map<
    string,
    {
      /** Whether the last answers cannot be used, the newest first. */
      readonly unusable: boolean[]
      /** Calls of no use since the last answer that could be used. */
      useless: number
      hasUsable: boolean
    }
  >()
  for (const { id, operation, outcome, httpStatus, billed, credits } of newestCalls(db)) {
    if (outcome === null || credits === 0) continue
    const ends = last.get(operation) ?? { unusable: [], useless: 0, hasUsable: false }
    last.set(operation, ends)
    // Of an asynchronous job that was lost it is not known whether it was billed.
    const isLostJob = outcome === 'accepted' && billed === null
    const isWasted = outcome === 'unreadable' || unusable.get(id) === true
    if (billed === 1 && ends.unusable.length < unusableInRow) ends.unusable.push(isWasted)
    if (billed === 1 && !isWasted) ends.hasUsable = true
    if (!ends.hasUsable && (isWasted || isLostJob || isUseless({ outcome: outcome as Outcome, httpStatus })))
      ends.useless += 1
  }
  const distrusted = [...last].filter(
    ([, ends]) =>
      ends.useless >= uselessInRow ||
      (ends.unusable.length === unusableInRow && ends.unusable.every((end) => end)),
  )
  return new Map(distrusted.map(([operation, { useless }]) => [operation, useless]))
}
