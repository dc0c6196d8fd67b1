import type { DayCell } from '../day-cell.ts'

export interface BestRank {
  readonly rank: number
  /** Place of the day in `days`: the first one with it. */
  readonly day: number
}

/** The best rank of all days, and when it was first had; null where it never ranked. Unit: rank; lower is better. */
export function bestRank(cells: readonly DayCell[]): BestRank | null {
  let best: BestRank | null = null
  for (const [day, cell] of cells.entries()) {
    const rank = Math.trunc(cell ?? 0)
    if (rank > 0 && (best === null || rank < best.rank)) best = { rank, day }
  }
  return best
}
