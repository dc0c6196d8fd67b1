import type { Database } from 'better-sqlite3'
import { and, desc, eq, inArray, lte, ne } from 'drizzle-orm'
import { removedJob } from '../../../model/job.ts'
import { isGoodRun, type Run } from '../../../model/run.ts'
import type { StatusReads } from '../../unattended.ts'
import { orm, prepared, type Values } from '../connection/statements.ts'
import { lastUsageOfAll, markAt } from '../ledger/sums.ts'
import { isNoRecheck, loadRun, taskCounts } from '../runs.ts'
import { runs } from '../schema.ts'

const jobsOfRuns = prepared(() =>
  orm.selectDistinct({ job: runs.job }).from(runs).where(ne(runs.job, removedJob)).orderBy(runs.job),
)

const newestRun = prepared(($: Values<{ job: string; until: number }>) =>
  orm
    .select({ id: runs.id })
    .from(runs)
    .where(and(eq(runs.job, $.job), lte(runs.startedAt, $.until), isNoRecheck))
    .orderBy(desc(runs.id))
    .limit(1),
)

const completeRuns = prepared(($: Values<{ job: string; until: number }>) =>
  orm
    .select({ id: runs.id, reason: runs.finishReason })
    .from(runs)
    .where(
      and(
        eq(runs.job, $.job),
        lte(runs.startedAt, $.until),
        inArray(runs.finishReason, ['completed', 'completed_with_failures']),
        isNoRecheck,
      ),
    )
    .orderBy(desc(runs.id)),
)

export function statusReads(db: Database): StatusReads {
  return {
    jobsThatRan: async () => jobsOfRuns.all(db).map(({ job }) => job),
    newestRuns: async (job, until) => {
      const last = newestRun.get(db, { job, until })
      return { last: last === undefined ? null : loadRun(db, last.id), good: newestGood(db, job, until) }
    },
    newestUsage: async () => lastUsageOfAll(db),
    markAt: async (instant) => markAt(db, instant),
  }
}

function newestGood(db: Database, job: string, until: number): Run | null {
  for (const { id, reason } of completeRuns.each(db, { job, until }))
    if (isGoodRun(reason, taskCounts(db, id))) return loadRun(db, id)
  return null
}
