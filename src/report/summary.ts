import type { AskedDay } from './baseline.ts'
import { type Standing, standingsOf } from './cohort.ts'
import { type Headline, headline, type Measure } from './headline.ts'
import type { AbsentAs } from './metrics/average-position.ts'
import { type Distribution, distribution } from './metrics/distribution.ts'
import { type HeadToHead, headToHead } from './metrics/head-to-head.ts'
import { countMovements, type MovementCounts } from './metrics/movements.ts'
import { type Movers, winnersAndLosers } from './metrics/winners.ts'
import { type Part, partKey, partOf, partsOf } from './parts.ts'
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
  /** What the figures are of: the parts of the headline kind, one for each engine. */
  readonly parts: readonly Part[]
  /** Parts of other kinds of results. */
  readonly otherParts: readonly Part[]
  /** In the order of the history: own ones first. */
  readonly targets: readonly TargetSummary[]
}

/** What a target comes to; counts, movers and rivalries are of the headline kind, of all engines. */
export interface TargetSummary extends Movers {
  readonly target: TrackedTarget
  /** In the order of the parts of the summary, those of the headline kind first; only those that it is looked for in. */
  readonly parts: readonly PartSummary[]
  /** Those of the first part. */
  readonly figures: Headline
  readonly distribution: Distribution
  readonly movements: MovementCounts
  /** How it does against each of the other targets. */
  readonly against: readonly Rivalry[]
}

/** What a target comes to among one kind of results of one engine. */
export interface PartSummary extends Part {
  readonly figures: Headline
  readonly distribution: Distribution
  readonly movements: MovementCounts
}

export interface Rivalry extends HeadToHead {
  readonly other: TrackedTarget
}

/** The figures of every target on the last day, beside those of the same keywords on the days they are compared with. */
export function summarise(history: RankHistory, { compare = null, ...rest }: SummaryOptions): Summary {
  const standings = standingsOf(history, compare)
  const compared = comparedDays(history, standings)
  const parts = partsOf(history, rest.kind)
  const [kind] = parts.map((part) => part.kind)
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
    parts: parts.filter((part) => part.kind === kind),
    otherParts: parts.filter((part) => part.kind !== kind),
    targets: [...byTarget.keys()]
      .sort((a, b) => a - b)
      .map((target) => ({
        target: history.targets[target] as TrackedTarget,
        ...targetSummary(target, { history, byTarget, parts }, rest),
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
  { history, byTarget, parts }: Whole,
  { movers = 10, ...measure }: Omit<SummaryOptions, 'compare'>,
): Omit<TargetSummary, 'target'> {
  const told = partSummaries(byTarget.get(target) ?? [], parts, measure)
  const inHeadline = ({ keyword }: Standing): boolean => keyword.kind === parts[0]?.kind
  const own = (byTarget.get(target) ?? []).filter(inHeadline)
  const { winners, losers } = winnersAndLosers(own, measure.curve)
  const others = [...byTarget].filter(([other]) => other !== target).sort(([a], [b]) => a - b)
  return {
    parts: told,
    figures: told[0]?.figures ?? headline([], measure),
    distribution: distribution(own.map(({ current }) => current)),
    movements: countMovements(own.map(({ change }) => change)),
    winners: winners.slice(0, movers),
    losers: losers.slice(0, movers),
    against: others.map(([other, theirs]) => ({
      other: history.targets[other] as TrackedTarget,
      ...headToHead(own, theirs.filter(inHeadline)),
    })),
  }
}

/** A target with its figures of one part. */
export interface PartOfTarget extends PartSummary {
  readonly target: TrackedTarget
}

/** Every target with each of these parts that it is looked for in. */
export function linesOf(
  { targets }: { readonly targets: readonly Pick<TargetSummary, 'target' | 'parts'>[] },
  parts: readonly Part[],
): readonly PartOfTarget[] {
  const keys = new Set(parts.map(partKey))
  return targets.flatMap(({ target, parts: own }) =>
    own.filter((part) => keys.has(partKey(part))).map((part) => ({ target, ...part })),
  )
}

interface Whole {
  readonly history: RankHistory
  readonly byTarget: ByTarget
  readonly parts: readonly Part[]
}

/** The figures of the standings of one target, each part by itself. */
export function partSummaries(
  standings: readonly Standing[],
  parts: readonly Part[],
  measure: Measure,
): readonly PartSummary[] {
  return parts.flatMap((part) => {
    const those = standings.filter(({ keyword }) => partKey(partOf(keyword)) === partKey(part))
    if (those.length === 0) return []
    return {
      ...part,
      figures: headline(those, measure),
      distribution: distribution(those.map(({ current }) => current)),
      movements: countMovements(those.map(({ change }) => change)),
    }
  })
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
