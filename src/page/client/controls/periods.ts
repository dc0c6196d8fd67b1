import { isComparison, isDay, isPeriod, rangeIn } from '../../../model/settings/presentation.ts'
import { addDays } from '../../../model/time.ts'
import { offeredPeriods, type PageData } from '../../../report/data.ts'
import { baselineOrder } from '../../../report/history/keyword-status.ts'
import { type Days, type ReportPeriod, reportPeriod } from '../../../report/history/period.ts'

/** A period and a comparison as they stand in the address; an empty text is that of the report. */
export interface ChosenPeriod {
  readonly period: string
  readonly compare: string
}

/** What a page needs of a report to find its periods. */
export type PeriodData = Pick<PageData, 'requestedPeriod' | 'period'> & {
  readonly history: Pick<PageData['history'], 'days'>
}

/** The period that is chosen, over all days of the page; null for a page without days. */
export function periodOf(
  { history: { days }, requestedPeriod, period: own }: PeriodData,
  { period, compare }: ChosenPeriod,
): ReportPeriod | null {
  if (own === null || (period === '' && compare === '')) return own
  const wanted = {
    // The days end with the report, so the month before their last one is not the one that was asked for.
    period:
      period !== ''
        ? period
        : requestedPeriod.period === 'last-month'
          ? rangeText(own)
          : requestedPeriod.period,
    compare: compare !== '' ? compare : requestedPeriod.compare,
  }
  const found = reportPeriod(days, wanted)
  return found?.compare === null ? reportPeriod(days, { ...wanted, compare: null }) : found
}

export function rangeText({ from, until }: Days): string {
  return `${from}..${until}`
}

/** The days from one to another as a period: the earlier one first, within the history, with at least one day of it. */
export function rangeOf(days: readonly string[], from: string, until: string): Days | null {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return null
  const [start, end] = from <= until ? [from, until] : [until, from]
  const lastIn = days.findLast((day) => day <= end)
  if (lastIn === undefined) return null
  const earliest = start < lastIn ? start : lastIn
  return { from: earliest < first ? first : earliest, until: end > last ? last : end }
}

/** A period of the address; an empty text for one that cannot be shown. */
export function knownPeriod(text: string, days: readonly string[]): string {
  if (!isPeriod(text)) return ''
  const range = rangeIn(text)
  if (range !== null) {
    const found = rangeOf(days, range.from, range.until)
    return found === null ? '' : rangeText(found)
  }
  const found = reportPeriod(days, { period: text, compare: null })
  return found !== null && days.some((day) => day >= found.from && day <= found.until) ? text : ''
}

/** A comparison of the address; an empty text for a day that is not among the days of the page, and for what is none. */
export function knownComparison(text: string, days: readonly string[]): string {
  if (!isComparison(text)) return ''
  return !isDay(text) || (text >= (days[0] ?? '') && text < (days.at(-1) ?? '')) ? text : ''
}

/** The periods that the history is long enough for, with a day before them to compare with. */
export function periodsIn(days: readonly string[]): readonly string[] {
  return offeredPeriods.filter((period) => {
    const found = reportPeriod(days, { period, compare: null })
    if (found === null || knownPeriod(period, days) === '') return false
    return period === 'all' || (days[0] as string) < found.from
  })
}

/** Whether something was checked on a day that is compared with, or near it. */
export function isComparable(days: readonly string[], { until, compare }: ReportPeriod): boolean {
  return (
    baselineOrder(
      days.filter((day) => day <= until),
      compare,
    ).length > 0
  )
}

/** The last day that a period can be compared with: that before the last one of it on which something was checked. */
export function lastBefore(days: readonly string[], { until }: Days): string {
  return addDays(days.findLast((day) => day <= until) ?? until, -1)
}
