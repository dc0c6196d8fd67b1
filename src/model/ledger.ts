/** A call whose end is not known may still be billed this long after it ended. */
export const settlingMs = 120_000

/** The service's own count, as one reading of its usage record gives it. Credits are whole, instants epoch ms. */
export interface Reading {
  /** It was counted at some time between these two. */
  readonly askedAt: number
  readonly readAt: number
  /** What the clock said when it came, where that was set back since and `readAt` is only an order. */
  readonly shownAt?: number
  readonly totalUsed: number | null
  readonly remaining: number | null
}

/** A call of ours that was or may have been billed at some time between its two instants. */
export interface Charge {
  readonly from: number
  /** Null while it is in the air. */
  readonly until: number | null
  readonly credits: number
  /** False where nobody knows whether it was billed. */
  readonly certain: boolean
}

export const ledgerGroups = ['run', 'day', 'job', 'tag'] as const

/** By what the ledger's credits are added up: runs, days in UTC, jobs, or tags of queries. */
export type LedgerGroup = (typeof ledgerGroups)[number]

/** Calls of one group, and what they came to in credits. */
export interface LedgerSum {
  /** Number of a run, YYYY-MM-DD, name of a job or of a tag; null where calls have none. */
  readonly group: string | number | null
  readonly calls: number
  readonly billed: number
  readonly free: number
  readonly ambiguous: number
  readonly credits: number
  /** Of calls of which nobody knows whether they were billed. */
  readonly creditsAmbiguous: number
}
