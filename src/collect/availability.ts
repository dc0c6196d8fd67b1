import type { ApiClient } from '../api/client.ts'
import type { Outcome, Settlement } from '../model/call.ts'
import { duration } from '../model/text.ts'
import type { Clock } from '../model/time.ts'
import { quotaUsedUp, type StopSignal, throttledTooLong } from './stop.ts'

const shortestMs = 500
const longestMs = 20_000

export type ConnectivityMonitor = ReturnType<typeof connectivityMonitor>

/** Tells a service that cannot be reached at all from single calls that failed. */
export function connectivityMonitor(
  clock: Pick<Clock, 'monotonic'>,
  random: () => number,
  maxOutageMs: number,
) {
  /** When any call got a response, whatever it said. */
  let lastResponseAt = clock.monotonic()
  return {
    /** For the calls of one task. */
    watch: () => {
      let unreachableSince: number | null = null
      /** When the first of its calls in a row got no response, while other tasks got some. */
      let firstFailureAt: number | null = null
      return {
        note: (outcome: Outcome): void => {
          const now = clock.monotonic()
          if (outcome === 'unreachable') {
            firstFailureAt ??= now
            unreachableSince ??= now
            return
          }
          lastResponseAt = now
          firstFailureAt = null
          unreachableSince = null
        },
        /** How to wait; null where the call was not unreachable, or others got responses for as long as an outage may last. */
        pause: (
          outcome: Outcome,
        ): {
          /** Milliseconds until the next try. */
          readonly wait: number
          /** It has lasted for longer than an outage is waited for. */
          readonly over: boolean
        } | null => {
          if (outcome !== 'unreachable' || firstFailureAt === null) return null
          const now = clock.monotonic()
          // Another task got a response since: the next outage is another one.
          if (unreachableSince !== null && lastResponseAt >= unreachableSince) {
            unreachableSince = null
            return now - firstFailureAt > maxOutageMs
              ? null
              : { wait: random() * shortestMs * 2, over: false }
          }
          if (unreachableSince === null) return null
          const lasted = now - unreachableSince
          const bound = Math.min(Math.max(lasted, shortestMs), longestMs)
          return { wait: random() * bound, over: lasted > maxOutageMs }
        },
      }
    },
  }
}

/** Longer than the longest window of the rate, so that the rate cannot be the reason any more. */
const longestWindowMs = 61_000
const reportedAfterMs = 3_000

/** Watches how long the service answers calls with rate-limit responses. */
export type ThrottleWatch = ReturnType<typeof watchThrottling>

/** Rate-limit responses cost no try; only when they last does the run stop. */
export function watchThrottling(options: {
  readonly service: Pick<ApiClient, 'rateLimiter'>
  readonly stop: StopSignal
  readonly notice: (message: string) => void
  /** Names the quota that may be the reason; null where none can be. */
  readonly quota: () => string | null
  /** Reads again what others have used. */
  readonly refreshAccount: () => void
  /** How long rate-limit responses are waited out. */
  readonly maxThrottlingMs: number
}) {
  const { service, stop, notice, quota, refreshAccount, maxThrottlingMs } = options
  let isReported = false
  let isRefreshed = false
  const report = (message: string): void => {
    if (!isReported) notice(message)
    isReported = true
  }
  return {
    note: ({ outcome, error }: Settlement, named?: number | null): void => {
      const namedMs = named ?? 0
      const reason = error ?? outcome
      if (outcome === 'answered') {
        isReported = false
        isRefreshed = false
      }
      if (outcome === 'server-error' && namedMs > reportedAfterMs)
        report(
          `The service asks for a pause of ${duration(namedMs / 1000)} (${reason}). Waiting; no answer is lost.`,
        )
      if (outcome !== 'throttled') return
      const throttledFor = service.rateLimiter.throttledFor() ?? 0
      const isQuota = throttledFor > longestWindowMs
      const exhausted = isQuota ? quota() : null
      if (isQuota && !isRefreshed) refreshAccount()
      isRefreshed ||= isQuota
      if (exhausted !== null) stop.request(quotaUsedUp(exhausted, reason))
      else if (throttledFor > maxThrottlingMs) stop.request(throttledTooLong(reason, maxThrottlingMs))
      else if (throttledFor + namedMs > reportedAfterMs)
        report(
          `The service limits the rate of calls (${reason}). Waiting, ${duration(maxThrottlingMs / 1000)} at most; no answer is lost.`,
        )
    },
  }
}
