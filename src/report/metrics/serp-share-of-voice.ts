import { type CtrCurve, rateOf } from '../ctr/curve.ts'
import type { Serp } from '../page-data.ts'
import type { RankHistory } from '../rank-history.ts'
import { type Figure, figure } from './figure.ts'
import { firstResults, keywordsOf, type Weights, weightsOf } from './serps.ts'

export interface SerpShare extends Figure {
  /** What keywords weigh. */
  readonly weight: Weights['by']
}

/**
 * Estimated clicks of a target by those of everybody on the same pages, as the rank tracker of Ahrefs defines its share of
 * voice, but of the first ten results alone: the sum of volume times CTR(rank) of its results over that of all results.
 * Unit: share from 0 to 1. Without any volume each keyword weighs the same; where only some have one, the others are not
 * counted. Coverage counts SERPs: ranked are those with a result of the target.
 *
 * @param serps of one day, one for each keyword at most; those of keywords that the history has no series of are not counted
 */
export function serpShareOfVoice(
  serps: readonly Serp[],
  target: number,
  { history, curve }: { readonly history: RankHistory; readonly curve: CtrCurve },
): SerpShare {
  const [weights, asked] = [weightsOf(history), keywordsOf(history)]
  let [own, all, ranked, observed, uncounted] = [0, 0, 0, 0, 0]
  for (const serp of serps) {
    if (serp.depth === 0 || !asked.has(serp.keyword)) continue
    observed++
    const results = firstResults(serp)
    if (results.some((result) => result[4].includes(target))) ranked++
    const weight = weights.of(serp.keyword)
    if (weight === null) {
      uncounted++
      continue
    }
    for (const [rank, , , , owners] of results) {
      const clicks = weight * rateOf(curve, rank)
      all += clicks
      if (owners.includes(target)) own += clicks
    }
  }
  const coverage = { ranked, observed, expected: asked.size }
  return { ...figure(own, all, coverage, uncounted), weight: weights.by }
}
