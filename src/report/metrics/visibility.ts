import { hasClicks } from '../history/parts.ts'
import { coverageOf, figure, type HeadlineMetric, rateOf } from './figure.ts'

/** Over 1 only if a curve gives a lower rank more clicks than rank 1. All keywords have the same weight. */
export const visibility = {
  name: 'visibility',
  label: 'visibility',
  unit: 'share',
  better: 'higher',
  definition: 'The share of all possible clicks that the ranks bring; 100% is rank 1 for every keyword.',
  formula: 'sum of CTR(rank) / (CTR(1) x checked keywords)',
  denominator: 'CTR(1) x checked keywords',
  missing: 'absent: no clicks; unknown: not counted',
  source: 'the click-weighted visibility of rank trackers, scaled so that rank 1 for every keyword is 100%',
  byClicks: true,
  compute: (all, { curve }) => {
    const coverage = coverageOf(all)
    const clicked = all.filter(({ kind }) => hasClicks(kind))
    const { observed } = coverageOf(clicked)
    const clicks = clicked.reduce((sum, { value }) => sum + rateOf(curve, value.rank), 0)
    return figure(clicks, rateOf(curve, 1) * observed, coverage, coverage.observed - observed)
  },
} as const satisfies HeadlineMetric
