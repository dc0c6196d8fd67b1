import type { ObservationState } from '../../model/result.ts'
import { addDays, daysBetween } from '../../model/time.ts'

/** One observation as far as comparisons go. */
export interface Observed {
  readonly state: ObservationState
  readonly rank: number | null
  /** Distinct results looked at without a gap from the first page on; infinite where the results ended there. */
  readonly unbrokenDepth: number
}

export type Movement = 'improved' | 'declined' | 'same' | 'entered' | 'left' | 'new' | 'unknown'

export interface Change {
  readonly movement: Movement
  /** Ranks gained, negative when lost; null where either side has no rank. */
  readonly change: number | null
}

/**
 * Compares two observations of the same query and target. Only what both looked at is compared: a rank that the other
 * side would not have seen says neither `entered` nor `left`. Two ranks, estimated or not, need no such care: how deep
 * anybody looked does not change them.
 *
 * @param previous null where the target was never observed before
 */
export function compare(current: Observed, previous: Observed | null): Change {
  if (previous === null) return { movement: current.state === 'unknown' ? 'unknown' : 'new', change: null }
  if (current.state === 'unknown' || previous.state === 'unknown')
    return { movement: 'unknown', change: null }
  if (current.rank !== null && previous.rank !== null) {
    const change = previous.rank - current.rank
    return { movement: change > 0 ? 'improved' : change < 0 ? 'declined' : 'same', change }
  }
  if (current.rank !== null)
    return { movement: wasWithinDepth(current.rank, previous) ? 'entered' : 'unknown', change: null }
  if (previous.rank !== null)
    return { movement: wasWithinDepth(previous.rank, current) ? 'left' : 'unknown', change: null }
  return { movement: 'same', change: null }
}

/** Whether somebody who looked so would have seen the rank; in a gap it might have been missed. */
export function wasWithinDepth(rank: number, { unbrokenDepth }: Observed): boolean {
  return rank <= unbrokenDepth
}

/**
 * Whether the later of two observations of one local day speaks for the day. The last one that knows anything does;
 * but who looked less deep cannot take back what was seen: `absent` replaces a rank, or an absence, only where it
 * looked as far down itself, without a gap.
 */
export function replacesForDay(later: Observed, earlier: Observed): boolean {
  if (later.state === 'unknown' || earlier.state === 'unknown') return earlier.state === 'unknown'
  return later.state === 'ranked' || wasWithinDepth(earlier.rank ?? earlier.unbrokenDepth, later)
}

/** The day that a report was asked to compare with. */
export interface ComparisonDay {
  readonly day: string
  /** Days that the observation may lie before or after it. */
  readonly tolerance: number
}

/** Days that the observation may lie before or after the asked one where nothing is said. */
const usualTolerance = 3

/** How far back the page offers to compare: so many days before the last one, or the first day. */
export const offeredBack = ['1', '7', '28', 'first'] as const

/** The day that is so far back from the last one; null where there are no days. */
export function comparisonDay(back: string, days: readonly string[]): ComparisonDay | null {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return null
  return { day: back === 'first' ? first : addDays(last, -Number(back)), tolerance: usualTolerance }
}

interface Dated {
  readonly date: string
  readonly state: ObservationState
}

/**
 * Whether a day is the better one to compare with than an earlier one: without an asked day the nearest, with one the
 * nearest to that, and of two as near the earlier. A day of which nothing is known is taken only where no other can be.
 *
 * @param kept the best so far; null where none can be
 */
export function isBetterBaseline(day: Dated, kept: Dated | null, asked: ComparisonDay | null): boolean {
  if (asked !== null && distance(day, asked) > asked.tolerance) return false
  if (kept === null) return true
  const [known, keptKnown] = [day.state !== 'unknown', kept.state !== 'unknown']
  if (known !== keptKnown) return known
  return asked === null || distance(day, asked) < distance(kept, asked)
}

/**
 * How an observation compares with its baseline. Where there is none, it is new; but not if it was observed before the
 * days that were asked for, and merely not on them.
 *
 * @param first the first day of the same query and target
 */
export function movementSince(
  current: Observed,
  baseline: Observed | null,
  { first, asked }: { readonly first: string; readonly asked: ComparisonDay | null },
): Change {
  if (baseline === null && asked !== null && daysBetween(first, asked.day) > asked.tolerance)
    return { movement: 'unknown', change: null }
  return compare(current, baseline)
}

function distance({ date }: Dated, { day }: ComparisonDay): number {
  return Math.abs(daysBetween(date, day))
}
