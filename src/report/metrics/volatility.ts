import type { Serp } from '../page-data.ts'
import { firstResults, type SerpPair } from './serps.ts'

export interface Turnover {
  /** From 0, nothing is new, to 1, everything is; null where no result has a link. */
  readonly value: number | null
  /** Pages among the first ten that only one of the days has, of the day that has more. */
  readonly numerator: number
  /** Pages among the first ten of that day. */
  readonly denominator: number
}

/**
 * The share of the first ten results that are others than on the compared day; their order does not matter, nor which day
 * is which.
 * Null where one of the two was not looked at to ten. A result without a link is no page.
 *
 * @param pages what `pagesOf` makes of the links
 */
export function turnover(current: Serp, compared: Serp, pages: readonly number[]): Turnover | null {
  if (current.depth < 10 || compared.depth < 10) return null
  const [now, before] = [pagesIn(current, pages), pagesIn(compared, pages)]
  const common = [...now].filter((page) => before.has(page)).length
  const all = Math.max(now.size, before.size)
  return turnoverOf(all - common, all)
}

/** The turnover of all SERPs together, of those that can be compared. */
export function volatility(pairs: readonly SerpPair[], pages: readonly number[]) {
  const each = pairs.flatMap(({ current, compared }) => {
    const one = compared === null ? null : turnover(current, compared, pages)
    return one === null ? [] : [one]
  })
  const others = each.reduce((sum, one) => sum + one.numerator, 0)
  const all = each.reduce((sum, one) => sum + one.denominator, 0)
  return { ...turnoverOf(others, all), compared: each.length, serps: pairs.length }
}

function turnoverOf(numerator: number, denominator: number): Turnover {
  return { value: denominator === 0 ? null : numerator / denominator, numerator, denominator }
}

function pagesIn(serp: Serp, pages: readonly number[]): ReadonlySet<number> {
  return new Set(firstResults(serp).flatMap(([, , link]) => (link === null ? [] : [pages[link] as number])))
}
