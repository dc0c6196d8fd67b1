import { pageAddress } from '../../model/url.ts'
import type { PageSerp, SerpResult } from '../data.ts'
import { baselineOrder } from '../history/keyword-status.ts'
import type { ComparisonDay } from '../history/movement.ts'
import type { Keyword, RankHistory, RankSeries } from '../history/rank-history.ts'

/**
 * For each link the place of the first link of the same page. So pages are compared by number, and each link is parsed once.
 */
export function pagesOf(links: readonly string[]): readonly number[] {
  const found = known.get(links)
  if (found !== undefined) return found
  const first = new Map<string, number>()
  const pages = links.map((link, index) => {
    const page = pageAddress(link)
    const same = first.get(page)
    if (same === undefined) first.set(page, index)
    return same ?? index
  })
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

/** The first ten results of a keyword on the last day, and on the day that it is compared with. */
export interface SerpPair {
  readonly keyword: number
  readonly current: PageSerp
  readonly compared: PageSerp | null
}

/**
 * The SERP of each keyword on the last day, with that of its baseline. Keywords that were not checked on the last day are left
 * out, and those without a series in the history.
 */
export function serpPairs(
  history: RankHistory,
  serps: readonly PageSerp[],
  asked: ComparisonDay | null,
): readonly SerpPair[] {
  const last = history.days.length - 1
  const order = baselineOrder(history.days, asked)
  const pairs: SerpPair[] = []
  const asking = keywordsOf(history)
  for (const [keyword, days] of byKeyword(serps)) {
    if (!asking.has(keyword)) continue
    const current = days.get(last)
    if (current === undefined) continue
    const day = order.find((one) => days.has(one))
    pairs.push({ keyword, current, compared: day === undefined ? null : (days.get(day) ?? null) })
  }
  return pairs.toSorted((a, b) => a.keyword - b.keyword)
}

function byKeyword(serps: readonly PageSerp[]): ReadonlyMap<number, ReadonlyMap<number, PageSerp>> {
  const all = new Map<number, Map<number, PageSerp>>()
  for (const serp of serps) {
    if (serp.depth === 0) continue
    const days = all.get(serp.keyword) ?? new Map<number, PageSerp>()
    all.set(serp.keyword, days.set(serp.day, serp))
  }
  return all
}

/** The first results, within the depth that was checked without a gap. */
export function firstResults({ results, depth }: PageSerp, most = 10): readonly SerpResult[] {
  const last = Math.min(depth, most)
  return results.filter(([rank]) => rank <= last)
}

/** The keywords of the series: those that filters left. */
export function keywordsOf(history: RankHistory): ReadonlyMap<number, Keyword> {
  const found = asking.get(history)
  if (found !== undefined) return found
  const asked = new Map<number, Keyword>()
  for (const { keyword } of history.series) asked.set(keyword, history.keywords[keyword] as Keyword)
  asking.set(history, asked)
  return asked
}

/** Several figures of a report ask for the keywords of the same history. */
const asking = new WeakMap<RankHistory, ReadonlyMap<number, Keyword>>()

/** The weight of keywords: the volume, or 1 if no keyword has a volume. */
export function weightsOf(history: RankHistory) {
  const keywords = keywordsOf(history)
  const some = [...keywords.values()].some(({ volume }) => volume !== null)
  return {
    by: some ? ('volume' as const) : ('none' as const),
    /** Null if others have a volume and this one has none: it is not counted. */
    of: (keyword: number): number | null => (some ? (keywords.get(keyword)?.volume ?? null) : 1),
  }
}
