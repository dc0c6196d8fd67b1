import type { KeywordStatus } from '../history/keyword-status.ts'
import { wasWithinDepth } from '../history/movement.ts'
import type { DayValue } from '../history/rank-history.ts'
import type { MetricDefinition } from './figure.ts'

export const headToHeadMetric: MetricDefinition = {
  label: 'beats another site on',
  unit: 'keywords',
  better: 'higher',
  definition: 'The keywords on which a site ranks better than another one, or alone.',
  formula: 'keywords with rank < rank of the other site',
  denominator: 'keywords tracked for both',
  missing: 'absent: loses to a rank within its checked depth; unknown: undecided',
  source: 'own definition',
}

/** A target against another one, on the keywords that both are tracked for, on the last day. Unit: keywords. */
export interface HeadToHead {
  /** The target ranks better, or it alone ranks. */
  readonly won: number
  readonly lost: number
  /** The same result belongs to both. */
  readonly tied: number
  /** Neither ranks. */
  readonly neither: number
  /** It is not known which one ranks better: one is unknown, or ranks deeper than the other was checked. */
  readonly undecided: number
}

export type HeadToHeadResult = keyof HeadToHead

/**
 * Compares two targets keyword by keyword, given their statuses.
 */
export function headToHead(one: readonly KeywordStatus[], other: readonly KeywordStatus[]): HeadToHead {
  const theirs = new Map(other.map(({ series, current }) => [series.keyword, current]))
  const counts: Record<HeadToHeadResult, number> = { won: 0, lost: 0, tied: 0, neither: 0, undecided: 0 }
  for (const { series, current } of one) {
    const value = theirs.get(series.keyword)
    if (value !== undefined) counts[outcome(current, value)]++
  }
  return counts
}

/** How the first of two values of a keyword does against the other. */
export function outcome(one: DayValue, other: DayValue): HeadToHeadResult {
  if (one.state === 'unknown' || other.state === 'unknown') return 'undecided'
  if (one.rank !== null && other.rank !== null)
    return one.rank === other.rank ? 'tied' : one.rank < other.rank ? 'won' : 'lost'
  if (one.rank !== null) return wasWithinDepth(one.rank, other) ? 'won' : 'undecided'
  if (other.rank !== null) return wasWithinDepth(other.rank, one) ? 'lost' : 'undecided'
  return 'neither'
}
