import { pageAddress } from '../../model/url.ts'
import type { Citation, PageSerp, SerpResult } from '../data.ts'
import { askedSince, baselineOrder, type KeywordStatus } from '../history/keyword-status.ts'
import type { ComparisonDay } from '../history/movement.ts'
import type { Keyword, RankHistory, RankSeries } from '../history/rank-history.ts'
import { coverageOf, type Figure, figure, type MetricDefinition } from './figure.ts'

export const landingPageMetric: MetricDefinition = {
  label: 'target page',
  unit: 'keywords',
  better: null,
  definition: 'The keywords for which the target page ranks, or another page.',
  formula: 'best ranking page = target page, without the fragment and tracking parameters',
  denominator: 'adds up to all keywords',
  missing: 'absent: not ranked; unknown: counted separately',
  source:
    'own definition; URLs are equal as the URL standard of WHATWG parses them, without fragment and tracking parameters',
}

/** `unknown`: it is not known whether the target ranks, or the service sent no link for its result. */
export const landingStates = ['right', 'wrong page', 'not ranked', 'none intended', 'unknown'] as const

type LandingState = (typeof landingStates)[number]

export interface LandingPage {
  readonly status: KeywordStatus
  readonly state: LandingState
  /** The link that ranks; null if none does. */
  readonly link: string | null
  /** The rank of the intended page, as the best page or behind another one; null if it does not rank. */
  readonly intendedRank: number | null
}

/**
 * The page that ranks on the last day, compared with the `url` that the job intends. URLs are compared as browsers parse them,
 * without the fragment and without parameters that only track: `HTTPS://Acme.com` is `https://acme.com/`, but `/a` is not `/a/`, and `?x=1` is another page.
 */
export function landingPages(
  statuses: readonly KeywordStatus[],
  { days, links }: RankHistory,
): readonly LandingPage[] {
  const last = days.length - 1
  return statuses.map((status) => {
    const { series, current, keyword } = status
    const place = rankingLink(series, last)
    const link = place === null ? null : (links[place] as string)
    const intended = keyword.url === null ? null : pageAddress(keyword.url)
    const shown = series.places[last] ?? (place === null ? [] : [[current.rank ?? 0, place] as const])
    const found =
      intended === null ? undefined : shown.find(([, one]) => pageAddress(links[one] as string) === intended)
    return { status, state: stateOf(status, link, intended), link, intendedRank: found?.[0] ?? null }
  })
}

/** How many keywords are in each state. The states add up to all keywords. Unit: keywords. */
export function countLanding(pages: readonly LandingPage[]): Readonly<Record<LandingState, number>> {
  const counts = Object.fromEntries(landingStates.map((state) => [state, 0])) as Record<LandingState, number>
  for (const { state } of pages) counts[state]++
  return counts
}

function stateOf({ current }: KeywordStatus, link: string | null, intended: string | null): LandingState {
  if (intended === null) return 'none intended'
  if (current.state === 'absent') return 'not ranked'
  if (current.state === 'unknown' || link === null) return 'unknown'
  return pageAddress(link) === intended ? 'right' : 'wrong page'
}

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

export const firstTenShareMetric: MetricDefinition = {
  label: 'share of the first ten results',
  unit: 'share',
  better: 'higher',
  definition: 'The share of the first ten results that belongs to the site, for each kind of results.',
  formula: 'own results / results, among the first ten',
  denominator: 'results among the first ten of the checked SERPs',
  missing: 'SERP not checked: not counted',
  source: 'own definition',
}

export const citedAnswersMetric: MetricDefinition = {
  label: 'answers that cite',
  unit: 'share',
  better: 'higher',
  definition: 'The share of AI answers that cite the site at least once.',
  formula: 'AI answers that cite the site / checked AI answers',
  denominator: 'checked AI answers',
  missing: 'answer not checked: not counted',
  source: 'own definition',
}

export const citationShareMetric: MetricDefinition = {
  label: 'share of references',
  unit: 'share',
  better: 'higher',
  definition: 'The share of the references of AI answers that leads to the site.',
  formula: 'references to the site / references of the checked AI answers',
  denominator: 'references of the checked AI answers',
  missing: 'answer not checked: not counted',
  source: 'own definition',
}

export const citationIndexMetric: MetricDefinition = {
  label: 'first place among references',
  unit: 'index',
  better: null,
  definition:
    'The mean place of the first reference to the site in each AI answer that cites it, counted from 1.',
  formula: 'mean of (index of the first reference + 1)',
  denominator: 'answers that cite it',
  missing: 'not cited: not counted',
  source: 'own definition',
}

/**
 * The share of a target in each tracked kind of results, by the name of the kind.
 *
 * @param statuses those of the target
 * @param serps those of the last day, one for each keyword at most
 */
export function ownership(statuses: readonly KeywordStatus[], target: number, serps: readonly PageSerp[]) {
  const byKeyword = new Map(serps.filter(({ depth }) => depth > 0).map((serp) => [serp.keyword, serp]))
  const kinds = [...new Set(statuses.map(({ keyword }) => keyword.kind))].sort()
  return kinds.map((kind) => {
    const those = statuses.filter(({ keyword }) => keyword.kind === kind)
    const shown = those.flatMap(({ series }) => byKeyword.get(series.keyword) ?? [])
    return {
      kind,
      /** Keywords that rank results of this kind. */
      coverage: coverageOf(those.map(({ current }) => ({ value: current }))),
      /** Its results by all results among the first ten. Coverage counts SERPs; ranked SERPs have a result of the target. */
      firstTen: shareOfFirstTen(shown, target, those.length),
    }
  })
}

function shareOfFirstTen(serps: readonly PageSerp[], target: number, expected: number): Figure {
  let [own, all, ranked] = [0, 0, 0]
  for (const serp of serps) {
    const results = firstResults(serp)
    const its = results.filter((result) => result[4].includes(target)).length
    own += its
    all += results.length
    if (its > 0) ranked++
  }
  return figure(own, all, { ranked, observed: serps.length, expected })
}

/**
 * The citations of a target in AI answers. Coverage counts answers; ranked answers cite it.
 *
 * @param citations those of the last day, one for each keyword at most
 * @param expected keywords that are asked for AI answers
 */
export function citationShare(citations: readonly Citation[], target: number, expected: number) {
  const cited = citations.flatMap(({ cited: all }) => {
    const indexes = all.find((one) => one.target === target)?.indexes ?? []
    return indexes.length === 0 ? [] : [indexes]
  })
  const indexes = cited.flat()
  const references = citations.reduce((sum, one) => sum + one.references, 0)
  const coverage = { ranked: cited.length, observed: citations.length, expected }
  return {
    /** Answers that cite it, by all answers. */
    answers: figure(cited.length, citations.length, coverage),
    /** The mean of the indexes of its citations, as the service sent them; null if it is not cited. */
    averageIndex: mean(indexes),
    /** The mean of its lowest index in each answer that cites it; null if it is not cited. */
    averageFirstIndex: mean(cited.map((one) => Math.min(...one))),
    /** Its citations by all references of the answers. */
    citations: figure(indexes.length, references, coverage),
  }
}

function mean(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : numbers.reduce((sum, one) => sum + one, 0) / numbers.length
}

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

export const turnoverMetric: MetricDefinition = {
  label: 'turnover of the first ten',
  unit: 'share',
  better: null,
  definition: 'The share of the first ten results that changed since the compared day.',
  formula: '(pages of the day with more - pages of both days) / pages of the day with more',
  denominator: 'the pages of the day that has more of them',
  missing: 'SERPs not checked on both days and results without a link: not counted',
  source: 'own definition: 1 - overlap of two lists cut at ten',
}

/** Results count down to this rank. */
export const turnoverDepth = 10

/** The page of a link, for links in a list. Only links that are not in both results are asked for: to parse a link takes a while. */
type PageOf = (link: number) => unknown

/**
 * The share of the first ten results that differs from the compared day. If less than ten were checked on both days, of as
 * many. The order of the results does not matter, nor which day is which. A result without a link is not a page.
 */
function turnover(current: PageSerp, compared: PageSerp, pageOf: PageOf) {
  const depth = Math.min(turnoverDepth, current.depth, compared.depth)
  const [now, before] = [linksIn(current, depth), linksIn(compared, depth)]
  const pagesOf = (links: ReadonlySet<number>, others: ReadonlySet<number>): ReadonlySet<unknown> =>
    new Set([...links].map((link) => (others.has(link) ? link : pageOf(link))))
  return turnoverOfPages(pagesOf(now, before), pagesOf(before, now))
}

/** The turnover of two sets of pages. */
export function turnoverOfPages<Page>(now: ReadonlySet<Page>, before: ReadonlySet<Page>) {
  const common = [...now].filter((page) => before.has(page)).length
  const all = Math.max(now.size, before.size)
  return turnoverOf(all - common, all)
}

/** The turnover over all SERPs that can be compared. */
export function volatility(pairs: readonly SerpPair[], pageOf: PageOf) {
  const each = pairs.flatMap(({ current, compared }) => {
    return compared === null ? [] : [turnover(current, compared, pageOf)]
  })
  const others = each.reduce((sum, one) => sum + one.numerator, 0)
  const all = each.reduce((sum, one) => sum + one.denominator, 0)
  return { ...turnoverOf(others, all), compared: each.length, serps: pairs.length }
}

function turnoverOf(numerator: number, denominator: number) {
  return {
    /** From 0, nothing is new, to 1, everything is new; null if no result has a link. */
    value: denominator === 0 ? null : numerator / denominator,
    /** Pages of the longer list that the other day does not have. */
    numerator,
    /** Pages of the longer list. */
    denominator,
  }
}

function linksIn(serp: PageSerp, depth: number): ReadonlySet<number> {
  return new Set(firstResults(serp, depth).flatMap(([, , link]) => link ?? []))
}
