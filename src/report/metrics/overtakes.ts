import { askedSince, valueOn } from '../history/keyword-status.ts'
import { hasClicks } from '../history/parts.ts'
import type { DayValue, Keyword, RankHistory, RankSeries } from '../history/rank-history.ts'
import { type CtrCurve, rateOf } from './figure.ts'
import { weightsOf } from './serps.ts'

/** A target and another one changed places on a keyword, and it stayed so. */
export interface Overtake {
  readonly keyword: number
  readonly other: number
  /** Which of the two is ahead now. */
  readonly ahead: 'target' | 'other'
  /** The first day of the new order, and the last known day of the old one: places in `days`. */
  readonly day: number
  readonly before: number
  /** Of the target, then of the other: on the day before, and on the first day of the new order. */
  readonly from: readonly [DayValue, DayValue]
  readonly to: readonly [DayValue, DayValue]
  /** Clicks a month between the two ranks on the last day; without volumes, the click-through rate between them. 0 for AI references. */
  readonly clicks: number
}

export interface OvertakesOf {
  /** Place of the target in the list of targets. */
  readonly target: number
  readonly curve: CtrCurve
  /** Place of the first day that counts; the first of the history by default. */
  readonly since?: number
}

/**
 * Who passed a target, and whom it passed, on which day for good, the most clicks at stake first. The first and the last known order
 * of the history differ; what went to and fro in between does not count. One of the two ranks on each of these days, and the other
 * ranks behind it or is absent from at least as many results. A day on which one of them is unknown says nothing. Where at last both
 * are absent, or share a result, none is ahead. Two targets of one's own do not compete.
 */
export function overtakes(
  history: RankHistory,
  { target, curve, since = 0 }: OvertakesOf,
): readonly Overtake[] {
  const own = new Map<number, RankSeries>()
  for (const series of history.series) if (series.target === target) own.set(series.keyword, series)
  const weights = weightsOf(history)
  const found = history.series.flatMap((theirs) => {
    const mine = own.get(theirs.keyword)
    const isOneOwner = history.targets[target]?.own && history.targets[theirs.target]?.own
    const change =
      mine === undefined || isOneOwner
        ? null
        : lastingChange(mine, theirs, Math.max(since, askedSince(history, mine)))
    if (mine === undefined || change === null) return []
    const { before, day, last, order } = change
    const isClicked = hasClicks((history.keywords[theirs.keyword] as Keyword).kind)
    const on = (one: number) => [valueOn(mine, one), valueOn(theirs, one)] as [DayValue, DayValue]
    const [rate, otherRate] = on(last).map(({ rank }) => rateOf(curve, rank)) as [number, number]
    return {
      keyword: theirs.keyword,
      other: theirs.target,
      ahead: order > 0 ? ('target' as const) : ('other' as const),
      day,
      before,
      from: on(before),
      to: on(day),
      clicks: isClicked ? (weights.of(theirs.keyword) ?? 0) * Math.abs(rate - otherRate) : 0,
    }
  })
  return found.toSorted((a, b) => b.clicks - a.clicks || b.day - a.day || a.keyword - b.keyword)
}

/** The order of two series at last, its first day, and the last day before that is known; null if it is as at first. */
function lastingChange(mine: RankSeries, theirs: RankSeries, since: number) {
  const last = lastKnownDay(mine, theirs, since)
  if (last === null) return null
  const order = orderOn(mine, theirs, last)
  if (order === null || order === 0) return null
  const first = firstDecidedDay(mine, theirs, since)
  if (first === null || orderOn(mine, theirs, first) === order) return null
  let day = last
  for (let before = last - 1; before >= since; before--) {
    const then = orderOn(mine, theirs, before)
    if (then === order) day = before
    else if (then === -order) return { day, before, last, order }
  }
  return null
}

/** The last day on which something is known of both. */
function lastKnownDay(mine: RankSeries, theirs: RankSeries, since: number): number | null {
  for (let day = mine.cells.length - 1; day >= since; day--)
    if (orderOn(mine, theirs, day) !== null) return day
  return null
}

/** The first day on which one of them is ahead. */
function firstDecidedDay(mine: RankSeries, theirs: RankSeries, since: number): number | null {
  for (let day = since; day < mine.cells.length; day++) if (orderOn(mine, theirs, day)) return day
  return null
}

/**
 * 1 where the first series is ahead, -1 where the second is, 0 where neither is, null where it is not known. It reads the cells alone,
 * because it is asked of every pair of targets on every keyword.
 */
function orderOn(mine: RankSeries, theirs: RankSeries, day: number): 1 | 0 | -1 | null {
  const [a, b] = [mine.cells[day] ?? 0, theirs.cells[day] ?? 0]
  if (a === 0 || b === 0) return null
  const [one, other] = [Math.trunc(a), Math.trunc(b)]
  if (one > 0 && other > 0) return one === other ? 0 : one < other ? 1 : -1
  if (one > 0) return isSeen(one, theirs, other, day) ? 1 : null
  if (other > 0) return isSeen(other, mine, one, day) ? -1 : null
  return 0
}

/** Whether an absence would have seen a rank: it may be missed in a gap. */
function isSeen(rank: number, { seen }: RankSeries, absent: number, day: number): boolean {
  const depth = seen[day] ?? -absent - 1
  return depth === -1 || rank <= depth
}
