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
   * Watches targets in a run, also those that single queries of a newer run have, and stores what its pages say of
   * them, in one change; answers how many queries were looked at again.
   */
  adopt(runId: number, targets: readonly Target[], newest: number | null, weigh: Weigh): Promise<number>
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
  /** As it was asked, a JSON object. */
  readonly params: string
}

export interface StoredBody {
  readonly answerId: number
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
