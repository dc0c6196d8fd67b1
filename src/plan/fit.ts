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
  return (query) => {
    const budget = budgets.get(query.run) ?? 0
    const keep = Math.max(kept, runs.get(query.run)?.keep ?? 0)
    const covered = query.credits <= Math.min(budget, balance - keep) && query.calls <= callsLeft
    if (query.credits > 0 && !covered) return false
    if (query.credits > 0) kept = keep
    balance -= query.credits
    callsLeft -= query.calls
    budgets.set(query.run, budget - query.credits)
    return true
  }
}
