import type { Clock } from '../model/clock.ts'

const firstPauseMs = 500
const longestPauseMs = 30_000

interface Passage {
  readonly refused: boolean
  readonly probe: boolean
  readonly free: boolean
  /** The delay that the service named; null where it named none. */
  readonly namedMs: number | null
}

/**
 * After a refusal everybody waits; then one request alone probes, and the others follow when it passes.
 * Refusals of requests that were already under way say nothing new.
 */
export function refusalPauses(clock: Pick<Clock, 'monotonic'>) {
  let pauseMs = 0
  let until = 0
  let probing = false
  let othersRefused = false
  let refusedSince: number | null = null

  /** A named delay takes the place of ours. One of nothing does not: the service would be asked over and over. */
  const hold = (namedMs: number | null): void => {
    pauseMs = pauseMs === 0 ? firstPauseMs : Math.min(pauseMs * 2, longestPauseMs)
    until = clock.monotonic() + (namedMs || pauseMs)
    refusedSince ??= clock.monotonic()
  }

  return {
    wait: (): number => {
      if (refusedSince === null) return 0
      return probing ? Number.POSITIVE_INFINITY : until - clock.monotonic()
    },
    /** Notes that a request was let through; answers whether it is the probe. */
    granted: (): boolean => {
      if (refusedSince === null) return false
      probing = true
      return true
    },
    probeGone: (): void => {
      probing = false
    },
    /** @param free whether the request was a free lookup: that it passes says nothing of the others */
    over: ({ refused, probe, free, namedMs }: Passage): void => {
      if (probe) probing = false
      if (refused && !free) othersRefused = true
      if (refused && (probe || refusedSince === null)) hold(namedMs)
      else if (refused && namedMs !== null) until = Math.max(until, clock.monotonic() + namedMs)
      if (!refused && probe && !(free && othersRefused)) {
        othersRefused = false
        pauseMs = 0
        refusedSince = null
      }
    },
    since: (): number | null => (refusedSince === null ? null : clock.monotonic() - refusedSince),
  }
}
