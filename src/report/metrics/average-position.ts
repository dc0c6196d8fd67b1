import type { DayValue } from '../day-cell.ts'
import { coverageOf, type Figure, figure, type Seen } from './figure.ts'

/**
 * What an absent target counts as: one below the depth that was asked for, one below what was looked at, nothing at all, or
 * always the same.
 */
export type AbsentAs = 'depth' | 'looked at' | 'left out' | number

/**
 * The mean of ranks over the observed keywords. Unit: ranks; lower is better.
 *
 * Absent counts as one below the depth that was asked for, as in Advanced Web Ranking, however short the SERP was; so two
 * averages are alike only where both were asked as deep. Where no depth is known there is no place either: such keywords are
 * not counted. Keywords weigh the same whatever their volume.
 */
export function averagePosition(all: readonly Pick<Seen, 'value'>[], absent: AbsentAs = 'depth'): Figure {
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

function placeOf({ state, rank, absentDepth }: DayValue, absent: AbsentAs): number | null {
  if (state === 'unknown') return null
  if (rank !== null) return rank
  if (absent === 'left out') return null
  if (typeof absent === 'number') return absent
  // A history that counts with what was looked at says so itself, so that its tables say the same.
  return absentDepth === 0 || absentDepth === null ? null : absentDepth + 1
}
