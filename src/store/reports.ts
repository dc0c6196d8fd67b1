import type { Cell, Exactness, ObservationState, ResultKind, Row } from '../model/result.ts'
import type { RunQuality, Suspicion } from '../model/run.ts'
import type { Target } from '../model/target.ts'

/** What is stored, row by row. */
export interface ReportStore {
  /** Rows of a public view, streamed in a stable order: the order in which tasks were planned, page and place. */
  rows(view: RowView, filter: RowFilter): Iterable<Row>
  /**
   * What is stored now, readable while other processes write. Until it is disposed of, all reads through this store are of that
   * moment, and nothing may be written through it.
   */
  snapshot(): Snapshot
  /**
   * Every query of a run with each of these targets of the whole job and those of its own, as rows of `rankings` on the
   * run's day that know nothing.
   */
  askedBy(run: number, targets: readonly Target[]): Iterable<Row>
  /** Queries of that text in the newest run of the job that has settled one. */
  queryRecords(look: QueryFilter): Promise<readonly QueryRecord[]>
  /** The texts of everything that runs of the job ever asked, in alphabetical order. */
  queryTexts(job: string): Promise<readonly string[]>
  /** Queries of the newest run of the job that asks any such query, in alphabetical order. */
  serpQueries(look: SerpFilter): readonly SerpQuery[]
  /** Runs of the job that have the first page of a query, by day and run. */
  serpDates(look: Omit<SerpFilter, 'text'>, queryId: number): readonly SerpDate[]
  /** The pages of a query as a run left them. */
  storedSerp(run: number, queryId: number): SerpRecord
  /** Targets that a query has in a run beside those of the whole job. */
  queryTargets(run: number, queryId: number): readonly Target[]
}

/** What was stored at one moment. */
export interface Snapshot extends Disposable {
  /**
   * Number of what was stored or changed last: results of a task, or a call. Everything that comes later has a higher
   * one. 0 where there is nothing.
   */
  newest(view: ExportView): number
  /** Which task or call has a number, and since when, as text; null where it has a newer one by now, or none has it. */
  markOf(view: ExportView, number: number): string | null
  /** Names of the labels that queries of these runs carry, in alphabetical order. */
  labelNames(filter: Pick<RowFilter, 'job' | 'run'>): readonly string[]
  /**
   * These columns of the results of tasks that are done, or of calls, in the order in which they were planned, page and
   * place. Of results, those of a whole task are always taken.
   */
  rows(view: ExportView, columns: readonly string[], filter: ExportFilter): Iterable<readonly Cell[]>
  /** Tasks whose results `rows` takes, also those that have none in a view. What was pruned is left out: it did not change. */
  taskIds(filter: ExportFilter): Iterable<number>
}

export type ExportView = Exclude<RowView, 'answers' | 'rankings'>

export interface ExportFilter extends RowFilter {
  /** Only what was stored or changed after what had this number; 0 takes all. */
  readonly after: number
}

interface QueryFilter {
  readonly job: string
  readonly text: string
  /** Only runs from before this local day. */
  readonly until?: string
}

interface SerpFilter {
  readonly job: string
  /** Queries of this text alone; null takes all. */
  readonly text: string | null
  /** Only runs from before this local day. */
  readonly until?: string
}

export interface SerpQuery {
  readonly queryId: number
  readonly operation: string
  readonly text: string
  readonly params: Readonly<Record<string, string | number>>
}

/** A run that has results of a query. */
export interface SerpDate {
  readonly run: number
  /** Local day on which the run started. */
  readonly date: string
}

/** The results of a query in one run. */
export type SerpRecord = Pick<QueryRecord, 'run' | 'date' | 'end' | 'pages'>

/** One query of one run: what was asked, what came, and what it says of each target. */
export interface QueryRecord {
  readonly run: number
  readonly job: string
  /** Local day on which the run started. */
  readonly date: string
  readonly operation: string
  readonly text: string
  readonly params: Readonly<Record<string, string | number>>
  /** Pages at most. */
  readonly maxPages: number
  /** Documented size of a page, or null. */
  readonly pageSize: number | null
  /** Why no page follows any more; null while pages may follow. */
  readonly end: { readonly because: string; readonly kind: string } | null
  /** Those that were planned, in order. */
  readonly pages: readonly PageRecord[]
  readonly targets: readonly TargetRecord[]
}

export interface PageRecord {
  readonly page: number
  /** `open`: not fetched yet; `skipped`: not asked for, as its cause says; `pruned`: retention dropped its results. */
  readonly state: 'done' | 'failed' | 'open' | 'skipped' | 'pruned'
  readonly cause: string | null
  /** Its answer repeats another question than asked. */
  readonly mismatched?: true
  /** ISO 8601, UTC. */
  readonly fetchedAt: string | null
  readonly results: readonly ResultRecord[]
}

export interface ResultRecord {
  readonly kind: ResultKind
  readonly rank: number
  /** As the service sent it. */
  readonly position: number | null
  readonly title: string | null
  readonly link: string | null
  readonly snippet: string | null
}

/** A target of a query, with what the run observed of it. */
export interface TargetRecord extends Target {
  readonly state: ObservationState
  readonly rank: number | null
  readonly exactness: Exactness | null
  readonly depth: number
  readonly unbrokenDepth: number
  /** Page on which it ranks; null where that is not stored. */
  readonly page: number | null
}

/** A view that is exported row by row. */
export type RowView =
  | 'answers'
  | 'organic_results'
  | 'news_results'
  | 'video_results'
  | 'image_results'
  | 'ai_references'
  | 'suggestions'
  | 'related_searches'
  | 'calls'
  | 'rankings'

/** What rows to take; an absent field is no condition. */
export interface RowFilter {
  readonly job?: string
  readonly run?: number
  readonly query?: string
  readonly operation?: string
  /** Instants in ISO 8601, or days: from (inclusive), until (exclusive). */
  readonly from?: string
  readonly until?: string
}

/** What runs asked and observed, by the numbers of queries, targets and links: a year of it is read in a second. */
export interface TrackingStore {
  /**
   * What a run asks for, with what rests while it asks a part of its job: its queries by text, operation and params, and those of these targets of the whole job that it
   * has, with those of single queries. Own targets come first, each group in the order of `targets`, then as the job file
   * names them.
   */
  contentsOf(run: number, targets: readonly Target[]): RunContents
  /** Queries of a job that go on with the history of another one, each with the first run that asked it. */
  continuations(job: string): readonly ContinuedQuery[]
  /** Runs of a job that asked a part of it: what they left out stays as it was. */
  partialRuns(job: string): ReadonlySet<number>
  /** Everything that a run observed, in any order; what a query observed mostly stands together. */
  observedIn(run: number): readonly ObservedRow[]
  /** Texts of queries that some run asked. */
  queries(ids: readonly number[]): readonly QueryText[]
  links(ids: readonly number[]): readonly string[]
  /** The distinct results of each query down to its rank. All are read at once. */
  firstResults(requests: readonly ResultsRequest[]): readonly SeenResults[]
  /** What the first pages of a run had beside their results; without pages that have no answer. */
  featuresIn(run: number): readonly FoundFeatures[]
  runQuality(run: number): RunQuality
  /** Why a run as a whole is suspect, or the run that it looked again at; null where it is not. */
  suspicionOf(run: number): Suspicion | null
}

/** The features of a page as bits, see `model/result`. */
export type FoundFeatures = readonly [query: number, features: number]

export interface RunContents {
  readonly queries: readonly RunKeyword[]
  readonly targets: readonly ReportedTarget[]
  /** Query and target of each observation that the run is to make, in the order of the two lists. */
  readonly pairs: readonly (readonly [query: number, target: number])[]
}

/** Numbers of two queries of a job, of which one took the place of the other. */
export interface ContinuedQuery {
  readonly run: number
  readonly query: number
  readonly former: number
}

export interface QueryText {
  readonly id: number
  readonly query: string
  readonly operation: string
  readonly params: Readonly<Record<string, string | number>>
}

export interface RunKeyword extends QueryText {
  readonly tags: readonly string[]
  /** Searches a month. */
  readonly volume: number | null
  /** The landing page that should rank. */
  readonly url: string | null
  readonly labels: Readonly<Record<string, string>>
}

export interface ReportedTarget extends Target {
  readonly id: number
}

/** One observation, as short as it can be said: a year of a thousand keywords is a million of them. */
export type ObservedRow = RankedRow | UnrankedRow

/** Link and places as in the table `observations`; the latter is JSON. */
type RankedRow = readonly [
  query: number,
  target: number,
  rank: number,
  estimated: 0 | 1,
  link: number | null,
  places: string | null,
]

/**
 * `unknown` where `estimated` is null; the unbroken depth is -1 where the results ended. The depth that absence counts with
 * is the planned one, or the checked one where paging ended for another reason than the results.
 */
type UnrankedRow = readonly [
  query: number,
  target: number,
  rank: null,
  estimated: 0 | 1 | null,
  depth: number,
  unbrokenDepth: number,
  absentDepth: number,
]

export function isRanked(row: ObservedRow): row is RankedRow {
  return row[2] !== null
}

/** The results of a query in a run. */
export interface ResultsRequest {
  readonly run: number
  readonly query: number
  readonly kind: ResultKind
  /** The deepest rank that is read. */
  readonly top: number
}

export interface SeenResults {
  /** How many distinct results were checked without a gap; infinite where the results ended, 0 where nothing is known. */
  readonly depth: number
  /** The best first; none where nothing is known. */
  readonly results: readonly FirstResult[]
}

export interface FirstResult {
  readonly rank: number
  /** As the service sent it; for AI references their index. */
  readonly position: number | null
  /** One object for results that say the same, of all that are read at once. */
  readonly says: ResultTexts
}

export interface ResultTexts {
  readonly title: string | null
  readonly link: string | null
  /** Registrable domain, or the host where it has none. */
  readonly site: string | null
}
