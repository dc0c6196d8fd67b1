import type { Clock } from '../model/clock.ts'

/** Calls per second and per minute; null is unlimited. */
export interface RateLimits {
  readonly perSecond: number | null
  readonly perMinute: number | null
}

/** A request that left. */
export interface Departure {
  readonly at: number
  /** Calls of one kind take a similar time to be answered. */
  readonly kind: string
  /** Milliseconds until its answer came; null while it has not. */
  latency: number | null
}

/** Calls sent just before and after one, on each side, whose answers tell whether all of them arrived late. */
const neighbours = 7
/** No neighbour is one that left longer before or after. */
const nearbyMs = 100
const fewestAnswers = 8
/** More than this is the service's own time, not the way there. */
export const latestMs = 250

/**
 * Requests of the last second and minute; those about to leave count as if they left now. The windows are kept as
 * the service sees them: by when requests arrive there, which is later than they leave. How much later is not known;
 * `guardMs` is allowed for it always. Where even the fastest answers around a request came later than such answers do,
 * the service was late to see all of these requests, and the window ends that much later.
 */
export function slidingWindows(clock: Pick<Clock, 'monotonic'>, guardMs: number) {
  let limits: RateLimits = { perSecond: null, perMinute: null }
  let reserved = 0
  /** Oldest first. */
  let sent: Departure[] = []
  /** Kind -> milliseconds of the fastest answer so far. */
  const fastest = new Map<string, number>()

  const waitFor = (limit: number | null, windowMs: number): number => {
    if (limit === null) return 0
    const room = limit - reserved
    if (room <= 0) return Number.POSITIVE_INFINITY
    const blocking = sent[sent.length - room]
    if (blocking === undefined) return 0
    const left = blocking.at + windowMs + guardMs - clock.monotonic()
    // Looked at only when it decides.
    return left <= -latestMs ? left : left + lateness(sent.length - room)
  }

  const lateness = (index: number): number => {
    const { at } = sent[index] as Departure
    const answered = sent
      .slice(Math.max(0, index - neighbours), index + neighbours + 1)
      .filter((near) => Math.abs(near.at - at) <= nearbyMs)
      .flatMap(({ kind, latency }) => (latency === null ? [] : [latency - (fastest.get(kind) ?? latency)]))
    return answered.length < fewestAnswers ? 0 : Math.min(latestMs, ...answered)
  }

  const forget = (): void => {
    const oldest = clock.monotonic() - 60_000 - guardMs - latestMs
    const kept = sent.findIndex(({ at }) => at > oldest)
    if (kept > 1000 || kept < 0) sent = kept < 0 ? [] : sent.slice(kept)
  }

  return {
    setLimits: (changed: RateLimits): void => {
      limits = changed
    },
    /** Milliseconds until there is room; infinite while only requests about to leave stand in the way. */
    wait: (): number => Math.max(waitFor(limits.perSecond, 1000), waitFor(limits.perMinute, 60_000)),
    reserve: (): void => {
      reserved += 1
    },
    unreserve: (): void => {
      reserved -= 1
    },
    depart: (kind: string): Departure => {
      const departure = { at: clock.monotonic(), kind, latency: null }
      reserved -= 1
      sent.push(departure)
      if (sent.length % 1024 === 0) forget()
      return departure
    },
    answered: (departure: Departure): void => {
      const latency = clock.monotonic() - departure.at
      departure.latency = latency
      fastest.set(departure.kind, Math.min(latency, fastest.get(departure.kind) ?? latency))
    },
    seed: (ages: readonly number[]): void => {
      const now = clock.monotonic()
      const earlier = ages.map((age) => ({ at: now - age, kind: '', latency: null }))
      sent = [...sent, ...earlier].sort((a, b) => a.at - b.at)
    },
  }
}
