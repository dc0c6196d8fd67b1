import type { ResultKind } from '../../model/result.ts'
import type { DayValue } from '../history/rank-history.ts'

/** Click-through rate by rank. */
export interface CtrCurve {
  readonly name: string
  readonly version: string
  /** Where its numbers come from. */
  readonly source: string
  /** Share of searches that end in a click, from rank 1 on, between 0 and 1; deeper ranks have none. */
  readonly rates: readonly number[]
}

/** Click-through rate of a rank; none where the curve does not reach, or nothing ranks. */
export function rateOf({ rates }: CtrCurve, rank: number | null): number {
  return rank === null ? 0 : (rates[rank - 1] ?? 0)
}

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
export interface Sample {
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

export function coverageOf(all: readonly Pick<Sample, 'value'>[]): Coverage {
  let [ranked, observed] = [0, 0]
  for (const { value } of all) {
    if (value.state === 'ranked') ranked++
    if (value.state !== 'unknown') observed++
  }
  return { ranked, observed, expected: all.length }
}

/** How a report measures. */
export interface MetricOptions {
  readonly curve: CtrCurve
  /** What absent counts as in average positions; `depth` where nothing is said. */
  readonly absent?: AbsentAs
  /** Kind of results that the headline tells; web results where nothing is said. */
  readonly kind?: ResultKind
}

/** What a metric is, in words: printed wherever its numbers are. */
export interface MetricDefinition {
  /** Name in tables and charts. */
  readonly label: string
  /** `share`: from 0 to 1, shown in percent. */
  readonly unit: 'rank' | 'share' | 'keywords' | 'clicks a month' | 'index' | 'pages'
  /** Which way is better for the target; null where neither is. */
  readonly better: 'higher' | 'lower' | null
  readonly definition: string
  /** What it is divided by, or what its counts add up to; null where it is no ratio. */
  readonly denominator: string | null
  /** What becomes of `absent` and `unknown`. */
  readonly missing: string
  /** Where the definition comes from. */
  readonly source: string
}

/**
 * What an absent target counts as: one below the depth that was asked for, one below what was looked at, nothing at all, or
 * always the same.
 */
export type AbsentAs = 'depth' | 'looked at' | 'left out' | number

/** A metric that a report begins with. */
export interface HeadlineMetric<Name extends string = string> extends MetricDefinition {
  readonly name: Name
  /** Where room is narrow. */
  readonly shortLabel?: string
  /** Whether it stands first in the HTML report. */
  readonly firstOnPage?: true
  /** Whether it counts only results that a click-through curve speaks of. */
  readonly byClicks?: true
  /** What a keyword must have to be counted; the metric is hidden where no keyword has it. */
  readonly needs?: string
  /** What the options change in the definition. */
  readonly definedAs?: (options: Pick<MetricOptions, 'absent'>) => Partial<MetricDefinition>
  /** What the options assume, as a text beside the denominator; null for what is usual. */
  readonly assumption?: (options: Pick<MetricOptions, 'absent'>) => string | null
  /** Whether a keyword that was observed on both days belongs to the comparison. */
  readonly isComparable?: (now: Sample, before: Sample, options: Pick<MetricOptions, 'absent'>) => boolean
  readonly compute: (all: readonly Sample[], options: MetricOptions) => Figure
}
