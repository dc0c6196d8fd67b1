import { localeText } from './cells.ts'
import { type Headline, headline } from './headline.ts'
import { partsOf } from './history/filter-history.ts'
import { type KeywordStatus, keywordStatuses } from './history/keyword-status.ts'
import type { ComparisonDay } from './history/movement.ts'
import type { Keyword, RankHistory } from './history/rank-history.ts'
import { type Coverage, coverageOf, type MetricOptions } from './metrics/figure.ts'
import { distribution, top } from './metrics/positions.ts'
import { type PartSummary, partSummaries, statusesByTarget } from './summary.ts'

/** By what keywords are put together, with the groups of a keyword; null is the group of those that have none. */
const groupsOf = {
  tag: ({ tags }: Keyword): readonly (string | null)[] => (tags.length === 0 ? [null] : [...new Set(tags)]),
  locale: ({ params }: Keyword) => [localeText(params, ' · ') || null],
} as const

export type SegmentBy = keyof typeof groupsOf

type Groups = ReadonlyMap<string | null, readonly KeywordStatus[]>

/** Statuses by group, in the order of the names, what is in no group last. A keyword is in each of its groups. */
function grouped(statuses: readonly KeywordStatus[], by: SegmentBy): Groups {
  const groups = new Map<string | null, KeywordStatus[]>()
  for (const status of statuses)
    for (const name of groupsOf[by](status.keyword)) {
      const those = groups.get(name)
      if (those === undefined) groups.set(name, [status])
      else those.push(status)
    }
  return new Map([...groups].sort(([a], [b]) => compareNames(a, b)))
}

/** By code units: the same order on every machine. */
function compareNames(a: string | null, b: string | null): number {
  if (a === null || b === null) return a === null ? 1 : -1
  return a < b ? -1 : 1
}

/** One target in the keywords of one group. */
export interface Scorecard {
  /** Null for keywords that are in no group. */
  readonly name: string | null
  readonly statuses: readonly KeywordStatus[]
  readonly coverage: Coverage
  readonly figures: Headline
  /** Keywords that rank among the first ten. */
  readonly topTen: number
}

/**
 * The figures of each group of keywords.
 *
 * @param statuses of one target and of one part
 */
export function scorecards(
  statuses: readonly KeywordStatus[],
  by: SegmentBy,
  measure: MetricOptions,
): readonly Scorecard[] {
  return Array.from(grouped(statuses, by), ([name, own]) => ({ name, ...scores(own, measure) }))
}

/** The figures of one group. */
export function scores(statuses: readonly KeywordStatus[], measure: MetricOptions): Omit<Scorecard, 'name'> {
  const values = statuses.map(({ current }) => current)
  return {
    statuses,
    coverage: coverageOf(values.map((value) => ({ value }))),
    figures: headline(statuses, measure),
    topTen: top(distribution(values), 10),
  }
}

/** All targets in the keywords of one tag. */
export interface Segment {
  /** Null for keywords without tags. */
  readonly tag: string | null
  readonly keywords: number
  /** Place in the targets of the history, and the figures of the target, the headline kind first. */
  readonly targets: readonly (readonly [target: number, readonly PartSummary[]])[]
}

/** The headline figures per tag, in the order of the tags, keywords without a tag last. A keyword counts in each of its tags. */
export function segments(
  history: RankHistory,
  { compare = null, ...measure }: MetricOptions & { readonly compare?: ComparisonDay | null },
): readonly Segment[] {
  const parts = partsOf(history, measure.kind)
  return Array.from(grouped(keywordStatuses(history, compare), 'tag'), ([tag, statuses]) => ({
    tag,
    keywords: new Set(statuses.map(({ series }) => series.keyword)).size,
    targets: [...statusesByTarget(statuses)]
      .sort(([a], [b]) => a - b)
      .map(([target, own]) => [target, partSummaries(own, parts, measure)] as const),
  }))
}
