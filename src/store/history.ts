import type { Target } from '../model/target.ts'
import type { Consequences, ReadAnswer, StoredQuery } from './answers.ts'

/** What is stored, looked at again: at no cost, with other questions or another normaliser. */
export interface HistoryStore {
  /** Runs of a job that asked for something, query after query, each in the order of its runs. */
  askedQueries(job: string): Iterable<AskedQuery>
  /** A query of a run with its pages as they are stored. */
  storedQuery(runId: number, queryId: number): StoredQuery
  /** Runs of a job that do not watch all of these targets, or those that single queries of its newest run have. */
  runsToAdopt(job: string, targets: readonly Target[], newest: number | null): readonly number[]
  /**
   * Watches targets in a run that is over, also those that single queries of a newer run have, and stores what its pages
   * say of them: for some of its queries, in one short change. It is to be asked for again until none follows; until
   * then the run is one of those that are still to adopt them.
   */
  adopt(adoption: Adoption, weigh: Weigh): Promise<Adopted>
  /** The next queries after one (0 for the first) with stored bodies whose results an older normaliser derived, or any. */
  queriesToDerive(which: DeriveFilter, after: number, limit: number): readonly QueryToDerive[]
  /** Stored bodies of the answers to a query, in the order of the runs. */
  bodiesOf(queryId: number, which: DeriveFilter): Iterable<StoredBody>
  /**
   * Stores what its answers say in place of what was derived before, and what follows for each run that asked for the
   * query, in one change; tasks that had failed because nobody could read their answer are done.
   */
  deriveAgain(queryId: number, answers: readonly ReadAnswer[], weigh: Weigh): Promise<Derived>
}

export interface Adoption {
  readonly run: number
  /** Of the whole job. */
  readonly targets: readonly Target[]
  /** A run whose queries may have targets of their own. */
  readonly newest: number | null
  /** Queries up to this one are done; 0 at first. */
  readonly after: number
}

export interface Adopted {
  /** Queries that were looked at again. */
  readonly looked: number
  /** The query after which to go on; null where the run is done. */
  readonly next: number | null
}

/** What the stored pages of a query come to. */
export type Weigh = (query: StoredQuery) => Pick<Consequences, 'ranks' | 'observations'>

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

export interface StoredBody {
  readonly answerId: number
  readonly page: number
  readonly fetchedAt: number
  /** Null where it was damaged since it was stored. */
  readonly body: Buffer | null
}

/** What came of deriving the answers to a query again. */
export interface Derived {
  /** Queries of runs that were weighed anew. */
  readonly weighed: number
  /** Observations that are another state or rank than before. */
  readonly changed: number
  /** Tasks that had failed and are done now. */
  readonly mended: number
}
