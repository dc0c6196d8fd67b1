/** What one run may spend, in credits. */

/** What there is to spend. */
export interface FitFunds {
  /** What each run may spend, in credits. */
  readonly runs: ReadonlyMap<
    number | string,
    {
      /** What its own budget allows. */
      readonly budget: number
      /** What must be left of the balance after each of its tasks. */
      readonly keep: number
    }
  >
  /** Credits that the balance covers. */
  readonly credits: number
  /** Calls that the quotas of the key allow. */
  readonly calls: number
}

/** A query with all pages that it may yet need. */
export interface FitQuery {
  /** Its run, or its job where it has none yet. */
  readonly run: number | string
  /** What is asked: the same in every run, and bought once; null where it is new. */
  readonly query: number | string | null
  readonly calls: number
  readonly credits: number
}

/**
 * Decides for one query after the other, the most valuable first, whether it is bought: where everything that it may
 * need is covered beside all that was taken before.
 */
export function fitToBalance({ runs, credits, calls }: FitFunds): (query: FitQuery) => boolean {
  let balance = credits
  let callsLeft = calls
  /** The most that any run with a taken query keeps: any of them may be sent last. */
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

/** What a query costs on top of an equal one that is bought. */
function beyond(query: FitQuery, same: FitQuery | undefined): FitQuery {
  if (same === undefined) return query
  return {
    ...query,
    calls: Math.max(0, query.calls - same.calls),
    credits: Math.max(0, query.credits - same.credits),
  }
}

/** Queries that do not fit, and the most credits that they could have cost. */
export interface SkippedTotal {
  readonly queries: number
  readonly credits: number
}
