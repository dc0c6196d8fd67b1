import type { AlertKind } from '../model/alert.ts'
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
  /** Alerts that began and are not over, the newest first. */
  openAlerts(): Promise<readonly OpenAlert[]>
  /** The end of the ledger as it was at an instant: what came later is after it. */
  markAt(instant: number): Promise<LedgerMark>
}

export interface OpenAlert {
  readonly id: string
  readonly job: string
  readonly when: AlertKind
  readonly text: string
  readonly openedAt: number
  readonly mutedUntil: number | null
}
