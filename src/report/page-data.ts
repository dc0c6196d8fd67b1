import type { RunQuality } from '../model/run.ts'
import type { AskedDay } from './baseline.ts'
import type { Measure } from './headline.ts'
import type { RankHistory } from './rank-history.ts'

/** Everything that the report as a page shows: plain JSON, however it is delivered. */
export interface PageData {
  readonly history: RankHistory
  /** The day that was asked for to compare with; null for the nearest one before. */
  readonly compare: AskedDay | null
  readonly measure: Measure
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
  /** Distinct results looked at without a gap, ten at most; what ranks deeper is not known from here. */
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
