import { isDay } from '../../model/settings/presentation.ts'
import type { PageData } from '../../report/data.ts'
import { partKey, partLabel, partOf, partsOf } from '../../report/history/filter-history.ts'
import { savedView, targetsOfView } from '../../report/presentation/presentation.ts'
import { daysInWords } from '../../report/words/period-text.ts'
import { listedGroups, listedLabel } from './controls/listed.ts'
import { knownComparison, knownPeriod, periodOf } from './controls/periods.ts'
import { say } from './language.ts'
import { localeOf, tagName } from './text.ts'

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
    movement: listedGroups,
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
    [words.listed, movement && listedLabel(movement)],
    [words.period, period === '' || chosen === null ? '' : daysInWords(say, chosen)],
    [words.comparedWith, compare === '' || asked === null ? '' : say.longDay(asked.day)],
  ] as const
  return all.filter(([, value]) => value !== '')
}
