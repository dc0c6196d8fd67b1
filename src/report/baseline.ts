import type { ObservationState } from '../model/observation.ts'
import { addDays, daysBetween } from './days.ts'
import { type Change, compare, type Observed } from './movement.ts'

/** The day that a report was asked to compare with. */
export interface AskedDay {
  readonly day: string
  /** Days that the observation may lie before or after it. */
  readonly tolerance: number
}

/** Days that the observation may lie before or after the asked one where nothing is said. */
const usualTolerance = 3

/** How far back the page offers to compare: so many days before the last one, or the first day. */
export const offeredBack = ['1', '7', '28', 'first'] as const

/** The day that is so far back from the last one; null where there are no days. */
export function askedBack(back: string, days: readonly string[]): AskedDay | null {
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
export function isBetterBaseline(day: Dated, kept: Dated | null, asked: AskedDay | null): boolean {
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
  { first, asked }: { readonly first: string; readonly asked: AskedDay | null },
): Change {
  if (baseline === null && asked !== null && daysBetween(first, asked.day) > asked.tolerance)
    return { movement: 'unknown', change: null }
  return compare(current, baseline)
}

function distance({ date }: Dated, { day }: AskedDay): number {
  return Math.abs(daysBetween(date, day))
}
