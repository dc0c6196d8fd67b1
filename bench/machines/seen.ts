import type { RateLimits } from '../../src/model/call.ts'

/** How the service of the benchmark judges and answers. */
export interface Service {
  readonly limits: RateLimits
  /** Time until an answer to a search, in milliseconds. */
  readonly latencyMs: number
}

/** What the service saw, by its own clock. */
export interface Seen {
  /** When each search that was passed arrived, milliseconds of a monotonic clock. */
  readonly arrivals: readonly number[]
  /** Searches and lookups that were one too many in a sliding second or minute. */
  readonly refused: number
}

/** Seconds from the first search to the last. */
export function secondsOf({ arrivals }: Seen): number {
  return ((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)) / 1000
}

/** Searches a second from the first to the last. */
export function speedOf(seen: Seen): number {
  return (seen.arrivals.length - 1) / secondsOf(seen)
}

/** Most searches in any sliding second. */
export function worstSecond({ arrivals }: Seen): number {
  let first = 0
  let most = 0
  arrivals.forEach((at, index) => {
    while ((arrivals[first] as number) <= at - 1000) first += 1
    most = Math.max(most, index - first + 1)
  })
  return most
}

const startMs = 5_000

/** Searches a second without the first seconds, in which connections are made, and the last calls, when some have no work left. */
export function steadySpeed({ arrivals }: Seen, lastCalls: number): number {
  const begun = arrivals.filter((at) => at >= (arrivals[0] as number) + startMs).slice(0, -lastCalls)
  return ((begun.length - 1) * 1000) / ((begun.at(-1) ?? 0) - (begun[0] ?? 0))
}
