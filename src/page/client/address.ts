import type { PageData } from '../../report/data.ts'
import type { Keyword } from '../../report/history/rank-history.ts'
import { type Filters, filtersIn, hashOf } from './filters.ts'

/** Sections of the page, in their order. */
export const sectionIds = ['overview', 'moved', 'next', 'competitors', 'keywords'] as const

export type SectionId = (typeof sectionIds)[number]

/** What the reader chose and where they are: all of it stands in the address behind `#`. */
export interface ReaderPlace {
  readonly filters: Filters
  /** The column that keywords are sorted by, with a minus for the greatest first; empty for the usual order. */
  readonly sort: string
  /** The figure of the chart; empty for the usual one. */
  readonly chart: string
  /** Place of the keyword that is open; null for none. */
  readonly keyword: number | null
  /** The section that the reader went to; null for none. */
  readonly section: SectionId | null
}

/** The place that an address names; what does not exist is left out. A section alone, as in `#pages`, is a place, too. */
export function placeIn(hash: string, data: PageData): ReaderPlace {
  const given = new URLSearchParams(hash.replace(/^#/, ''))
  const section = given.get('section') ?? hash.replace(/^#/, '')
  const sort = given.get('sort') ?? ''
  const chart = given.get('chart') ?? ''
  return {
    filters: filtersIn(hash, data),
    sort: /^-?[a-z_]+$/.test(sort) ? sort : '',
    chart: /^[a-z_\d]+$/.test(chart) ? chart : '',
    keyword: keywordIn(given, data.history.keywords),
    section: sectionIds.find((id) => id === section) ?? null,
  }
}

/** The part of the address behind `#`. */
export function addressOf({ filters, sort, chart, keyword, section }: ReaderPlace, data: PageData): string {
  const hash = new URLSearchParams(hashOf(filters, data))
  if (sort !== '') hash.set('sort', sort)
  if (chart !== '') hash.set('chart', chart)
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
