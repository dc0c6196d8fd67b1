import type { UsageReading } from '../ledger.ts'
import type { SharedCall, StoredAnswer, TaskEnded } from './calls.ts'
import type { PlanPart, SharedRun, SharedRunEnd } from './plans.ts'

/** How far a reader has come; opaque, and nothing before it changes any more. */
export type JournalPosition = string

/** What was written into the journal, in an order in which it can be applied. */
export type JournalChange =
  /** A run began, or has a newer plan and goes on. */
  | { readonly kind: 'plan'; readonly run: SharedRun; readonly version: number }
  /** A run ended by that version of its plan. */
  | { readonly kind: 'run-end'; readonly run: string; readonly version: number; readonly end: SharedRunEnd }
  | { readonly kind: 'run-closed'; readonly run: string; readonly at: number }
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
  /** What is there and cannot be read yet; null where nothing is. */
  readonly unread: UnreadChanges | null
}

/** Changes between two positions, which cannot be read before a transaction is over that began before them. */
export interface UnreadChanges {
  readonly from: JournalPosition
  readonly until: JournalPosition
  readonly blockedBy: BlockingTransaction
}

/** A transaction that is under way and has changed the journal, or may. What the database does not tell of it is null. */
export interface BlockingTransaction {
  readonly id: string
  /** The process of the database server that it runs in. */
  readonly pid: number | null
  /** Its name where it waits, prepared, to be committed. */
  readonly prepared: string | null
  readonly application: string | null
  readonly user: string | null
  readonly database: string | null
  /** When it began, epoch milliseconds. */
  readonly since: number | null
}

/** Whether all is before a position that is before another one. */
export function hasReached(position: JournalPosition, wanted: JournalPosition): boolean {
  return BigInt(position) >= BigInt(wanted)
}

/** A database that follows the journal. */
export interface JournalReader {
  readonly id: string
  /** For people: host and path. */
  readonly name: string
}

/** Thrown where a position lies behind the end of the journal: an older state of it was restored. */
export class JournalWentBack extends Error {
  override readonly name = 'JournalWentBack'
}

/** The journal for those who read it. */
export interface SharedChanges {
  /** Names this journal, unlike all others. */
  identity(): Promise<string>
  /** What was committed after a position (null for the beginning), so much of it at most. Skips nothing that a slow transaction commits later. Rejected with `JournalWentBack`. */
  after(position: JournalPosition | null, mostRows: number): Promise<ChangeBatch>
  /** The parts of that version of the plan of a run, in order. */
  plan(run: string, version: number): AsyncIterable<PlanPart>
  /** Whether this user may note in the journal how far a reader is. */
  isNoted(): Promise<boolean>
  /** Notes how far a reader is: what all readers have may be dropped. Without the right to do so, nothing is noted. */
  reached(reader: JournalReader, position: JournalPosition): Promise<void>
  /**
   * Where this user has the right to do so, drops bodies that are older than `keepMs` and that all readers have; readers that were not seen for `forgetAfterMs` do not count.
   * How many were dropped.
   */
  dropRead(keepMs: number, forgetAfterMs: number): Promise<number>
}
