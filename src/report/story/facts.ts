import { groupedBy } from '../../model/text.ts'
import { daysBetween } from '../../model/time.ts'
import { placesOf } from '../cells.ts'
import { type DailyFigures, daily } from '../daily.ts'
import { once, type PageData } from '../data.ts'
import { type ComparedFigure, headlineFigure, isKnownOnBothDays } from '../headline.ts'
import { hasClicks, historyOfParts, type Part } from '../history/filter-history.ts'
import { alignDepths, type KeywordStatus, keywordStatuses } from '../history/keyword-status.ts'
import type { ComparisonDay } from '../history/movement.ts'
import type { CountedClicks, DayValue, Keyword, RankHistory } from '../history/rank-history.ts'
import { type MetricDefinition, rateOf } from '../metrics/figure.ts'
import type { HeadlineName } from '../metrics/index.ts'
import { top } from '../metrics/positions.ts'
import { serpPairs } from '../metrics/serps.ts'
import { statusesByTarget } from '../summary.ts'
import type { CountedSum } from '../words/en/story.ts'
import type { ComparedSpan } from '../words/formats.ts'
import type { Words } from '../words/words.ts'
import { firstNeeded, floorsOf, trendOf } from './trend.ts'

/** What stories are made of. */
export type StoryData = Pick<PageData, 'history' | 'compare' | 'measure' | 'citations' | 'serps' | 'sites'>

/** What happened, in a sentence or two; and what it opens. */
export interface StorySentence {
  readonly text: string
  readonly opens:
    | { readonly to: 'chart' | 'moved' | 'rivals' | 'keywords' }
    | { readonly to: 'keyword'; readonly keyword: number }
    | { readonly to: 'tag'; readonly tag: string }
}

/** Of the keywords, that have a volume where clicks lead. */
const leastWithVolume = 0.8
/** Changes of fewer keywords are those of single keywords, and are told as such. */
export const leastKeywords = 5

export type StoryFacts = ReturnType<typeof factsOf>

export interface StoryOptions {
  /** Place of the target in the history; the first own one by default. */
  readonly target?: number | undefined
  readonly say: Words
  /** Makes a name from outside, such as a query, harmless or sets it apart; unchanged by default. */
  readonly mark?: (name: string) => string
  /** The statuses of every target of the whole history, where they are known already. */
  readonly statuses?: readonly KeywordStatus[] | undefined
  /** Sites outside the job that stories beside it tell of; those of this one are added. */
  readonly told?: Set<number> | undefined
}

/** One part of a history, seen from one of its targets. */
export function factsOf(
  data: StoryData,
  {
    target = firstOwn(data),
    say,
    mark = (name) => name,
    part,
    statuses: known,
    told = new Set(),
  }: StoryOptions & { readonly part?: Part | undefined },
) {
  const { compare, measure } = data
  const history = part === undefined ? data.history : historyOfParts(data.history, [part])
  const statuses = statusesByTarget(known ?? keywordStatuses(history, compare))
  const own = statuses.get(target) ?? []
  const { days, targets } = history
  const span = spanOf(own, days)
  const kind = part?.kind ?? 'organic'
  const withVolume = own.filter(({ keyword }) => keyword.volume !== null).length
  const hasClickWeights = withVolume > 0 && withVolume >= own.length * leastWithVolume
  const metric: MainMetric =
    kind === 'reference' ? 'cited' : !hasClicks(kind) ? 'top_ten' : hasClickWeights ? 'clicks' : 'visibility'
  const subject = targets[target]
  /** Competitors; seen from a competitor, all other targets. */
  const rivals = [...statuses].flatMap(([place, those]) => {
    const rival = targets[place]
    return rival === undefined || place === target || (subject?.own === true && rival.own)
      ? []
      : [{ place, label: rival.label, statuses: those }]
  })
  const place = marketsOf(own.map(({ keyword }) => keyword))
  const named = (name: string): string => mark(shortName(name))
  const whereOf = (keyword: Keyword): string => {
    const where = place(keyword)
    return where === '' ? '' : named(where)
  }
  /** Searches a month; without volumes all keywords weigh the same. */
  const weightOf = ({ volume }: Pick<Keyword, 'volume'>): number => (metric === 'clicks' ? (volume ?? 0) : 1)
  return {
    history,
    compare,
    measure,
    metric,
    kind,
    hasVolumes: withVolume > 0,
    own,
    span,
    say,
    named,
    target: subject,
    place: target,
    /** The name of a target that is not one's own. */
    of: subject === undefined || subject.own ? null : named(subject.label),
    sites: data.sites,
    told,
    rivals,
    /** The competitors of each keyword. */
    rivalsByKeyword: once(() =>
      groupedBy(
        rivals.flatMap((rival) => rival.statuses.map((status) => ({ label: rival.label, status }))),
        ({ status }) => status.series.keyword,
      ),
    ),
    /** The first results of keywords on the last day, with those of the compared one. */
    pages: once(
      () => new Map(serpPairs(history, data.serps, compare).map((pair) => [pair.keyword, pair] as const)),
    ),
    daily: dailyOf(history, measure, compare, span),
    /** What a rank brings of one search, by the weight of its keyword. */
    worthOf: ({ keyword }: KeywordStatus, rank: number | null): number =>
      hasClicks(keyword.kind) ? weightOf(keyword) * rateOf(measure.curve, rank) : 0,
    /** A worth in clicks a month; null without a volume, and where nothing says what is clicked. */
    clicksOf: ({ keyword: { kind: its, volume } }: KeywordStatus, worth: number): number | null =>
      volume === null || !hasClicks(its) ? null : metric === 'clicks' ? worth : worth * volume,
    nameOf: (keyword: Keyword): string =>
      withAbout(say.overview.quoted(named(keyword.query)), whereOf(keyword)),
    /** What tells it from others with the same query, such as its country; empty where nothing has to. */
    whereOf,
    /** What it is now, and what it was: `not found`, or a rank. */
    rankText: ({ state, rank, absentDepth }: DayValue): string =>
      kind === 'reference' && state !== 'unknown'
        ? rank === null
          ? say.overview.notCitedYet
          : say.overview.cited
        : rank !== null
          ? say.number(rank)
          : state === 'unknown'
            ? say.ranks.notKnown
            : say.overview.notFound(absentDepth || null),
  }
}

function firstOwn({ history: { targets } }: StoryData): number {
  return Math.max(
    0,
    targets.findIndex(({ own }) => own),
  )
}

/**
 * What Search Console counted of some keywords of an own target, each row once: a query of several markets or places has the same rows in all
 * of them where its file does not tell them apart. Null where it names none of them, or does not cover the period. */
export function countedSum(
  own: readonly Pick<KeywordStatus, 'keyword'>[],
  days: RankHistory['countedClicks'],
): CountedSum | null {
  const byRows = own.flatMap(({ keyword: { query, counted: of } }) =>
    of === undefined
      ? []
      : [[`${of.clicks} ${of.impressions} ${of.position} ${query.toLowerCase()}`, of] as const],
  )
  const counted = [...new Map(byRows).values()]
  if (days === undefined || counted.length === 0) return null
  const sum = (one: (of: CountedClicks) => number): number => counted.reduce((all, of) => all + one(of), 0)
  return {
    keywords: byRows.length,
    all: own.length,
    clicks: sum(({ clicks }) => clicks),
    impressions: sum(({ impressions }) => impressions),
    before: days.before === null ? null : sum(({ clicksBefore }) => clicksBefore ?? 0),
    days,
  }
}

/** Names the country where it tells the keywords of a query apart, else all that does. */
function marketsOf(keywords: readonly Keyword[]): (keyword: Keyword) => string {
  const countryOf = ({ params: { gl, cc } }: Keyword): string => String(gl ?? cc ?? '')
  const byQuery = groupedBy(keywords, ({ query }) => query)
  const place = placesOf(keywords)
  return (keyword) => {
    const same = byQuery.get(keyword.query) ?? []
    const isTold = same.length > 1 && new Set(same.map(countryOf)).size === same.length
    return (isTold && countryOf(keyword).toUpperCase()) || place(keyword)
  }
}

/** `name (about)`; the name alone where there is nothing about it. */
export function withAbout(name: string, about: string): string {
  return about === '' ? name : `${name} (${about})`
}

/** Longer names are cut in sentences. */
const longestName = 60

function shortName(name: string): string {
  const signs = [...name]
  return signs.length <= longestName ? name : `${signs.slice(0, longestName - 1).join('')}…`
}

/** The figures of targets day by day, of the keywords that are given; and those from the compared day on. */
function dailyOf(
  history: RankHistory,
  measure: StoryData['measure'],
  compare: StoryData['compare'],
  span: ComparedSpan | null,
) {
  const alike = span === null ? null : alikeOf(compare, span)
  const since = span === null ? history.days.length : history.days.indexOf(span.day)
  const first = firstNeeded(history.days.length, since)
  const found = new WeakMap<readonly KeywordStatus[], readonly DailyFigures[]>()
  return (statuses: readonly KeywordStatus[]): readonly DailyFigures[] => {
    const days = found.get(statuses)
    if (days !== undefined || statuses.length === 0) return days ?? []
    const series = statuses.map((one) => one.series)
    const made = daily({ ...history, series }, series[0]?.target ?? 0, measure, first, alike)
    found.set(statuses, made)
    return made
  }
}

/** Usually a day that is compared may lie so far from the asked one. */
const usualTolerance = 3

/** What makes the days of these keywords alike. */
export function alikeOf(compare: ComparisonDay | null, { day }: Pick<ComparedSpan, 'day'>) {
  return { day, asked: compare?.day ?? day, tolerance: compare?.tolerance ?? usualTolerance }
}

/** The day that most of these keywords are compared with; of equally many the later one. */
export function spanOf(statuses: readonly KeywordStatus[], days: readonly string[]): ComparedSpan | null {
  const counts = new Map<number, number>()
  for (const status of statuses)
    if (isKnownOnBothDays(status)) counts.set(status.baseline.day, (counts.get(status.baseline.day) ?? 0) + 1)
  const [most] = [...counts].sort(([a, some], [b, others]) => others - some || b - a)
  const [day, until] = [days[most?.[0] ?? -1], days.at(-1)]
  return day === undefined || until === undefined ? null : { day, until, days: daysBetween(day, until) }
}

/** Below this the digits that are shown of a share say nothing. */
export const leastShown = 0.0005

/** What a report is about: clicks where most keywords have a volume; ranks without clicks by the first ten, AI answers by citations. */
export type MainMetric = 'clicks' | 'visibility' | 'top_ten' | 'cited'

/** The figures of stories with their units. */
const units = {
  clicks: 'clicks a month',
  visibility: 'share',
  share_of_voice: 'share',
  top_ten: 'keywords',
  top_three: 'keywords',
  ranked: 'keywords',
  cited: 'keywords',
} as const satisfies Partial<Record<string, MetricDefinition['unit']>>

export type StoryMetric = keyof typeof units

export function unitOf<Metric extends StoryMetric>(metric: Metric): (typeof units)[Metric] {
  return units[metric]
}

/** Whether ranks make a figure by the clicks that they bring; others count keywords. */
export function isByClicks<Metric extends StoryMetric>(
  metric: Metric,
): metric is Extract<Metric, HeadlineName> {
  return units[metric] !== 'keywords'
}

/** The last rank that a figure counts. */
function lastRankOf(metric: StoryMetric): number {
  return metric === 'top_ten' ? 10 : metric === 'top_three' ? 3 : Number.POSITIVE_INFINITY
}

/** Several rules ask for the same, which takes long for thousands of keywords. Stories have lists of their own. */
const measured = new WeakMap<readonly KeywordStatus[], Map<StoryMetric, ReturnType<typeof measureAnew>>>()

/** A figure on the last day, and over the keywords that can be compared. */
export function measure(
  facts: Pick<StoryFacts, 'measure'>,
  metric: StoryMetric,
  statuses: readonly KeywordStatus[],
) {
  const all = measured.get(statuses) ?? new Map<StoryMetric, ReturnType<typeof measureAnew>>()
  measured.set(statuses, all)
  const known = all.get(metric) ?? measureAnew(facts, metric, statuses)
  all.set(metric, known)
  return known
}

function measureAnew(
  facts: Pick<StoryFacts, 'measure'>,
  metric: StoryMetric,
  statuses: readonly KeywordStatus[],
) {
  /** Keywords that were checked on both days: the same list where it is the same, for which days are found once. */
  const common = statuses.every(isKnownOnBothDays) ? statuses : statuses.filter(isKnownOnBothDays)
  if (isByClicks(metric)) {
    const { value, cohort } = headlineFigure(metric, statuses, facts.measure)
    return { value, common, ...measuredTwice(cohort?.now.value ?? null, cohort?.before.value ?? null) }
  }
  const isIn = ({ rank }: DayValue): boolean => rank !== null && rank <= lastRankOf(metric)
  const pairs = common.map(({ current, baseline }) => alignDepths(current, baseline.value))
  const countOn = (day: 0 | 1) => (pairs.length === 0 ? null : pairs.filter((pair) => isIn(pair[day])).length)
  const checked = statuses.filter(({ current }) => current.state !== 'unknown')
  const value = checked.length === 0 ? null : checked.filter(({ current }) => isIn(current)).length
  return { value, common, ...measuredTwice(countOn(0), countOn(1)) }
}

/** A figure of the keywords that can be compared, on both days; null if there are none. */
function measuredTwice(now: number | null, before: number | null) {
  return { now, before, delta: now === null || before === null ? null : now - before }
}

/** Ranks that are too low for clicks or visibility are told by the first ten. */
export function leadMetricOf(facts: StoryFacts): MainMetric {
  const { metric, own } = facts
  if (!isByClicks(metric)) return metric
  const { value, before } = measure(facts, metric, own)
  const least = metric === 'clicks' ? 1 : leastShown
  return (value ?? 0) < least && (before ?? 0) < least ? 'top_ten' : metric
}

/** A figure as its digits are shown, so that equal ones are level. */
export function asShown(metric: MainMetric, value: number | null): number {
  return metric === 'visibility'
    ? Math.round((value ?? 0) * 1000)
    : Math.round(Number((value ?? 0).toPrecision(3)))
}

/** A figure of a day that can be held against other days: sums for each keyword, because with fewer checked there are fewer. */
export function levelOn(day: DailyFigures, metric: StoryMetric): number | null {
  const { observed } = day.coverage
  if (day.isPartial || observed === 0) return null
  if (!isByClicks(metric)) return top(day.distribution, lastRankOf(metric)) / observed
  const { value } = day.figures[metric]
  return value === null || metric !== 'clicks' ? value : value / observed
}

/** How a figure changed since the compared day, by the days between. */
export function trendOfMetric(facts: StoryFacts, metric: StoryMetric, statuses: readonly KeywordStatus[]) {
  const { delta, common, value } = measure(facts, metric, statuses)
  const { span } = facts
  const { observed } = checkedOf(statuses)
  if (span === null || delta === null || common.length < leastKeywords || common.length * 2 < observed)
    return null
  return trendOf(
    facts.daily(common).map((day) => ({ day: day.day, level: levelOn(day, metric), figures: day })),
    {
      since: span.day,
      delta: unitOf(metric) === 'share' ? delta : delta / common.length,
      floors: floorsOf(unitOf(metric), value ?? 0, common.length),
    },
  )
}

/**
 * Whether a figure changed by no more than it usually swings; not where nothing is compared.
 *
 * @param since the day that is compared with
 */
export function isSwing(
  name: HeadlineName,
  { value, cohort }: ComparedFigure,
  days: readonly DailyFigures[],
  since: string | null,
): boolean {
  const delta = cohort?.delta ?? null
  if (delta === null || since === null) return false
  const common = cohort?.now.coverage.observed ?? 0
  const isRank = name === 'average_position'
  const levels = days.map((day) => ({
    day: day.day,
    level: !isRank ? levelOn(day, name) : day.isPartial ? null : day.figures[name].value,
  }))
  const floors = floorsOf(isRank ? 'rank' : unitOf(name), value ?? 0, common)
  return trendOf(levels, { since, delta: name === 'clicks' ? delta / common : delta, floors }).isSwing
}

/** How many keywords were checked on the last day, and how many of them rank. */
export function checkedOf(statuses: readonly KeywordStatus[]) {
  const observed = statuses.filter(({ current }) => current.state !== 'unknown')
  return { observed: observed.length, ranked: observed.filter(({ current }) => current.rank !== null).length }
}
