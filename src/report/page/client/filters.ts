import type { offeredBack } from '../../history/movement.ts'
import { partKey, partLabel, partOf, partsOf } from '../../history/parts.ts'
import type { PageData } from '../data.ts'
import { mediumDay } from './format.ts'
import { say } from './language.ts'
import { localeOf, type MovementGroup, movementGroups, movementLabels } from './text.ts'

/** No filters: an empty text selects everything. */
export const noFilters = {
  /** Place in the list of targets. */
  target: 0,
  text: '',
  tag: '',
  operation: '',
  locale: '',
  /** Kind of results and engine that the figures are of; those of the headline by default. */
  part: '',
  movement: '',
  /** First and last day, YYYY-MM-DD. */
  from: '',
  to: '',
  /** How far back is compared: a number of days, or `first` for the first selected day. */
  compare: '',
}

/** What the reader selected. */
export type Filters = Readonly<typeof noFilters>

export type FilterKey = Exclude<keyof Filters, 'target'>

export const filterKeys = Object.keys(noFilters).filter((key) => key !== 'target') as readonly FilterKey[]

/** How far back can be compared. */
export const comparisons: Readonly<Record<(typeof offeredBack)[number], string>> = {
  '1': 'Day before',
  '7': '7 days before',
  '28': '28 days before',
  first: 'First selected day',
}

/** The filters in the part of an address behind `#`; values that do not exist are ignored. */
export function filtersIn(hash: string, { history }: PageData): Filters {
  const { keywords, targets, days } = history
  const given = new URLSearchParams(hash.replace(/^#/, ''))
  const known = {
    tag: keywords.flatMap(({ tags }) => tags),
    operation: keywords.map(({ operation }) => operation),
    locale: keywords.map(localeOf),
    part: keywords.map(partOf).map(partKey),
    movement: movementGroups,
    from: days,
    to: days,
    compare: Object.keys(comparisons),
  }
  const chosen = Object.entries<readonly string[]>(known).map(([key, values]) => [
    key,
    values.find((one) => one === given.get(key)) ?? '',
  ])
  const target = targets.findIndex(({ label }) => label === given.get('target'))
  const text = given.get('text') ?? ''
  return inOrder({ ...noFilters, ...Object.fromEntries(chosen), text, target: Math.max(0, target) })
}

/** The filters with the first day before the last one. */
export function inOrder(filters: Filters): Filters {
  const { from, to } = filters
  return from !== '' && to !== '' && from > to ? { ...filters, from: to, to: from } : filters
}

/** Whether a day can be chosen for one end of the range, given the other end. */
export function isDayAllowed(end: 'from' | 'to', day: string, { from, to }: Filters): boolean {
  if (day === '') return true
  return end === 'from' ? to === '' || day <= to : day >= from
}

/** The filters as the part of an address behind `#`. */
export function hashOf(filters: Filters, { history }: PageData): string {
  const hash = new URLSearchParams()
  if (filters.target !== 0) hash.set('target', history.targets[filters.target]?.label ?? '')
  for (const key of filterKeys) if (filters[key] !== '') hash.set(key, filters[key])
  return hash.toString()
}

/** Names and values of the filters, for prints, which show no fields. */
export function filterLabels(
  { target, text, tag, operation, locale, part, movement, from, to, compare }: Filters,
  { history }: PageData,
): readonly (readonly [name: string, value: string])[] {
  const { targets, days } = history
  const parts = partsOf(history).filter((one) => partKey(one) === part)
  const range = [from || days[0], to || days.at(-1)].map((day) => (day === undefined ? '' : mediumDay(day)))
  const all = [
    ['Target', targets[target]?.label ?? ''],
    ['Search', text],
    ['Tag', tag],
    ['Engine', operation],
    ['Locale', locale],
    ['Figures of', parts.map((one) => partLabel(one, say)).join()],
    ['Listed keywords', movement && movementLabels[movement as MovementGroup]],
    ['Days', from === '' && to === '' ? '' : range.join(' to ')],
    ['Compared with', compare && comparisons[compare as keyof typeof comparisons]],
  ] as const
  return all.filter(([, value]) => value !== '')
}
