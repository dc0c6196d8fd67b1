import type { SkippedTotal } from '../ledger/budget.ts'
import type { PeriodLimits } from '../ledger/period-limits.ts'
import type { Outcome, Settlement } from '../model/call.ts'
import type { EchoMismatch, ParsedAnswer } from '../model/result.ts'
import type { Task } from '../model/run.ts'
import type { TimeSpan } from '../model/time.ts'
import type { QueryState, QueryUpdate } from '../rank/paging.ts'

/** What runs may spend. */
export interface Funds {
  readonly runs: readonly {
    readonly runId: number
    /** What its own budget allows. */
    readonly budget: number
    /** What must be left of the balance after each of its tasks. */
    readonly keep: number
    /** Stored answers fetched in this time are used; null where none are. */
    readonly fresh: TimeSpan | null
  }[]
  /** Limits that several of the runs share, and those of tags. */
  readonly limits?: ReturnType<PeriodLimits['shared']>
  /** What the balance covers. */
  readonly credits: number
  /** Tasks at most that have to be bought. */
  readonly calls: number
}

export interface LeaseRequest extends Funds {
  /** Tasks of these operations only. */
  readonly operations: readonly string[]
  /** Tasks at most. */
  readonly limit: number
  /** Whether other runs of their group may have answers, which are used whatever their age. */
  readonly shared: boolean
  /**
   * Tasks at most that have to be bought, by operation; any number where an operation has none. What the others cost is kept
   * for them.
   */
  readonly rooms?: ReadonlyMap<string, number>
}

/** What was left out of a run because nothing covers it. */
export interface SkippedQueries extends SkippedTotal {
  readonly runId: number
}

/** A task that is to be sent again. */
export interface Requeue {
  readonly taskId: number
  readonly tries: number
  /** After all others. */
  readonly nextRound: boolean
}

/** An asynchronous job that the service accepted. */
export interface AcceptedJob {
  readonly taskId: number
  /** The call that submitted it. */
  readonly callId: number
  readonly jobId: string
  readonly acceptedAt: number
}

/** A job that waits for its answer: its task, and when it was submitted. */
export interface OpenJob extends AcceptedJob {
  readonly task: Task
  readonly sentAt: number
}

export interface NewAnswer {
  readonly body: Buffer
  /** How the body is compressed; null where it is as it came, to be compressed with those that come at the same time. */
  readonly encoding: string | null
  /** The call that is billed for it. */
  readonly callId: number
  readonly task: Pick<Task, 'id' | 'runId' | 'queryId' | 'page'>
  /** How that call ended; null where it was settled before, as the submission of a job. */
  readonly settlement: (Settlement & { readonly outcome: Extract<Outcome, 'answered'> }) | null
  readonly fetchedAt: number
}

/** The room that the database has on its disk. */
export interface DiskSpace {
  /**
   * Keeps room on the disk for this many answers; it makes way for them when the disk is full. Answers whether there is as much: where more is
   * wanted than there is, what was kept before stays.
   */
  reserve(answers: number): Promise<boolean>
  release(): Promise<void>
  /** Fulfilled at once when the disk is full, before any change is rejected for it. */
  whenFull(): Promise<void>
  /** Whether nothing new should be bought, for there is hardly room to keep it. */
  isLow(): Promise<boolean>
  /** Bytes that the reserve wants and those that the disk has, where it did not fit. */
  lacking(): { readonly wanted: number; readonly free: number } | null
  /** Whether the disk was full and the reserve had to make way: what remains is for answers alone. */
  isExhausted(): boolean
}

/** The file of an open database, which others may remove, move, replace or cut short meanwhile. */
export interface DatabaseFile {
  /** Looks whether that has happened: what is written from then on is not kept. */
  isLost(): boolean
  /** Fulfilled when it was seen to have happened. */
  whenLost(): Promise<void>
  /** What has happened and what to do, in a sentence; null where nothing has. */
  loss(): string | null
  /** Saves what the open database holds beside where its file was, if that is lost and it can. */
  rescue(): Promise<void>
}

/** Everything that follows from one understood answer, from the failure of one page, or from what is stored already. */
export interface AnswerRecord {
  /** The task that was answered or failed; null where nothing new came. */
  readonly taskId: number | null
  readonly runId: number
  readonly queryId: number
  readonly outcome: { readonly done: ReadAnswer } | { readonly failed: string } | 'as-stored'
  /** Computed inside the change, when the page's own results are stored. */
  readonly follow: (query: QueryState) => QueryUpdate
}

/** How the number of tasks changed by what followed from a page. */
export interface TaskCountChange {
  readonly added: number
  readonly skipped: number
}

/** What an answer says, with the answer that says it and the normaliser that read it. */
export interface ReadAnswer {
  readonly answerId: number
  readonly normaliser: number
  readonly says: ParsedAnswer & { readonly echoMismatch?: EchoMismatch | null }
}

export interface UsageReading {
  readonly runId: number | null
  readonly keyHash: string
  readonly askedAt: number
  readonly readAt: number
  readonly remaining: number | null
  readonly totalUsed: number | null
  /** The record as received. */
  readonly record: string
}

/** What a job spent within a span of time, in credits. */
export interface JobSpending {
  readonly job: string
  readonly spent: number
  /** Of calls that were possibly billed, or are in flight. */
  readonly ambiguous: number
}
