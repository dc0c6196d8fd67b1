import type { ChunkState } from './plans.ts'

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
  /** The clock of the database, epoch milliseconds with fractions. */
  now(): Promise<number>
}
