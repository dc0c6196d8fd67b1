/** How a call ended. What follows from each stands in one table, `consequences` in `api/outcome.ts`. */
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
  /** 400, 403, 413 and other 4xx. */
  | 'rejected'
  /** 404: whether it was billed is not known. */
  | 'not-found'
  /** 5xx. */
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
