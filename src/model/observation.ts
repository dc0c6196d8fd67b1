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
  /** Page and place of the result that ranks; null where none does. */
  readonly found: { readonly page: number; readonly place: number } | null
}
