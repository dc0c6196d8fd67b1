import {
  type ComparisonDay,
  isBetterBaseline,
  movementSince,
  type RankMovement,
  wasWithinDepth,
} from './movement.ts'
import {
  type DayValue,
  dayValue,
  type Keyword,
  type RankHistory,
  type RankSeries,
  unknown,
} from './rank-history.ts'

/** One target for one keyword: its value on the last day, and on the compared day. */
export interface KeywordStatus {
  readonly series: RankSeries
  readonly keyword: Keyword
  /** `unknown` if nothing was observed on the last day. */
  readonly current: DayValue
  readonly baseline: {
    /** Place of the day in `days`. */
    readonly day: number
    readonly value: DayValue
  } | null
  readonly change: RankMovement
}

/** The status of every series of a history, in their order. */
export function keywordStatuses(history: RankHistory, asked: ComparisonDay | null): readonly KeywordStatus[] {
  const last = history.days.length - 1
  const order = baselineOrder(history.days, asked)
  return history.series.map((series) => {
    const keyword = history.keywords[series.keyword] as Keyword
    const current = valueOn(series, last) ?? unknown
    const baseline = baselineOf(series, comparableDays(history.days, keyword, order))
    const change =
      baseline === null && isAskedOtherwise(history, series, order)
        ? notCompared
        : movementSince(current, baseline?.value ?? null, { first: firstDayOf(series, history.days), asked })
    return { series, keyword, current, baseline, change }
  })
}

const notCompared: RankMovement = { movement: 'unknown', change: null }

function firstDayOf({ cells }: RankSeries, days: readonly string[]): string {
  const first = cells.findIndex((cell) => cell !== null)
  return days[first === -1 ? days.length - 1 : first] as string
}

/** Days on which the keyword was asked as it is now: an earlier rank says nothing of a gain or a loss. */
function comparableDays(
  days: readonly string[],
  { since }: Keyword,
  order: readonly number[],
): readonly number[] {
  return since === undefined ? order : order.filter((day) => (days[day] as string) >= since)
}

/** Whether a series would be compared with a day on which its keyword was asked otherwise. */
export function isAskedOtherwise(
  { days, keywords }: Pick<RankHistory, 'days' | 'keywords'>,
  series: RankSeries,
  order: readonly number[],
): boolean {
  const { since } = keywords[series.keyword] as Keyword
  const day = since === undefined ? undefined : baselineOf(series, order)?.day
  return since !== undefined && day !== undefined && (days[day] as string) < since
}

/** The value of a day; null if nothing was observed. */
export function valueOn(series: RankSeries, day: number): DayValue | null {
  const { cells, seen, absentDepths } = series
  return dayValue(cells[day] ?? null, seen[day], absentDepths.findLast(([from]) => from <= day)?.[1])
}

/** Ranks of all results of the target on a day, the best first; empty if none ranked. */
export function ranksOn({ cells, places }: RankSeries, day: number): readonly number[] {
  const several = places[day]
  if (several !== undefined) return several.map(([rank]) => rank)
  const rank = Math.trunc(cells[day] ?? 0)
  return rank > 0 ? [rank] : []
}

/**
 * The days before the last one that may be compared with, the best first, if all of them were known. The order does not depend
 * on the series, so it is computed once.
 */
export function baselineOrder(days: readonly string[], asked: ComparisonDay | null): readonly number[] {
  const order: number[] = []
  const dated = (day: number) => ({ date: days[day] as string, state: 'ranked' as const })
  for (let day = 0; day < days.length - 1; day++) {
    if (!isBetterBaseline(dated(day), null, asked)) continue
    const place = order.findIndex((kept) => isBetterBaseline(dated(day), dated(kept), asked))
    order.splice(place === -1 ? order.length : place, 0, day)
  }
  return order
}

function baselineOf(series: RankSeries, order: readonly number[]): KeywordStatus['baseline'] {
  const known = order.find((day) => series.cells[day] != null && series.cells[day] !== 0)
  const day = known ?? order.find((one) => series.cells[one] === 0)
  const value = day === undefined ? null : valueOn(series, day)
  return day === undefined || value === null ? null : { day, value }
}

/**
 * Two days of one series, cut to the depth that both checked, so that their measures can be subtracted. A rank that the other day
 * could not have seen is absent on both days, with the depth of the other day. A target that left a rank is absent down to at
 * least that rank. Unknown days are returned as they are.
 */
export function alignDepths(a: DayValue, b: DayValue): readonly [DayValue, DayValue] {
  if (a.state === 'absent' && b.state === 'absent') {
    const depth = Math.min(a.depth ?? 0, b.depth ?? 0)
    const absentDepth = Math.min(a.absentDepth ?? 0, b.absentDepth ?? 0)
    return [
      { ...a, depth, absentDepth },
      { ...b, depth, absentDepth },
    ]
  }
  if (a.state === 'ranked' && b.state === 'absent') return comparedWithAbsence(a, b)
  if (a.state === 'absent' && b.state === 'ranked') {
    const [ranked, absent] = comparedWithAbsence(b, a)
    return [absent, ranked]
  }
  return [a, b]
}

function comparedWithAbsence(ranked: DayValue, absent: DayValue): readonly [DayValue, DayValue] {
  const rank = ranked.rank ?? 0
  if (!wasWithinDepth(rank, absent)) return [absent, absent]
  const deeper = (depth: number | null) => Math.max(depth ?? 0, rank)
  return [ranked, { ...absent, depth: deeper(absent.depth), absentDepth: deeper(absent.absentDepth) }]
}
