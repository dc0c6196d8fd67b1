import { isComparison, isDay, isPeriod, rangeIn } from '../../model/settings.ts'
import { addDays } from '../../model/time.ts'
import { offeredPeriods, type PageData } from '../../report/data.ts'
import { partKey, partLabel, partOf, partsOf } from '../../report/history/filter-history.ts'
import { baselineOrder, type KeywordStatus } from '../../report/history/keyword-status.ts'
import { groupOf, type MovementGroup, movementGroups } from '../../report/history/movement.ts'
import { type Days, type ReportPeriod, reportPeriod } from '../../report/history/period.ts'
import type { Keyword } from '../../report/history/rank-history.ts'
import { savedView, targetsOfView } from '../../report/presentation/presentation.ts'
import { daysInWords } from '../../report/words/words.ts'
import { localeOf, movementLabel, say, tagName } from './text.ts'

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
export type FilterKey = Exclude<keyof Filters, 'target' | 'tags'>

export const filterKeys = Object.keys(noFilters).filter(
  (key) => key !== 'target' && key !== 'tags',
) as readonly FilterKey[]

/** How many filters are set, apart from the target and the saved view. */
export function countSet(filters: Filters): number {
  const set = filterKeys.filter((key) => key !== 'view' && filters[key] !== '')
  return set.length + (filters.tags.length > 0 ? 1 : 0)
}

/** The filters in the part of an address behind `#`; values that do not exist are ignored. */
export function filtersIn(hash: string, data: PageData): Filters {
  const { history, presentation } = data
  const { keywords, targets, days } = history
  const given = new URLSearchParams(hash.replace(/^#/, ''))
  const known = {
    view: presentation.views.map(({ name }) => name),
    operation: keywords.map(({ operation }) => operation),
    locale: keywords.map(localeOf),
    part: keywords.map(partOf).map(partKey),
    movement: movementGroups,
  }
  const chosen = Object.entries<readonly string[]>(known).map(([key, values]) => [
    key,
    values.find((one) => one === given.get(key)) ?? '',
  ])
  const tags = new Set(keywords.flatMap((keyword) => (keyword.tags.length === 0 ? [''] : keyword.tags)))
  const ofView = targetsOfView(history, savedView(data, given.get('view') ?? ''))
  const target = ofView.find((place) => targets[place]?.label === given.get('target'))
  return withUsedDay(data, {
    ...noFilters,
    ...Object.fromEntries(chosen),
    target: target ?? ofView[0] ?? 0,
    text: given.get('text') ?? '',
    tags: [...new Set(given.getAll('tag'))].filter((tag) => tags.has(tag)),
    period: knownPeriod(given.get('period') ?? '', days),
    compare: knownComparison(given.get('compare') ?? '', days),
  })
}

/** The filters without a compared day that is not before the end of the period, which is not compared with. */
export function withUsedDay(data: PageData, filters: Filters): Filters {
  const isUsed = !isDay(filters.compare) || periodOf(data, filters)?.compare?.day === filters.compare
  return isUsed ? filters : { ...filters, compare: '' }
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

/** Names and values of the filters, for prints, which show no fields. */
export function filterLabels(
  filters: Filters,
  data: PageData,
): readonly (readonly [name: string, value: string])[] {
  const { target, view, text, tags, operation, locale, part, movement, period, compare } = filters
  const { targets } = data.history
  const words = say.filters
  const parts = part === '' ? [] : partsOf(data.history).filter((one) => partKey(one) === part)
  const chosen = periodOf(data, filters)
  const asked = chosen?.compare ?? null
  const all = [
    [words.target, targets[target]?.label ?? ''],
    [words.view, view],
    [words.search, text],
    [words.tag, tags.map(tagName).join(', ')],
    [words.engine, operation],
    [words.locale, locale],
    [words.figuresOf, parts.map((one) => partLabel(one, say)).join()],
    [words.listed, movement && movementLabel(movement as MovementGroup)],
    [words.period, period === '' || chosen === null ? '' : daysInWords(say, chosen)],
    [words.comparedWith, compare === '' || asked === null ? '' : say.longDay(asked.day)],
  ] as const
  return all.filter(([, value]) => value !== '')
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

export function isListed(name: string, status: KeywordStatus): boolean {
  return groupOf(status.change) === name
}

/** What is chosen, in the words of a sentence: the target if it is not the usual one, and the values of filters, without the period. */
export function setLabels(filters: Filters, data: PageData): readonly string[] {
  const { targets } = data.history
  const [usual = 0] = targetsOfView(data.history, savedView(data, filters.view))
  const labels = filterLabels({ ...filters, movement: '', period: '', compare: '' }, data)
  const named = labels.slice(1).map(([, value]) => value)
  return filters.target === usual ? named : [targets[filters.target]?.label ?? '', ...named]
}

/** Sections of the page, in their order. */
export const sectionIds = ['overview', 'moved', 'next', 'competitors', 'keywords'] as const

export type SectionId = (typeof sectionIds)[number]

/** What the reader chose and where they are: all of it stands in the address behind `#`. */
export interface ReaderPlace {
  readonly filters: Filters
  /** Place of the keyword that is open; null for none. */
  readonly keyword: number | null
  /** The section that the reader went to; null for none. */
  readonly section: SectionId | null
}

/** The place that an address names; what does not exist is left out. A section alone, as in `#pages`, is a place, too. */
export function placeIn(hash: string, data: PageData): ReaderPlace {
  const named = hash.replace(/^#/, '')
  const given = new URLSearchParams(named)
  const section = given.get('section') ?? named
  return {
    filters: filtersIn(named, data),
    keyword: keywordIn(given, data.history.keywords),
    section: sectionIds.find((id) => id === section) ?? null,
  }
}

/** The part of the address behind `#`. */
export function addressOf({ filters, keyword, section }: ReaderPlace, data: PageData): string {
  const hash = new URLSearchParams(hashOf(filters, data))
  if (keyword !== null) nameKeyword(hash, keyword, data.history.keywords)
  if (section !== null) hash.set('section', section)
  return hash.toString()
}

/** Keywords are named by their text, which a later report has too; those with the same text are counted. */
function nameKeyword(hash: URLSearchParams, place: number, keywords: readonly Keyword[]): void {
  const query = keywords[place]?.query ?? ''
  hash.set('keyword', query)
  const nth = namesakes(query, keywords).indexOf(place)
  if (nth > 0) hash.set('nth', String(nth + 1))
}

function keywordIn(given: URLSearchParams, keywords: readonly Keyword[]): number | null {
  const query = given.get('keyword')
  if (query === null) return null
  return namesakes(query, keywords)[Number(given.get('nth') ?? 1) - 1] ?? null
}

/** Places of the keywords with this text. */
function namesakes(text: string, keywords: readonly Keyword[]): readonly number[] {
  return keywords.flatMap(({ query }, place) => (query === text ? [place] : []))
}

/**
 * Keeps the address of the page: each step of the reader is one entry in the history of the browser, so that Back undoes it.
 *
 * @param restore shows another place, after Back, Forward or a changed address
 */
export function navigation(data: PageData, restore: (next: ReaderPlace, before: ReaderPlace) => void) {
  let place = placeIn(location.hash, data)
  let lastStep = ''
  window.addEventListener('hashchange', () => {
    const before = place
    place = placeIn(location.hash, data)
    lastStep = ''
    restore(place, before)
  })
  return {
    place: (): ReaderPlace => place,
    /**
     * Takes a step.
     *
     * @param step equal steps after each other, such as the letters of a word, are one entry; each is one if it is not named
     */
    go: (change: Partial<ReaderPlace>, step = ''): void => {
      const next = { ...place, ...change }
      const hash = addressOf(next, data)
      const isNew = hash !== addressOf(place, data)
      place = next
      if (!isNew) return
      const address = `${location.href.split('#')[0]}${hash === '' ? '' : `#${hash}`}`
      if (step !== '' && step === lastStep) history.replaceState(null, '', address)
      else history.pushState(null, '', address)
      lastStep = step
    },
  }
}
