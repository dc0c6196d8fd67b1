import type { Standing } from '../cohort.ts'
import { type CtrCurve, rateOf } from '../ctr/curve.ts'

/** A keyword that was won or lost, and what that is worth. */
export interface Mover {
  readonly standing: Standing
  /**
   * What lists are sorted by: CTR now minus CTR before, times the volume: clicks a month. Without a volume it is that of
   * one search.
   */
  readonly gain: number
}

export interface Movers {
  /** Improved or entered, the greatest gain first. */
  readonly winners: readonly Mover[]
  /** Declined or left, the greatest loss first. */
  readonly losers: readonly Mover[]
}

/**
 * Who won and who lost since the baseline. Rank 2 lost comes before rank 40 lost; where clicks say nothing, as below the
 * end of the curve, the one with the better rank, now or then, comes first, then the one that moved farther.
 */
export function winnersAndLosers(standings: readonly Standing[], curve: CtrCurve): Movers {
  const of = (...movements: readonly string[]): readonly Mover[] =>
    standings
      .filter(({ change }) => movements.includes(change.movement))
      .map((standing) => ({ standing, gain: gainOf(standing, curve) }))
  return {
    winners: of('improved', 'entered').toSorted((a, b) => b.gain - a.gain || byRanks(a, b)),
    losers: of('declined', 'left').toSorted((a, b) => a.gain - b.gain || byRanks(a, b)),
  }
}

function gainOf({ current, baseline, keyword }: Standing, curve: CtrCurve): number {
  const before = rateOf(curve, baseline?.value.rank ?? null)
  return (rateOf(curve, current.rank) - before) * (keyword.volume ?? 1)
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
