import type { Charge, LedgerGroup, LedgerSum, UsageCount } from '../model/call.ts'
import type { TimeSpan } from '../model/time.ts'

/** What the ledger tells of calls that were made, and the readings of the service's own count beside it. */
export interface LedgerStore {
  /**
   * When calls were sent since then, by any process, and when they ended; null where they are in flight. Not what stands
   * later than now, because the clock was set back, and was sent before a call of before then.
   */
  callsSince(
    instant: number,
    now: number,
  ): Promise<readonly { readonly sentAt: number; readonly endedAt: number | null }[]>
  /** Credits of ambiguous calls that ended since then, and when they ended. */
  ambiguousSince(instant: number): Promise<readonly { readonly credits: number; readonly endedAt: number }[]>
  /** Asynchronous jobs of other runs than these that are not known to have ended, and may be billed any time. */
  openJobsOfOthers(runIds: readonly number[]): Promise<{ readonly calls: number; readonly credits: number }>
  /** Credits of the runs: billed, and not known whether billed. */
  creditsOf(runIds: readonly number[]): Promise<{ readonly spent: number; readonly ambiguous: number }>
  /** Credits of calls that were sent in a time, by job: billed, and possibly billed or still in flight. */
  creditsSent(span: TimeSpan): Promise<readonly JobSpending[]>
  /**
   * The same of queries with these tags, by tag, in these jobs. A call whose query a job no longer asks counts for each tag: which
   * ones it had is not known.
   */
  creditsSentByTag(
    span: TimeSpan,
    jobs: readonly string[],
    tags: readonly string[],
  ): Promise<ReadonlyMap<string, number>>
  /** Calls with this key that were sent then and were billed, or may have been. */
  chargedCalls(keyHash: string, span: TimeSpan): Promise<number>
  saveUsage(reading: UsageReading): Promise<void>
  /** The newest reading with that key, of those before an instant where one is given. */
  lastUsage(keyHash: string, before?: number): Promise<UsageReading | null>
  /** Keys whose usage was ever read. */
  keysRead(): Promise<readonly string[]>
  /** Readings with that key, in the order in which they were taken. */
  readings(keyHash: string): Iterable<UsageCount>
  /** Calls with that key that cost, in the order in which they were sent. */
  charges(keyHash: string): Iterable<Charge>
  /** Where the ledger ends now. */
  mark(): Promise<LedgerMark>
  /** What was read and sent with that key since then, and shortly before. */
  ledgerSince(keyHash: string, mark: LedgerMark): Promise<RecentLedger>
  /** What the ledger comes to, by group, in the order of the groups: each call where it was bought. */
  sums(by: BuyerGroup, filter: LedgerFilter): Promise<readonly LedgerSum[]>
  /**
   * The same, with each call split among the jobs of one command that asked for it, and among the tags of its query. A client is the label
   * `client` of a query, else the one that the newest run of its job names.
   */
  shares(by: RequesterGroup, filter: LedgerFilter): Promise<readonly LedgerSum[]>
}

/** What a job spent in a time, in credits. */
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

/** What tells who bought a call. */
export type BuyerGroup = Extract<LedgerGroup, 'run' | 'day' | 'job'>

/** What tells who asked for it. */
export type RequesterGroup = Extract<LedgerGroup, 'day' | 'job' | 'tag' | 'client'>

/** What calls to count; an absent field is no condition. Instants are epoch ms: from (inclusive), until (exclusive). */
export interface LedgerFilter {
  readonly job?: string
  readonly from?: number
  readonly until?: number
}
