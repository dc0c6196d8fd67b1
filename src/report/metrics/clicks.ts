import { hasClicks } from '../history/parts.ts'
import type { DayValue, Keyword } from '../history/rank-history.ts'
import { type CtrCurve, coverageOf, type HeadlineMetric, rateOf, sumFigure } from './figure.ts'

/**
 * Of the best rank, like gains: what winners and losers gain together is the change of this figure. The share of voice counts
 * further results of the target as well.
 */
export const clicks = {
  name: 'clicks',
  label: 'estimated clicks a month',
  shortLabel: 'clicks a month',
  unit: 'clicks a month',
  better: 'higher',
  definition:
    'The clicks a month that the best ranks bring by the click-through curve; an estimate, not a count of visits.',
  formula: 'sum of volume x CTR(rank)',
  denominator: null,
  missing: 'absent: no clicks; unknown, or without volume: not counted',
  source: 'own definition, based on the share of voice of STAT',
  byClicks: true,
  needs: 'volume',
  compute: (all, { curve }) => {
    let [sum, uncounted] = [0, 0]
    for (const sample of all) {
      if (sample.value.state === 'unknown') continue
      const own = clicksOf(sample, sample.value, curve)
      if (own === null) uncounted++
      else sum += own
    }
    return sumFigure(sum, coverageOf(all), uncounted)
  },
} as const satisfies HeadlineMetric

/** The clicks a month of one keyword on one day; null for AI references, without a volume, and if the day is not known. */
export function clicksOf(
  { kind, volume }: Pick<Keyword, 'kind' | 'volume'>,
  { state, rank }: DayValue,
  curve: CtrCurve,
): number | null {
  if (volume === null || state === 'unknown' || !hasClicks(kind)) return null
  return volume * rateOf(curve, rank)
}
