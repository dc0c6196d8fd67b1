import type { Settlement } from '../model/call.ts'
import { duration } from '../words.ts'
import type { Service } from './service.ts'
import type { Stop } from './stop.ts'
import { quotaUsedUp, stalled } from './stop-causes.ts'

/** Watches how long the service refuses calls for the rate. */
export interface Refusals {
  note(settlement: Settlement, namedMs?: number | null): void
}

export interface RefusalParts {
  readonly service: Pick<Service, 'gate'>
  readonly stop: Stop
  readonly notice: (words: string) => void
  /** The quota that may be the reason, in words; null where none can be. */
  readonly quota: () => string | null
  /** Looks anew at what others have used. */
  readonly lookAgain: () => void
  /** How long refusals are waited out. */
  readonly maxThrottlingMs: number
}

/** Longer than the longest window of the rate, so that it is not the rate any more. */
const longestWindowMs = 61_000
const toldAfterMs = 3_000

/** Refusals cost no try; only when they last does the run stop. */
export function watchRefusals({
  service,
  stop,
  notice,
  quota,
  lookAgain,
  maxThrottlingMs,
}: RefusalParts): Refusals {
  let told = false
  let looked = false
  return {
    note: ({ outcome, error }, namedMs = null) => {
      if (outcome === 'answered') {
        told = false
        looked = false
      }
      if (outcome === 'server-error' && (namedMs ?? 0) > toldAfterMs && !told) {
        told = true
        const wait = duration((namedMs ?? 0) / 1000)
        notice(
          `The service asks to be left alone for ${wait} (${error ?? outcome}). Waiting; nothing is lost.`,
        )
      }
      if (outcome !== 'throttled') return
      const refusedFor = service.gate.refusedFor() ?? 0
      const words = error ?? outcome
      const lasts = refusedFor > longestWindowMs
      const explained = lasts ? quota() : null
      if (lasts && !looked) lookAgain()
      looked ||= lasts
      if (explained !== null) stop.request(quotaUsedUp(explained, words))
      else if (refusedFor > maxThrottlingMs) stop.request(stalled(words, maxThrottlingMs))
      else if (refusedFor + (namedMs ?? 0) > toldAfterMs && !told) {
        told = true
        notice(
          `The service refuses calls (${words}). Waiting for it, ${duration(maxThrottlingMs / 1000)} at most; nothing is lost.`,
        )
      }
    },
  }
}
