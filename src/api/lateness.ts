import type { Clock } from '../model/clock.ts'

/** A request that left. */
export interface Departure {
  readonly at: number
  /** Calls of one kind take a similar time to be answered. */
  readonly kind: string
  /** What its answer told; null while it has not come. */
  answer: Slowness | null
}

/** How slow an answer was, beside the latest ones of its kind. */
interface Slowness {
  /** Milliseconds more than the fastest of them (or of any, while they are few): its request cannot be later than that. */
  readonly excessMs: number
  /** Share of them that were faster; 1 while they are few. */
  readonly rank: number
}

interface Latest {
  readonly latencies: number[]
  answers: number
  fastest: number
  slowest: number
}

/** More than this is the service's own time, not the way there. */
export const latestMs = 500
const latestAnswers = 256
const fewestAnswers = 40
/** How often answers are slower than this by chance alone. */
const chance = 0.03
const groupSize = 8
const slowAlone = 1 - chance
const slowInGroup = 1 - chance ** (1 / groupSize)
/** Requests that left no further apart may have been held up by the same thing. */
const nearbyMs = 100
const tellsNothing: Slowness = { excessMs: 0, rank: 0 }

/**
 * How much later than others a request arrived, as far as answers tell. What is slow may be the service or the way there;
 * so it counts where chance hardly explains it: an answer that is slower than almost all of the latest ones, or eight in a
 * row that all are slower than a good third of them. Then the service is taken to have seen the request as late as can be,
 * and so are all requests of which too few are answered to tell what is slow.
 */
export function openLateness(clock: Pick<Clock, 'monotonic'>) {
  const kinds = new Map<string, Latest>()
  /** Of all kinds. */
  let fastest = Number.POSITIVE_INFINITY

  const note = (latest: Latest, latency: number): Slowness => {
    const { latencies } = latest
    latencies[latest.answers++ % latestAnswers] = latency
    let faster = 0
    latest.fastest = latency
    latest.slowest = latency
    for (const one of latencies) {
      if (one < latency) faster += 1
      if (one < latest.fastest) latest.fastest = one
      if (one > latest.slowest) latest.slowest = one
    }
    fastest = Math.min(fastest, latency)
    // All of them may have been late, as the first ones to a service that is cold are.
    if (latencies.length < fewestAnswers) return { excessMs: latency - fastest, rank: 1 }
    return { excessMs: latency - latest.fastest, rank: faster / latencies.length }
  }

  /** An answer that takes longer than all others took is slow before it comes. */
  const slowness = ({ at, kind, answer }: Departure): Slowness => {
    if (answer !== null) return answer
    const latest = kinds.get(kind)
    const waited = clock.monotonic() - at
    if (latest === undefined || latest.answers < fewestAnswers || waited <= latest.slowest)
      return tellsNothing
    return { excessMs: waited - latest.fastest, rank: 1 }
  }

  const inGroup = (sent: readonly Departure[], index: number): number => {
    const { at } = sent[index] as Departure
    const isSlow = (near: number): boolean => {
      const one = sent[near]
      return one !== undefined && Math.abs(one.at - at) <= nearbyMs && slowness(one).rank >= slowInGroup
    }
    let first = index
    while (first > index - groupSize + 1 && isSlow(first - 1)) first -= 1
    let last = index
    while (last < index + groupSize - 1 && isSlow(last + 1)) last += 1
    let most = 0
    for (; first + groupSize - 1 <= last; first++) {
      const group = sent.slice(first, first + groupSize)
      most = Math.max(most, Math.min(...group.map((one) => slowness(one).excessMs)))
    }
    return most
  }

  return {
    answered: (departure: Departure): void => {
      let latest = kinds.get(departure.kind)
      if (latest === undefined) {
        latest = { latencies: [], answers: 0, fastest: 0, slowest: 0 }
        kinds.set(departure.kind, latest)
      }
      departure.answer = note(latest, clock.monotonic() - departure.at)
    },
    /** A refused request takes no time of the service's own. */
    refused: (departure: Departure): void => {
      departure.answer = tellsNothing
    },
    /**
     * Milliseconds, `latestMs` at most; or 0 where it cannot be more than `beyond`.
     * @param sent oldest first
     */
    of: (sent: readonly Departure[], index: number, beyond = 0): number => {
      const { excessMs, rank } = slowness(sent[index] as Departure)
      if (rank < slowInGroup || excessMs <= beyond) return 0
      return Math.min(latestMs, rank >= slowAlone ? excessMs : inGroup(sent, index))
    },
  }
}

/** A request of which only the time is known. */
export function unanswerable(at: number): Departure {
  return { at, kind: '', answer: tellsNothing }
}
