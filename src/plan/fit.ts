/** What one run may spend, in credits. */
export interface RunMeans {
  /** What its own budget allows. */
  readonly budget: number
  /** What must be left of the balance after each of its tasks. */
  readonly keep: number
}

/** What there is to spend. */
export interface FitMeans {
  readonly runs: ReadonlyMap<number | string, RunMeans>
  /** Credits that the balance covers. */
  readonly credits: number
  /** Calls that the quotas of the key allow. */
  readonly calls: number
}

/** A query with all pages that it may yet need. */
export interface FitQuery {
  /** Its run, or its job where it has none yet. */
  readonly run: number | string
  /** What is asked: the same in every run, and bought once; null where nobody asked for it before. */
  readonly query: number | string | null
  readonly calls: number
  readonly credits: number
}

/**
 * Decides for one query after the other, the most valuable first, whether it is bought: where everything that it may
 * need is covered beside all that was taken before.
 */
export function fitter({ runs, credits, calls }: FitMeans): (query: FitQuery) => boolean {
  let balance = credits
  let callsLeft = calls
  /** What those of which something is taken want to keep: nobody knows which of them is sent last. */
  let kept = 0
  const budgets = new Map([...runs].map(([run, { budget }]) => [run, budget]))
  /** Credits and calls of queries that another run takes already. */
  const taken = new Map<number | string, FitQuery>()
  return (asked) => {
    // Each run pays for itself where the other's call fails.
    const query = beyond(asked, asked.query === null ? undefined : taken.get(asked.query))
    const budget = budgets.get(query.run) ?? 0
    const keep = Math.max(kept, runs.get(query.run)?.keep ?? 0)
    const covered = asked.credits <= budget && query.credits <= balance - keep && query.calls <= callsLeft
    if (asked.credits > 0 && !covered) return false
    if (query.credits > 0) kept = keep
    balance -= query.credits
    callsLeft -= query.calls
    budgets.set(query.run, budget - asked.credits)
    if (asked.query !== null && query.calls > 0) taken.set(asked.query, asked)
    return true
  }
}

/** What a query costs beside one that asks for the same and is bought. */
function beyond(query: FitQuery, same: FitQuery | undefined): FitQuery {
  if (same === undefined) return query
  return {
    ...query,
    calls: Math.max(0, query.calls - same.calls),
    credits: Math.max(0, query.credits - same.credits),
  }
}
