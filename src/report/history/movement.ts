import type { Observation } from '../../model/result.ts'

/** One observation, with the fields that comparisons need. */
export type ComparedObservation = Pick<Observation, 'state' | 'rank' | 'unbrokenDepth'>

export type Movement = 'improved' | 'declined' | 'same' | 'entered' | 'left' | 'new' | 'unknown'

export interface RankMovement {
  readonly movement: Movement
  /** Ranks gained, negative when lost; null if one side has no rank. */
  readonly change: number | null
}

/** Groups of keywords by movement. A keyword that ranked on neither day is not in the group `same`. */
export const movementGroups = [
  'improved',
  'declined',
  'same',
  'unranked',
  'entered',
  'left',
  'new',
  'unknown',
] as const satisfies readonly (Movement | 'unranked')[]
export type MovementGroup = (typeof movementGroups)[number]

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
