import type { TimeSpan } from '../../model/time.ts'
import type { JobSpending, UsageReading } from '../journal.ts'

/** A chunk that waits for credits. */
export interface WaitingChunk {
  readonly id: string
  readonly run: string
  readonly priority: number
  readonly tags: readonly string[]
  /** Credits that it may still need at most, and those of its cheapest page. */
  readonly mostCredits: number
  readonly leastCredits: number
  /** Why the worker that had it last could not go on with the service, JSON; null where none had it, or it used up its credits. */
  readonly stop: string | null
}

/** Credits that are reserved for a released chunk. */
export interface Grant {
  readonly chunk: string
  readonly credits: number
}

/** Thrown where the queue is drained: nothing more is released to this coordinator. */
export class QueueDrained extends Error {
  override readonly name = 'QueueDrained'
}

/** What the budget of a key stands at, read inside the transaction that releases. Reserved credits count as possibly billed. */
export interface SharedStandings {
  /** The newest reading of the account; null where there is none. */
  readonly account: UsageReading | null
  /** Credits billed since that was asked for, possibly billed shortly before or since, and reserved for released chunks. */
  readonly billedSince: number
  readonly ambiguous: number
  readonly reserved: number
  /** By run: billed, and possibly billed or reserved. */
  readonly byRun: ReadonlyMap<string, { readonly spent: number; readonly ambiguous: number }>
  /** Jobs in the journal of this key and of the others that were given, on all hosts. */
  jobs(): Promise<readonly string[]>
  /** By job, in a time; of these keys. */
  creditsSent(span: TimeSpan): Promise<readonly JobSpending[]>
  /** By tag, in these jobs. */
  creditsSentByTag(
    span: TimeSpan,
    jobs: readonly string[],
    tags: readonly string[],
  ): Promise<ReadonlyMap<string, number>>
  /**
   * Of these chunks, which no worker has had, those that have something to do without buying: answers that their pages may use, answers that
   * were paid for and not read, or asynchronous jobs that wait.
   */
  withFreeWork(chunks: readonly string[]): Promise<ReadonlySet<string>>
  /** Calls of that time that were billed or may have been, and as many as what is reserved can pay for. */
  chargedCalls(span: TimeSpan): Promise<number>
}

/** The one budget of a key, for all machines. */
export interface SharedSpending {
  /**
   * Releases chunks of these runs inside one transaction that no other release of these keys runs beside: `decide` is given what waits and
   * what the budget stands at, and says what is reserved for which. Rejected with `CoordinationLost` where another process coordinates a
   * job of these runs, and with `QueueDrained` where it is asked to stop.
   */
  release(
    coordinator: string,
    keyHash: string,
    runs: readonly string[],
    most: number,
    decide: (waiting: readonly WaitingChunk[], standings: SharedStandings) => Promise<readonly Grant[]>,
    /** Keys whose credits count to limits of days and months, too. */
    otherKeys?: readonly string[],
  ): Promise<readonly Grant[]>
  /** By run: billed, and possibly billed or reserved. */
  sumsOf(runs: readonly string[]): Promise<SharedStandings['byRun']>
}
