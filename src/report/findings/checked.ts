import type { KeywordStatus } from '../history/keyword-status.ts'
import { type Coverage, coverageOf } from '../metrics/figure.ts'

/** How many of these keywords were checked on the last day, and how many of them rank. */
export function checkedOf(statuses: readonly KeywordStatus[]): Coverage {
  return coverageOf(statuses.map(({ current }) => ({ value: current })))
}
