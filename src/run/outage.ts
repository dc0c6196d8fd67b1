import type { Outcome } from '../model/call.ts'
import type { Clock } from '../model/clock.ts'

/** What to do while nobody is heard of. */
export interface Outage {
  /** Milliseconds until the next try. */
  readonly wait: number
  /** It has lasted for longer than is waited for. */
  readonly over: boolean
}

const shortestMs = 500
const longestMs = 20_000

export type OutageWatch = ReturnType<typeof outageWatch>

/** Tells a service that cannot be reached at all from calls that failed by themselves. */
export function outageWatch(clock: Pick<Clock, 'monotonic'>, random: () => number, maxOutageMs: number) {
  /** When the service was last heard of, whatever it said. */
  let heardAt = clock.monotonic()
  return {
    /** For the calls of one task. */
    watch: () => {
      let silentSince: number | null = null
      let firstSilence: number | null = null
      return {
        note: (outcome: Outcome): void => {
          if (outcome !== 'unreachable') {
            heardAt = clock.monotonic()
            firstSilence = null
            silentSince = null
          } else {
            firstSilence ??= clock.monotonic()
            silentSince ??= clock.monotonic()
          }
        },
        /** How to wait, or null where the task alone is not let through though others are, for as long as an outage may last. */
        pause: (outcome: Outcome): Outage | null => {
          if (outcome !== 'unreachable' || firstSilence === null) return null
          // Somebody was heard of: the next silence is another one.
          if (silentSince !== null && heardAt >= silentSince) {
            silentSince = null
            const own = clock.monotonic() - firstSilence
            return own > maxOutageMs ? null : { wait: random() * shortestMs * 2, over: false }
          }
          if (silentSince === null) return null
          const silentFor = clock.monotonic() - silentSince
          const bound = Math.min(Math.max(silentFor, shortestMs), longestMs)
          return { wait: random() * bound, over: silentFor > maxOutageMs }
        },
      }
    },
  }
}
