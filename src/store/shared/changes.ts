import type { UsageReading } from '../journal.ts'
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

/** What a reader has and the journal may have lost. */
export interface LostChanges {
  readonly calls: readonly SharedCall[]
  readonly answers: readonly { readonly run: string; readonly answer: StoredAnswer }[]
  readonly readings: readonly { readonly reading: Omit<UsageReading, 'runId'>; readonly run: string | null }[]
  readonly ends: readonly TaskEnded[]
}

export interface ChangeBatch {
  readonly changes: readonly JournalChange[]
  readonly position: JournalPosition
  /** Whether more is there already. */
  readonly more: boolean
  /** What is there and cannot be read yet; null where nothing is. */
  readonly unread: UnreadChanges | null
  /**
   * Where the server failed over, and what this reader has read since it noted its position may be lost: no changes come, and the position
   * is the one up to which nothing is lost.
   */
  readonly kept: KeptByFailover | null
  /** When the server failed over, as far as that was noticed: epoch milliseconds. */
  readonly failovers: readonly number[]
}

interface KeptByFailover {
  /** The number of the reader's last change that is certainly not lost. */
  readonly lastChange: number
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

/** A position is a transaction of a timeline of the server; null where it was noted before timelines were. */
export function readPosition(position: JournalPosition) {
  const [transaction, timeline = null] = position.split('/').reverse() as [string, string?]
  return { timeline: timeline === null ? null : Number(timeline), transaction: BigInt(transaction) }
}

/** Whether the server failed over between two positions. */
export function isNewTimeline(before: JournalPosition | null, after: JournalPosition): boolean {
  const known = before === null ? null : readPosition(before).timeline
  return known !== null && readPosition(after).timeline !== known
}

/** Whether a position lies behind another one, or is the same. */
export function hasReached(position: JournalPosition, wanted: JournalPosition): boolean {
  const [here, there] = [readPosition(position), readPosition(wanted)]
  if (here.timeline !== null && there.timeline !== null && here.timeline !== there.timeline)
    return here.timeline > there.timeline
  return here.transaction >= there.transaction
}

/** A database that follows the journal. */
interface JournalReader {
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
  /** What was committed after a position (null for the beginning) and the reader lacks, so much of it at most. Skips nothing that a slow transaction commits later. Rejected with `JournalWentBack`. */
  after(position: JournalPosition | null, mostRows: number, reader?: string): Promise<ChangeBatch>
  /** The parts of that version of the plan of a run, in order. */
  plan(run: string, version: number): AsyncIterable<PlanPart>
  /** Whether this user may note in the journal how far a reader is. */
  isNoted(): Promise<boolean>
  /** Notes how far a reader is, and the number of the last change that it read: what all readers have may be dropped. Without the right to do so, nothing is noted. */
  reached(reader: JournalReader, position: JournalPosition, lastChange: number): Promise<void>
  /** Writes what a reader has read into the journal again, as far as it lacks it, and as this user has the right to do so. */
  putBack(lost: LostChanges): Promise<void>
  /**
   * Where this user has the right to do so, drops bodies that are older than `keepMs` and that all readers have; readers that were not seen for `forgetAfterMs` do not count.
   * How many were dropped.
   */
  dropRead(keepMs: number, forgetAfterMs: number): Promise<number>
}
