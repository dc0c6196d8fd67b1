import type { AskedDay } from '../baseline.ts'
import { baselineOrder } from '../cohort.ts'
import type { Serp, SerpResult } from '../page-data.ts'
import type { Keyword, RankHistory } from '../rank-history.ts'

/** The first ten results of a keyword on the last day, and on the day that it is compared with. */
export interface SerpPair {
  readonly keyword: number
  readonly current: Serp
  readonly compared: Serp | null
}

/**
 * What each keyword shows on the last day, beside its baseline. What was not looked at on the last day is left out, and what the
 * history has no series of.
 */
export function serpPairs(
  history: RankHistory,
  serps: readonly Serp[],
  asked: AskedDay | null,
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

function byKeyword(serps: readonly Serp[]): ReadonlyMap<number, ReadonlyMap<number, Serp>> {
  const all = new Map<number, Map<number, Serp>>()
  for (const serp of serps) {
    if (serp.depth === 0) continue
    const days = all.get(serp.keyword) ?? new Map<number, Serp>()
    all.set(serp.keyword, days.set(serp.day, serp))
  }
  return all
}

/** Results as far down as was looked without a gap. */
export function firstResults({ results, depth }: Serp, most = 10): readonly SerpResult[] {
  const last = Math.min(depth, most)
  return results.filter(([rank]) => rank <= last)
}

/** Keywords that are asked for, after whatever a filter took out. */
export function keywordsOf({ series, keywords }: RankHistory): ReadonlyMap<number, Keyword> {
  const asked = new Map<number, Keyword>()
  for (const { keyword } of series) asked.set(keyword, keywords[keyword] as Keyword)
  return asked
}

/** What a keyword weighs: its volume, or one where no keyword has any. */
export interface Weights {
  readonly by: 'volume' | 'none'
  /** Null where others have a volume and this one has none: it is not counted. */
  readonly of: (keyword: number) => number | null
}

export function weightsOf(history: RankHistory): Weights {
  const keywords = keywordsOf(history)
  const some = [...keywords.values()].some(({ volume }) => volume !== null)
  if (!some) return { by: 'none', of: () => 1 }
  return { by: 'volume', of: (keyword) => keywords.get(keyword)?.volume ?? null }
}
