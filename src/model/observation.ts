export type ObservationState = 'ranked' | 'absent' | 'unknown'
export type Exactness = 'exact' | 'estimated'

/** What one run says of one target for one query. */
export interface Observation {
  readonly state: ObservationState
  /** Only where `ranked`. */
  readonly rank: number | null
  /** Null where `unknown`. */
  readonly exactness: Exactness | null
  /** Distinct results really looked at. */
  readonly depth: number
  /** Distinct results looked at without a gap from the first page on: nothing better than that was missed. */
  readonly unbrokenDepth: number
  /** Pages looked at without a gap from the first one on; all that were asked for where the results ended before. */
  readonly unbrokenPages: number
  /** It rests on an answer that repeats another question than asked. */
  readonly suspect?: true
  /** All results of the target, the best first; empty where none ranks. */
  readonly places: readonly RankedPlace[]
}

/** A result that ranks, where it stands. */
export interface RankedPlace {
  readonly rank: number
  readonly page: number
  /** Place on the page, from 0. */
  readonly place: number
}
