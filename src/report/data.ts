import { featureBits, type SerpFeature, serpFeatures } from '../model/result.ts'
import type { RunQuality } from '../model/run.ts'
import { daysOf, filterHistory, type HistoryFilter, isBetween } from './history/filter-history.ts'
import type { ComparisonDay } from './history/movement.ts'
import type { ReportPeriod, RequestedPeriod } from './history/period.ts'
import type { RankHistory } from './history/rank-history.ts'
import type { MetricOptions } from './metrics/figure.ts'
import type { Presentation } from './presentation/presentation.ts'

/** True and false where an answer said so, null where none did. */
export type FeatureState = boolean | null

const width = serpFeatures.length

/** The number that stands for what is known and what of it was there. */
export function stateOf(known: number, found: number): number {
  return known | ((found & known) << width)
}

/** Whether a state shows a feature. */
export function featureIn(state: number, feature: SerpFeature): FeatureState {
  return hasFeature(state, feature) ? hasFeature(state >> width, feature) : null
}

/** The state of each day. */
export function featureStates(
  { changes }: Pick<PageData['features'][number], 'changes'>,
  days: number,
): readonly number[] {
  const states: number[] = Array(days).fill(0)
  for (let place = 0; place < changes.length; place += 2)
    states.fill(changes[place + 1] as number, changes[place])
  return states
}

/** Cuts days off and numbers the others anew. */
export function cutFeatures(
  { keyword, changes }: PageData['features'][number],
  { start, end }: { readonly start: number; readonly end: number },
) {
  const states = featureStates({ changes }, end)
  return { keyword, changes: changesOf(states.slice(start)) }
}

/** Only the days on which the state is another than on the day before. */
export function changesOf(states: readonly number[]): readonly number[] {
  return states.flatMap((state, day) => (state === (states[day - 1] ?? 0) ? [] : [day, state]))
}

/** Periods and comparisons that the page offers by name, beside those of the report and free days. */
export const offeredPeriods = ['7d', '28d', '30d', 'month', 'last-month', 'quarter', 'all'] as const
export const offeredComparisons = ['previous-period', '1d', '7d', 'year'] as const

/** The content of the HTML report, as plain JSON. */
export interface PageData {
  readonly history: RankHistory
  /** The period that the page opens with; null for a report that compares with the nearest day before. */
  readonly period: ReportPeriod | null
  /** The day to compare with; null for the nearest earlier one. */
  readonly compare: ComparisonDay | null
  /** The period that options or the job file ask for. */
  readonly requestedPeriod: RequestedPeriod
  readonly presentation: Presentation
  readonly measure: MetricOptions
  /** Runs of the last days, the newest last. */
  readonly runs: readonly RunQuality[]
  readonly serps: readonly PageSerp[]
  readonly citations: readonly Citation[]
  /** What the result pages of keywords had beside their results, day by day. */
  readonly features: readonly {
    readonly keyword: number
    /** A day and the state from it on, over and over. Only days with a change are listed; before the first one nothing is known. */
    readonly changes: readonly number[]
  }[]
  /** Titles of `serps`. */
  readonly texts: readonly string[]
  /** Registrable domains of `serps`. */
  readonly sites: readonly string[]
  /** Links of `serps`, apart from those of the history. */
  readonly links: readonly string[]
}

/**
 * The same as it is written, with result pages that are taken one by one, for they would be most of the memory. Titles, sites and links
 * are whole once all of them were taken.
 */
export interface PageContent extends Omit<PageData, 'serps'> {
  readonly serps: Iterable<PageSerp>
}

/** The first ten results of a keyword on a day. */
export interface PageSerp {
  readonly keyword: number
  readonly day: number
  /** Distinct results that were checked without a gap, ten at most. */
  readonly depth: number
  readonly results: readonly SerpResult[]
}

/**
 * Places in `texts`, `links` and `sites`, null if the service sent none; then every target that the result belongs to, own
 * ones first, empty for a result of other sites.
 */
export type SerpResult = readonly [
  rank: number,
  title: number | null,
  link: number | null,
  site: number | null,
  targets: readonly number[],
]

/** The targets that an AI answer cites. */
export interface Citation {
  readonly keyword: number
  readonly day: number
  /** The number of references of the answer. */
  readonly references: number
  /** Target and the indexes at which it is cited, as the service sent them. */
  readonly cited: readonly { readonly target: number; readonly indexes: readonly number[] }[]
}

/** The content with the selected keywords and days only; runs of other days are left out as well. */
export function filterPage(data: PageData, filter: HistoryFilter): PageData {
  const history = filterHistory(data.history, filter)
  const range = daysOf(data.history.days, filter)
  const isWhole = range.start === 0 && range.end === data.history.days.length
  const keywords = new Set(history.series.map(({ keyword }) => keyword))
  const cut = <T extends { readonly keyword: number; readonly day: number }>(all: readonly T[]) =>
    all
      .filter(({ keyword, day }) => keywords.has(keyword) && day >= range.start && day < range.end)
      .map((one) => (range.start === 0 ? one : { ...one, day: one.day - range.start }))
  const runs = data.runs.filter(({ date }) => isBetween(date, filter))
  return cutPage({ history, runs }, data, {
    serps: cut,
    citations: cut,
    features: (all) =>
      all
        .filter(({ keyword }) => keywords.has(keyword))
        .map((one) => (isWhole ? one : cutFeatures(one, range))),
  })
}

/** The content of fewer keywords, which keep their places. */
export function keepKeywords(data: PageData, isWanted: (keyword: number) => boolean): PageData {
  const cut = <T extends { readonly keyword: number }>(all: readonly T[]) =>
    all.filter(({ keyword }) => isWanted(keyword))
  const history = { ...data.history, series: cut(data.history.series) }
  return cutPage({ history, runs: data.runs }, data, { serps: cut, citations: cut, features: cut })
}

/** Lists of what belongs to keywords. */
type KeywordLists = Pick<PageData, 'serps' | 'citations' | 'features'>

/** The lists are long, and the first screen shows nothing of most of them, so each is cut when it is read. */
function cutPage(
  { history, runs }: Pick<PageData, 'history' | 'runs'>,
  whole: PageData,
  cut: { readonly [name in keyof KeywordLists]: (all: KeywordLists[name]) => KeywordLists[name] },
): PageData {
  const { period, compare, requestedPeriod, presentation, measure, texts, sites, links } = whole
  return withLate(
    { history, period, compare, requestedPeriod, presentation, measure, runs, texts, sites, links },
    {
      serps: () => cut.serps(whole.serps),
      citations: () => cut.citations(whole.citations),
      features: () => cut.features(whole.features),
    },
  )
}

/** With more fields, each of which is found when it is first read. */
export function withLate<Known extends object, Late extends object>(
  known: Known,
  late: { readonly [name in keyof Late]: () => Late[name] },
): Known & Readonly<Late> {
  for (const name in late) Object.defineProperty(known, name, { enumerable: true, get: once(late[name]) })
  return known as Known & Readonly<Late>
}

/** The value of a function that is called once at most. */
export function once<T>(find: () => T): () => T {
  let found: { readonly value: T } | undefined
  return () => {
    found ??= { value: find() }
    return found.value
  }
}

function hasFeature(bits: number, feature: SerpFeature): boolean {
  return (bits & featureBits([feature])) !== 0
}
