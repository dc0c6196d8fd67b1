/** How often and after which delays a failed call is tried again. */
export const retryPolicy = {
  /** Tries in a row before a task goes to the back of the run. */
  triesPerRound: 4,
  /** Tries in all before the task fails. */
  tries: 8,
  firstDelayMs: 500,
}

/**
 * What follows after a failed try. Full jitter: a random delay up to a bound that doubles with each try in a row.
 *
 * @param tries failed tries so far, at least 1
 * @param random between 0 and 1
 */
export function decideRetry(
  tries: number,
  random: number,
  policy: Readonly<typeof retryPolicy> = retryPolicy,
): { readonly wait: number } | { readonly later: true } | { readonly giveUp: true } {
  if (tries >= policy.tries) return { giveUp: true }
  if (tries % policy.triesPerRound === 0) return { later: true }
  const bound = policy.firstDelayMs * 2 ** ((tries % policy.triesPerRound) - 1)
  return { wait: random * bound }
}

/** The longest delay of the service that is waited for. */
export const longestRetryAfterMs = 600_000

/**
 * The delay of a `Retry-After` header in milliseconds, ten minutes at most. The header names seconds or a date, which is compared
 * with the `Date` header if there is one. Null if it names no delay that can be read.
 *
 * @param now our clock, epoch ms
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  now: number,
): number | null {
  const value = headerText(headers['retry-after'])
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, longestRetryAfterMs)
  const until = httpDate(value)
  if (until === null) return null
  return Math.min(Math.max(0, until - (httpDate(headerText(headers.date)) ?? now)), longestRetryAfterMs)
}

/** The first value of a header; empty where there is none. */
export function headerText(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? (value[0] ?? '') : (value ?? '')).trim()
}

/** An instant in the form of HTTP, epoch ms; null for other texts, even if `Date.parse` reads them. */
export function httpDate(text: string): number | null {
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*, .+ GMT$/.test(text)) return null
  const instant = Date.parse(text)
  return Number.isNaN(instant) ? null : instant
}
