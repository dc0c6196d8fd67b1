import type { DayValue } from '../history/rank-history.ts'
import type { MetricDefinition } from './figure.ts'

export const distributionMetric: MetricDefinition = {
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

export const topRanksMetric: MetricDefinition = {
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

export type Distribution = Readonly<Record<Bucket, number>>

/** How many keywords rank in each range, are absent or unknown. The buckets add up to all keywords. Unit: keywords. */
export function distribution(values: Iterable<DayValue>): Distribution {
  const counts = Object.fromEntries(buckets.map((bucket) => [bucket, 0])) as Record<Bucket, number>
  for (const value of values) counts[bucketOf(value)]++
  return counts
}

/** Keywords with this rank or a better one. Unit: keywords. */
export function top(counts: Distribution, rank: 1 | 3 | 10 | 20 | 50 | 100): number {
  return ranges.reduce((sum, [name, last]) => (last <= rank ? sum + counts[name] : sum), 0)
}

function bucketOf({ state, rank }: DayValue): Bucket {
  if (state !== 'ranked' || rank === null) return state === 'absent' ? 'absent' : 'unknown'
  for (const [name, last] of ranges) if (rank <= last) return name
  return 'unknown'
}
