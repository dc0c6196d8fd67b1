import type { Database } from 'better-sqlite3'
import { and, desc, eq, lte, ne } from 'drizzle-orm'
import { removedJob } from '../../../model/job.ts'
import { isComplete, isGoodRun } from '../../../model/run.ts'
import type { StatusReads } from '../../unattended.ts'
import { drizzle } from '../connection/statements.ts'
import { lastUsageOfAll, markAt } from '../ledger/sums.ts'
import { isNoRecheck, loadRun, taskCounts } from '../runs.ts'
import { runs } from '../schema.ts'

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
      const begun = drizzle(db)
        .select({ id: runs.id, reason: runs.finishReason })
        .from(runs)
        .where(and(eq(runs.job, job), lte(runs.startedAt, until), isNoRecheck))
        .orderBy(desc(runs.id))
        .all()
      const load = (run: { readonly id: number } | undefined) =>
        run === undefined ? null : loadRun(db, run.id)
      return {
        last: load(begun[0]),
        good: load(
          begun.find(({ id, reason }) => isComplete(reason) && isGoodRun(reason, taskCounts(db, id))),
        ),
      }
    },
    newestUsage: async () => lastUsageOfAll(db),
    markAt: async (instant) => markAt(db, instant),
  }
}
