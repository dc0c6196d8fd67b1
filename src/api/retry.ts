/** How often and how long a failed call is tried again. */
export interface RetryPolicy {
  /** Tries in a row before a task goes to the back of the run. */
  readonly triesPerRound: number
  /** Tries in all before it fails. */
  readonly tries: number
  readonly firstDelayMs: number
}

export const retryPolicy: RetryPolicy = {
  triesPerRound: 4,
  tries: 8,
  firstDelayMs: 500,
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
  if (tries % policy.triesPerRound === 0) return { later: true }
  const bound = policy.firstDelayMs * 2 ** ((tries % policy.triesPerRound) - 1)
  return { wait: random * bound }
}

/** However long a delay the service names, it is called again after this. */
export const longestRetryAfterMs = 600_000

/**
 * Milliseconds that a `Retry-After` header names: seconds, or a date, which is set against the service's own `Date` where it
 * sends one. At most ten minutes; null where it names no delay, or one that cannot be read.
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

function headerText(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? (value[0] ?? '') : (value ?? '')).trim()
}

/** An instant as HTTP writes it, epoch ms; null for any other text, though `Date.parse` would make a date of it. */
export function httpDate(text: string): number | null {
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*, .+ GMT$/.test(text)) return null
  const instant = Date.parse(text)
  return Number.isNaN(instant) ? null : instant
}

/** Retries that a run of few tasks has. */
const fewestRetries = 10
const retriesPerTask = 0.5

/** How many calls may be retries: half as many as tasks were sent for the first time, and ten in every case. */
export function retryBudget() {
  let tasks = 0
  let retries = 0
  return {
    countTask: (): void => {
      tasks += 1
    },
    /** False where no retry is left. */
    tryTake: (): boolean => {
      if (retries >= Math.max(fewestRetries, Math.floor(tasks * retriesPerTask))) return false
      retries += 1
      return true
    },
  }
}
