import type { Target } from '../../model/job.ts'
import { siteOf } from '../../model/public-suffix.ts'
import { markets } from '../../model/query.ts'
import { groupedBy } from '../../model/text.ts'
import type { ClickSpan } from '../../store/sqlite/clicks/clicks.ts'
import type { Store } from '../../store/sqlite/open.ts'
import { siteOfProperty } from './rows.ts'

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

/** What is read of added clicks. */
export type ClickReads = Pick<Store, 'clickSpans' | 'clicksOf'>

/** The sites of own targets. */
export function ownSites(targets: readonly Target[]): readonly string[] {
  return [...new Set(targets.flatMap(({ own, site }) => (own ? (siteOfProperty(site) ?? []) : [])))]
}

/** What a day, or a period, is read from: where several tables are named, each has another part of the site. */
export type CountedSpan = ReturnType<typeof countedSpans>[number]

/** What is read of a job: which table counts on which day, and the rows of its keywords. */
export function clicksReader(
  store: ClickReads,
  {
    targets,
    keywords,
  }: {
    readonly targets: readonly Target[]
    readonly keywords: readonly {
      readonly query: string
      readonly params: Readonly<Record<string, string | number>>
    }[]
  },
  timeSpan: ClickSpan['timeSpan'],
) {
  const keyOf = ({ table, day }: Pick<ClickSpan, 'table' | 'day'>): string => `${table} ${day}`
  return {
    counted: countedSpans(store.clickSpans(ownSites(targets)), { rowsOf: 'query', timeSpan }),
    /** The rows of each keyword in these spans, in its country where the files have countries. */
    rowsOf(wanted: readonly CountedSpan[]) {
      const counting = new Map(wanted.flatMap(({ spans }) => spans.map((one) => [keyOf(one), one] as const)))
      const rows = store.clicksOf(
        keywords.map(({ query }) => query),
        [...new Set([...counting.values()].map(({ table }) => table))],
        { from: wanted[0]?.from ?? 0, until: wanted.at(-1)?.from ?? 0 },
      )
      return keywords.map(({ params }, place) => {
        const country = markets.country(params)
        return (rows[place] ?? []).filter((row) => {
          const span = counting.get(keyOf(row))
          return span !== undefined && (country === '' || !span.hasCountries || row.country === country)
        })
      })
    },
  }
}

/** Days at the end of a period that Search Console may not have yet. */
const lateDays = 3
/** Of the days of a period, that must be there. */
const leastCovered = 0.9

/** Which of the counted spans stand for a period, and which for the same number of days before; null where they do not cover it. */
export function spansFor(
  counted: readonly CountedSpan[],
  { from, until }: { readonly from: number; readonly until: number },
): { readonly now: readonly CountedSpan[]; readonly before: readonly CountedSpan[] | null } | null {
  const within = (first: number, last: number) =>
    counted.filter((one) => one.from >= first && one.until <= last)
  const now = within(from, until)
  const [first, last] = [now[0]?.from, now.at(-1)?.until]
  if (first === undefined || last === undefined) return null
  const days = last - from + 1
  const covered = (spans: readonly CountedSpan[]): number =>
    spans.reduce((sum, one) => sum + one.until - one.from + 1, 0)
  if (
    first > from + (until - from) * (1 - leastCovered) ||
    last < until - lateDays ||
    covered(now) < days * leastCovered
  )
    return null
  const before = within(from - days, from - 1)
  return { now, before: covered(before) < days * leastCovered ? null : before }
}

/**
 * A period of its own, such as that of a UI export, that has at least half of the days of a period, and of whose days it has half; null
 * where there is none. A job that began meanwhile has no longer period yet: of a longer export it takes what there is.
 */
export function periodFor(
  counted: readonly CountedSpan[],
  { from, until, begins }: { readonly from: number; readonly until: number; readonly begins: number },
): CountedSpan | null {
  const common = (one: CountedSpan): number => Math.min(one.until, until) - Math.max(one.from, from) + 1
  const fitting = counted.filter(
    (one) =>
      common(one) * 2 >= until - from + 1 && (begins > from || common(one) * 2 >= one.until - one.from + 1),
  )
  return fitting.toSorted((a, b) => b.until - a.until || common(b) - common(a))[0] ?? null
}

/** Days that suggestions and comparisons look back on. */
const suggestedDays = 90

/** A query that Search Console counted, over the days that count. */
export type CountedQuery = ReturnType<typeof countedQueries>['queries'][number]

/** Every query of the own sites over the newest days, with its page where the files have one. */
export function countedQueries(
  store: Pick<Store, 'clickSpans' | 'sumsOfQueries'>,
  { targets, keywords }: Parameters<typeof clicksReader>[1],
) {
  const sites = ownSites(targets)
  const spans = store.clickSpans(sites)
  const daily = countedSpans(spans, { rowsOf: 'query', timeSpan: 'day' })
  const last = daily.at(-1)?.until ?? 0
  const counted =
    daily.length > 0
      ? daily.filter(({ from }) => from > last - suggestedDays)
      : countedSpans(spans, { rowsOf: 'query', timeSpan: 'period' }).slice(-1)
  const countries = new Set(keywords.map(({ params }) => markets.country(params)))
  const [country = ''] = countries.size === 1 ? countries : []
  const sumsBy = (some: readonly ClickSpan[]) => {
    const byTable = [...groupedBy(some, ({ table }) => table)].map(
      ([table, own]) => [table, own.map(({ day }) => day)] as const,
    )
    const sums = byTable.flatMap(([table, days]) => store.sumsOfQueries(table, days, country))
    return groupedBy(sums, ({ query }) => query)
  }
  const pages = sumsBy(spans.filter((one) => one.countedBy === 'page' && one.rowsOf === 'query'))
  const queries = Array.from(sumsBy(counted.flatMap((one) => one.spans)), ([query, sums]) => {
    const impressions = sumOf(sums, 'impressions')
    const [best] = (pages.get(query) ?? [])
      .filter(({ page }) => page !== null)
      .toSorted((a, b) => b.clicks - a.clicks || b.impressions - a.impressions)
    return {
      query,
      clicks: sumOf(sums, 'clicks'),
      impressions,
      position: sumOf(sums, 'positionSum') / impressions + 1,
      /** The page with most of its clicks; null where the files have no pages of queries. */
      page: best?.page ?? null,
    }
  })
  return { queries, sites }
}

/** The sum of a column. */
export function sumOf<Column extends string>(
  rows: readonly Readonly<Record<Column, number>>[],
  column: Column,
): number {
  return rows.reduce((sum, one) => sum + one[column], 0)
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
