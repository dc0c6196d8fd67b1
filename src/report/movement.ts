import type { ObservationState } from '../model/observation.ts'

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
    return { movement: seenBy(current.rank, previous) ? 'entered' : 'unknown', change: null }
  if (previous.rank !== null)
    return { movement: seenBy(previous.rank, current) ? 'left' : 'unknown', change: null }
  return { movement: 'same', change: null }
}

/** Whether somebody who looked so would have seen the rank; in a gap it might have been missed. */
export function seenBy(rank: number, { unbrokenDepth }: Observed): boolean {
  return rank <= unbrokenDepth
}
