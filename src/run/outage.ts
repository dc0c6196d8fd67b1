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
      return {
        note: (outcome: Outcome): void => {
          if (outcome !== 'unreachable') heardAt = clock.monotonic()
          else silentSince ??= clock.monotonic()
        },
        /** How to wait, or null where somebody was heard of since this task found nobody. */
        pause: (): Outage | null => {
          // The next silence is another one, or it could never be over.
          if (silentSince !== null && heardAt >= silentSince) silentSince = null
          if (silentSince === null) return null
          const silentFor = clock.monotonic() - silentSince
          const bound = Math.min(Math.max(silentFor, shortestMs), longestMs)
          return { wait: random() * bound, over: silentFor > maxOutageMs }
        },
      }
    },
  }
}
