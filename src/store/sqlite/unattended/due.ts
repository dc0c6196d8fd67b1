import type { Database } from 'better-sqlite3'
import { desc, eq, sql } from 'drizzle-orm'
import { tooLongStatuses } from '../../../model/call.ts'
import type { QueryFailure } from '../../../model/query.ts'
import type { DueReads, StoredQueryHistory } from '../../unattended.ts'
import { orm, prepared, type Values } from '../connection/statements.ts'
import { answers, calls, queries, runs, tasks } from '../schema.ts'

const queryOfKey = prepared(($: Values<{ key: Buffer }>) =>
  orm.select({ id: queries.id }).from(queries).where(eq(queries.key, $.key)),
)

const endedAt = sql<number>`coalesce(${runs.finishedAt}, ${runs.startedAt})`

/** Runs go on for days: one that began earlier may have ended later. */
const oldestRun = prepared(
  ($: Values<{ job: string; since: number; unfinished: number | null }>) => sql<{
    id: number | null
  }>`SELECT min(${runs.id}) AS id FROM ${runs}
    WHERE ${runs.job} = ${$.job} AND (${endedAt} >= ${$.since} OR ${runs.finishedAt} IS NULL OR ${runs.id} = ${$.unfinished})`,
)

const isOpen = sql`${tasks.state} IN ('pending', 'leased', 'sent', 'accepted', 'answered')`

/** What each run made of a query, the newest first. */
const inRuns = prepared(($: Values<{ job: string; oldest: number; query: number }>) =>
  orm
    .select({
      run: runs.id,
      startedAt: runs.startedAt,
      endedAt,
      open: sql<number>`sum(${isOpen})`,
      failed: sql<number>`sum(${tasks.state} = 'failed')`,
      done: sql<number>`sum(${tasks.state} = 'done')`,
      fetchedAt: sql<number | null>`max(${answers.fetchedAt})`,
    })
    .from(runs)
    .innerJoin(tasks, sql`${tasks.runId} = ${runs.id} AND ${tasks.queryId} = ${$.query}`)
    .leftJoin(answers, eq(answers.id, tasks.answerId))
    .where(sql`${runs.job} = ${$.job} AND ${runs.id} >= ${$.oldest}`)
    .groupBy(runs.id)
    .orderBy(desc(runs.id)),
)

/** Queries of a run with a task that failed after a 400 or a 404, or because its request is too long. */
const refusedIn = prepared(($: Values<{ run: number }>) =>
  orm
    .selectDistinct({ query: tasks.queryId })
    .from(calls)
    .innerJoin(tasks, eq(tasks.id, calls.taskId))
    .where(
      sql`${calls.runId} = ${$.run} AND ${calls.httpStatus} IN (${sql.raw([400, 404, ...tooLongStatuses].join(', '))})
        AND ${tasks.runId} = ${$.run} AND ${tasks.state} = 'failed'`,
    ),
)

const unknownQuery: StoredQueryHistory = { answeredAt: null, failures: [], inRun: 'not-asked' }

export function dueReads(db: Database): DueReads {
  return {
    queryHistories: async (job, keys, { since, unfinishedRun }) => {
      const oldest = oldestRun.get(db, { job, since, unfinished: unfinishedRun })?.id ?? null
      if (oldest === null) return keys.map(() => unknownQuery)
      const refused = new Map<number, ReadonlySet<number>>()
      const refusedOf = (run: number): ReadonlySet<number> => {
        const known = refused.get(run) ?? new Set(refusedIn.all(db, { run }).map(({ query }) => query))
        refused.set(run, known)
        return known
      }
      return keys.map((key) => {
        const query = queryOfKey.get(db, { key })?.id
        if (query === undefined) return unknownQuery
        return historyOf(db, { job, oldest, query }, unfinishedRun, refusedOf)
      })
    },
  }
}

function historyOf(
  db: Database,
  wanted: { readonly job: string; readonly oldest: number; readonly query: number },
  unfinishedRun: number | null,
  refusedOf: (run: number) => ReadonlySet<number>,
): StoredQueryHistory {
  const failures: QueryFailure[] = []
  let inRun: StoredQueryHistory['inRun'] = 'not-asked'
  for (const { run, startedAt, endedAt, open, failed, done, fetchedAt } of inRuns.each(db, wanted)) {
    if (run === unfinishedRun) inRun = open > 0 ? 'open' : 'settled'
    if (failed > 0) failures.push({ at: endedAt, isFinal: refusedOf(run).has(wanted.query) })
    // A stored answer that is used again counts from the run that used it.
    else if (open === 0 && done > 0)
      return { answeredAt: Math.max(fetchedAt ?? 0, startedAt), failures, inRun }
  }
  return { answeredAt: null, failures, inRun }
}
