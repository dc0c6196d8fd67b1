/** How a call ended. What follows from each stands in one table, `nextStepAfter` in `api/outcomes.ts`. */
export type Outcome =
  /** A whole body came with a 2xx status. */
  | 'answered'
  /** 202: an asynchronous job was taken. */
  | 'accepted'
  /** 401 or 429 that speaks of a rate or a quota. */
  | 'throttled'
  /** 401 that does not: the key is wrong, inactive or expired. */
  | 'refused'
  /** 402. */
  | 'out-of-credit'
  /** 400, 403, 413, 414, 431 and other 4xx. */
  | 'rejected'
  /** 404: whether it was billed is not known. */
  | 'not-found'
  /** 5xx, and what passes by itself as they do: 408, 425. */
  | 'server-error'
  /** No byte of the request left this machine. */
  | 'unreachable'
  /** The request may have arrived, its answer did not: a timeout, or a connection lost. */
  | 'ambiguous'
  /** 3xx: never followed. */
  | 'redirected'
  /** A 2xx answer that came and cannot be read: too large, or damaged. */
  | 'unreadable'

/** What the ledger learns when a call is over. */
export interface Settlement {
  readonly outcome: Outcome
  readonly httpStatus: number | null
  /** 1 billed, 0 free, null not known. */
  readonly billed: 0 | 1 | null
  readonly finishedAt: number
  readonly latencyMs: number
  /** The service's words or ours; null where nothing went wrong. */
  readonly error: string | null
}

/** The service finds the body (413), the address (414) or the header (431) of a request too long: no other try can help. */
export const tooLongStatuses: readonly number[] = [413, 414, 431]

/** 4xx with which the service refuses one query, its texts or its parameters: another query may pass. */
const ofTheQuery: ReadonlySet<number | null> = new Set([400, 422, ...tooLongStatuses])

/** After this many useless calls in a row an operation stops, and the next run begins with a probe. */
export const uselessInRow = 20

/** Whether a call was useless for a reason that lies outside its query: other calls of the operation may end the same way. */
export function isUseless({ outcome, httpStatus }: Pick<Settlement, 'outcome' | 'httpStatus'>): boolean {
  return outcome === 'not-found' || (outcome === 'rejected' && !ofTheQuery.has(httpStatus))
}

/** A call whose end is not known may still be billed this long after it ended. */
export const settlingMs = 120_000

/** The service's own count, as one reading of its usage record gives it. Credits are whole, instants epoch ms. */
export interface UsageCount {
  /** It was counted at some time between these two. */
  readonly askedAt: number
  readonly readAt: number
  /** What the clock showed when the reading came. Only where the clock was set back since then: `readAt` then only keeps the order. */
  readonly shownAt?: number
  readonly totalUsed: number | null
  readonly remaining: number | null
}

/** A call of ours that was or may have been billed at some time between its two instants. */
export interface Charge {
  readonly from: number
  /** Null while it is in flight. */
  readonly until: number | null
  readonly credits: number
  /** False where it is unknown whether it was billed. */
  readonly certain: boolean
}

export const ledgerGroups = ['run', 'day', 'job', 'tag', 'client'] as const

/** By what the ledger's credits are added up: runs, days in UTC, jobs, tags of queries, or clients. */
export type LedgerGroup = (typeof ledgerGroups)[number]

/** Calls of one group, and what they came to in credits. */
export interface LedgerSum {
  /** Number of a run, YYYY-MM-DD, name of a job, of a tag or of a client; null where calls have none. */
  readonly group: string | number | null
  readonly calls: number
  readonly billed: number
  readonly free: number
  readonly ambiguous: number
  readonly credits: number
  /** Of calls that were possibly billed. */
  readonly creditsAmbiguous: number
  /** Calls that others share: of their credits only a part is counted here. */
  readonly shared: number
}

/** Calls per second and per minute; null is unlimited. */
export interface RateLimits {
  readonly perSecond: number | null
  readonly perMinute: number | null
}

/** What a usage record says, in both of its shapes. Credits are whole; null is "not said" or "no limit". */
export interface Account {
  /** Left across subscription, packs and credits. */
  readonly remaining: number | null
  readonly totalUsed: number | null
  readonly limits: RateLimits
  readonly keyActive: boolean | null
  /** When the key expires, as sent. */
  readonly keyExpires: string | null
  readonly quotas: Readonly<Record<'total' | 'daily' | 'weekly' | 'monthly', number | null>>
  /** Limits and counts that the record has and that cannot be read: field to value, in JSON. */
  readonly unread: Readonly<Record<string, string>>
}

export interface NewCall {
  readonly runId: number | null
  readonly taskId: number | null
  readonly operation: string
  readonly credits: number
  readonly sentAt: number
  /** Hash of the key that pays for it. */
  readonly keyHash: string
}
