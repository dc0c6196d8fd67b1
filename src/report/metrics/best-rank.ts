import type { DayCell } from '../history/rank-history.ts'
import type { MetricDefinition } from './figure.ts'

export const bestRankMetric: MetricDefinition = {
  label: 'best rank',
  unit: 'rank',
  better: 'lower',
  definition: 'The best rank of all days, and the first day with it.',
  formula: 'lowest rank of all days',
  denominator: null,
  missing: 'no rank',
  source: 'own definition',
}

/** The best rank of all days, and the place of its first day; null if it never ranked. Unit: rank; lower is better. */
export function bestRank(cells: readonly DayCell[]) {
  let best: { readonly rank: number; readonly day: number } | null = null
  for (const [day, cell] of cells.entries()) {
    const rank = Math.trunc(cell ?? 0)
    if (rank > 0 && (best === null || rank < best.rank)) best = { rank, day }
  }
  return best
}
