import type { ResultKind } from '../model/result.ts'
import type { RunQuality } from '../model/run.ts'
import type { Target } from '../model/target.ts'

/** What runs asked and observed, by the numbers of queries, targets and links: a year of it is read in a second. */
export interface TrackingStore {
  /**
   * What a run asks for: its queries by text, operation and params, and those of these targets of the whole job that it
   * has, with those of single queries. Own targets come first, each group in the order of `targets`, then as the job file
   * names them.
   */
  askedIn(run: number, targets: readonly Target[]): AskedRun
  /** Everything that a run observed, in any order. */
  observedIn(run: number): readonly ObservedRow[]
  /** Texts of queries that some run asked. */
  queries(ids: readonly number[]): readonly QueryText[]
  links(ids: readonly number[]): readonly string[]
  /** Distinct results of a query of a run down to a rank, the best first. */
  firstResults(look: ResultsLook): readonly FirstResult[]
  /** Distinct results of a query of a run that were looked at without a gap; infinite where the results ended. */
  unbrokenDepth(run: number, query: number): number
  runQuality(run: number): RunQuality
}

export interface AskedRun {
  readonly queries: readonly AskedKeyword[]
  readonly targets: readonly AskedTarget[]
  /** Query and target of each observation that the run is to make, in the order of the two lists. */
  readonly pairs: readonly (readonly [query: number, target: number])[]
}

export interface QueryText {
  readonly id: number
  readonly query: string
  readonly operation: string
  readonly params: Readonly<Record<string, string | number>>
}

export interface AskedKeyword extends QueryText {
  readonly tags: readonly string[]
  /** Searches a month. */
  readonly volume: number | null
  /** The landing page that should rank. */
  readonly url: string | null
  readonly labels: Readonly<Record<string, string>>
}

export interface AskedTarget extends Target {
  readonly id: number
}

/** One observation, as short as it can be said: a year of a thousand keywords is a million of them. */
export type ObservedRow = RankedRow | UnrankedRow

/** Link and places as in the table `observations`; the latter is JSON. */
export type RankedRow = readonly [
  query: number,
  target: number,
  rank: number,
  estimated: 0 | 1,
  link: number | null,
  places: string | null,
]

/**
 * `unknown` where `estimated` is null; the unbroken depth is -1 where the results ended. The depth that absence counts with
 * is the one that was asked for, or what was looked at where paging ended for another reason than the results.
 */
export type UnrankedRow = readonly [
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

export interface ResultsLook {
  readonly run: number
  readonly query: number
  readonly kind: ResultKind
  /** The deepest rank that is read. */
  readonly top: number
}

export interface FirstResult {
  readonly rank: number
  /** As the service sent it; for AI references their index. */
  readonly position: number | null
  readonly title: string | null
  readonly link: string | null
  /** Registrable domain, or the host where it has none. */
  readonly site: string | null
}
