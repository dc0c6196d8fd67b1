import type { ChunkLease, StoredAnswer, TaskEnded } from './calls.ts'
import type { ChunkQuery, SharedRun } from './plans.ts'

/** A chunk with everything that is known of its queries: what one worker needs to go on with it. */
export interface LeasedChunk extends ChunkLease {
  /** Its run, with the settings of the job. */
  readonly sharedRun: SharedRun
  /** A later run took the place of its run: asynchronous jobs are still polled, and nothing is bought. */
  readonly isClosed: boolean
  readonly queries: readonly ChunkQuery[]
  /** Credits that may still be spent for it. */
  readonly credits: number
  /** Answers to its tasks. */
  readonly answers: readonly StoredAnswer[]
  /** Its tasks that ended. */
  readonly ended: readonly TaskEnded[]
  /** Asynchronous jobs of its tasks that are not known to have ended. */
  readonly openJobs: readonly OpenSharedJob[]
  /** Answers to the same calls that other runs bought, and that may be used: of the same group, or fresh enough. */
  readonly reusable: readonly ReusableAnswer[]
}

export interface ReusableAnswer extends StoredAnswer {
  /** A run of the same group bought it: it is used even where it repeats another question than asked. */
  readonly isOfGroup: boolean
}

export interface OpenSharedJob {
  readonly call: string
  readonly query: Buffer
  readonly page: number
  readonly jobId: string
  readonly sentAt: number
  readonly acceptedAt: number
}

/** How a worker ended with a chunk. */
export type ChunkEnd =
  /** No page is left to buy. */
  | { readonly state: 'done' }
  /** Pages are left that its credits do not cover: it waits until more is released. */
  | { readonly state: 'planned' }
  /** The worker stops, and another one goes on. */
  | { readonly state: 'released' }
  /** The service cannot be used: whoever coordinates the run stops it. */
  | { readonly state: 'planned'; readonly stop: { readonly reason: string; readonly message: string } }

/** Chunks as workers take them. Leases last by the clock of the database. */
export interface SharedChunks {
  /**
   * Takes released chunks of these keys, up to a number, the most urgent first. Calls of an earlier lease without an end become
   * ambiguous.
   */
  take(
    worker: string,
    keys: readonly string[],
    most: number,
    leaseMs: number,
  ): Promise<readonly LeasedChunk[]>
  /** Renews leases of a worker; the ones that it has lost. */
  renew(worker: string, leases: readonly ChunkLease[], leaseMs: number): Promise<readonly ChunkLease[]>
  /** Ends a lease; what was reserved and not spent is free again, except where the chunk stays released. False where it was lost before. */
  end(worker: string, lease: ChunkLease, end: ChunkEnd): Promise<boolean>
  /** Releases chunks whose lease has run out; those that were lost too often become `dead`. How many there were. */
  takeBack(mostTakeovers: number): Promise<{ readonly released: number; readonly dead: number }>
  /** Whether any chunk of these keys is released or leased, or may be released soon. */
  hasWork(keys: readonly string[]): Promise<boolean>
}
