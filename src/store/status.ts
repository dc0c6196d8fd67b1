import type { Run } from '../model/run.ts'
import type { LedgerMark, UsageReading } from './ledger.ts'

/** What says how jobs are doing, of the whole database. */
export interface StatusReads {
  /** Names of all jobs that ever ran, in alphabetical order. */
  jobsThatRan(): Promise<readonly string[]>
  /** The newest run of a job, and the newest that gave what it was made for; null where there is none. */
  newestRuns(job: string): Promise<{ readonly last: Run | null; readonly good: Run | null }>
  /** The newest reading of the service's usage record, with whatever key. */
  newestUsage(): Promise<UsageReading | null>
  /** The end of the ledger as it was at an instant: what came later is after it. */
  markAt(instant: number): Promise<LedgerMark>
}
