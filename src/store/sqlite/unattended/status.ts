import type { Database } from 'better-sqlite3'
import { and, eq, lte, ne, sql } from 'drizzle-orm'
import { removedJob } from '../../../model/job.ts'
import { type FinishReason, isComplete, isGoodRun } from '../../../model/run.ts'
import type { StatusReads } from '../../unattended.ts'
import { drizzle, each } from '../connection/statements.ts'
import { lastUsageOfAll, markAt } from '../ledger/sums.ts'
import { isNoRecheck, loadRun, taskCounts } from '../runs.ts'
import { runs } from '../schema.ts'

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

export function statusReads(db: Database): StatusReads {
  return {
    jobsThatRan: async () =>
      drizzle(db)
        .selectDistinct({ job: runs.job })
        .from(runs)
        .where(ne(runs.job, removedJob))
        .orderBy(runs.job)
        .all()
        .map(({ job }) => job),
    newestRuns: async (job, until) => {
      let last: number | null = null
      for (const { id, reason } of runsUntil(db, job, until)) {
        last ??= id
        if (isComplete(reason) && isGoodRun(reason, taskCounts(db, id)))
          return { last: loadRun(db, last), good: loadRun(db, id) }
      }
      return { last: last === null ? null : loadRun(db, last), good: null }
    },
    newestUsage: async () => lastUsageOfAll(db),
    markAt: async (instant) => markAt(db, instant),
  }
}
