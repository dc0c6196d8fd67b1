import { siteOf } from '../../model/public-suffix.ts'

/** Whether a query names the site, for instance `acme desks` or `acmecom` for acme.com. */
export function isBrandWord(query: string, site: string): boolean {
  const name = (siteOf(site) ?? site).split('.')[0] ?? ''
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[\s\-_.]+/g, '')
  return name.length >= 3 && plain(query).includes(plain(name))
}

/** A query that Search Console counted, over the days that count. */
export interface CountedQuery {
  readonly query: string
  readonly clicks: number
  readonly impressions: number
  readonly position: number
  /** The page with most of its clicks; null where the files have no pages of queries. */
  readonly page: string | null
}

export interface Suggestions {
  /** Pages with their queries: the ones within reach first. */
  readonly pages: readonly { readonly page: string | null; readonly queries: readonly CountedQuery[] }[]
  /** Queries that name the site. */
  readonly brand: readonly CountedQuery[]
  /** Queries that no one would ask again: fewer impressions than the least, or a spreadsheet would run them. */
  readonly leftOut: number
}

/** From the fourth to the twentieth place a page can still be brought up. */
const isWithinReach = ({ position }: CountedQuery): boolean => position >= 4 && position <= 20
/** Queries with fewer impressions are those of a few people. */
const leastImpressions = 10

/** Queries that a job does not ask, grouped by page, words of the brand apart; at most `limit` that are none of the brand. */
export function suggest(
  counted: readonly CountedQuery[],
  {
    asked,
    sites,
    limit,
  }: { readonly asked: ReadonlySet<string>; readonly sites: readonly string[]; readonly limit: number },
): Suggestions {
  const open = counted.filter(({ query }) => !asked.has(query))
  const usable = open.filter(
    ({ query, impressions }) => impressions >= leastImpressions && !/^[=+\-@'"\s]/.test(query),
  )
  const isBrand = ({ query }: CountedQuery): boolean => sites.some((site) => isBrandWord(query, site))
  const inOrder = usable.toSorted(
    (a, b) =>
      Number(isWithinReach(b)) - Number(isWithinReach(a)) ||
      b.impressions - a.impressions ||
      (a.query < b.query ? -1 : 1),
  )
  const byPage = new Map<string | null, CountedQuery[]>()
  for (const one of inOrder.filter((each) => !isBrand(each)).slice(0, limit))
    byPage.set(one.page, [...(byPage.get(one.page) ?? []), one])
  return {
    pages: [...byPage].map(([page, queries]) => ({ page, queries })),
    brand: inOrder.filter(isBrand),
    leftOut: open.length - usable.length,
  }
}
