import type { ResultKind } from '../model/result.ts'
import { alike, ranksOn, type Standing } from './cohort.ts'
import type { CtrCurve } from './ctr/curve.ts'
import type { DayValue } from './day-cell.ts'
import { type AbsentAs, averagePosition } from './metrics/average-position.ts'
import type { Figure, Seen } from './metrics/figure.ts'
import type { MetricName } from './metrics/index.ts'
import { shareOfVoice } from './metrics/share-of-voice.ts'
import { visibility } from './metrics/visibility.ts'
import { seenBy } from './movement.ts'

/** How a report measures. */
export interface Measure {
  readonly curve: CtrCurve
  /** What absent counts as in average positions; `depth` where nothing is said. */
  readonly absent?: AbsentAs
  /** Kind of results that the headline tells; web results where nothing is said. */
  readonly kind?: ResultKind
}

/** The metrics that a report begins with, in their order. */
export const headlineNames = [
  'visibility',
  'share_of_voice',
  'average_position',
] as const satisfies readonly MetricName[]

export type HeadlineName = (typeof headlineNames)[number]

/** A figure of the last day, beside that of the days that it is compared with. */
export interface ComparedFigure extends Figure {
  /** The same metric of the keywords that were observed on both days, as far down as both looked; null where there are none. */
  readonly cohort: Cohort | null
}

export interface Cohort {
  readonly now: Figure
  readonly before: Figure
  /** Now minus before; null where one of them has no value. */
  readonly delta: number | null
}

export type Headline = Readonly<Record<HeadlineName, ComparedFigure>>

/** The headline figures of the standings of one target. */
export function headline(standings: readonly Standing[], measure: Measure): Headline {
  const all = standings.map(({ series, current, keyword: { kind, volume } }) => ({
    kind,
    value: current,
    ranks: ranksOn(series, series.cells.length - 1),
    volume,
  }))
  const pairs = standings.flatMap(pairOf)
  // Where absent is left out, a keyword that came or went would be in one of the two averages alone.
  const ranked = measure.absent === 'left out' ? pairs.filter((pair) => pair.every(isRanked)) : pairs
  return {
    visibility: compared(all, pairs, (seen) => visibility(seen, measure.curve)),
    share_of_voice: compared(all, pairs, (seen) => shareOfVoice(seen, measure.curve)),
    average_position: compared(all, ranked, (seen) => averagePosition(seen, measure.absent)),
  }
}

type Pair = readonly [now: Seen, before: Seen]

function compared(
  all: readonly Seen[],
  pairs: readonly Pair[],
  metric: (seen: readonly Seen[]) => Figure,
): ComparedFigure {
  const now = metric(pairs.map(([seen]) => seen))
  const before = metric(pairs.map(([, seen]) => seen))
  return { ...metric(all), cohort: pairs.length === 0 ? null : cohortOf(now, before) }
}

function isRanked({ value }: Seen): boolean {
  return value.state === 'ranked'
}

/** The headline metrics of whatever was seen of one target on one day. */
export function figuresOf(
  all: readonly Seen[],
  { curve, absent }: Measure,
): Readonly<Record<HeadlineName, Figure>> {
  return {
    visibility: visibility(all, curve),
    share_of_voice: shareOfVoice(all, curve),
    average_position: averagePosition(all, absent),
  }
}

/** Both days of a keyword, where both were observed. */
function pairOf({ series, current, baseline, keyword: { kind, volume } }: Standing): readonly Pair[] {
  if (baseline === null || current.state === 'unknown' || baseline.value.state === 'unknown') return []
  const [now, before] = alike(current, baseline.value)
  const [ranks, ranksBefore] = [ranksOn(series, series.cells.length - 1), ranksOn(series, baseline.day)]
  return [
    [
      { kind, value: now, ranks: ranks.filter((rank) => isSeen(rank, now, before)), volume },
      { kind, value: before, ranks: ranksBefore.filter((rank) => isSeen(rank, before, now)), volume },
    ],
  ]
}

/** Whether a rank of one day counts beside the other day, which would have seen it or has a rank of its own. */
function isSeen(rank: number, { state }: DayValue, other: DayValue): boolean {
  return state === 'ranked' && (other.state === 'ranked' || seenBy(rank, other))
}

function cohortOf(now: Figure, before: Figure): Cohort {
  const delta = now.value === null || before.value === null ? null : now.value - before.value
  return { now, before, delta }
}
