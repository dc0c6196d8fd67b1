import type { Target } from '../model/job.ts'
import { groupedBy } from '../model/text.ts'
import { localeText } from './cells.ts'
import { headline, isKnownOnBothDays } from './headline.ts'
import { type Part, partKey, partOf, partsOf } from './history/filter-history.ts'
import { alignDepths, type KeywordStatus, keywordStatuses } from './history/keyword-status.ts'
import type { ComparisonDay } from './history/movement.ts'
import type { Keyword, RankHistory } from './history/rank-history.ts'
import { coverageOf, type MetricOptions } from './metrics/figure.ts'
import { countMovements, winnersAndLosers } from './metrics/movements.ts'
import { distribution, top } from './metrics/positions.ts'
import { headToHead } from './metrics/shares.ts'

/** The figures of a whole report. */
export type Summary = ReturnType<typeof summarise>

/** The figures of a target. Counts, movers and comparisons are of the headline kind, over all engines. */
export type TargetSummary = Summary['targets'][number]

/** The figures of a target for one kind of results of one engine. */
export type PartSummary = ReturnType<typeof partSummaries>[number]

/** The figures of every target on the last day, with those of the same keywords on the compared days. */
export function summarise(
  history: RankHistory,
  {
    compare = null,
    movers = 10,
    ...measure
  }: MetricOptions & {
    /** The day to compare with; the nearest earlier one by default. */
    readonly compare?: ComparisonDay | null
    /** Winners and losers of each target at most; 10 by default. */
    readonly movers?: number
  },
) {
  const statuses = keywordStatuses(history, compare)
  const compared = comparedDays(history, statuses)
  const parts = partsOf(history, measure.kind)
  const kind = parts[0]?.kind
  const inHeadline = ({ keyword }: KeywordStatus): boolean => keyword.kind === kind
  const byTarget = [...statusesByTarget(statuses)].sort(([a], [b]) => a - b)
  const targetAt = (place: number): Target => history.targets[place] as Target
  return {
    job: history.job,
    /** The last day; null for a history without days. */
    date: history.days.at(-1) ?? null,
    /** The days that keywords are compared with, ascending. */
    compared,
    curve: measure.curve,
    absent: measure.absent ?? 'depth',
    /** Keywords that are asked for. */
    keywords: new Set(history.series.map(({ keyword }) => keyword)).size,
    /** Those of them that were first observed after the compared day. */
    added: countAdded(statuses),
    /** Keywords that were asked on the compared day or later, and no longer are. */
    removed: countRemoved(history, compared),
    /** The parts that the figures are of: the headline kind, one part for each engine. */
    parts: parts.filter((part) => part.kind === kind),
    /** Parts of other kinds of results. */
    otherParts: parts.filter((part) => part.kind !== kind),
    /** In the order of the history: own ones first. */
    targets: byTarget.map(([target, all]) => {
      const own = all.filter(inHeadline)
      const ofParts = partSummaries(all, parts, measure)
      const { winners, losers } = winnersAndLosers(own, measure.curve)
      const others = byTarget.filter(([other]) => other !== target)
      return {
        target: targetAt(target),
        /** Only the parts that the target is tracked in, in the order of the summary, the headline kind first. */
        parts: ofParts,
        /** Those of the first part. */
        figures: ofParts[0]?.figures ?? headline([], measure),
        distribution: distribution(own.map(({ current }) => current)),
        movements: countMovements(own.map(({ change }) => change)),
        winners: winners.slice(0, movers),
        losers: losers.slice(0, movers),
        /** The target against each other target. */
        competitors: others.map(([other, theirs]) => ({
          other: targetAt(other),
          ...headToHead(own, theirs.filter(inHeadline)),
        })),
      }
    }),
  }
}

export function statusesByTarget(
  statuses: readonly KeywordStatus[],
): ReadonlyMap<number, readonly KeywordStatus[]> {
  return groupedBy(statuses, ({ series }) => series.target)
}

/** A target with its figures of one part. */
export type PartOfTarget = ReturnType<typeof linesOf>[number]

/** A line for every target and each of these parts that it is tracked in. */
export function linesOf({ targets }: Pick<Summary, 'targets'>, parts: readonly Part[]) {
  const keys = new Set(parts.map(partKey))
  return targets.flatMap(({ target, parts: own }) =>
    own.filter((part) => keys.has(partKey(part))).map((part) => ({ target, ...part })),
  )
}

/** The figures of one target, part by part. */
function partSummaries(statuses: readonly KeywordStatus[], parts: readonly Part[], measure: MetricOptions) {
  return parts.flatMap((part) => {
    const those = statuses.filter(({ keyword }) => partKey(partOf(keyword)) === partKey(part))
    if (those.length === 0) return []
    return {
      ...part,
      coverage: coverageOf(those.map(({ current }) => ({ value: current }))),
      knownOnBothDays: those.filter(isKnownOnBothDays).length,
      figures: headline(those, measure),
      distribution: distribution(those.map(({ current }) => current)),
      movements: countMovements(those.map(({ change }) => change)),
    }
  })
}

/** The days that keywords are compared with, ascending. */
export function comparedDays({ days }: RankHistory, statuses: readonly KeywordStatus[]): readonly string[] {
  const places = new Set(statuses.flatMap(({ baseline }) => (baseline === null ? [] : [baseline.day])))
  return [...places].sort((a, b) => a - b).map((day) => days[day] as string)
}

/** A keyword is new if one of its targets is new and none has a compared day. */
function countAdded(statuses: readonly KeywordStatus[]): number {
  const placesOf = (those: readonly KeywordStatus[]) => new Set(those.map(({ series }) => series.keyword))
  const known = placesOf(statuses.filter(({ baseline }) => baseline !== null))
  const fresh = placesOf(statuses.filter(({ change }) => change.movement === 'new'))
  return [...fresh].filter((keyword) => !known.has(keyword)).length
}

/** Counts what was removed since the latest compared day. */
function countRemoved({ days, removed }: RankHistory, compared: readonly string[]): number {
  const since = compared.at(-1) ?? days.at(-2)
  return removed.filter(({ last }) => since !== undefined && last >= since).length
}

/** By what keywords are put together, with the groups of a keyword; null is the group of those that have none. */
const groupsOf = {
  tag: ({ tags }: Keyword): readonly (string | null)[] => (tags.length === 0 ? [null] : [...new Set(tags)]),
  locale: ({ params }: Keyword) => [localeText(params, ' · ') || null],
} as const

export type SegmentBy = keyof typeof groupsOf

/** Statuses by group, in the order of the code units of names, what is in no group last. A keyword is in each of its groups. */
function grouped(statuses: readonly KeywordStatus[], by: SegmentBy) {
  const all = statuses.flatMap((status) => groupsOf[by](status.keyword).map((name) => ({ name, status })))
  return [...groupedBy(all, ({ name }) => name)]
    .sort(([a], [b]) => Number(a === null) - Number(b === null) || ((a ?? '') < (b ?? '') ? -1 : 1))
    .map(([name, those]) => ({ name, own: those.map(({ status }) => status) }))
}

/** One target in the keywords of one group. */
export type Scorecard = ReturnType<typeof scorecards>[number]

/**
 * The figures of each group of keywords.
 *
 * @param statuses of one target and of one part
 */
export function scorecards(statuses: readonly KeywordStatus[], by: SegmentBy, measure: MetricOptions) {
  return grouped(statuses, by).map(({ name, own }) => ({
    /** Null for keywords that are in no group. */
    name,
    statuses: own,
    coverage: coverageOf(own.map(({ current }) => ({ value: current }))),
    figures: headline(own, measure),
    /** Keywords that rank among the first ten. */
    topTen: top(distribution(own.map(({ current }) => current)), 10),
  }))
}

/** One target in the keywords of one tag, for one kind of results of one engine. */
export type Segment = ReturnType<typeof segments>[number]

/**
 * The headline figures per tag, in the order of the tags, keywords without a tag last; of each tag those of every target, the
 * headline kind first. A keyword counts in each of its tags.
 */
export function segments(
  history: RankHistory,
  { compare = null, ...measure }: MetricOptions & { readonly compare?: ComparisonDay | null },
) {
  const parts = partsOf(history, measure.kind)
  return grouped(keywordStatuses(history, compare), 'tag').flatMap(({ name, own }) => {
    const keywords = new Set(own.map(({ series }) => series.keyword)).size
    const byTarget = [...statusesByTarget(own)].sort(([a], [b]) => a - b)
    return byTarget.flatMap(([place, statuses]) => {
      const target = history.targets[place] as Target
      // The tag of keywords without one is null.
      return partSummaries(statuses, parts, measure).map((part) => ({ ...part, tag: name, keywords, target }))
    })
  })
}

/**
 * Counts the keywords of a target down to a rank, and of those observed on both days how many more there are.
 *
 * @param last the rank: 10 for the first ten
 */
export function topRanksOf(statuses: readonly KeywordStatus[], last: number) {
  const isIn = ({ rank }: KeywordStatus['current']): boolean => rank !== null && rank <= last
  const pairs = statuses
    .filter(isKnownOnBothDays)
    .map(({ current, baseline }) => alignDepths(current, baseline.value))
  const change = pairs.reduce((sum, [now, before]) => sum + Number(isIn(now)) - Number(isIn(before)), 0)
  return {
    now: statuses.filter(({ current }) => isIn(current)).length,
    /** Keywords that were observed. */
    observed: statuses.filter(({ current }) => current.state !== 'unknown').length,
    /** How many more or fewer of the keywords that were observed on both days; null where there are none. */
    change: pairs.length === 0 ? null : change,
  }
}
