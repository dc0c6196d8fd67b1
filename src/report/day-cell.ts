import type { Exactness } from '../model/observation.ts'
import type { Observed } from './movement.ts'

/**
 * What one day came to for one keyword and target, as a number, so that a year of them is small: null where nothing was
 * observed, 0 for `unknown`, a rank for `ranked`, and minus one more than the depth for `absent` (-31: the 30 results
 * looked at are others'). A half more, away from zero, says `estimated`.
 */
export type DayCell = number | null

/** Day -> distinct results looked at without a gap; -1 where the results ended, so that nothing was missed at all. */
export type SeenDepths = Readonly<Record<number, number>>

/** From a day on, by change: the depth that absence counts with. */
export type AbsentDepths = readonly (readonly [day: number, depth: number])[]

/** What a day came to. */
export interface DayValue extends Observed {
  /** Null where `unknown`. */
  readonly exactness: Exactness | null
  /** Distinct results looked at; null where `ranked`, for a rank says itself how deep it lies. */
  readonly depth: number | null
  /**
   * The depth that absence counts with: tables say that the target is not among so many results, and average positions count
   * it one below. Null where `ranked`.
   */
  readonly absentDepth: number | null
}

/** Nothing is known of the day. */
export const unknown: DayValue = {
  state: 'unknown',
  rank: null,
  exactness: null,
  depth: 0,
  unbrokenDepth: 0,
  absentDepth: 0,
}

/** The number that stands for `unknown`. */
export const unknownCell = 0

/** The number that stands for a rank. */
export function rankedCell(rank: number, isEstimated: boolean): number {
  return isEstimated ? rank + 0.5 : rank
}

/** The number that stands for `absent` from so many results. */
export function absentCell(depth: number, isEstimated: boolean): number {
  return -(isEstimated ? depth + 1.5 : depth + 1)
}

/**
 * What the number stands for; null where nothing was observed.
 *
 * @param seen what {@link SeenDepths} says of the day
 * @param absentDepth what {@link AbsentDepths} says of the day; what was looked at without a gap where it says nothing
 */
export function dayValue(
  cell: DayCell,
  seen: number | undefined,
  absentDepth?: number | undefined,
): DayValue | null {
  if (cell === null) return null
  if (cell === unknownCell) return unknown
  const whole = Math.trunc(cell)
  const exactness = whole === cell ? 'exact' : 'estimated'
  if (whole > 0)
    return {
      state: 'ranked',
      rank: whole,
      exactness,
      depth: null,
      unbrokenDepth: Number.POSITIVE_INFINITY,
      absentDepth: null,
    }
  const depth = -whole - 1
  const unbrokenDepth = seen === -1 ? Number.POSITIVE_INFINITY : (seen ?? depth)
  return {
    state: 'absent',
    rank: null,
    exactness,
    depth,
    unbrokenDepth,
    absentDepth: absentDepth ?? Math.min(unbrokenDepth, depth),
  }
}
