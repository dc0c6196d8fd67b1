import type { Database } from 'better-sqlite3'
import { and, count, desc, eq, isNotNull, isNull, ne, type SQL, sql } from 'drizzle-orm'
import { fieldsOf, jobSettings } from '../../model/job.ts'
import { kindCodes } from '../../model/result.ts'
import { type FinishReason, type Run, type RunTotals, tooLong } from '../../model/run.ts'
import type { OpenCalls, RunReads, RunStore } from '../runs.ts'
import { isDiskFull, isLocked } from './connection/errors.ts'
import type { GroupCommit } from './connection/group-commit.ts'
import { orm, prepared, type Values } from './connection/statements.ts'
import { creditsToCome } from './planning/to-come.ts'
import {
  countRun,
  forgetCountsOf,
  invalidateCounts,
  recordUnknown,
  uncountedRuns,
} from './rankings/observations.ts'
import { runSuspicion } from './rankings/suspicion.ts'
import { answers, calls, jobs, queries, runs, tasks } from './schema.ts'
import { rechecks } from './unattended/schema.ts'

type StoredRunRow = typeof runs.$inferSelect

const runOfId = prepared(($: Values<{ id: number }>) => orm.select().from(runs).where(eq(runs.id, $.id)))

/** Of its job a run speaks, and not a second look of earlier versions at some of its queries. */
export const isNoRecheck = sql`NOT EXISTS (SELECT 1 FROM ${rechecks} WHERE ${rechecks.runId} = ${runs.id})`

const latestRun = prepared(($: Values<{ job: string }>) =>
  orm
    .select()
    .from(runs)
    .where(and(eq(runs.job, $.job), isNull(runs.closedAt), isNoRecheck))
    .orderBy(desc(runs.id))
    .limit(1),
)

const newestRuns = prepared(($: Values<{ job: string | null; closed: 0 | 1; limit: number }>) =>
  orm
    .select()
    .from(runs)
    .where(sql`(${$.job} IS NULL OR ${runs.job} = ${$.job}) AND (${$.closed} OR ${runs.closedAt} IS NULL)`)
    .orderBy(desc(runs.id))
    .limit($.limit),
)

const groupSize = prepared(($: Values<{ groupId: number }>) =>
  orm.select({ runs: count() }).from(runs).where(eq(runs.groupId, $.groupId)),
)

/** Closed runs with answers to be parsed or asynchronous jobs to be polled. */
const leftovers = prepared(($: Values<{ jobs: string }>) =>
  orm
    .select()
    .from(runs)
    .where(
      sql`${runs.closedAt} IS NOT NULL AND ${runs.job} IN (SELECT value FROM json_each(${$.jobs}))
        AND EXISTS (SELECT 1 FROM ${tasks} WHERE ${tasks.runId} = ${runs.id}
          AND (${tasks.state} = 'accepted' OR ${tasks.state} = 'answered'))`,
    )
    .orderBy(runs.id),
)

const jobFile = prepared(($: Values<{ name: string }>) =>
  orm.select({ file: jobs.file }).from(jobs).where(eq(jobs.name, $.name)),
)

const jobFiles = prepared(() =>
  orm.select({ name: jobs.name, file: jobs.file }).from(jobs).orderBy(jobs.name),
)

const jobNames = prepared(() => orm.select({ name: jobs.name }).from(jobs).orderBy(jobs.name))

const failureCauses = prepared(($: Values<{ run: number; most: number }>) => {
  // Causes that differ only in the text of the bad answer are of one kind.
  const about = sql`instr(${tasks.cause}, ' (it begins: ')`
  const kind = sql<string>`CASE WHEN ${about} > 0 THEN substr(${tasks.cause}, 1, ${about} - 1)
    ELSE coalesce(${tasks.cause}, '') END`
  return orm
    .select({ kind, tasks: count(), answered: count(tasks.answerId) })
    .from(tasks)
    .where(and(eq(tasks.runId, $.run), eq(tasks.state, 'failed')))
    .groupBy(kind)
    .orderBy(desc(count()), kind)
    .limit($.most)
})

const failures = prepared(($: Values<{ run: number }>) =>
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
    .where(and(eq(tasks.runId, $.run), eq(tasks.state, 'failed')))
    .orderBy(tasks.id),
)

/** The run of that id, or null. */
export function loadRun(db: Database, id: number): Run | null {
  const row = runOfId.get(db, { id })
  return row === undefined ? null : runFromRow(row)
}

export function runReads(db: Database): RunReads {
  return {
    jobFile: async (name) => jobFile.get(db, { name })?.file ?? null,
    jobFiles: async () => jobFiles.all(db),
    creditsToCome: async (runId, failed) => creditsToCome(db, runId, failed === 'count'),
    jobNames: async () => jobNames.all(db).map(({ name }) => name),
    latestRun: async (job) => latestRun.all(db, { job }).map(runFromRow)[0] ?? null,
    run: async (id) => loadRun(db, id),
    runs: async ({ job = null, limit = -1, closed }) =>
      newestRuns.all(db, { job, limit, closed: closed === false ? 0 : 1 }).map(runFromRow),
    groupSize: async (groupId) => groupSize.get(db, { groupId })?.runs ?? 0,
    runsWithOpenWork: async (names) => leftovers.all(db, { jobs: JSON.stringify(names) }).map(runFromRow),
    tally: async (runId, open) => tally(db, runId, open),
    taskCounts: async (runId) => taskCounts(db, runId),
    failureCauses: async (run, most) => failureCauses.all(db, { run, most }),
    failures: async (run) => failures.all(db, { run }),
  }
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

const tasksOf = prepared(($: Values<{ run: number }>) =>
  orm
    .select({
      planned: sumOf(ne(tasks.state, 'skipped')),
      done: sumOf(eq(tasks.state, 'done')),
      failed: sumOf(eq(tasks.state, 'failed')),
      reused: sumOf(sql`${tasks.reused}`),
    })
    .from(tasks)
    .where(eq(tasks.runId, $.run)),
)

const callsOf = prepared(($: Values<{ run: number; lost: 0 | 1 }>) => {
  // Calls without an end count only where they are lost.
  const unknown = sql`${calls.billed} IS NULL AND (${calls.outcome} IS NOT NULL OR (${$.lost} AND ${calls.credits} > 0))`
  return orm
    .select({
      sent: count(),
      billed: sumOf(eq(calls.billed, 1)),
      free: sumOf(eq(calls.billed, 0)),
      unknown: sumOf(unknown),
      throttled: sumOf(eq(calls.outcome, 'throttled')),
      spent: sumOf(sql`CASE WHEN ${calls.billed} = 1 THEN ${calls.credits} ELSE 0 END`),
      lost: sumOf(sql`CASE WHEN ${unknown} THEN ${calls.credits} ELSE 0 END`),
    })
    .from(calls)
    .where(eq(calls.runId, $.run))
})

/** Counted page by page, in the order in which they are stored: millions of rows are not sorted by kind. */
const resultsOf = prepared(
  ($: Values<{ run: number }>) => sql<{ kind: number; n: number }>`SELECT CAST(of.key AS INTEGER) AS kind,
      sum(json_array_length(of.value)) AS n
    FROM ${tasks} CROSS JOIN ${answers} CROSS JOIN json_each(${answers.items}) of
    WHERE ${answers.id} = ${tasks.answerId} AND ${tasks.runId} = ${$.run} GROUP BY of.key ORDER BY 1`,
)

const malformedOf = prepared(($: Values<{ run: number }>) =>
  orm
    .select({ n: sumOf(sql`json_array_length(${answers.malformed})`) })
    .from(tasks)
    .innerJoin(answers, eq(answers.id, tasks.answerId))
    .where(eq(tasks.runId, $.run)),
)

/** Answers to another question than asked; there are rarely any. */
const mismatchedOf = prepared(($: Values<{ run: number }>) =>
  orm
    .select({ n: count() })
    .from(answers)
    .crossJoin(tasks)
    .where(and(eq(tasks.answerId, answers.id), isNotNull(answers.echoMismatch), eq(tasks.runId, $.run))),
)

/** The totals of a run so far. */
function tally(db: Database, run: number, open: OpenCalls = 'in-the-air'): RunTotals {
  const lost = open === 'lost' ? 1 : 0
  const { sent, billed, free, unknown, throttled, ...credits } = callsOf.one(db, { run, lost })
  const name = new Map(Object.entries(kindCodes).map(([kind, code]) => [code as number, kind]))
  return {
    tasks: taskCounts(db, run),
    calls: { sent, billed, free, ambiguous: unknown },
    throttled,
    spent: credits.spent,
    ambiguous: credits.lost,
    results: Object.fromEntries(
      resultsOf.all(db, { run }).map(({ kind, n }) => [name.get(kind) ?? String(kind), n]),
    ),
    malformed: malformedOf.one(db, { run }).n,
    mismatched: mismatchedIn(db, run),
    suspicion: runSuspicion(db, run),
  }
}

/** The tasks of a run by how they stand. */
export function taskCounts(db: Database, run: number): RunTotals['tasks'] {
  const counts = tasksOf.one(db, { run })
  return { ...counts, pending: counts.planned - counts.done - counts.failed }
}

/** Counts the answers of a run that repeat another question than asked. */
export function mismatchedIn(db: Database, run: number): number {
  return mismatchedOf.one(db, { run }).n
}

/** Work that can wait does not hold a command up for much longer. */
const shortlyMs = 2_000

const setJobFile = prepared(($: Values<{ name: string; file: string }>) =>
  orm
    .insert(jobs)
    .values({ name: $.name, file: $.file })
    .onConflictDoUpdate({ target: jobs.name, set: { file: sql`excluded.file` } }),
)

const reopen = prepared(($: Values<{ id: number }>) =>
  orm.update(runs).set({ finishedAt: null, finishReason: null, durationMs: null }).where(eq(runs.id, $.id)),
)

const retryFailed = prepared(($: Values<{ run: number }>) =>
  orm
    .update(tasks)
    .set({ state: 'pending', ready: 1, tries: 0, cause: null })
    .where(
      and(
        eq(tasks.runId, $.run),
        eq(tasks.state, 'failed'),
        sql`coalesce(${tasks.cause}, '') NOT LIKE ${`${tooLong}%`}`,
      ),
    ),
)

const finish = prepared(
  ($: Values<{ id: number; reason: FinishReason; now: number; durationMs: number | null }>) =>
    orm
      .update(runs)
      .set({ finishedAt: sql`${$.now}`, finishReason: sql`${$.reason}`, durationMs: sql`${$.durationMs}` })
      .where(eq(runs.id, $.id)),
)

const close = prepared(($: Values<{ id: number; now: number }>) =>
  orm
    .update(runs)
    .set({
      closedAt: sql`${$.now}`,
      finishedAt: sql`coalesce(${runs.finishedAt}, ${$.now})`,
      finishReason: sql`coalesce(${runs.finishReason}, 'crashed')`,
    })
    .where(eq(runs.id, $.id)),
)

/**
 * Calls in flight when their process died: free ones stay free, the others are possibly billed. Calls in flight have an index
 * of their own; the plus keeps SQLite from reading the calls of every run instead.
 */
/** A free lookup of a living process beside this one may be among them: its own end overwrites the mark. */
const markCrashedCalls = prepared(($: Values<{ now: number }>) =>
  orm
    .update(calls)
    .set({
      outcome: 'ambiguous',
      billed: sql`CASE WHEN ${calls.credits} = 0 THEN 0 END`,
      finishedAt: sql`${$.now}`,
      error: 'rankline died while the call was in the air',
    })
    .where(isNull(calls.outcome)),
)

/** A later process, perhaps days later, gives every task all its tries again. */
const resetTasks = prepared(($: Values<{ run: number }>) =>
  orm
    .update(tasks)
    .set({ state: 'pending', tries: 0, round: 0 })
    .where(
      sql`${tasks.runId} = ${$.run} AND (${tasks.state} IN ('leased', 'sent')
        OR ${tasks.state} = 'pending' AND ${tasks.tries} + ${tasks.round} > 0)`,
    ),
)

export function runStore(db: Database, writer: GroupCommit): RunStore {
  return {
    ...runReads(db),
    nameJob: (name, file) =>
      writer.write(() => {
        const known = jobFile.get(db, { name })
        setJobFile.run(db, { name, file })
        return known?.file ?? null
      }),
    reopenRun: (id) => writer.write(() => void reopen.run(db, { id })),
    retryFailed: (run) =>
      writer.write(() => {
        const { changes } = retryFailed.run(db, { run })
        if (changes > 0) reopen.run(db, { id: run })
        return changes
      }),
    finishRun: (id, reason, now, durationMs) =>
      writer.write(() => {
        // A failure is never `absent`: a target without any observation is `unknown`.
        recordUnknown(db, id, now)
        finish.run(db, { id, now, reason, durationMs: durationMs ?? null })
      }),
    closeRun: (id, now) =>
      writer.write(() => {
        markCrashedCalls.run(db, { now })
        resetTasks.run(db, { run: id })
        recordUnknown(db, id, now)
        forgetCountsOf(db, id)
        close.run(db, { id, now })
      }),
    countRanks: async (withinMs = shortlyMs) => {
      const began = performance.now()
      try {
        for (const run of uncountedRuns(db)) {
          await writer.write(() => countRun(db, run))
          if (performance.now() - began >= withinMs) return
        }
      } catch (error) {
        // Nothing is lost: where totals are missing, the observations themselves are read.
        if (!isDiskFull(error) && !isLocked(error)) throw error
      }
    },
    invalidateRankCounts: (job) => writer.write(() => invalidateCounts(db, job)),
    recover: (runIds, now) =>
      writer.write(() => {
        for (const run of runIds) resetTasks.run(db, { run })
        return markCrashedCalls.run(db, { now }).changes
      }),
  }
}
