import { UsageError } from '../model/errors.ts'
import type { Target } from '../model/job.ts'
import type { PlannedQuery } from '../model/query.ts'
import type { TargetHistory } from '../rank/paging.ts'
import type { UsageReading } from '../store/journal.ts'
import type {
  JournalPosition,
  SharedCall,
  SharedRun,
  SharedRunEnd,
  SharedTask,
  StoredAnswer,
  TaskEnded,
} from '../store/sync.ts'

/** A database has no journal, and none is made for what is asked. */
export class JournalMissing extends UsageError {}

/** The journal cannot be reached now. What may wait tries again. */
export class JournalUnreachable extends Error {
  override readonly name = 'JournalUnreachable'
}

/** The process ends before the journal can be reached again: nothing tries again. */
export class JournalAbandoned extends JournalUnreachable {
  constructor() {
    super('the process ends before the queue can be reached again')
  }
}

/** What people have paused: a job of a key, a key, a worker by its name or its host, or, where all are null, the whole queue. */
export interface PausedPart {
  readonly keyHash: string | null
  readonly job: string | null
  readonly worker: string | null
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

/** Credits that are reserved for a released chunk. */
export interface Grant {
  readonly chunk: string
  readonly credits: number
}

/** Thrown where the queue is drained: nothing more is released to this coordinator. */
export class QueueDrained extends Error {
  override readonly name = 'QueueDrained'
}

/** How a worker ended with a chunk. */
export type ChunkEnd =
  /** No page is left to buy. */
  | { readonly state: 'done' }
  /** Pages are left that its credits do not cover: it waits until more is released. */
  | { readonly state: 'planned' }
  /** The worker stops, and another one goes on. */
  | { readonly state: 'released' }
  /** The service cannot be used: the coordinator of the run stops it. */
  | { readonly state: 'planned'; readonly stop: { readonly reason: string; readonly message: string } }

/** A part of the plan of a run, in the order of the file. */
export interface PlanPart {
  readonly queries: readonly PlannedQuery[]
  /** Keys of queries that the job asks and that this run leaves out, because they are not due. */
  readonly leftOut: readonly Buffer[]
}

/** A page of a query, which is named by its key. */
export type SharedPage = Pick<SharedTask, 'query' | 'page'>

/** What one worker takes at a time: some queries of a run, with all that their paging needs. */
export interface NewChunk {
  /** Higher is bought first. */
  readonly priority: number
  /** Limited tags that all of its queries have. */
  readonly tags: readonly string[]
  readonly queries: readonly ChunkQuery[]
  /** Credits for every page that may be bought. */
  readonly mostCredits: number
  /** Credits of its cheapest page. */
  readonly leastCredits: number
}

export interface ChunkQuery extends PlannedQuery {
  /** What earlier runs saw of its targets; empty where the policy of the job does not ask. */
  readonly history: readonly (TargetHistory & { readonly target: Pick<Target, 'site' | 'match' | 'also'> })[]
}

/**
 * `planned`: nothing is reserved for it. `released`: its credits are reserved, any worker may take it. `leased`: a worker has it.
 * `done`: no page is left to buy. `cancelled`: a newer plan took its place. `dead`: workers that had it died too often.
 */
export type ChunkState = 'planned' | 'released' | 'leased' | 'done' | 'cancelled' | 'dead'

/** Thrown where another process coordinates the job now: nothing was written. */
export class CoordinationLost extends Error {
  override readonly name = 'CoordinationLost'
}

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
  /** Changes that are there and cannot be read before a transaction is over that began before them; null where there are none. */
  readonly unread: {
    readonly from: JournalPosition
    readonly until: JournalPosition
    readonly blockedBy: BlockingTransaction
  } | null
  /**
   * Where the server failed over, and what this reader knows since it noted its position may be lost. If it has read something since, no
   * changes come, and the position is the one up to which nothing is lost.
   */
  readonly kept: {
    /** The number of the reader's last change that is certainly not lost. */
    readonly lastChange: number
  } | null
  /** When the server failed over, as far as that was noticed: epoch milliseconds. */
  readonly failovers: readonly number[]
  /** Whether the reader was away for so long that changes were dropped which it had not read. */
  readonly isIncomplete: boolean
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

/** Thrown where a position lies behind the end of the journal: an older state of it was restored. */
export class JournalWentBack extends Error {
  override readonly name = 'JournalWentBack'
}

/** A lease of a chunk. A later one has a higher fence, and what still comes under an earlier one can begin no call. */
export interface ChunkLease {
  readonly chunk: string
  readonly run: string
  readonly fence: number
}

/** Thrown where a lease was lost: another worker has the chunk. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}
