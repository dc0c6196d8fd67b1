import type { RateLimits } from '../../src/model/call.ts'

/** How the server of the benchmark judges and answers. */
export interface Judging {
  readonly limits: RateLimits
  /** Shortest and longest time until an answer, in milliseconds. */
  readonly latencyMs: readonly [least: number, most: number]
  /** What calls need to arrive differs by up to so many milliseconds from call to call. */
  readonly wayMs: number
}

/** What the server saw. */
export interface Judged {
  /** Calls that were passed up to the last search, lookups among them. */
  readonly passed: number
  readonly refused: number
  /** From the first call to the last search, of those passed. */
  readonly seconds: number
}

/**
 * Seconds from the first call to the last where windows are kept to the millisecond, with `guardMs` added to each: nobody
 * can do the same number of calls in less without a refusal.
 */
export function leastSeconds(calls: number, { perSecond, perMinute }: RateLimits, guardMs = 0): number {
  const sent: number[] = []
  const free = (limit: number | null, windowMs: number): number => {
    const blocking = limit === null ? undefined : sent[sent.length - limit]
    return blocking === undefined ? 0 : blocking + windowMs + guardMs
  }
  for (let call = 0; call < calls; call++)
    sent.push(Math.max(free(perSecond, 1_000), free(perMinute, 60_000)))
  return (sent.at(-1) ?? 0) / 1000
}
