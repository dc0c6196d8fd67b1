import type { RateLimits, Settlement } from '../model/call.ts'
import { UsageError } from '../model/errors.ts'
import type { Target } from '../model/job.ts'
import type { PlannedQuery } from '../model/query.ts'
import type { TimeSpan } from '../model/time.ts'
import type { TargetHistory } from '../rank/paging.ts'
import type { JobSpending, UsageReading } from '../store/journal.ts'
import type {
  JournalPosition,
  NewSharedCall,
  SharedCall,
  SharedJob,
  SharedRun,
  SharedRunEnd,
  StoredAnswer,
  TaskEnded,
} from '../store/sync.ts'

/**
 * What machines that share a key write down together: plans, calls, answers, one rate limit, one budget. Rejected with
 * `JournalUnreachable` while the database cannot be reached; what was asked may be asked again.
 */
export interface SharedJournal extends AsyncDisposable {
  readonly plans: SharedPlans
  readonly chunks: SharedChunks
  readonly calls: SharedCalls
  readonly rates: SharedRates
  readonly spending: SharedSpending
  readonly changes: SharedChanges
  readonly operations: QueueOperations
  /** Ends every connection at once, because the process ends: what is under way, and what is asked later, is rejected with `JournalAbandoned`. */
  abandon(): void
}

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
  readonly workers: readonly (WorkerRow & {
    /** What its calls came to that ended within the last minute. */
    readonly lastMinute: {
      readonly calls: number
      readonly errors: number
      readonly credits: number
      readonly lastError: string | null
    }
  })[]
  readonly runs: readonly {
    readonly run: string
    readonly keyHash: string
    readonly job: string
    readonly startedAt: number
    readonly coordinator: string | null
    readonly isPaused: boolean
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
    /** When a worker leased a send time last; null where none did. */
    readonly lastLeaseAt: number | null
    readonly remaining: number | null
  }[]
  readonly readers: readonly { readonly name: string; readonly seenAt: number; readonly isBehind: boolean }[]
  readonly paused: readonly (PausedPart & { readonly since: number })[]
  readonly dead: readonly DeadChunk[]
  /** What keeps databases from reading; null where nothing does. Each change does for an instant. */
  readonly blockedBy: BlockingTransaction | null
}

/** What people have paused: a job of a key, a key, a worker by its name or its host, or, where all are null, the whole queue. */
export interface PausedPart {
  readonly keyHash: string | null
  readonly job: string | null
  readonly worker: string | null
}

/** A chunk that is left alone, for too many workers were lost over it. */
export interface DeadChunk extends SharedJob {
  readonly queries: number
  /** Texts of the queries of it that the last worker was asking when it was lost. */
  readonly lastQueries: readonly string[]
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
  /** Notes that a worker is alive. */
  seen(worker: Omit<WorkerRow, 'seenAt' | 'chunks'>): Promise<{
    /** Why it may take no more chunks: the journal is newer than it knows; null where it may. */
    readonly tooNew: string | null
    /** How many workers of its keys are up, with itself. */
    readonly workers: number
  }>
  gone(worker: string): Promise<void>
  status(): Promise<QueueStatus>
  /** Asks coordinators to stop and takes released chunks back, so that workers finish what they have and then idle; how many. */
  drain(): Promise<number>
  /** Pauses these parts: nothing of them is released or taken until they are resumed, and workers finish what they have. Takes released chunks of them back; how many. */
  pause(parts: readonly PausedPart[]): Promise<number>
  /** Resumes these parts, of which each was paused by itself; how many were. */
  resume(parts: readonly PausedPart[]): Promise<number>
  /** Makes dead chunks planned again; how many. */
  retry(): Promise<number>
  /** All jobs, by name and key. */
  jobs(): Promise<readonly SharedJob[]>
  /** Moves jobs to another key, with their runs and chunks. Rejected with `RekeyRefused`. */
  rekey(jobs: readonly SharedJob[], to: string): Promise<readonly MovedJob[]>
  /** The clock of the database, epoch milliseconds with fractions. */
  now(): Promise<number>
}

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

/** Send times for calls of one key, by the clock of the database. */
export interface LeasedTimes {
  /** When the first send time begins, epoch milliseconds of the database with fractions. */
  readonly firstAt: number
  readonly spacingMs: number
  readonly given: number
  /** Whether the service has refused a call: the only send time is for a call that tries whether it takes calls again. */
  readonly isProbe: boolean
  /** What the clock of the database showed when the lease was made. */
  readonly now: number
}

/** Without a limit, calls leave at once. */
export type LeaseAnswer = LeasedTimes | { readonly unlimited: true; readonly now: number }

/** The one rate limit of a key, for all machines. */
export interface SharedRates {
  /**
   * Leases `count` send times of a key, the first one not before `leadMs` from now. Send times of the next second are committed
   * without waiting for the disk: after a restart of the database one full window is left free.
   */
  lease(keyHash: string, count: number, leadMs: number): Promise<LeaseAnswer>
  /** The service refused a call for its rate: no process sends for as long as it named. Calls with send times from before the last refusal change nothing. */
  refused(keyHash: string, sentAt: number, namedMs: number | null): Promise<void>
  /** The service took a call that was sent after a refusal. */
  passed(keyHash: string, sentAt: number): Promise<void>
  setLimits(keyHash: string, limits: RateLimits): Promise<void>
  limits(keyHash: string): Promise<RateLimits | null>
}

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
  /** The service cannot be used: the coordinator of the run stops it. */
  | { readonly state: 'planned'; readonly stop: { readonly reason: string; readonly message: string } }

/** Chunks as workers take them. Leases last by the clock of the database. */
export interface SharedChunks {
  /**
   * Takes released chunks of these keys, up to a number. Jobs take turns: first comes the one that has the fewest chunks under way, and of
   * several the one that was served longest ago; of a job, the most urgent chunk. Calls of an earlier lease without an end become ambiguous.
   */
  take(
    worker: string,
    keys: readonly string[],
    most: number,
    leaseMs: number,
    options?: {
      /** What people call the worker: where they have paused it, it gets none. */
      readonly name?: string
      /** Whether it takes those of any job, or only those of jobs of which no worker has a chunk. */
      readonly which?: 'any' | 'others'
    },
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

/** A part of the plan of a run, in the order of the file. */
export interface PlanPart {
  readonly queries: readonly PlannedQuery[]
  /** Keys of queries that the job asks and that this run leaves out, because they are not due. */
  readonly leftOut: readonly Buffer[]
}

/** A page of a query, which is named by its key. */
export interface SharedPage {
  readonly query: Buffer
  readonly page: number
}

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

/** How far a run is. */
export interface SharedProgress {
  readonly chunks: Readonly<Record<ChunkState, number>>
  /** Credits billed, possibly billed, and reserved for chunks that are released. */
  readonly spent: number
  readonly inDoubt: number
  readonly reserved: number
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

/**
 * Runs and their plans, written by the one process that coordinates a job: it names itself by its id, and is refused with
 * `CoordinationLost` when another one has taken over.
 */
export interface SharedPlans {
  /**
   * Takes or renews the right to coordinate these jobs, for so long; the jobs that another process has, with its name. All or none
   * are taken.
   */
  coordinate(
    jobs: readonly SharedJob[],
    coordinator: { readonly id: string; readonly name: string; readonly leaseMs: number },
  ): Promise<readonly (SharedJob & { readonly heldBy: string })[]>
  /** Gives that right back. */
  leave(jobs: readonly SharedJob[], coordinator: string): Promise<void>
  /**
   * Writes a run with its whole plan, or a newer plan of it, and opens it; chunks that no worker has are cancelled. Answers the version of
   * the plan. Rejected with `CoordinationLost` where the run has another key.
   */
  publish(coordinator: string, run: SharedRun, plan: () => AsyncIterable<PlanPart>): Promise<number>
  /** Adds chunks to a run; nothing is reserved for them. Written twice under the same id, they are there once. */
  addChunks(
    coordinator: string,
    run: string,
    group: { readonly id: string; readonly chunks: readonly NewChunk[] },
  ): Promise<void>
  /** Cancels chunks of these runs that no worker has; what was reserved for them is free again. */
  cancelChunks(coordinator: string, runs: readonly string[]): Promise<void>
  /** Keys of queries in chunks of these runs that workers may buy or are buying. */
  queriesInWork(runs: readonly string[]): Promise<readonly Buffer[]>
  /** Pages of a run that failed. */
  failedPages(run: string): Promise<readonly SharedPage[]>
  /** Forgets that these pages failed, so that they are bought again; answers that could not be used are not read again. */
  buyAgain(coordinator: string, run: string, pages: readonly SharedPage[]): Promise<void>
  /** How far a run is. Rejected with one sentence where the journal was brought to a version that this process does not know. */
  progress(run: string): Promise<SharedProgress>
  finish(coordinator: string, run: string, end: SharedRunEnd): Promise<void>
  /** The key of a run; null where it was never published. */
  keyOf(run: string): Promise<string | null>
  /** A later run took its place: its job, which may have another key, needs no coordinator, and another process must not take it. */
  close(coordinator: string, run: string, now: number): Promise<void>
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
  readonly kept: {
    /** The number of the reader's last change that is certainly not lost. */
    readonly lastChange: number
  } | null
  /** When the server failed over, as far as that was noticed: epoch milliseconds. */
  readonly failovers: readonly number[]
  /** Whether the reader was away for so long that changes were dropped which it had not read. */
  readonly isIncomplete: boolean
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
  reached(
    reader: {
      readonly id: string
      /** For people: host and path. */
      readonly name: string
    },
    position: JournalPosition,
    lastChange: number,
  ): Promise<void>
  /** Writes what a reader has read into the journal again, as far as it lacks it, and as this user has the right to do so. */
  putBack(lost: LostChanges): Promise<void>
  /**
   * Where this user has the right to do so, drops what is older than `keepMs` and all readers have; readers that were not seen for `forgetAfterMs` do
   * not count. How many bodies and rows were dropped.
   */
  dropRead(keepMs: number, forgetAfterMs: number): Promise<number>
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

/**
 * The shared ledger. Changes that come in one turn of the event loop, or while others are written, are one transaction; each is durable
 * when its promise is fulfilled.
 */
export interface SharedCalls {
  /** Writes a call before it is sent. Rejected with `LeaseLost` where the chunk is not this worker's any more. */
  begin(lease: ChunkLease, call: NewSharedCall): Promise<void>
  /** Settles a call that brought no answer; a free lookup is written with its settlement. Not refused when the lease was lost. */
  settle(call: NewSharedCall, settlement: Settlement): Promise<void>
  /**
   * Stores an answer and settles its call as billed. Not refused when the lease was lost: it was paid for.
   *
   * @param others where more are to come, it waits a moment and is written with them
   */
  answer(
    call: NewSharedCall,
    settlement: Settlement | null,
    answer: StoredAnswer,
    others?: 'coming',
  ): Promise<void>
  /** Notes that the service took a call as an asynchronous job. */
  acceptJob(call: NewSharedCall, settlement: Settlement, jobId: string): Promise<void>
  /** Ends a job without an answer: not billed (0), or not known (null). */
  endJob(call: NewSharedCall, billed: 0 | null, now: number): Promise<void>
  /** Records how a task ended, unless its end is recorded already. Rejected with `LeaseLost`, as `begin`. It waits for others that are to come, too. */
  endTask(lease: ChunkLease, ended: TaskEnded, others?: 'coming'): Promise<void>
  /** Stores a reading of the account. */
  saveUsage(reading: Omit<UsageReading, 'runId'> & { readonly run: string | null }): Promise<void>
  /** Fulfilled when all that was begun is written. */
  flush(): Promise<void>
  /** Rejects what still waits for the database, with `JournalAbandoned`: the process ends. */
  abandon(): void
}
