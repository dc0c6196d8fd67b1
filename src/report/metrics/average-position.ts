import type { DayValue } from '../day-cell.ts'
import { coverageOf, type Figure, figure, type Seen } from './figure.ts'

/** What an absent target counts as: the place below all that was looked at, nothing at all, or always the same. */
export type AbsentAs = 'depth' | 'left out' | number

/**
 * The mean of ranks over the observed keywords. Unit: ranks; lower is better.
 *
 * Absent counts as depth + 1, the best place that it may have; so two averages are alike only where both looked as deep.
 * Where there were no results at all there is no place either: such keywords are not counted. Keywords weigh the same
 * whatever their volume.
 */
export function averagePosition(all: readonly Seen[], absent: AbsentAs = 'depth'): Figure {
  let [sum, counted] = [0, 0]
  for (const { value } of all) {
    const place = placeOf(value, absent)
    if (place === null) continue
    sum += place
    counted++
  }
  const coverage = coverageOf(all)
  return figure(sum, counted, coverage, coverage.observed - counted)
}

function placeOf({ state, rank, depth }: DayValue, absent: AbsentAs): number | null {
  if (state === 'unknown') return null
  if (rank !== null) return rank
  if (absent === 'depth') return depth === 0 || depth === null ? null : depth + 1
  return absent === 'left out' ? null : absent
}
