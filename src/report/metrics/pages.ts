import { pageAddress } from '../../model/url.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import type { RankHistory, RankSeries } from '../history/rank-history.ts'
import { type MetricDefinition, tally } from './figure.ts'

/** Which page of a target ranks. */
export const landingMetrics = {
  cannibalisation: {
    label: 'page swaps',
    unit: 'pages',
    better: 'lower',
    definition: 'How often the ranking page of a keyword changed back to a page that had ranked before.',
    formula: 'changes back to an earlier page',
    denominator: null,
    missing: 'days without a rank, or not known: no change',
    source: 'own definition',
  },
  landing_page: {
    label: 'target page',
    unit: 'keywords',
    better: null,
    definition: 'The keywords for which the target page ranks, or another page.',
    formula: 'best ranking page = target page, without the fragment and tracking parameters',
    denominator: 'adds up to all keywords',
    missing: 'absent: not ranked; unknown: counted separately',
    source:
      'own definition; URLs are equal as the URL standard of WHATWG parses them, without fragment and tracking parameters',
  },
} satisfies Readonly<Record<string, MetricDefinition>>

/** `unknown`: it is not known whether the target ranks, or the service sent no link for its result. */
export const landingStates = ['right', 'wrong page', 'not ranked', 'none intended', 'unknown'] as const

type LandingState = (typeof landingStates)[number]

/**
 * The page that ranks on the last day, compared with the `url` that the job intends. URLs are compared as browsers parse them,
 * without the fragment and without parameters that only track: `HTTPS://Acme.com` is `https://acme.com/`, but `/a` is not `/a/`, and `?x=1` is another page.
 */
export function landingPages(statuses: readonly KeywordStatus[], { days, links }: RankHistory) {
  const last = days.length - 1
  return statuses.map((status) => {
    const { series, current, keyword } = status
    const place = rankingLink(series, last)
    const link = place === null ? null : (links[place] as string)
    const intended = keyword.url === null ? null : pageAddress(keyword.url)
    const shown = series.places[last] ?? (place === null ? [] : [[current.rank ?? 0, place] as const])
    const found =
      intended === null ? undefined : shown.find(([, one]) => pageAddress(links[one] as string) === intended)
    return {
      status,
      state: stateOf(status, link, intended),
      /** The link that ranks; null if none does. */
      link,
      /** The rank of the intended page, as the best page or behind another one; null if it does not rank. */
      intendedRank: found?.[0] ?? null,
    }
  })
}

/** How many keywords are in each state. The states add up to all keywords. Unit: keywords. */
export function countLanding(pages: readonly { readonly state: LandingState }[]) {
  return tally(
    landingStates,
    pages.map(({ state }) => state),
  )
}

function stateOf({ current }: KeywordStatus, link: string | null, intended: string | null): LandingState {
  if (intended === null) return 'none intended'
  if (current.state === 'absent') return 'not ranked'
  if (current.state === 'unknown' || link === null) return 'unknown'
  return pageAddress(link) === intended ? 'right' : 'wrong page'
}

/**
 * Keywords for which several pages of one target were in one SERP, or the ranking page changed back and forth. Days without a
 * rank and unknown days are no change. Pages are compared by their address, whatever tracks in it. Keywords with the most swaps come
 * first, then those with the most days together.
 */
export function urlSwaps(history: RankHistory) {
  // Changing back takes three links; most series have less.
  const several = history.series.filter((series) => series.links.length >= 3 || hasPlaces(series))
  const pages = pagesIn(several, history.links)
  return several
    .flatMap((series) => {
      const one = ofSeries(series, pages, askedSince(history, series))
      return one.swaps > 0 || one.together.length > 0 ? [one] : []
    })
    .toSorted(
      (a, b) =>
        b.swaps - a.swaps ||
        b.together.length - a.together.length ||
        a.keyword - b.keyword ||
        a.target - b.target,
    )
}

/** Without a list of them: there are as many series as keywords. */
function hasPlaces({ places }: RankSeries): boolean {
  for (const _ in places) return true
  return false
}

/** For each link of these series the first one of the same page. */
export function pagesIn(all: readonly RankSeries[], links: readonly string[]): ReadonlyMap<number, number> {
  const used = new Set<number>()
  for (const { links: ranking, places } of all) {
    for (const [, link] of ranking) if (link !== null) used.add(link)
    for (const day in places) for (const [, link] of places[day] ?? []) used.add(link)
  }
  const firstOf = firstOfPage(links)
  return new Map([...used].sort((a, b) => a - b).map((link) => [link, firstOf(link)]))
}

/** Makes the place of the first of these links that is of the same page. So pages are compared by number, and each link is parsed once. */
function firstOfPage(links: readonly string[]): (link: number) => number {
  const first = new Map<string, number>()
  return (link) => {
    const page = pageAddress(links[link] as string)
    const same = first.get(page) ?? link
    first.set(page, same)
    return same
  }
}

function ofSeries(series: RankSeries, pages: ReadonlyMap<number, number>, since: number) {
  const leading = rankingLinks(series).map((link) => (link === null ? null : (pages.get(link) as number)))
  const days = new Map<number, Set<number>>()
  const add = (page: number, day: number) => days.set(page, (days.get(page) ?? new Set()).add(day))
  for (const [day, page] of leading.entries()) if (page !== null) add(page, day)
  const together: number[] = []
  for (const [day, places] of Object.entries(series.places)) {
    const shown = new Set(places.map(([, link]) => pages.get(link) as number))
    for (const page of shown) add(page, Number(day))
    if (shown.size > 1) together.push(Number(day))
  }
  const ranked = [...days].map(([link, on]) => ({
    /** Place in the links of the history. */
    link,
    /** Places of the days on which it ranked, as the best page or behind another one. */
    days: [...on].sort((a, b) => a - b),
    /** The number of days on which it was the best page. */
    leading: leading.filter((page) => page === link).length,
  }))
  return {
    keyword: series.keyword,
    target: series.target,
    /** Pages that ranked, the one with the most days first. */
    pages: ranked.toSorted((a, b) => b.days.length - a.days.length || a.link - b.link),
    /** Places of the days on which several pages were in one SERP. */
    together,
    /** How often the ranking page changed back to one that had ranked before: A, B, A is one swap, A, B, A, B are two. */
    swaps: swapsOf(leading.slice(since)),
  }
}

function swapsOf(leading: readonly (number | null)[]): number {
  const before = new Set<number>()
  let [page, swaps]: [number | null, number] = [null, 0]
  for (const next of leading) {
    if (next === null || next === page) continue
    if (before.has(next)) swaps++
    before.add(next)
    page = next
  }
  return swaps
}

/** For each link the place of the first link of the same page. */
export function pagesOf(links: readonly string[]): readonly number[] {
  const pages = known.get(links) ?? [...links.keys()].map(firstOfPage(links))
  known.set(links, pages)
  return pages
}

/** A report asks many times for the same list, which does not change. */
const known = new WeakMap<readonly string[], readonly number[]>()

/** The link that ranked on a day; null if none did, or the service sent no link. */
export function rankingLink({ cells, links }: RankSeries, day: number): number | null {
  if ((cells[day] ?? 0) <= 0) return null
  return links.findLast(([from]) => from <= day)?.[1] ?? null
}

/** The ranking link of every day. */
export function rankingLinks({ cells, links }: RankSeries): readonly (number | null)[] {
  let [next, link]: [number, number | null] = [0, null]
  return cells.map((cell, day) => {
    for (let change = links[next]; change !== undefined && change[0] <= day; change = links[++next])
      link = change[1]
    return (cell ?? 0) > 0 ? link : null
  })
}

/** Place of the first day on which the keyword of a series was asked as it is now. */
function askedSince(
  { days, keywords }: Pick<RankHistory, 'days' | 'keywords'>,
  { keyword }: Pick<RankSeries, 'keyword'>,
): number {
  const since = keywords[keyword]?.since
  const day = since === undefined ? 0 : days.findIndex((one) => one >= since)
  return day === -1 ? days.length : day
}
