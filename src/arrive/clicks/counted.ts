import { siteOf } from '../../model/public-suffix.ts'
import { groupedBy } from '../../model/text.ts'
import type { ClickSpan } from '../../store/sqlite/clicks/clicks.ts'

/**
 * Which of the stored spans count, so that nothing counts twice:
 *
 * - Of a property, the table that was added last has its days. One that counts by property wins over one that counts by page, for which an
 *   impression of two pages is two.
 * - A domain property has everything of its domain, and an address what lies below it: where they have a day, those of their parts do not
 *   count. Parts of which no whole has the day are added up.
 */
export function countedSpans(
  spans: readonly ClickSpan[],
  { rowsOf, timeSpan }: Pick<ClickSpan, 'rowsOf' | 'timeSpan'>,
) {
  const wanted = spans.filter((one) => one.rowsOf === rowsOf && one.timeSpan === timeSpan)
  const byTime = groupedBy(wanted, ({ day, untilDay }) => `${day} ${untilDay}`)
  return [...byTime.values()]
    .map((all) => ({
      from: (all[0] as ClickSpan).day,
      until: (all[0] as ClickSpan).untilDay,
      spans: withoutParts([...newestByProperty(all).values()]),
    }))
    .sort((a, b) => a.from - b.from || a.until - b.until)
}

function newestByProperty(spans: readonly ClickSpan[]): ReadonlyMap<string, ClickSpan> {
  const newest = new Map<string, ClickSpan>()
  for (const one of spans) {
    const known = newest.get(one.property)
    if (known === undefined || isBefore(known, one)) newest.set(one.property, one)
  }
  return newest
}

function isBefore(known: ClickSpan, one: ClickSpan): boolean {
  if (known.countedBy !== one.countedBy) return one.countedBy === 'property'
  return one.table > known.table
}

function withoutParts(spans: readonly ClickSpan[]): readonly ClickSpan[] {
  return spans.filter((one) => !spans.some(({ property }) => holds(property, one.property)))
}

/**
 * Whether everything of a property is in another one: a domain holds its hosts and the domains below it, an address those that begin with it.
 * The view `clicks` says the same.
 */
function holds(property: string, part: string): boolean {
  if (property === part) return false
  if (!property.startsWith(wholeDomain)) return property.endsWith('/') && part.startsWith(property)
  const host = part.startsWith(wholeDomain) ? part.slice(wholeDomain.length) : (part.split('/')[2] ?? '')
  return `.${host}`.endsWith(`.${property.slice(wholeDomain.length)}`)
}

const wholeDomain = 'sc-domain:'

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
) {
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
    /** Pages with their queries: the ones within reach first. */
    pages: [...byPage].map(([page, queries]) => ({ page, queries })),
    /** Queries that name the site. */
    brand: inOrder.filter(isBrand),
    /** Queries that no one would ask again: fewer impressions than the least, or a spreadsheet would run them. */
    leftOut: open.length - usable.length,
  }
}
