import type { Run } from '../model/run.ts'
import type { UsageReading } from './ledger.ts'

/** What says how jobs are doing, of the whole database. */
export interface StatusReads {
  /** Names of all jobs that ever ran, in alphabetical order. */
  jobsThatRan(): Promise<readonly string[]>
  /** The newest run of a job, and the newest that gave what it was made for; null where there is none. */
  newestRuns(job: string): Promise<{ readonly last: Run | null; readonly good: Run | null }>
  /** The newest reading of the service's usage record, with whatever key. */
  newestUsage(): Promise<UsageReading | null>
  /** Alerts that began and are not over, by job; a job without any is missing. */
  openAlertCounts(): Promise<ReadonlyMap<string, number>>
}
