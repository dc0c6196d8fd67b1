/** The kinds of results that answers are normalised into. */
export type ResultKind = 'organic' | 'news' | 'video' | 'image' | 'reference' | 'suggestion' | 'related'

/** Kind -> the number that stands for it in the database. Never reused. */
export const kindCodes = {
  organic: 1,
  news: 2,
  video: 3,
  image: 4,
  reference: 5,
  suggestion: 6,
  related: 7,
} as const satisfies Record<ResultKind, number>

/** One normalised item of an answer. Text and numbers are as the service sent them; `null` is "not sent". */
export interface Result {
  readonly kind: ResultKind
  /** The number that the service sent, for AI references their index; never ours. */
  readonly position: number | null
  /** Title; for suggestions and related searches their whole text. */
  readonly title: string | null
  readonly link: string | null
  readonly source: string | null
  readonly snippet: string | null
  readonly displayedLink: string | null
  readonly snippetMatched: readonly string[] | null
  readonly news: {
    /** As sent, for instance `3 hours ago`. */
    readonly date: string | null
    /** The instant that `date` names, as ISO 8601 in UTC; null where it is uncertain. */
    readonly publishedAt: string | null
    /** How exactly `date` says it; null where `publishedAt` is. */
    readonly precision: Precision | null
  } | null
  /** With the fields of news. */
  readonly video:
    | (NonNullable<Result['news']> & {
        readonly channel: string | null
        /** As sent, for instance `M:SS` or `H:MM:SS`. */
        readonly duration: string | null
        readonly durationSeconds: number | null
        readonly videoId: string | null
      })
    | null
  readonly image: {
    readonly imageUrl: string | null
    readonly thumbnail: string | null
    readonly width: number | null
    readonly height: number | null
  } | null
}

/** How exactly a text says when: `3 hours ago` to the hour, `12 March 2025` to the day. */
export type Precision = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year'

/** Everything that is understood of one answer. */
export interface ParsedAnswer {
  readonly results: readonly Result[]
  /** Items that are not results: kept as sent, counted, never a reason to lose the others. */
  readonly malformed: readonly unknown[]
  readonly facts: AnswerFacts
}

/** Differences between a call and the parameters that its answer repeats, by field. */
export type EchoMismatch = Readonly<
  Record<string, { readonly asked: string | number; readonly answered: string | number }>
>

/** Facts of an answer other than its results. JSON fields are objects as sent; `null` is "not sent". */
export interface AnswerFacts {
  readonly totalResults: number | null
  readonly timeTaken: number | null
  /** The service's own remark, for instance that results were removed. */
  readonly notice: string | null
  readonly hasNextPage: boolean | null
  readonly nextPage: number | null
  /** Page that the service says this is; in the older style that may be an offset. */
  readonly currentPage: number | null
  readonly searchParameters: unknown
  readonly knowledgeGraph: unknown
  readonly aiMarkdown: string | null
  readonly aiBlocks: unknown
}

/** A value of a row, as the database and every form of output have it. */
export type Cell = string | number | null

/** A row: cells by the names of their columns. */
export type Row = Readonly<Record<string, Cell>>

export type ObservationState = 'ranked' | 'absent' | 'unknown'
export type Exactness = 'exact' | 'estimated'

/** What one run says of one target for one query. */
export interface Observation {
  readonly state: ObservationState
  /** Only where `ranked`. */
  readonly rank: number | null
  /** Null where `unknown`. */
  readonly exactness: Exactness | null
  /** Distinct results checked. */
  readonly depth: number
  /** Distinct results checked without a gap from the first page on: no better rank can be missed among them. */
  readonly unbrokenDepth: number
  /** Pages checked without a gap from the first one on; all planned pages where the results ended. */
  readonly unbrokenPages: number
  /** It rests on an answer that repeats a different query than asked. */
  readonly suspect?: true
  /** All results of the target, the best first; empty where none ranks. */
  readonly places: readonly {
    readonly rank: number
    readonly page: number
    /** Place on the page, from 0. */
    readonly place: number
  }[]
}

/** What a page of web results may have beside its results, as far as the service tells it. Each has a bit, in this order. */
export const serpFeatures = ['knowledge', 'related'] as const

export type SerpFeature = (typeof serpFeatures)[number]

/** The number that stands for a set of features. */
export function featureBits(features: readonly SerpFeature[]): number {
  return features.reduce((bits, one) => bits | (1 << serpFeatures.indexOf(one)), 0)
}
