import { hashText, mix, unit } from './hash.ts'
import type { Candidate } from './pool.ts'

/** From where and when the candidates are looked at. */
export interface Viewpoint {
  readonly engine: string
  readonly country: string
  /** All other params that narrow the search, as one text. */
  readonly narrowed: string
  /** Days since 1970-01-01 UTC. */
  readonly day: number
}

/**
 * Indices of the candidates, best first. From day to day pages drift by slow and quick waves and leave for some days;
 * another engine, country or place gives a different but related order.
 */
export function orderOn(candidates: readonly Candidate[], view: Viewpoint): Uint16Array {
  const engine = hashText(view.engine)
  const country = hashText(view.country)
  const narrowed = hashText(view.narrowed)
  const scores = new Float64Array(candidates.length)
  const present: number[] = []
  candidates.forEach((candidate, index) => {
    const { hash, fit } = candidate
    if (isAway(candidate, view.day)) return
    scores[index] =
      fit +
      1.1 * (unit(mix(hash, engine)) - 0.5) +
      0.8 * (unit(mix(hash, country)) - 0.5) +
      0.4 * (unit(mix(hash, narrowed)) - 0.5) +
      drift(hash, view.day)
    present.push(index)
  })
  present.sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b)
  return Uint16Array.from(present)
}

function isAway({ hash, tracked }: Candidate, day: number): boolean {
  const spell = Math.floor((day + (hash % 5)) / 5)
  return unit(mix(mix(hash, 11), spell)) < (tracked ? 0.03 : 0.05)
}

function drift(hash: number, day: number): number {
  return (
    1.3 * wave(mix(hash, 21), day, 28) +
    0.5 * wave(mix(hash, 22), day, 7) +
    0.25 * wave(mix(hash, 23), day, 3) +
    0.12 * (unit(mix(mix(hash, 24), day)) - 0.5)
  )
}

/** Smooth noise from -0.5 to 0.5 that takes `period` days from one chance value to the next. */
function wave(hash: number, day: number, period: number): number {
  const at = (day + (hash % period)) / period
  const knot = Math.floor(at)
  const share = at - knot
  const from = unit(mix(hash, knot))
  const to = unit(mix(hash, knot + 1))
  return from + (to - from) * share * share * (3 - 2 * share) - 0.5
}
