import type { Clock } from '../model/clock.ts'
import type { Guard } from './guard.ts'
import { type Departure, latestMs, openLateness, unanswerable } from './lateness.ts'

/** Calls per second and per minute; null is unlimited. */
export interface RateLimits {
  readonly perSecond: number | null
  readonly perMinute: number | null
}

const longestWindowMs = 60_000

/**
 * Requests of the last second and minute; those about to leave count as if they left now. The windows are kept as
 * the service sees them: by when requests arrive there, which is later than they leave. How much later is not known; the
 * guard is allowed for it always, and more for a request whose answer tells that the service was late to see it.
 */
export function slidingWindows(clock: Pick<Clock, 'monotonic'>, guard: Guard) {
  let limits: RateLimits = { perSecond: null, perMinute: null }
  let reserved = 0
  /** Oldest first. */
  let sent: Departure[] = []
  /** When requests left while there was no limit; there may be one before the minute is over. */
  let unlimited: number[] = []
  const lateness = openLateness(clock)

  const waitFor = (limit: number | null, windowMs: number): number => {
    if (limit === null) return 0
    const room = limit - reserved
    if (room <= 0) return Number.POSITIVE_INFINITY
    const blocking = sent[sent.length - room]
    if (blocking === undefined) return 0
    const over = clock.monotonic() - windowMs - guard.ms()
    return blocking.at > over ? blocking.at - over : waitForLate(room, over)
  }

  /** Fewer than `room` left after the instant `over`; those that were late to arrive may be in the window, too. */
  const waitForLate = (room: number, over: number): number => {
    let index = sent.length - room
    while (index < sent.length && atOf(index) <= over) index += 1
    let inside = sent.length - index
    let wait = inside === 0 ? Number.POSITIVE_INFINITY : atOf(index) - over
    for (index -= 1; index >= 0 && atOf(index) > over - latestMs; index--) {
      const past = over - atOf(index)
      const left = lateness.of(sent, index, past) - past
      if (left <= 0) continue
      inside += 1
      wait = Math.min(wait, left)
    }
    return inside < room ? 0 : wait
  }

  const atOf = (index: number): number => (sent[index] as Departure).at

  const forget = (): void => {
    const oldest = clock.monotonic() - longestWindowMs - guard.ms() - latestMs
    const kept = sent.findIndex(({ at }) => at > oldest)
    if (kept > 1000 || kept < 0) sent = kept < 0 ? [] : sent.slice(kept)
  }

  const departWithoutLimit = (now: number): void => {
    unlimited.push(now)
    if (unlimited.length % 65_536 !== 0) return
    const oldest = now - longestWindowMs
    unlimited = unlimited.slice(unlimited.findIndex((at) => at > oldest))
  }

  const add = (instants: readonly number[]): void => {
    sent = [...sent, ...instants.map(unanswerable)].sort((a, b) => a.at - b.at)
  }

  return {
    setLimits: ({ perSecond, perMinute }: RateLimits): void => {
      // A window for no calls at all would never open. The run stops for it; the free lookups that find out pass.
      limits = { perSecond: perSecond || null, perMinute: perMinute || null }
      if (isUnlimited(limits)) return
      add(unlimited)
      unlimited = []
    },
    /** Milliseconds until there is room; infinite while only requests about to leave stand in the way. */
    wait: (): number => Math.max(waitFor(limits.perSecond, 1000), waitFor(limits.perMinute, longestWindowMs)),
    reserve: (): void => {
      reserved += 1
    },
    unreserve: (): void => {
      reserved -= 1
    },
    depart: (kind: string): Departure => {
      const departure = { at: clock.monotonic(), kind, answer: null }
      reserved -= 1
      if (isUnlimited(limits)) departWithoutLimit(departure.at)
      else if (sent.push(departure) % 1024 === 0) forget()
      return departure
    },
    answered: lateness.answered,
    refused: lateness.refused,
    seed: (ages: readonly number[]): void => {
      const now = clock.monotonic()
      add(ages.map((age) => now - age))
    },
  }
}

function isUnlimited({ perSecond, perMinute }: RateLimits): boolean {
  return perSecond === null && perMinute === null
}
