import { daysBetween } from '../../model/time.ts'
import { type ComparisonDay, compare, type RankMovement, wasWithinDepth } from './movement.ts'
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
  const { days } = history
  const order = baselineOrder(days, asked)
  return history.series.map((series) => {
    const keyword = history.keywords[series.keyword] as Keyword
    const { since } = keyword
    const current = valueOn(series, days.length - 1) ?? unknown
    // Days on which the keyword was asked as it is now: an earlier rank says nothing of a gain or a loss.
    const comparable = since === undefined ? order : order.filter((day) => (days[day] as string) >= since)
    const baseline = baselineOf(series, comparable)
    const isNew = baseline === null && baselineOf(series, order) === null && !isOlder(series, days, asked)
    const change = baseline !== null || isNew ? compare(current, baseline?.value ?? null) : notCompared
    return { series, keyword, current, baseline, change }
  })
}

const notCompared: RankMovement = { movement: 'unknown', change: null }

/** Whether a series was observed before the asked days: where it was not on them, it is not new all the same. */
function isOlder({ cells }: RankSeries, days: readonly string[], asked: ComparisonDay | null): boolean {
  const first = cells.findIndex((cell) => cell !== null)
  return asked !== null && first >= 0 && daysBetween(days[first] as string, asked.day) > asked.tolerance
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
  return alone(Math.trunc(cells[day] ?? 0))
}

/** The list of one rank, made once for each; empty for none. There is one for every keyword, several times. */
const listsOfOne: (readonly number[])[] = [[]]

function alone(rank: number): readonly number[] {
  const place = Math.max(0, rank)
  const known = listsOfOne[place] ?? [rank]
  listsOfOne[place] = known
  return known
}

/**
 * The days before the last one that may be compared with, the best first: the nearest to the last day, or to the asked day if there
 * is one; of two equally near days the earlier one.
 */
export function baselineOrder(days: readonly string[], asked: ComparisonDay | null): readonly number[] {
  const before = [...days.keys()].slice(0, -1)
  if (asked === null) return before.reverse()
  const distance = (day: number): number => Math.abs(daysBetween(days[day] as string, asked.day))
  return before.filter((day) => distance(day) <= asked.tolerance).sort((a, b) => distance(a) - distance(b))
}

/** An unknown day is taken only if there is no other. */
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
