import { type CtrCurve, rateOf } from '../ctr/curve.ts'
import { hasClicks } from '../parts.ts'
import { coverageOf, type Figure, figure, type Seen } from './figure.ts'

/**
 * How much of the clicks that rank 1 everywhere would get is got: the sum of CTR(rank) over the observed keywords by
 * CTR(1) times their number. Unit: share from 0 to 1 (more only where a curve gives a lower rank more clicks); absent
 * has no clicks. Keywords weigh the same whatever their volume; AI references are not counted.
 */
export function visibility(all: readonly Pick<Seen, 'kind' | 'value'>[], curve: CtrCurve): Figure {
  const coverage = coverageOf(all)
  const clicked = all.filter(({ kind }) => hasClicks(kind))
  const { observed } = coverageOf(clicked)
  const clicks = clicked.reduce((sum, { value }) => sum + rateOf(curve, value.rank), 0)
  return figure(clicks, rateOf(curve, 1) * observed, coverage, coverage.observed - observed)
}
