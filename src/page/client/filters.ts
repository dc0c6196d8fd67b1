import { isDay } from '../../model/settings.ts'
import {
  type Filters,
  hashOf,
  knownComparison,
  knownPeriod,
  localeOf,
  noFilters,
  periodOf,
} from '../../report/choice.ts'
import type { PageData } from '../../report/data.ts'
import { partKey, partLabel, partOf, partsOf } from '../../report/history/filter-history.ts'
import { type MovementGroup, movementGroups } from '../../report/history/movement.ts'
import type { Keyword } from '../../report/history/rank-history.ts'
import { savedView, targetsOfView } from '../../report/presentation/presentation.ts'
import { daysInWords } from '../../report/words/words.ts'
import { movementLabel, say, tagName } from './text.ts'

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
export type ReaderPlace = ReturnType<typeof placeIn>

/** The place that an address names; what does not exist is left out. A section alone, as in `#pages`, is a place, too. */
export function placeIn(hash: string, data: PageData) {
  const named = hash.replace(/^#/, '')
  const given = new URLSearchParams(named)
  const section = given.get('section') ?? named
  return {
    filters: filtersIn(named, data),
    /** Place of the keyword that is open; null for none. */
    keyword: keywordIn(given, data.history.keywords),
    /** The section that the reader went to; null for none. */
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
