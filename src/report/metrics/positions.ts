import { hasClicks } from '../history/filter-history.ts'
import type { DayCell, DayValue, Keyword } from '../history/rank-history.ts'
import {
  type AbsentAs,
  type CtrCurve,
  coverageOf,
  figure,
  type HeadlineMetric,
  type MetricDefinition,
  rateOf,
  sumFigure,
  tally,
} from './figure.ts'

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

function placeOf({ state, rank, absentDepth }: DayValue, absent: AbsentAs): number | null {
  if (state === 'unknown') return null
  if (rank !== null) return rank
  if (absent === 'left out') return null
  if (typeof absent === 'number') return absent
  // The history has decided which depth absence counts with. Without a known depth there is no place.
  return absentDepth === 0 || absentDepth === null ? null : absentDepth + 1
}

function countedBy(absent: AbsentAs): string {
  return absent === 'left out' ? 'ranked keywords' : 'checked keywords'
}

function placeText(absent: Exclude<AbsentAs, 'left out'>): string {
  if (absent === 'looked at') return 'the place after the last one checked'
  return absent === 'depth' ? 'the place after the last one asked for' : `rank ${absent}`
}

function absentText(absent: AbsentAs): string {
  return absent === 'left out' ? 'not found is left out' : `not found counts as ${placeText(absent)}`
}

export const bestRankMetric: MetricDefinition = {
  label: 'best rank',
  unit: 'rank',
  better: 'lower',
  definition: 'The best rank of all days, and the first day with it.',
  formula: 'lowest rank of all days',
  denominator: null,
  missing: 'no rank',
  source: 'own definition',
}

/** The best rank of all days, and the place of its first day; null if it never ranked. Unit: rank; lower is better. */
export function bestRank(cells: readonly DayCell[]) {
  let best: { readonly rank: number; readonly day: number } | null = null
  for (const [day, cell] of cells.entries()) {
    const rank = Math.trunc(cell ?? 0)
    if (rank > 0 && (best === null || rank < best.rank)) best = { rank, day }
  }
  return best
}

const distributionMetric: MetricDefinition = {
  label: 'distribution of ranks',
  unit: 'keywords',
  better: null,
  definition:
    'The keywords that rank 1, 2-3, 4-10, 11-20, 21-50, 51-100 or deeper, are not found, or are not known.',
  formula: 'keywords in each range',
  denominator: 'adds up to all keywords',
  missing: 'counted separately',
  source: 'the ranges of rank trackers, made disjoint',
}

const topRanksMetric: MetricDefinition = {
  label: 'top 3 and top 10',
  unit: 'keywords',
  better: 'higher',
  definition: 'The keywords that rank 3 or better, and 10 or better.',
  formula: 'keywords with rank 1 to 3; keywords with rank 1 to 10',
  denominator: 'checked keywords',
  missing: 'absent and unknown: not among them',
  source: 'the distribution of ranks, added up',
}

/** Ranges of ranks by their last rank: disjoint and without gaps. */
const ranges = [
  ['1', 1],
  ['2-3', 3],
  ['4-10', 10],
  ['11-20', 20],
  ['21-50', 50],
  ['51-100', 100],
  ['>100', Number.POSITIVE_INFINITY],
] as const

export type Bucket = (typeof ranges)[number][0] | 'absent' | 'unknown'

/** Every bucket, in the order in which they are shown. */
export const buckets: readonly Bucket[] = [...ranges.map(([name]) => name), 'absent', 'unknown']

type Distribution = ReturnType<typeof distribution>

/** How many keywords rank in each range, are absent or unknown. The buckets add up to all keywords. Unit: keywords. */
export function distribution(values: readonly DayValue[]) {
  return tally(buckets, values.map(bucketOf))
}

/** Keywords with this rank, the last one of a range, or a better one. Unit: keywords. */
export function top(counts: Distribution, rank: number): number {
  return ranges.reduce((sum, [name, last]) => (last <= rank ? sum + counts[name] : sum), 0)
}

function bucketOf({ state, rank }: DayValue): Bucket {
  if (state !== 'ranked' || rank === null) return state === 'absent' ? 'absent' : 'unknown'
  for (const [name, last] of ranges) if (rank <= last) return name
  return 'unknown'
}

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

/** What readers are told of the ranks of a target. */
export const rankMetrics = {
  visibility,
  average_position: averagePosition,
  clicks,
  distribution: distributionMetric,
  top_ranks: topRanksMetric,
}
