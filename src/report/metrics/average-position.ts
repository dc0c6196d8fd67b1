import type { DayValue } from '../history/rank-history.ts'
import { coverageOf, figure, type HeadlineMetric, type MetricOptions } from './figure.ts'

/** Two averages can be compared only if both were asked with the same depth. All keywords have the same weight. */
export const averagePosition = {
  name: 'average_position',
  label: 'average position',
  shortLabel: 'average',
  unit: 'rank',
  better: 'lower',
  definition: 'mean of the ranks; absent counts as the requested depth + 1',
  denominator: 'observed keywords',
  missing: 'absent: requested depth + 1; unknown: not counted',
  source: 'Advanced Web Ranking, help page "Average Rank (AWR metric)"',
  firstOnPage: true,
  assumption: ({ absent = 'depth' }) => (absent === 'depth' ? null : absentText(absent)),
  definedAs: ({ absent = 'depth' }) =>
    absent === 'depth'
      ? {}
      : {
          definition: `mean of the ranks; ${absentText(absent)}`,
          denominator: absent === 'left out' ? 'ranked keywords' : 'observed keywords',
          missing: `${absentText(absent)}; unknown: not counted`,
        },
  compute: (all, { absent = 'depth' }) => {
    let [sum, counted] = [0, 0]
    for (const { value } of all) {
      const place = placeOf(value, absent)
      if (place === null) continue
      sum += place
      counted++
    }
    const coverage = coverageOf(all)
    return figure(sum, counted, coverage, coverage.observed - counted)
  },
  // If absent is left out, a keyword that entered or left would be in only one of the two averages.
  isComparable: (now, before, { absent }) =>
    absent !== 'left out' || (now.value.state === 'ranked' && before.value.state === 'ranked'),
} as const satisfies HeadlineMetric

type AbsentAs = NonNullable<MetricOptions['absent']>

function placeOf({ state, rank, absentDepth }: DayValue, absent: AbsentAs): number | null {
  if (state === 'unknown') return null
  if (rank !== null) return rank
  if (absent === 'left out') return null
  if (typeof absent === 'number') return absent
  // The history has decided which depth absence counts with. Without a known depth there is no place.
  return absentDepth === 0 || absentDepth === null ? null : absentDepth + 1
}

function absentText(absent: AbsentAs): string {
  if (absent === 'looked at') return 'absent counts as the checked depth + 1'
  return absent === 'left out' ? 'absent is left out' : `absent counts as ${absent}`
}
