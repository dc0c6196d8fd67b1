import type { AskedDay } from './baseline.ts'
import { type Standing, standingsOf } from './cohort.ts'
import { type Headline, headline, type Measure } from './headline.ts'
import type { AbsentAs } from './metrics/average-position.ts'
import { type Distribution, distribution } from './metrics/distribution.ts'
import { type HeadToHead, headToHead } from './metrics/head-to-head.ts'
import { countMovements, type MovementCounts } from './metrics/movements.ts'
import { type Movers, winnersAndLosers } from './metrics/winners.ts'
import type { RankHistory, TrackedTarget } from './rank-history.ts'

export interface SummaryOptions extends Measure {
  /** The day to compare with; the nearest one before where none was asked for. */
  readonly compare?: AskedDay | null
  /** Winners and losers at most, of each target; 10 where nothing is said. */
  readonly movers?: number
}

/** What a report comes to. */
export interface Summary {
  readonly job: string
  /** The last day; null where there is none. */
  readonly date: string | null
  /** The days that keywords are compared with, ascending. */
  readonly compared: readonly string[]
  readonly curve: Measure['curve']
  readonly absent: AbsentAs
  /** Keywords that are asked for. */
  readonly keywords: number
  /** Keywords of these that were first observed after the day that is compared with. */
  readonly added: number
  /** Keywords that were asked on that day or later, and no longer are. */
  readonly removed: number
  /** In the order of the history: own ones first. */
  readonly targets: readonly TargetSummary[]
}

export interface TargetSummary extends Movers {
  readonly target: TrackedTarget
  readonly figures: Headline
  readonly distribution: Distribution
  readonly movements: MovementCounts
  /** How it does against each of the other targets. */
  readonly against: readonly Rivalry[]
}

export interface Rivalry extends HeadToHead {
  readonly other: TrackedTarget
}

/** The figures of every target on the last day, beside those of the same keywords on the days they are compared with. */
export function summarise(history: RankHistory, { compare = null, ...rest }: SummaryOptions): Summary {
  const standings = standingsOf(history, compare)
  const compared = comparedDays(history, standings)
  const byTarget = standingsByTarget(standings)
  return {
    job: history.job,
    date: history.days.at(-1) ?? null,
    compared,
    curve: rest.curve,
    absent: rest.absent ?? 'depth',
    keywords: new Set(history.series.map(({ keyword }) => keyword)).size,
    added: countAdded(standings),
    removed: countRemoved(history, compared),
    targets: [...byTarget.keys()]
      .sort((a, b) => a - b)
      .map((target) => ({
        target: history.targets[target] as TrackedTarget,
        ...targetSummary(target, { history, byTarget }, rest),
      })),
  }
}

type ByTarget = ReadonlyMap<number, readonly Standing[]>

/** Target -> its standings. */
export function standingsByTarget(standings: readonly Standing[]): ByTarget {
  const byTarget = new Map<number, Standing[]>()
  for (const standing of standings) {
    const those = byTarget.get(standing.series.target)
    if (those === undefined) byTarget.set(standing.series.target, [standing])
    else those.push(standing)
  }
  return byTarget
}

function targetSummary(
  target: number,
  { history, byTarget }: { readonly history: RankHistory; readonly byTarget: ByTarget },
  { movers = 10, ...measure }: Omit<SummaryOptions, 'compare'>,
): Omit<TargetSummary, 'target'> {
  const own = byTarget.get(target) ?? []
  const { winners, losers } = winnersAndLosers(own, measure.curve)
  const others = [...byTarget].filter(([other]) => other !== target).sort(([a], [b]) => a - b)
  return {
    figures: headline(own, measure),
    distribution: distribution(own.map(({ current }) => current)),
    movements: countMovements(own.map(({ change }) => change)),
    winners: winners.slice(0, movers),
    losers: losers.slice(0, movers),
    against: others.map(([other, theirs]) => ({
      other: history.targets[other] as TrackedTarget,
      ...headToHead(own, theirs),
    })),
  }
}

function comparedDays({ days }: RankHistory, standings: readonly Standing[]): readonly string[] {
  const places = new Set(standings.flatMap(({ baseline }) => (baseline === null ? [] : [baseline.day])))
  return [...places].sort((a, b) => a - b).map((day) => days[day] as string)
}

/** A keyword is new where one of its targets is, and none was there to compare with. */
function countAdded(standings: readonly Standing[]): number {
  const known = new Set<number>()
  const fresh = new Set<number>()
  for (const { series, baseline, change } of standings) {
    if (baseline !== null) known.add(series.keyword)
    else if (change.movement === 'new') fresh.add(series.keyword)
  }
  return [...fresh].filter((keyword) => !known.has(keyword)).length
}

/** What had been taken out before the latest day that is compared with is no difference to it. */
function countRemoved({ days, removed }: RankHistory, compared: readonly string[]): number {
  const since = compared.at(-1) ?? days.at(-2)
  return removed.filter(({ last }) => since !== undefined && last >= since).length
}
