import type { ChunkState, SharedJob } from './plans.ts'

/** A process that takes chunks. */
export interface WorkerRow {
  readonly id: string
  /** Host and process, for people. */
  readonly name: string
  readonly version: string
  readonly keys: readonly string[]
  readonly startedAt: number
  readonly seenAt: number
  /** How far its clock is ahead of the database's, in milliseconds. */
  readonly clockOffsetMs: number
  /** Chunks that it has. */
  readonly chunks: number
}

/** What `queue status` shows. Instants are epoch milliseconds, sums are credits. */
export interface QueueStatus {
  readonly schemaVersion: number
  readonly workers: readonly WorkerRow[]
  readonly runs: readonly {
    readonly run: string
    readonly keyHash: string
    readonly job: string
    readonly startedAt: number
    readonly coordinator: string | null
    readonly chunks: Readonly<Record<ChunkState, number>>
    readonly spent: number
    readonly inDoubt: number
    readonly reserved: number
  }[]
  readonly keys: readonly {
    readonly keyHash: string
    readonly perSecond: number | null
    readonly perMinute: number | null
    readonly heldUntil: number | null
    readonly remaining: number | null
  }[]
  readonly readers: readonly { readonly name: string; readonly seenAt: number; readonly isBehind: boolean }[]
}

/** A job that was moved to another key, and what went with it. */
export interface MovedJob extends SharedJob {
  readonly runs: number
  /** Chunks that are not over, and those of them that workers of the former key have and finish. */
  readonly chunks: number
  readonly leased: number
}

/** Thrown where a job cannot be moved to another key now: nothing was changed. */
export class RekeyRefused extends Error {
  override readonly name = 'RekeyRefused'
  readonly job: string
  /** Whether another process coordinates it now; else it has an unfinished run with each of the keys. */
  readonly heldBy: string | null

  constructor(job: string, heldBy: string | null) {
    super(`${job} cannot be moved to another key now`)
    this.job = job
    this.heldBy = heldBy
  }
}

/** What keeps the queue going and what people ask of it. */
export interface QueueOperations {
  /** Notes that a worker is alive. Answers why it may take no more chunks: the journal is newer than it knows; null where it may. */
  seen(worker: Omit<WorkerRow, 'seenAt' | 'chunks'>): Promise<string | null>
  gone(worker: string): Promise<void>
  status(): Promise<QueueStatus>
  /** Asks coordinators to stop and takes released chunks back, so that workers finish what they have and then idle; how many. */
  drain(): Promise<number>
  /** Makes dead chunks planned again; how many. */
  retry(): Promise<number>
  /** All jobs, by name and key. */
  jobs(): Promise<readonly SharedJob[]>
  /** Moves jobs to another key, with their runs and chunks. Rejected with `RekeyRefused`. */
  rekey(jobs: readonly SharedJob[], to: string): Promise<readonly MovedJob[]>
  /** The clock of the database, epoch milliseconds with fractions. */
  now(): Promise<number>
}
