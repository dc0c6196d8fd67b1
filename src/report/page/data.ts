import type { RunQuality } from '../../model/run.ts'
import { daysOf, filterHistory, type HistoryFilter, isBetween, isIn } from '../history/filter-history.ts'
import type { ComparisonDay } from '../history/movement.ts'
import type { RankHistory } from '../history/rank-history.ts'
import type { MetricOptions } from '../metrics/figure.ts'

/** Everything that the report as a page shows: plain JSON, however it is delivered. */
export interface PageData {
  readonly history: RankHistory
  /** The day to compare with; null for the nearest one before. */
  readonly compare: ComparisonDay | null
  readonly measure: MetricOptions
  /** Runs of the last days, the newest last. */
  readonly runs: readonly RunQuality[]
  readonly serps: readonly Serp[]
  readonly citations: readonly Citation[]
  /** Titles of `serps`. */
  readonly texts: readonly string[]
  /** Registrable domains of `serps`. */
  readonly sites: readonly string[]
  /** Links of `serps`, apart from those of the history. */
  readonly links: readonly string[]
}

/** The first ten results of a keyword on a day. */
export interface Serp {
  readonly keyword: number
  readonly day: number
  /** Distinct results checked without a gap, ten at most; deeper ranks are not known from here. */
  readonly depth: number
  readonly results: readonly SerpResult[]
}

/**
 * Places in `texts`, `links` and `sites`, null where the service sent none; then every target that it belongs to, own ones
 * first, empty for a result of others.
 */
export type SerpResult = readonly [
  rank: number,
  title: number | null,
  link: number | null,
  site: number | null,
  targets: readonly number[],
]

/** Who was cited by an AI answer. */
export interface Citation {
  readonly keyword: number
  readonly day: number
  /** References that the answer has. */
  readonly references: number
  /** Target and the indexes at which it is cited, as the service sent them. */
  readonly cited: readonly { readonly target: number; readonly indexes: readonly number[] }[]
}

/** The page with the selected keywords and days only; runs of other days are left out, too. */
export function filterPage(data: PageData, filter: HistoryFilter): PageData {
  const history = filterHistory(data.history, filter)
  const range = daysOf(data.history.days, filter)
  const keywords = new Set(history.series.map(({ keyword }) => keyword))
  const cut = <T extends { readonly keyword: number; readonly day: number }>(all: readonly T[]) =>
    all
      .filter(({ keyword, day }) => keywords.has(keyword) && isIn(range, day))
      .map((one) => (range.start === 0 ? one : { ...one, day: one.day - range.start }))
  return {
    ...data,
    history,
    runs: data.runs.filter(({ date }) => isBetween(date, filter)),
    serps: cut(data.serps),
    citations: cut(data.citations),
  }
}
