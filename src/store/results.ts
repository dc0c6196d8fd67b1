import type { EchoMismatch, ParsedAnswer } from '../model/result.ts'
import type { Target } from '../model/target.ts'
import type { QueryState, QueryUpdate } from '../rank/paging.ts'

/** What is stored, looked at again: at no cost, with other questions or another normaliser. */
export interface HistoryStore {
  /** Runs of a job that asked for something, query after query, each in the order of its runs. */
  askedQueries(job: string): Iterable<AskedQuery>
  /** A query of a run with its pages as they are stored. */
  storedQuery(runId: number, queryId: number): QueryState
  /** Runs of a job that do not watch all of these targets, or those that single queries of its newest run have. */
  runsToBackfill(job: string, targets: readonly Target[], newest: number | null): readonly number[]
  /**
   * Watches targets in a run that is over, also those that single queries of a newer run have, and stores what its pages
   * say of them: for some of its queries, in one short change. It is to be asked for again until none follows; until
   * then the run is one of those that are still to adopt them.
   */
  backfill(adoption: BackfillStep, scoreQuery: ScoreQuery): Promise<BackfillResult>
  /** Gives each stored link the page that it leads to by the rules of this version. */
  mendLinks(): Promise<void>
  /** The next queries after one (0 for the first) with stored bodies whose results an older normaliser derived, or any. */
  queriesToDerive(which: DeriveFilter, after: number, limit: number): readonly QueryToDerive[]
  /** Stored bodies of the answers to a query, in the order of the runs. */
  bodiesOf(queryId: number, which: DeriveFilter): Iterable<StoredBody>
  /**
   * Stores what its answers say in place of what was derived before, and what follows for each run that asked for the
   * query, in one change: tasks that had failed because their answer could not be parsed are done, and tasks that were done with
   * what is no answer have failed.
   */
  rederive(
    queryId: number,
    answers: readonly (ReadAnswer | RejectedAnswer)[],
    scoreQuery: ScoreQuery,
  ): Promise<Derived>
}

export interface BackfillStep {
  readonly run: number
  /** Of the whole job. */
  readonly targets: readonly Target[]
  /** A run whose queries may have targets of their own. */
  readonly newest: number | null
  /** Queries up to this one are done; 0 at first. */
  readonly after: number
}

export interface BackfillResult {
  /** Queries that were looked at again. */
  readonly looked: number
  /** The query after which to go on; null where the run is done. */
  readonly next: number | null
}

/** What the stored pages of a query come to. */
export type ScoreQuery = (query: QueryState) => Pick<QueryUpdate, 'ranks' | 'observations'>

/** A query that a run asked for. Instants are epoch milliseconds. */
export interface AskedQuery {
  readonly runId: number
  readonly startedAt: number
  readonly queryId: number
  readonly operation: string
  readonly text: string
}

export interface DeriveFilter {
  /** Answers that were derived by this version are left alone; null takes all. */
  readonly unless: number | null
  /** Of this job only. */
  readonly job: string | null
}

export interface QueryToDerive {
  readonly queryId: number
  readonly operation: string
  readonly text: string
  /** As it was asked, a JSON object. */
  readonly params: string
}

interface StoredBody {
  readonly answerId: number
  readonly page: number
  readonly fetchedAt: number
  /** Null where it was damaged since it was stored. */
  readonly body: Buffer | null
}

/** What came of deriving the answers to a query again. */
interface Derived {
  /** Queries of runs that were scored again. */
  readonly weighed: number
  /** Observations that are another state or rank than before. */
  readonly changed: number
  /** Tasks that had failed and are done now. */
  readonly repaired: number
  /** Tasks that were done and have failed now. */
  readonly failed: number
}

/** What an answer says, with the answer that says it and the normaliser that read it. */
export interface ReadAnswer {
  readonly answerId: number
  readonly normaliser: number
  readonly says: ParsedAnswer & { readonly echoMismatch?: EchoMismatch | null }
}

/** A stored answer that says nothing, and why. */
export interface RejectedAnswer {
  readonly answerId: number
  readonly reason: string
}

/** Everything that follows from one understood answer, from the failure of one page, or from what is stored already. */
export interface AnswerRecord {
  /** The task that was answered or failed; null where nothing new came. */
  readonly taskId: number | null
  readonly runId: number
  readonly queryId: number
  readonly outcome: { readonly done: ReadAnswer } | { readonly failed: string } | 'as-stored'
  /** Computed inside the change, when the page's own results are stored. */
  readonly follow: (query: QueryState) => QueryUpdate
}

/** How the number of tasks changed by what followed from a page. */
export interface TaskCountChange {
  readonly added: number
  readonly skipped: number
}
