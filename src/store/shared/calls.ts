import type { Settlement } from '../../model/call.ts'
import type { PagingDecision } from '../../rank/paging.ts'
import type { CompressedBody } from '../compression.ts'
import type { UsageReading } from '../journal.ts'

/** A lease of a chunk. A later one has a higher fence, and what still comes under an earlier one can begin no call. */
export interface ChunkLease {
  readonly chunk: string
  readonly run: string
  readonly fence: number
}

/** One page of one query of a run: what a task is on all machines. */
export interface SharedTask {
  readonly run: string
  /** Key of its query, 16 bytes. */
  readonly query: Buffer
  readonly page: number
}

/** A call in the shared ledger. Its id is made by the worker, so that writing it twice changes nothing. */
export interface NewSharedCall {
  readonly id: string
  /** Null for a free lookup that belongs to no task. */
  readonly task: SharedTask | null
  readonly operation: string
  readonly credits: number
  readonly sentAt: number
  readonly keyHash: string
}

export interface SharedCall extends NewSharedCall {
  /** Null while it is in flight. */
  readonly settlement: Settlement | null
}

/** A body as it came, and the call that brought it. */
export interface StoredAnswer extends CompressedBody {
  readonly call: string
  readonly query: Buffer
  readonly page: number
  readonly fetchedAt: number
}

/** How a task ended. The first end that is recorded counts. */
export interface TaskEnded {
  readonly task: SharedTask
  readonly end: AnswerEnd | FailedEnd
  /** The page that may be bought now, or why none follows; null where nothing changed. */
  readonly paging: PagingDecision | null
}

/** The answer of that call counts; it may be one of another run. */
interface AnswerEnd {
  readonly call: string
  readonly reused: boolean
}

interface FailedEnd {
  /** The answer that was paid for and cannot be used; null where none came. */
  readonly call: string | null
  readonly cause: string
}

/** Thrown where a lease was lost: another worker has the chunk. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/**
 * The shared ledger. Changes that come in one turn of the event loop, or while others are written, are one transaction; each is durable
 * when its promise is fulfilled.
 */
export interface SharedCalls {
  /** Writes a call before it is sent. Rejected with `LeaseLost` where the chunk is not this worker's any more. */
  begin(lease: ChunkLease, call: NewSharedCall): Promise<void>
  /** Settles a call that brought no answer; a free lookup is written with its settlement. Not refused when the lease was lost. */
  settle(call: NewSharedCall, settlement: Settlement): Promise<void>
  /** Stores an answer and settles its call as billed. Not refused when the lease was lost: it was paid for. */
  answer(call: NewSharedCall, settlement: Settlement | null, answer: StoredAnswer): Promise<void>
  /** Notes that the service took a call as an asynchronous job. */
  acceptJob(call: NewSharedCall, settlement: Settlement, jobId: string): Promise<void>
  /** Ends a job without an answer: not billed (0), or not known (null). */
  endJob(call: NewSharedCall, billed: 0 | null, now: number): Promise<void>
  /** Records how a task ended, unless its end is recorded already. Rejected with `LeaseLost`, as `begin`. */
  endTask(lease: ChunkLease, ended: TaskEnded): Promise<void>
  /** Stores a reading of the account. */
  saveUsage(reading: Omit<UsageReading, 'runId'> & { readonly run: string | null }): Promise<void>
  /** Fulfilled when all that was begun is written. */
  flush(): Promise<void>
  /** Rejects what still waits for the database, with `JournalAbandoned`: the process ends. */
  abandon(): void
}
