import { isComparison, isDay, isPeriod, rangeIn } from '../model/settings.ts'
import { localeText } from './cells.ts'
import { filterPage, keepKeywords, offeredComparisons, offeredPeriods, type PageData } from './data.ts'
import { baselineOrder } from './history/keyword-status.ts'
import { type Days, type ReportPeriod, reportPeriod } from './history/period.ts'
import type { Keyword } from './history/rank-history.ts'
import { isInView, savedView, targetsOfView } from './presentation/presentation.ts'

/** No filters: an empty text selects everything. */
export const noFilters = {
  /** Place in the list of targets. */
  target: 0,
  /** Name of a saved view. */
  view: '',
  text: '',
  /** Keywords with one of these tags; an empty tag stands for keywords without any. */
  tags: [] as readonly string[],
  operation: '',
  locale: '',
  /** Kind of results and engine that the figures are of; those of the headline by default. */
  part: '',
  movement: '',
  /** A period such as `7d`, `month` or `2026-10-01..2026-10-31`; that of the report by default. */
  period: '',
  /** What is compared with, such as `1d`, `year` or a day; what the report is compared with by default. */
  compare: '',
}

/** What the reader selected. */
export type Filters = Readonly<typeof noFilters>

/** Filters that are one text. */
type FilterKey = Exclude<keyof Filters, 'target' | 'tags'>

export const filterKeys = Object.keys(noFilters).filter(
  (key) => key !== 'target' && key !== 'tags',
) as readonly FilterKey[]

/** How many filters are set, apart from the target and the saved view. */
export function countSet(filters: Filters): number {
  const set = filterKeys.filter((key) => key !== 'view' && filters[key] !== '')
  return set.length + (filters.tags.length > 0 ? 1 : 0)
}

/** The filters as the part of an address behind `#`. */
export function hashOf(filters: Filters, data: PageData): string {
  const hash = new URLSearchParams()
  const [first = 0] = targetsOfView(data.history, savedView(data, filters.view))
  if (filters.target !== first) hash.set('target', data.history.targets[filters.target]?.label ?? '')
  for (const key of filterKeys) if (filters[key] !== '') hash.set(key, filters[key])
  for (const tag of filters.tags) hash.append('tag', tag)
  return hash.toString()
}

/** What a page needs of a report to find its periods. */
export type PeriodData = Pick<PageData, 'requestedPeriod' | 'period'> & {
  readonly history: Pick<PageData['history'], 'days'>
}

/** The period that is chosen, over all days of the page; null for a page without days. */
export function periodOf(
  { history: { days }, requestedPeriod, period: own }: PeriodData,
  { period, compare }: Pick<Filters, 'period' | 'compare'>,
): ReportPeriod | null {
  if (own === null || (period === '' && compare === '')) return own
  // The days end with the report, so the month before their last one is not the one that was asked for.
  const usual = requestedPeriod.period === 'last-month' ? rangeText(own) : requestedPeriod.period
  const wanted = { period: period || usual, compare: compare || requestedPeriod.compare }
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

/** The comparisons that are offered for a period: those that have something to compare with, each day once; and the chosen one. */
export function comparisonsIn(data: PeriodData, filters: Filters): readonly string[] {
  const { days } = data.history
  const known = new Set([periodOf(data, { ...filters, compare: '' })?.compare?.day])
  return [...new Set([...offeredComparisons, filters.compare])].filter((compare) => {
    const found = compare === '' || isDay(compare) ? null : periodOf(data, { ...filters, compare })
    const isChosen = compare === filters.compare
    if (found === null || (!isChosen && (known.has(found.compare?.day) || !isComparable(days, found))))
      return false
    known.add(found.compare?.day)
    return true
  })
}

/** Whether something was checked on a day that is compared with, or near it. */
function isComparable(days: readonly string[], { until, compare }: ReportPeriod): boolean {
  return (
    baselineOrder(
      days.filter((day) => day <= until),
      compare,
    ).length > 0
  )
}

export function localeOf({ params }: Keyword): string {
  return localeText(params, ' · ')
}

/** The data of the keywords and the days that the filters select, with the day that these are compared with. */
export function selectedOf(data: PageData, filters: Filters): PageData {
  const { text, tags, operation } = filters
  const period = periodOf(data, filters)
  const places = targetsOfView(data.history, savedView(data, filters.view))
  const targets = places.map((place) => data.history.targets[place]?.label ?? '')
  const operations = operation === '' ? [] : [operation]
  const asked = period === null ? data : { ...data, period, compare: period.compare }
  const filtered = filterPage(asked, { text, tags, operations, until: period?.until ?? '', targets })
  const isFit = data.history.keywords.map(fits(data, filters))
  return keepKeywords(filtered, (keyword) => isFit[keyword] === true)
}

/** Whether a keyword is of the chosen locale, and of the saved view. */
function fits(data: PageData, { view, locale }: Filters): (keyword: Keyword, place: number) => boolean {
  const chosen = savedView(data, view)
  return (keyword, place) =>
    (locale === '' || localeOf(keyword) === locale) && isInView(keyword, place, chosen)
}
