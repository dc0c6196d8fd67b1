/** Click-through rate by rank. */
export interface CtrCurve {
  readonly name: string
  readonly version: string
  /** Where its numbers come from. */
  readonly source: string
  /** Share of searches that end in a click, from rank 1 on, between 0 and 1; deeper ranks have none. */
  readonly rates: readonly number[]
}
