/** Click-through rate by rank. */
export interface CtrCurve {
  readonly name: string
  readonly version: string
  /** Where its numbers come from. */
  readonly source: string
  /** Share of searches that end in a click, from rank 1 on, between 0 and 1; deeper ranks have none. */
  readonly rates: readonly number[]
}

/** Click-through rate of a rank; none where the curve does not reach, or nothing ranks. */
export function rateOf({ rates }: CtrCurve, rank: number | null): number {
  return rank === null ? 0 : (rates[rank - 1] ?? 0)
}
