import type { Target } from '../../model/job.ts'
import { daysBetween } from '../../model/time.ts'
import { placesOf } from '../cells.ts'
import { type AlikeDays, type DailyFigures, daily } from '../daily.ts'
import { once, type PageData } from '../data.ts'
import { type ComparedFigure, headlineFigure, isKnownOnBothDays } from '../headline.ts'
import { hasClicks, historyOfParts, type Part, partsOf } from '../history/filter-history.ts'
import { alignDepths, type KeywordStatus, keywordStatuses } from '../history/keyword-status.ts'
import type { ComparisonDay } from '../history/movement.ts'
import type { CountedClicks, DayValue, Keyword, RankHistory } from '../history/rank-history.ts'
import { rateOf } from '../metrics/figure.ts'
import type { HeadlineName } from '../metrics/index.ts'
import { serpPairs } from '../metrics/serps.ts'
import { statusesByTarget } from '../summary.ts'
import type { CountedSum } from '../words/en/story.ts'
import type { ComparedSpan } from '../words/formats.ts'
import type { Words } from '../words/words.ts'
import { clicksFloors, firstNeeded, rankFloors, shareFloors, trendOf } from './trend.ts'

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

/** What a report is about: clicks where most keywords have a volume; ranks without clicks by the first ten, AI answers by citations. */
export type MainMetric = 'clicks' | 'visibility' | 'top_ten' | 'cited'

/** Of the keywords, that have a volume where clicks lead. */
const leastWithVolume = 0.8
/** Changes of fewer keywords are those of single keywords, and are told as such. */
export const leastKeywords = 5

export type StoryFacts = ReturnType<typeof factsOf>

/** One part of a history, seen from one of its targets. */
export function factsOf(
  data: StoryData,
  {
    target,
    say,
    mark,
    part,
    statuses: known,
    told = new Set(),
  }: {
    readonly target: number
    readonly say: Words
    /** Makes a name from outside harmless, or sets it apart. */
    readonly mark: (name: string) => string
    readonly part?: Part | undefined
    /** The statuses of every target, where they are known already. */
    readonly statuses?: readonly KeywordStatus[] | undefined
    /** Sites outside the job that another story tells of; those of this one are added. */
    readonly told?: Set<number> | undefined
  },
) {
  const { compare, measure } = data
  const history = part === undefined ? data.history : historyOfParts(data.history, [part])
  const statuses = statusesByTarget(known ?? keywordStatuses(history, compare))
  const own = statuses.get(target) ?? []
  const { days, targets } = history
  const span = spanOf(own, days)
  const kind = part?.kind ?? 'organic'
  const withVolume = own.filter(({ keyword }) => keyword.volume !== null).length
  const isByClicks = withVolume > 0 && withVolume >= own.length * leastWithVolume
  const metric: MainMetric =
    kind === 'reference' ? 'cited' : !hasClicks(kind) ? 'top_ten' : isByClicks ? 'clicks' : 'visibility'
  const subject = targets[target]
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
    statuses,
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
    /** The competitors of each keyword. */
    rivals: once(() => rivalsByKeyword(rivalsOf({ statuses, history, place: target, target: subject }))),
    /** The first results of keywords on the last day, with those of the compared one. */
    pages: once(
      () => new Map(serpPairs(history, data.serps, compare).map((pair) => [pair.keyword, pair] as const)),
    ),
    daily: dailyOf(history, measure, compare, span),
    /** What a rank brings of one search, by the weight of its keyword. */
    worthOf: ({ keyword }: KeywordStatus, rank: number | null): number =>
      hasClicks(keyword.kind) ? weightOf(keyword) * rateOf(measure.curve, rank) : 0,
    nameOf: (keyword: Keyword): string => {
      const where = whereOf(keyword)
      return `${say.overview.quoted(named(keyword.query))}${where === '' ? '' : ` (${where})`}`
    },
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
    clicks: sum(({ clicks }) => clicks),
    impressions: sum(({ impressions }) => impressions),
    before: days.before === null ? null : sum(({ clicksBefore }) => clicksBefore ?? 0),
    days,
  }
}

/** Names the country where it tells the keywords of a query apart, else all that does. */
function marketsOf(keywords: readonly Keyword[]): (keyword: Keyword) => string {
  const byQuery = new Map<string, Set<string>>()
  const counts = new Map<string, number>()
  for (const { query, params } of keywords) {
    byQuery.set(query, (byQuery.get(query) ?? new Set()).add(String(params.gl ?? params.cc ?? '')))
    counts.set(query, (counts.get(query) ?? 0) + 1)
  }
  const place = placesOf(keywords)
  return (keyword) => {
    const { gl, cc } = keyword.params
    const several = counts.get(keyword.query) ?? 0
    const isTold = several > 1 && byQuery.get(keyword.query)?.size === several
    return isTold ? String(gl ?? cc ?? '').toUpperCase() || place(keyword) : place(keyword)
  }
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
export function alikeOf(compare: ComparisonDay | null, { day }: Pick<ComparedSpan, 'day'>): AlikeDays {
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

/** The parts of the data, the one that the report is about first. */
export function partsOfData({ history, measure }: Pick<StoryData, 'history' | 'measure'>): readonly Part[] {
  return partsOf(history, measure.kind)
}

/** Below this the digits that are shown of a share say nothing. */
export const leastShown = 0.0005

/** A figure on the last day, and over the keywords that can be compared. */
export interface Measured {
  readonly value: number | null
  /** Keywords that were checked on both days. */
  readonly common: readonly KeywordStatus[]
  /** Of these keywords; null if there are none. */
  readonly now: number | null
  readonly before: number | null
  readonly delta: number | null
}

/** Several rules ask for the same, which takes long for thousands of keywords. Stories have lists of their own. */
const measured = new WeakMap<readonly KeywordStatus[], Map<StoryMetric, Measured>>()

export type StoryMetric = MainMetric | 'top_three' | 'ranked' | 'share_of_voice'

export function measure(
  facts: Pick<StoryFacts, 'measure'>,
  metric: StoryMetric,
  statuses: readonly KeywordStatus[],
): Measured {
  const all = measured.get(statuses) ?? new Map<StoryMetric, Measured>()
  measured.set(statuses, all)
  const known = all.get(metric) ?? measureAnew(facts, metric, statuses)
  all.set(metric, known)
  return known
}

function measureAnew(
  facts: Pick<StoryFacts, 'measure'>,
  metric: StoryMetric,
  statuses: readonly KeywordStatus[],
): Measured {
  // The same list where it is the same, for which days are found once.
  const common = statuses.every(isKnownOnBothDays) ? statuses : statuses.filter(isKnownOnBothDays)
  if (metric === 'clicks' || metric === 'visibility' || metric === 'share_of_voice') {
    const { value, cohort } = headlineFigure(metric, statuses, facts.measure)
    const [now, before] = [cohort?.now.value ?? null, cohort?.before.value ?? null]
    return { value, common, now, before, delta: cohort?.delta ?? null }
  }
  const last = metric === 'top_ten' ? 10 : metric === 'top_three' ? 3 : Number.POSITIVE_INFINITY
  const isIn = ({ rank }: DayValue): boolean => rank !== null && rank <= last
  const pairs = common.map(({ current, baseline }) => alignDepths(current, baseline.value))
  const [now, before] = [0, 1].map((day) => pairs.filter((pair) => isIn(pair[day] as DayValue)).length)
  const checked = statuses.filter(({ current }) => current.state !== 'unknown')
  return {
    value: checked.length === 0 ? null : checked.filter(({ current }) => isIn(current)).length,
    common,
    now: pairs.length === 0 ? null : (now ?? 0),
    before: pairs.length === 0 ? null : (before ?? 0),
    delta: pairs.length === 0 ? null : (now ?? 0) - (before ?? 0),
  }
}

/** A figure of a day that can be held against other days: sums for each keyword, because with fewer checked there are fewer. */
export function levelOn(day: DailyFigures, metric: StoryMetric): number | null {
  const { observed, ranked } = day.coverage
  if (day.isPartial || observed === 0) return null
  if (metric === 'visibility' || metric === 'share_of_voice') return day.figures[metric].value
  if (metric === 'clicks')
    return day.figures.clicks.value === null ? null : day.figures.clicks.value / observed
  if (metric === 'cited' || metric === 'ranked') return ranked / observed
  const { distribution } = day
  const three = distribution['1'] + distribution['2-3']
  return (metric === 'top_three' ? three : three + distribution['4-10']) / observed
}

/** How a figure changed since the compared day, by the days between. */
export function trendOfMetric(facts: StoryFacts, metric: StoryMetric, statuses: readonly KeywordStatus[]) {
  const { delta, common, value } = measure(facts, metric, statuses)
  const { span } = facts
  const observed = statuses.filter(({ current }) => current.state !== 'unknown').length
  if (span === null || delta === null || common.length < leastKeywords || common.length * 2 < observed)
    return null
  const days = facts.daily(common)
  const isShare = metric === 'visibility' || metric === 'share_of_voice'
  const floors = metric === 'clicks' ? clicksFloors(value ?? 0, common.length) : shareFloors
  return trendOf(
    days.map((day) => ({ day: day.day, level: levelOn(day, metric), figures: day })),
    { since: span.day, delta: isShare ? delta : delta / common.length, floors },
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
  const floors = name === 'clicks' ? clicksFloors(value ?? 0, common) : isRank ? rankFloors : shareFloors
  const levels = days.map((day) => ({
    day: day.day,
    level: !isRank ? levelOn(day, name) : day.isPartial ? null : day.figures[name].value,
  }))
  return !trendOf(levels, { since, delta: name === 'clicks' ? delta / common : delta, floors }).isMoved
}

/** How many keywords were checked on the last day, and how many of them rank. */
export function checkedOf(statuses: readonly KeywordStatus[]) {
  const observed = statuses.filter(({ current }) => current.state !== 'unknown')
  return { observed: observed.length, ranked: observed.filter(({ current }) => current.rank !== null).length }
}

/** One target among the others. */
interface TargetAmongOthers {
  readonly statuses: ReadonlyMap<number, readonly KeywordStatus[]>
  readonly history: RankHistory
  readonly place: number
  readonly target: Target | undefined
}

/** Competitors; seen from a competitor, all other targets. */
export function rivalsOf({ statuses, history, place, target }: TargetAmongOthers) {
  return [...statuses].flatMap(([other, those]) => {
    const rival = history.targets[other] as Target
    return other === place || (target?.own === true && rival.own)
      ? []
      : [{ place: other, label: rival.label, statuses: those }]
  })
}

function rivalsByKeyword(rivals: ReturnType<typeof rivalsOf>) {
  const byKeyword = new Map<number, { readonly label: string; readonly status: KeywordStatus }[]>()
  for (const { label, statuses } of rivals)
    for (const status of statuses) {
      const those = byKeyword.get(status.series.keyword) ?? []
      byKeyword.set(status.series.keyword, those)
      those.push({ label, status })
    }
  return byKeyword
}
