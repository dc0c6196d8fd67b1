import { pageAddress } from '../../model/url.ts'
import { askedSince } from '../history/keyword-status.ts'
import type { RankHistory, RankSeries } from '../history/rank-history.ts'
import type { MetricDefinition } from './figure.ts'
import { rankingLinks } from './serps.ts'

export const urlSwapsMetric: MetricDefinition = {
  label: 'page swaps',
  unit: 'pages',
  better: 'lower',
  definition: 'How often the ranking page of a keyword changed back to a page that had ranked before.',
  formula: 'changes back to an earlier page',
  denominator: null,
  missing: 'days without a rank, or not known: no change',
  source: 'own definition',
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
  const first = new Map<string, number>()
  return new Map(
    [...used]
      .sort((a, b) => a - b)
      .map((link) => {
        const page = pageAddress(links[link] as string)
        const same = first.get(page) ?? link
        first.set(page, same)
        return [link, same]
      }),
  )
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
