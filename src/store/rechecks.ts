import type { PricedQueries, RecheckCandidate } from '../ledger/rechecks.ts'
import type { JobSettings } from '../model/job.ts'
import type { Run } from '../model/run.ts'

/** A query that a run asked, with the price of asking it once more. */
export interface QueryToRecheck extends RecheckCandidate {
  /** Of all pages that may be bought. */
  readonly credits: number
  readonly tags: readonly string[]
}

/** What is looked at again of a run. */
export interface NewRecheck {
  readonly of: Run
  readonly settings: JobSettings
  /** Numbers of queries that the run asked. */
  readonly queries: readonly number[]
}

/** Second looks at queries of a run, which alert rules ask for: runs of their own, at most one for each run. */
export interface RecheckStore {
  /** Whether a run looks again at another, or another looks again at it. */
  isRechecked(run: number): Promise<boolean>
  /** All queries that a run asks. */
  queriesToRecheck(run: number): Promise<readonly QueryToRecheck[]>
  /** The same, added up by price and tags. */
  pricesOfRun(run: number): Promise<readonly PricedQueries[]>
  /** Makes the runs in one change. They ask what the others asked, as deep; all else of the job rests. */
  beginRechecks(wanted: readonly NewRecheck[], now: number): Promise<readonly Run[]>
  /** Second looks of jobs that are neither complete nor closed: their process was killed. */
  openRechecks(jobs: readonly string[]): Promise<readonly number[]>
}
