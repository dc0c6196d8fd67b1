import type { Observation, ObservationState } from '../../model/result.ts'
import { daysBetween } from '../../model/time.ts'

/** One observation, with the fields that comparisons need. */
export type ComparedObservation = Pick<Observation, 'state' | 'rank' | 'unbrokenDepth'>

export type Movement = 'improved' | 'declined' | 'same' | 'entered' | 'left' | 'new' | 'unknown'

export interface RankMovement {
  readonly movement: Movement
  /** Ranks gained, negative when lost; null if one side has no rank. */
  readonly change: number | null
}

/** Groups of keywords by movement. A keyword that ranked on neither day is not in the group `same`. */
export type MovementGroup = Movement | 'unranked'

export const movementGroups = [
  'improved',
  'declined',
  'same',
  'unranked',
  'entered',
  'left',
  'new',
  'unknown',
] as const satisfies readonly MovementGroup[]

export function groupOf({ movement, change }: RankMovement): MovementGroup {
  return movement === 'same' && change === null ? 'unranked' : movement
}

/**
 * Compares two observations of the same query and target. Only results that both checked are compared: a rank that the other side
 * would not have seen means neither `entered` nor `left`. Two ranks can always be compared, estimated or not, because a rank does
 * not depend on the depth.
 *
 * @param previous null if the target was never observed before
 */
export function compare(current: ComparedObservation, previous: ComparedObservation | null): RankMovement {
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

/** Whether the observation would have seen the rank: it may be missed in a gap. */
export function wasWithinDepth(rank: number, { unbrokenDepth }: ComparedObservation): boolean {
  return rank <= unbrokenDepth
}

/**
 * Whether the later of two observations of one local day replaces the earlier one. The last known one counts, but a shallower one
 * does not undo what was seen: `absent` replaces a rank or an absence only if it was checked as deep without a gap.
 */
export function replacesForDay(later: ComparedObservation, earlier: ComparedObservation): boolean {
  if (later.state === 'unknown' || earlier.state === 'unknown') return earlier.state === 'unknown'
  return later.state === 'ranked' || wasWithinDepth(earlier.rank ?? earlier.unbrokenDepth, later)
}

/** The day that the user asked to compare with. */
export interface ComparisonDay {
  readonly day: string
  /** Days that the observation may be before or after it. */
  readonly tolerance: number
}

interface Dated {
  readonly date: string
  readonly state: ObservationState
}

/**
 * Whether a day is better to compare with than an earlier one: the nearest to the last day, or to the asked day if there is one;
 * of two equally near days the earlier one. An unknown day is taken only if there is no other.
 *
 * @param kept the best day so far; null for none
 */
export function isBetterBaseline(day: Dated, kept: Dated | null, asked: ComparisonDay | null): boolean {
  if (asked !== null && distance(day, asked) > asked.tolerance) return false
  if (kept === null) return true
  const [known, keptKnown] = [day.state !== 'unknown', kept.state !== 'unknown']
  if (known !== keptKnown) return known
  return asked === null || distance(day, asked) < distance(kept, asked)
}

/**
 * The movement of an observation since its baseline. Without a baseline it is new, unless it was observed before the asked days and
 * only not on them.
 *
 * @param first the first day of the same query and target
 */
export function movementSince(
  current: ComparedObservation,
  baseline: ComparedObservation | null,
  { first, asked }: { readonly first: string; readonly asked: ComparisonDay | null },
): RankMovement {
  if (baseline === null && asked !== null && daysBetween(first, asked.day) > asked.tolerance)
    return { movement: 'unknown', change: null }
  return compare(current, baseline)
}

function distance({ date }: Dated, { day }: ComparisonDay): number {
  return Math.abs(daysBetween(date, day))
}
