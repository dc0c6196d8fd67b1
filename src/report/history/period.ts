import { isDay, lengthIn, rangeIn, usualPeriod } from '../../model/settings.ts'
import { addDays, daysBetween } from '../../model/time.ts'

/** Local days of a job from one to another, both included, YYYY-MM-DD. */
export interface Days {
  readonly from: string
  readonly until: string
}

/** The period of a report and the day that it is compared with. */
export type ReportPeriod = Readonly<NonNullable<ReturnType<typeof reportPeriod>>>

/** What a reader asks for, as text: it stands in options, in job files and in the address of the page. */
export interface RequestedPeriod {
  /** Such as `28d`; null is the usual period, or the whole history where that is shorter. */
  readonly period: string | null
  /** Such as `year`; null is the day before the period began. */
  readonly compare: string | null
}

/** Days that an observation may be before or after a compared day that is named. */
const usualTolerance = 3

/**
 * The period that is asked for, over the days of a history. A period ends at the last day of the job, or of the range that it
 * names, whichever is earlier. Null for a history without days.
 *
 * @param tolerance days that an observation may lie from the compared day. By default 3 for a day that is named; for one that
 *   follows from the period a quarter of the period, and at least 3
 */
export function reportPeriod(
  days: readonly string[],
  { period, compare }: RequestedPeriod,
  tolerance?: number,
) {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return null
  const { from, until } = daysOfPeriod(period ?? usualIn(first, last), first, last)
  const day = comparedDay(compare, { from, until }, period ?? usualPeriod)
  const isTooLong = from < first && lengthIn(period ?? '') !== null
  return {
    from: isTooLong ? first : from,
    until,
    /** Null where nothing can be compared: the history has one day. */
    compare:
      day >= until || (compare === null && first >= until)
        ? null
        : { day, tolerance: tolerance ?? toleranceOf(compare, daysBetween(from, until) + 1) },
  }
}

/** Days that are counted at least: the newest ones are late, so that a short period would have few or none. */
const leastCounted = 28

/** The days of which counted clicks are told in a report of a period. */
export function countedDays({ from, until }: Days): Days {
  const least = addDays(until, 1 - leastCounted)
  return { from: from < least ? from : least, until }
}

/**
 * The day from which on a chart shows what was imported before the first measured day, for a period that reaches back further: the whole
 * history has all of it.
 */
export function reachOf(
  wanted: string | null,
  { from, until }: Days,
  [first = from]: readonly string[],
): string {
  const period = wanted ?? usualIn(first, until)
  if (period === 'all') return ''
  const length = lengthIn(period)
  return length === null ? (rangeIn(period)?.from ?? from) : addDays(until, 1 - length)
}

function toleranceOf(compare: string | null, length: number): number {
  const isNamed = compare !== null && (isDay(compare) || lengthIn(compare) !== null)
  return isNamed ? usualTolerance : Math.max(usualTolerance, Math.floor(length / 4))
}

/** The usual period, where the history has as much and a day before it. */
function usualIn(first: string, last: string): string {
  return daysBetween(first, last) >= (lengthIn(usualPeriod) as number) ? usualPeriod : 'all'
}

function daysOfPeriod(period: string, first: string, last: string): Days {
  const range = rangeIn(period)
  if (range !== null) return range.from > last || range.until < last ? range : { ...range, until: last }
  const length = lengthIn(period)
  if (length !== null) return { from: addDays(last, 1 - length), until: last }
  if (period === 'month') return { from: firstOfMonth(last), until: last }
  if (period === 'quarter') return { from: firstOfQuarter(last), until: last }
  if (period === 'last-month') {
    const until = addDays(firstOfMonth(last), -1)
    return { from: firstOfMonth(until), until }
  }
  // The whole history: all that came after its first day.
  return { from: first < last ? addDays(first, 1) : first, until: last }
}

function comparedDay(compare: string | null, { from, until }: Days, period: string): string {
  if (compare === null) return addDays(from, -1)
  if (isDay(compare)) return compare
  if (compare === 'year') return monthsBefore(until, 12)
  if (compare !== 'previous-period') return addDays(until, -(lengthIn(compare) as number))
  if (period === 'month') return monthsBefore(until, 1)
  if (period === 'quarter') return monthsBefore(until, 3)
  return addDays(from, -1)
}

function firstOfMonth(day: string): string {
  return `${day.slice(0, 8)}01`
}

function firstOfQuarter(day: string): string {
  const month = Number(day.slice(5, 7))
  return `${day.slice(0, 5)}${String(month - ((month - 1) % 3)).padStart(2, '0')}-01`
}

/** The same day some months earlier; the last day of that month where it is shorter. */
function monthsBefore(day: string, months: number): string {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  const last = new Date(Date.UTC(year, month - months, 0))
  last.setUTCDate(Math.min(date, last.getUTCDate()))
  return last.toISOString().slice(0, 10)
}
