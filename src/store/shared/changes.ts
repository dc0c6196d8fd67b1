import type { UsageReading } from '../ledger.ts'
import type { SharedCall, StoredAnswer, TaskEnded } from './calls.ts'
import type { PlanPart, SharedRun, SharedRunEnd } from './plans.ts'

/** How far a reader has come; opaque, and nothing before it changes any more. */
export type JournalPosition = string

/** What was written into the journal, in an order in which it can be applied. */
export type JournalChange =
  | {
      readonly kind: 'run'
      readonly run: SharedRun
      readonly planVersion: number
      readonly end: SharedRunEnd | null
      readonly closedAt: number | null
    }
  | { readonly kind: 'reading'; readonly reading: Omit<UsageReading, 'runId'>; readonly run: string | null }
  /** A call that is settled, or settled in another way than before. */
  | { readonly kind: 'call'; readonly call: SharedCall }
  | { readonly kind: 'answer'; readonly run: string; readonly answer: StoredAnswer }
  | { readonly kind: 'task-end'; readonly ended: TaskEnded }

export interface ChangeBatch {
  readonly changes: readonly JournalChange[]
  readonly position: JournalPosition
  /** Whether more is there already. */
  readonly more: boolean
}

/** A database that follows the journal. */
export interface JournalReader {
  readonly id: string
  /** For people: host and path. */
  readonly name: string
}

/** The journal for those who read it. */
export interface SharedChanges {
  /** What was committed after a position (null for the beginning), so much of it at most. Skips nothing that a slow transaction commits later. */
  after(position: JournalPosition | null, mostRows: number): Promise<ChangeBatch>
  /** The parts of the newest plan of a run, in order. */
  plan(run: string): AsyncIterable<PlanPart>
  /** Notes how far a reader is: what all readers have may be dropped. */
  reached(reader: JournalReader, position: JournalPosition): Promise<void>
  /** Drops bodies that all readers have, but those of readers not seen for so long; how many. */
  dropRead(forgetAfterMs: number): Promise<number>
}
