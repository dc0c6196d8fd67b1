/** One page of one query of one run, let through to be sent. */
export interface Task {
  readonly id: number
  readonly runId: number
  readonly queryId: number
  readonly operation: string
  readonly text: string
  readonly params: Readonly<Record<string, string | number>>
  readonly page: number
  /** Higher is sent first. */
  readonly priority: number
  /** Credits that a call for it costs. */
  readonly credits: number
  /** Calls that failed for it so far and count as tries. */
  readonly tries: number
  /** Why the last call for it failed; null where none did. */
  readonly cause: string | null
  /** A stored answer to the same call that may be used instead of a call; null where there is none. */
  readonly reusable: number | null
}

/** The paging of the query that a task belongs to. */
export interface QueryPaging {
  readonly maxPages: number
  readonly pageSize: number | null
  readonly depth: number | null
}
