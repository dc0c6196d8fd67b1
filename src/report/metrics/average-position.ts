import type { DayValue } from '../history/rank-history.ts'
import { coverageOf, figure, type HeadlineMetric, type MetricOptions } from './figure.ts'

/** Two averages can be compared only if both were asked with the same depth. All keywords have the same weight. */
export const averagePosition = {
  name: 'average_position',
  label: 'average position',
  shortLabel: 'average',
  unit: 'rank',
  better: 'lower',
  definition:
    'The mean rank of the checked keywords; one that was not found counts as the place after the last one asked for.',
  formula: 'sum of ranks / checked keywords',
  denominator: 'checked keywords',
  missing: 'absent: requested depth + 1; unknown: not counted',
  source: 'Advanced Web Ranking, help page "Average Rank (AWR metric)"',
  firstOnPage: true,
  assumption: ({ absent = 'depth' }) => (absent === 'depth' ? null : absentText(absent)),
  definedAs: ({ absent = 'depth' }) =>
    absent === 'depth'
      ? {}
      : {
          definition: `The mean rank of the ${countedBy(absent)}${absent === 'left out' ? '' : `; one that was not found counts as ${placeText(absent)}`}.`,
          formula: `sum of ranks / ${countedBy(absent)}`,
          denominator: countedBy(absent),
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

type AbsentOption = NonNullable<MetricOptions['absent']>

function placeOf({ state, rank, absentDepth }: DayValue, absent: AbsentOption): number | null {
  if (state === 'unknown') return null
  if (rank !== null) return rank
  if (absent === 'left out') return null
  if (typeof absent === 'number') return absent
  // The history has decided which depth absence counts with. Without a known depth there is no place.
  return absentDepth === 0 || absentDepth === null ? null : absentDepth + 1
}

function countedBy(absent: AbsentOption): string {
  return absent === 'left out' ? 'ranked keywords' : 'checked keywords'
}

function placeText(absent: Exclude<AbsentOption, 'left out'>): string {
  if (absent === 'looked at') return 'the place after the last one checked'
  return absent === 'depth' ? 'the place after the last one asked for' : `rank ${absent}`
}

function absentText(absent: AbsentOption): string {
  return absent === 'left out' ? 'not found is left out' : `not found counts as ${placeText(absent)}`
}
