import type { Standing } from '../cohort.ts'
import { type CtrCurve, rateOf } from '../ctr/curve.ts'
import { hasClicks } from '../parts.ts'

/** A keyword that was won or lost, and what that is worth. */
export interface Mover {
  readonly standing: Standing
  /** CTR now minus CTR before, times the volume: clicks a month. Null where the volume is not known, and of AI references. */
  readonly gain: number | null
}

export interface Movers {
  /** Improved or entered, the greatest gain first. */
  readonly winners: readonly Mover[]
  /** Declined or left, the greatest loss first. */
  readonly losers: readonly Mover[]
}

/**
 * Who won and who lost since the baseline, by clicks; those without a volume come after all that have one, by the clicks of
 * one search. Rank 2 lost comes before rank 40 lost; where clicks say nothing, as below the end of the curve, the one with
 * the better rank, now or then, comes first, then the one that moved farther.
 */
export function winnersAndLosers(standings: readonly Standing[], curve: CtrCurve): Movers {
  const of = (...movements: readonly string[]): readonly Mover[] =>
    standings
      .filter(({ change }) => movements.includes(change.movement))
      .map((standing) => ({ standing, ofOneSearch: ofOneSearch(standing, curve) }))
      .map((one) => ({ ...one, gain: gainOf(one.standing, one.ofOneSearch) }))
      .toSorted(byWorth)
      .map(({ standing, gain }) => ({ standing, gain }))
  return { winners: of('improved', 'entered'), losers: of('declined', 'left') }
}

interface Weighed extends Mover {
  /** The same of one search, whatever the volume. */
  readonly ofOneSearch: number
}

function ofOneSearch({ current, baseline, keyword }: Standing, curve: CtrCurve): number {
  if (!hasClicks(keyword.kind)) return 0
  return rateOf(curve, current.rank) - rateOf(curve, baseline?.value.rank ?? null)
}

function gainOf({ keyword: { volume, kind } }: Standing, clicks: number): number | null {
  return volume === null || !hasClicks(kind) ? null : clicks * volume
}

/** The greatest gain or loss first: lists hold either gains or losses. */
function byWorth(a: Weighed, b: Weighed): number {
  if ((a.gain === null) !== (b.gain === null)) return a.gain === null ? 1 : -1
  const size = ({ gain, ofOneSearch: clicks }: Weighed) => Math.abs(gain ?? clicks)
  return size(b) - size(a) || byRanks(a, b)
}

function byRanks({ standing: a }: Mover, { standing: b }: Mover): number {
  return (
    bestOf(a) - bestOf(b) ||
    distanceOf(b) - distanceOf(a) ||
    a.series.keyword - b.series.keyword ||
    a.series.target - b.series.target
  )
}

function bestOf({ current, baseline }: Standing): number {
  return Math.min(current.rank ?? Number.MAX_VALUE, baseline?.value.rank ?? Number.MAX_VALUE)
}

function distanceOf({ change }: Standing): number {
  return change.change === null ? Number.MAX_VALUE : Math.abs(change.change)
}
