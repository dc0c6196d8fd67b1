/** How often and how long a failed call is tried again. */
export interface RetryPolicy {
  /** Tries in a row before a task goes to the back of the run. */
  readonly triesInRow: number
  /** Tries in all before it fails. */
  readonly tries: number
  readonly firstDelayMs: number
  readonly longestDelayMs: number
}

export const retryPolicy: RetryPolicy = {
  triesInRow: 4,
  tries: 8,
  firstDelayMs: 500,
  longestDelayMs: 30_000,
}

/** What becomes of a task that failed for the `tries`-th time. */
export type RetryDecision = { readonly wait: number } | { readonly later: true } | { readonly giveUp: true }

/**
 * Full jitter: anything between nothing and a bound that doubles with each try in a row.
 *
 * @param tries failed tries so far, at least 1
 * @param random between 0 and 1
 */
export function decideRetry(tries: number, random: number, policy: RetryPolicy = retryPolicy): RetryDecision {
  if (tries >= policy.tries) return { giveUp: true }
  if (tries % policy.triesInRow === 0) return { later: true }
  const bound = policy.firstDelayMs * 2 ** ((tries % policy.triesInRow) - 1)
  return { wait: random * Math.min(bound, policy.longestDelayMs) }
}
