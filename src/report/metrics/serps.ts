import { groupedBy } from '../../model/text.ts'
import type { Citation, PageSerp, SerpResult } from '../data.ts'
import { baselineOrder, type KeywordStatus } from '../history/keyword-status.ts'
import type { ComparisonDay } from '../history/movement.ts'
import type { Keyword, RankHistory } from '../history/rank-history.ts'
import { coverageOf, type Figure, figure, type MetricDefinition } from './figure.ts'

/** Who has the first results and the references of AI answers, and how far results changed. */
export const serpMetrics = {
  turnover: {
    label: 'turnover of the first ten',
    unit: 'share',
    better: null,
    definition: 'The share of the first ten results that changed since the compared day.',
    formula: '(pages of the day with more - pages of both days) / pages of the day with more',
    denominator: 'the pages of the day that has more of them',
    missing: 'SERPs not checked on both days and results without a link: not counted',
    source: 'own definition: 1 - overlap of two lists cut at ten',
  },
  first_ten_share: {
    label: 'share of the first ten results',
    unit: 'share',
    better: 'higher',
    definition: 'The share of the first ten results that belongs to the site, for each kind of results.',
    formula: 'own results / results, among the first ten',
    denominator: 'results among the first ten of the checked SERPs',
    missing: 'SERP not checked: not counted',
    source: 'own definition',
  },
  citation_share: {
    label: 'share of references',
    unit: 'share',
    better: 'higher',
    definition: 'The share of the references of AI answers that leads to the site.',
    formula: 'references to the site / references of the checked AI answers',
    denominator: 'references of the checked AI answers',
    missing: 'answer not checked: not counted',
    source: 'own definition',
  },
  citation_index: {
    label: 'first place among references',
    unit: 'index',
    better: null,
    definition:
      'The mean place of the first reference to the site in each AI answer that cites it, counted from 1.',
    formula: 'mean of (index of the first reference + 1)',
    denominator: 'answers that cite it',
    missing: 'not cited: not counted',
    source: 'own definition',
  },
} satisfies Readonly<Record<string, MetricDefinition>>

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

/** The first ten results of a keyword on the last day, and on the day that it is compared with. */
export type SerpPair = ReturnType<typeof serpPairs>[number]

/**
 * The SERP of each keyword on the last day, with that of its baseline. Keywords that were not checked on the last day are left
 * out, and those without a series in the history.
 */
export function serpPairs(history: RankHistory, serps: readonly PageSerp[], asked: ComparisonDay | null) {
  const last = history.days.length - 1
  const order = baselineOrder(history.days, asked)
  const asking = keywordsOf(history)
  const checked = serps.filter(({ depth }) => depth !== 0)
  const pairs = [...groupedBy(checked, ({ keyword }) => keyword)].flatMap(([keyword, own]) => {
    const serpOn = (day: number) => own.findLast((one) => one.day === day)
    const current = serpOn(last)
    if (current === undefined || !asking.has(keyword)) return []
    const day = order.find((one) => own.some((serp) => serp.day === one))
    return [{ keyword, current, compared: day === undefined ? null : (serpOn(day) ?? null) }]
  })
  return pairs.toSorted((a, b) => a.keyword - b.keyword)
}

/** The first results, within the depth that was checked without a gap. */
export function firstResults({ results, depth }: PageSerp, most = 10): readonly SerpResult[] {
  const last = Math.min(depth, most)
  // The best come first.
  return (results.at(-1)?.[0] ?? 0) <= last ? results : results.filter(([rank]) => rank <= last)
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
