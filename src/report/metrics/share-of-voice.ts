import { type CtrCurve, rateOf } from '../ctr/curve.ts'
import { coverageOf, type Figure, figure, type Seen } from './figure.ts'

/**
 * Estimated clicks by searches, as STAT defines it: the sum of volume times CTR(rank) over the sum of volumes, of the
 * observed keywords. Unit: share, CTR(1) at most. Absent has no clicks; keywords without a volume are not counted.
 */
export function shareOfVoice(all: readonly Seen[], curve: CtrCurve): Figure {
  let [clicks, searches, uncounted] = [0, 0, 0]
  for (const { value, volume } of all) {
    if (value.state === 'unknown') continue
    if (volume === null) uncounted++
    else {
      clicks += volume * rateOf(curve, value.rank)
      searches += volume
    }
  }
  return figure(clicks, searches, coverageOf(all), uncounted)
}
