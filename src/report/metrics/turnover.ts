import type { PageSerp } from '../data.ts'
import type { MetricDefinition } from './figure.ts'
import { firstResults, type SerpPair } from './serps.ts'

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
export type PageOf = (link: number) => unknown

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
