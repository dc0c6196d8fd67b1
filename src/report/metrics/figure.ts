import type { ResultKind } from '../../model/result.ts'
import type { DayValue } from '../day-cell.ts'

/** How much of what was asked a number speaks for. What is unknown is in no numerator and in no denominator. */
export interface Coverage {
  readonly ranked: number
  /** Ranked or absent. */
  readonly observed: number
  /** Asked for. */
  readonly expected: number
}

/** One number of a report, with what it is made of. */
export interface Figure {
  /** Numerator by denominator; null where the denominator is 0. */
  readonly value: number | null
  readonly numerator: number
  readonly denominator: number
  readonly coverage: Coverage
  /** Observed, but not counted, for the reason that the definition gives. */
  readonly uncounted: number
}

/** What a metric sees of one keyword on one day. */
export interface Seen {
  readonly value: DayValue
  /** Kind of the results that are ranked. */
  readonly kind: ResultKind
  /** Ranks of all results of the target, the best first; empty where none ranks. */
  readonly ranks: readonly number[]
  /** Searches a month; null where the job says none. */
  readonly volume: number | null
}

export function figure(numerator: number, denominator: number, coverage: Coverage, uncounted = 0): Figure {
  const value = denominator === 0 ? null : numerator / denominator
  return { value, numerator, denominator, coverage, uncounted }
}

export function coverageOf(all: readonly Pick<Seen, 'value'>[]): Coverage {
  let [ranked, observed] = [0, 0]
  for (const { value } of all) {
    if (value.state === 'ranked') ranked++
    if (value.state !== 'unknown') observed++
  }
  return { ranked, observed, expected: all.length }
}
