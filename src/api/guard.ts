import type { Clock } from '../model/clock.ts'

/** Milliseconds added to each window, for requests need a varying time to arrive. */
export interface Guard {
  ms(): number
  /** A request was refused that the windows had room for: they were too short. */
  refused(): void
}

/** Never less: ways to the service differ by so much from call to call where nothing stalls. */
export const leastGuardMs = 25
/** Connections are new and the service may be cold: nothing is known yet. */
export const firstGuardMs = 50
/** More than this is better paid with a refusal now and then. */
export const mostGuardMs = 100
const firstHalfLifeMs = 5_000
const longestHalfLifeMs = 300_000

/**
 * What requests need to arrive cannot be measured from here, for an answer does not tell the way from the service's own
 * time. That everything passes is the only sign of a guard that is long enough, and a refusal the only one of one that
 * is not. So it doubles at once with a refusal and comes down slowly: five seconds halve what is above the least. Each
 * refusal makes that twice as slow (five minutes at most), so that a way which needs more is not tried over and over.
 */
export function learnedGuard(clock: Pick<Clock, 'monotonic'>): Guard {
  let above = firstGuardMs - leastGuardMs
  let halfLifeMs = firstHalfLifeMs
  let since: number | null = null

  const ms = (): number => {
    since ??= clock.monotonic()
    return leastGuardMs + above * 2 ** ((since - clock.monotonic()) / halfLifeMs)
  }
  return {
    ms,
    refused: () => {
      above = Math.min(mostGuardMs, 2 * ms()) - leastGuardMs
      since = clock.monotonic()
      halfLifeMs = Math.min(longestHalfLifeMs, 2 * halfLifeMs)
    },
  }
}
