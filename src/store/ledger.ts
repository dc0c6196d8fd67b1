import type { Charge, LedgerGroup, LedgerSum, UsageCount } from '../model/call.ts'
import type { TimeSpan } from '../model/time.ts'

/** Calls that were made, what they cost, and readings of the service's own count. */
export interface LedgerStore {
  /**
   * When calls were sent since `instant`, by any process, and when they ended; null where they are in flight. After the clock was set
   * back, calls dated later than `now` are left out if they were sent before a call that is older than `instant`.
   */
  callsSince(
    instant: number,
    now: number,
  ): Promise<readonly { readonly sentAt: number; readonly endedAt: number | null }[]>
  /** Credits of ambiguous calls that ended since `instant`, and when they ended. */
  ambiguousSince(instant: number): Promise<readonly { readonly credits: number; readonly endedAt: number }[]>
  /** Asynchronous jobs of all runs but `runIds` that are not known to have ended, and may be billed any time. */
  openJobsOfOthers(runIds: readonly number[]): Promise<{ readonly calls: number; readonly credits: number }>
  /** Credits of the runs: billed, and not known whether billed. */
  creditsOf(runIds: readonly number[]): Promise<{ readonly spent: number; readonly ambiguous: number }>
  /** Credits of calls that were sent within `span`, by job: billed, and possibly billed or still in flight. */
  creditsSent(span: TimeSpan): Promise<readonly JobSpending[]>
  /**
   * Credits of calls that were sent within `span` for queries with one of `tags`, by tag, in `jobs`. A call whose query a job no longer asks counts for each tag: which
   * ones it had is not known.
   */
  creditsSentByTag(
    span: TimeSpan,
    jobs: readonly string[],
    tags: readonly string[],
  ): Promise<ReadonlyMap<string, number>>
  /** How many calls of the key were sent within `span` and were billed, or may have been. */
  chargedCalls(keyHash: string, span: TimeSpan): Promise<number>
  saveUsage(reading: UsageReading): Promise<void>
  /** The newest reading of the key; of those before an instant where one is given. */
  lastUsage(keyHash: string, before?: number): Promise<UsageReading | null>
  /** Hashes of the keys whose usage was ever read. */
  keysRead(): Promise<readonly string[]>
  /** Readings of the key, in the order in which they were taken. */
  readings(keyHash: string): Iterable<UsageCount>
  /** Calls of the key that cost credits, in the order in which they were sent. */
  charges(keyHash: string): Iterable<Charge>
  /** Where the ledger ends now. */
  mark(): Promise<LedgerMark>
  /** What was read and sent with the key since `mark`, and the last readings before it. */
  ledgerSince(keyHash: string, mark: LedgerMark): Promise<RecentLedger>
  /** Sums by group, in the order of the groups; each call counts where it was bought. */
  sums(by: BuyerGroup, filter: LedgerFilter): Promise<readonly LedgerSum[]>
  /**
   * Sums by group, with each call split among the jobs of one command that asked for it, and among the tags of its query. A client is the label
   * `client` of a query, else the one that the newest run of its job names.
   */
  shares(by: RequesterGroup, filter: LedgerFilter): Promise<readonly LedgerSum[]>
}

/** What a job spent within a span of time, in credits. */
export interface JobSpending {
  readonly job: string
  readonly spent: number
  /** Of calls that were possibly billed, or are in flight. */
  readonly ambiguous: number
}

/** A place in the ledger: everything after it came later. */
export interface LedgerMark {
  readonly reading: number
  readonly call: number
}

/** The end of the ledger of one key. */
export interface RecentLedger {
  /** The last readings before the mark. */
  readonly earlier: readonly UsageCount[]
  /** Those after it. */
  readonly readings: readonly UsageCount[]
  readonly charges: () => Iterable<Charge>
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

/** Groups that say who bought a call. */
export type BuyerGroup = Extract<LedgerGroup, 'run' | 'day' | 'job'>

/** Groups that say who asked for a call. */
export type RequesterGroup = Extract<LedgerGroup, 'day' | 'job' | 'tag' | 'client'>

/** What calls to count; an absent field is no condition. Instants are epoch ms: from (inclusive), until (exclusive). */
export interface LedgerFilter {
  readonly job?: string
  readonly from?: number
  readonly until?: number
}
