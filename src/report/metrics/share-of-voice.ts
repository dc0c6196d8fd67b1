import { type CtrCurve, rateOf } from '../ctr/curve.ts'
import { hasClicks } from '../parts.ts'
import { coverageOf, type Figure, figure, type Seen } from './figure.ts'

/**
 * Estimated clicks by searches, as STAT defines it: the sum of volume times CTR(rank) of all results of the target over the
 * sum of volumes, of the observed keywords. Unit: share. Absent has no clicks; keywords without a volume are not counted, nor
 * are AI references.
 */
export function shareOfVoice(all: readonly Seen[], curve: CtrCurve): Figure {
  let [clicks, searches, uncounted] = [0, 0, 0]
  for (const { kind, value, ranks, volume } of all) {
    if (value.state === 'unknown') continue
    if (volume === null || !hasClicks(kind)) uncounted++
    else {
      for (const rank of ranks) clicks += volume * rateOf(curve, rank)
      searches += volume
    }
  }
  return figure(clicks, searches, coverageOf(all), uncounted)
}
