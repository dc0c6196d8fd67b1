import type { RankHistory, RankSeries } from '../rank-history.ts'
import { pagesOf } from './page-of.ts'
import { rankingLinks } from './ranking-link.ts'

/** A keyword for which pages of one site compete with each other. */
export interface Cannibalised {
  readonly keyword: number
  readonly target: number
  /** Pages that ranked, the one with the most days first. */
  readonly pages: readonly RankedPage[]
  /** Places of the days on which several pages stood in one SERP. */
  readonly together: readonly number[]
  /** How often the ranking page changed back to one that had ranked before: A, B, A is one, A, B, A, B two. */
  readonly flips: number
}

export interface RankedPage {
  /** Place in the links of the history. */
  readonly link: number
  /** Places of the days on which it ranked, as the best page or behind another. */
  readonly days: readonly number[]
  /** Days of these on which it was the best page. */
  readonly leading: number
}

/**
 * Where several pages of one target stood in one SERP, or its ranking page changed back and forth over the days. Days on
 * which none ranked, or nothing is known, are no change. Pages are the same where their links are, but for the fragment.
 * Those with the most flips come first, then those with the most days together.
 */
export function cannibalisation(history: RankHistory): readonly Cannibalised[] {
  const pages = pagesOf(history.links)
  return history.series
    .flatMap((series) => {
      // There and back takes three links; most series never have them.
      if (series.links.length < 3 && !hasPlaces(series)) return []
      const one = ofSeries(series, pages)
      return one.flips > 0 || one.together.length > 0 ? [one] : []
    })
    .toSorted(
      (a, b) =>
        b.flips - a.flips ||
        b.together.length - a.together.length ||
        a.keyword - b.keyword ||
        a.target - b.target,
    )
}

function hasPlaces({ places }: RankSeries): boolean {
  for (const _ in places) return true
  return false
}

function ofSeries(series: RankSeries, pages: readonly number[]): Cannibalised {
  const leading = rankingLinks(series).map((link) => (link === null ? null : (pages[link] as number)))
  const days = new Map<number, Set<number>>()
  const add = (page: number, day: number) => days.set(page, (days.get(page) ?? new Set()).add(day))
  for (const [day, page] of leading.entries()) if (page !== null) add(page, day)
  const together: number[] = []
  for (const [day, places] of Object.entries(series.places)) {
    const shown = new Set(places.map(([, link]) => pages[link] as number))
    for (const page of shown) add(page, Number(day))
    if (shown.size > 1) together.push(Number(day))
  }
  const ranked = [...days].map(([link, on]) => ({
    link,
    days: [...on].sort((a, b) => a - b),
    leading: leading.filter((page) => page === link).length,
  }))
  return {
    keyword: series.keyword,
    target: series.target,
    pages: ranked.toSorted((a, b) => b.days.length - a.days.length || a.link - b.link),
    together,
    flips: flipsOf(leading),
  }
}

function flipsOf(leading: readonly (number | null)[]): number {
  const before = new Set<number>()
  let [page, flips]: [number | null, number] = [null, 0]
  for (const next of leading) {
    if (next === null || next === page) continue
    if (before.has(next)) flips++
    before.add(next)
    page = next
  }
  return flips
}
