import type { ResultKind } from '../../model/result.ts'
import type { DayValue } from '../history/rank-history.ts'

/** Click-through rate by rank. */
export interface CtrCurve {
  readonly name: string
  readonly version: string
  /** Where its numbers come from. */
  readonly source: string
  /** Share of searches that end in a click on the rank, from rank 1 on, between 0 and 1; deeper ranks have no clicks. */
  readonly rates: readonly number[]
}

/** The name of a curve in reports, with its version unless the name says the year already. */
export function curveName({ name, version }: Pick<CtrCurve, 'name' | 'version'>): string {
  return name.includes(version.slice(0, 4)) ? name : `${name}, ${version}`
}

/** Click-through rate of a rank; 0 beyond the end of the curve and without a rank. */
export function rateOf({ rates }: CtrCurve, rank: number | null): number {
  return rank === null ? 0 : (rates[rank - 1] ?? 0)
}

/** How many of the asked keywords a figure covers. Unknown ones are in no numerator and in no denominator. */
type Coverage = Readonly<ReturnType<typeof coverageOf>>

/** One number of a report: a ratio with its numerator and denominator, or a sum. */
export interface Figure {
  /** Numerator by denominator, or the sum; null if nothing was counted. */
  readonly value: number | null
  readonly numerator: number
  /** Null for a sum. */
  readonly denominator: number | null
  readonly coverage: Coverage
  /** Observed but not counted, for the reason in the definition. */
  readonly uncounted: number
}

/** One keyword on one day, as metrics see it. */
export interface Sample {
  readonly value: DayValue
  /** Kind of the results that are ranked. */
  readonly kind: ResultKind
  /** Ranks of all results of the target, the best first; empty if none ranks. */
  readonly ranks: readonly number[]
  /** Searches a month; null if the job names none. */
  readonly volume: number | null
}

/** A ratio. */
export function figure(numerator: number, denominator: number, coverage: Coverage, uncounted = 0) {
  const value = denominator === 0 ? null : numerator / denominator
  return { value, numerator, denominator, coverage, uncounted } satisfies Figure
}

/** A sum over the observed keywords that are counted. */
export function sumFigure(sum: number, coverage: Coverage, uncounted: number): Figure {
  const value = coverage.observed === uncounted ? null : sum
  return { value, numerator: sum, denominator: null, coverage, uncounted }
}

export function coverageOf(all: readonly Pick<Sample, 'value'>[]) {
  let [ranked, observed] = [0, 0]
  for (const { value } of all) {
    if (value.state === 'ranked') ranked++
    if (value.state !== 'unknown') observed++
  }
  return {
    ranked,
    /** Ranked or absent. */
    observed,
    /** Asked for. */
    expected: all.length,
  }
}

/** How often each of these names is among all. */
export function tally<Name extends string>(
  names: readonly Name[],
  all: readonly Name[],
): Readonly<Record<Name, number>> {
  const counts = Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>
  for (const name of all) counts[name]++
  return counts
}

/** The options of a report that change its figures. */
export interface MetricOptions {
  readonly curve: CtrCurve
  /** What absent counts as in average positions; `depth` by default. */
  readonly absent?: AbsentAs
  /** Kind of results of the headline; web results by default. */
  readonly kind?: ResultKind
}

/** The definition of a metric in words. It is printed with its numbers. */
export interface MetricDefinition {
  /** Name in tables and charts. */
  readonly label: string
  /** `share`: from 0 to 1, shown in percent. */
  readonly unit: 'rank' | 'share' | 'keywords' | 'clicks a month' | 'index' | 'pages'
  /** The direction that is better for the target; null if neither is. */
  readonly better: 'higher' | 'lower' | null
  /** One plain sentence. */
  readonly definition: string
  /** How it is computed, in one line. */
  readonly formula: string
  /** The denominator, or what the counts add up to; null if it is not a ratio. */
  readonly denominator: string | null
  /** How `absent` and `unknown` count. */
  readonly missing: string
  /** The origin of the definition. */
  readonly source: string
  /** Whether it is made by the click-through curve: then it counts only results of kinds that have click-through rates. */
  readonly byClicks?: true
}

/**
 * What an absent target counts as: the requested depth + 1, the checked depth + 1, nothing, or a fixed number.
 */
export type AbsentAs = 'depth' | 'looked at' | 'left out' | number

/** A metric at the beginning of a report. */
export interface HeadlineMetric<Name extends string = string> extends MetricDefinition {
  readonly name: Name
  /** The label in narrow columns. */
  readonly shortLabel?: string
  /** What a keyword must have to be counted. The metric is hidden if no keyword has it. */
  readonly needs?: string
  /** The part of the definition that the options change. */
  readonly definedAs?: (options: Pick<MetricOptions, 'absent'>) => Partial<MetricDefinition>
  /** What the options assume, in words after the denominator; null for the default. */
  readonly assumption?: (options: Pick<MetricOptions, 'absent'>) => string | null
  /** Whether a keyword that was observed on both days is part of the comparison. */
  readonly isComparable?: (now: Sample, before: Sample, options: Pick<MetricOptions, 'absent'>) => boolean
  readonly compute: (all: readonly Sample[], options: MetricOptions) => Figure
}
