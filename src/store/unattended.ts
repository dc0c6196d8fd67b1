import type { QueryHistory } from '../model/query.ts'
import type { Run } from '../model/run.ts'
import type { LedgerMark, UsageReading } from './ledger.ts'

/** What became of a slot: a run was collected, nothing was due, or it could not run. */
export type SlotOutcome = 'ran' | 'nothing-due' | 'skipped'

/** A time of a job's schedule that a process has taken, to run the job. Instants are epoch milliseconds. */
export interface Slot {
  readonly job: string
  readonly slotAt: number
  readonly takenAt: number
  /** The run that it began or continued; null where there is none. */
  readonly runId: number | null
  /** Null while its process is at work, or where that was killed. */
  readonly outcome: SlotOutcome | null
  /** Why it was skipped, in one sentence. */
  readonly reason: string | null
}

interface SlotReads {
  /** The newest slots of a job that were taken, the newest first. */
  slots(job: string, limit: number): Promise<readonly Slot[]>
  /** The newest slot of a job that lies between two instants, both included; null where none was taken. */
  slotIn(job: string, from: number, until: number): Promise<Slot | null>
}

/** Slots are taken while the collector lock is held: one without an outcome is then that of a process that was killed. */
export interface SlotStore extends SlotReads {
  /** Takes a slot of a job; false where it was taken before: of all that try, one gets it. */
  takeSlot(job: string, slotAt: number, now: number): Promise<boolean>
  /** Notes the run that a slot began or continued. */
  noteSlotRun(job: string, slotAt: number, runId: number): Promise<void>
  /** Notes what became of a slot. */
  endSlot(
    job: string,
    slotAt: number,
    end: Pick<Slot, 'runId' | 'reason'> & { readonly outcome: SlotOutcome },
  ): Promise<void>
  /** Notes of older slots without an outcome that their process was killed. */
  endKilledSlots(job: string, before: number): Promise<void>
}

/** What is stored of a query that a job asks. */
export interface StoredQueryHistory extends QueryHistory {
  /** What an unfinished run says of it: `open` where it still has pages to be fetched. */
  readonly inRun: 'not-asked' | 'open' | 'settled'
}

export interface DueReads {
  /**
   * What the runs of a job say of queries, in their order, as far as it happened after an instant. A query is answered when every page
   * that a run wanted is there; it has failed where one is not.
   */
  queryHistories(
    job: string,
    keys: readonly Buffer[],
    look: { readonly since: number; readonly unfinishedRun: number | null },
  ): Promise<readonly StoredQueryHistory[]>
}

/** What says how jobs are doing, of the whole database. */
export interface StatusReads {
  /** Names of all jobs that ever ran and were not removed, in alphabetical order. */
  jobsThatRan(): Promise<readonly string[]>
  /**
   * The newest run of a job until an instant, and the newest that gave what it was made for; null where there is none. Second
   * looks of earlier versions are passed over.
   */
  newestRuns(job: string, until: number): Promise<{ readonly last: Run | null; readonly good: Run | null }>
  /** The newest reading of the service's usage record, with whatever key. */
  newestUsage(): Promise<UsageReading | null>
  /** The end of the ledger as it was at an instant: what came later is after it. */
  markAt(instant: number): Promise<LedgerMark>
}
