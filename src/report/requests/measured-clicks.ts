import { type CountedQuery, countedSpans, isBrandWord } from '../../arrive/clicks/counted.ts'
import { fitCurve, fittedRanks, type KeywordSamples, type RankSample } from '../../arrive/clicks/fit.ts'
import { readDay, siteOfProperty } from '../../arrive/clicks/rows.ts'
import { countryOfParams } from '../../model/query.ts'
import { grouped, groupedBy } from '../../model/text.ts'
import { dayText } from '../../model/time.ts'
import type { ClickSpan, StoredClicks } from '../../store/sqlite/clicks/clicks.ts'
import type { Store } from '../../store/sqlite/open.ts'
import { defaultCurve } from '../ctr.ts'
import { countedDays } from '../history/period.ts'
import { dayValue, type Keyword, type RankHistory, type RankSeries } from '../history/rank-history.ts'
import type { CtrCurve } from '../metrics/figure.ts'

type ClickReads = Pick<Store, 'clickSpans' | 'clicksOf'>

/** The sites of the own targets of a job. */
function ownSites({ targets }: Pick<RankHistory, 'targets'>): readonly string[] {
  return [...new Set(targets.flatMap(({ own, site }) => (own ? (siteOfProperty(site) ?? []) : [])))]
}

/** Rows of a query that are of the country of a keyword, where the files have countries. */
function inCountry(
  rows: readonly StoredClicks[],
  { params }: Pick<Keyword, 'params'>,
  withCountries: ReadonlySet<number>,
) {
  const country = countryOfParams(params)
  return rows.filter((one) => country === '' || !withCountries.has(one.table) || one.country === country)
}

const firstOf = (days: readonly number[]): number =>
  days.reduce((a, b) => Math.min(a, b), Number.MAX_SAFE_INTEGER)
const lastOf = (days: readonly number[]): number => days.reduce((a, b) => Math.max(a, b), 0)

/** What is read of a job: which table counts on which day, and the rows of its keywords. */
export function clicksReader(store: ClickReads, history: RankHistory, timeSpan: 'day' | 'period') {
  const spans = store.clickSpans(ownSites(history))
  const counted = countedSpans(spans, { rowsOf: 'query', timeSpan })
  const keyOf = (table: number, day: number): string => `${table} ${day}`
  return {
    counted,
    hasCountries: counted.every(({ spans: all }) => all.every((one) => one.hasCountries)),
    /** The rows of each keyword in these spans. */
    rowsOf(wanted: readonly CountedSpan[]): readonly (readonly StoredClicks[])[] {
      const all = wanted.flatMap(({ spans: some }) => some)
      const tables = [...new Set(all.map(({ table }) => table))]
      const counts = new Set(all.map(({ table, day }) => keyOf(table, day)))
      const withCountries = new Set(all.flatMap(({ table, hasCountries }) => (hasCountries ? [table] : [])))
      const days = all.map(({ day }) => day)
      const rows = store.clicksOf(
        history.keywords.map(({ query }) => query),
        tables,
        { from: firstOf(days), until: lastOf(days) },
      )
      return history.keywords.map((keyword, place) =>
        inCountry(rows[place] ?? [], keyword, withCountries).filter(({ table, day }) =>
          counts.has(keyOf(table, day)),
        ),
      )
    },
  }
}

/** The best own rank of each keyword on each day; days on which it is absent or not known are left out. */
function ownRanks(history: RankHistory): ReadonlyMap<number, ReadonlyMap<string, number>> {
  const ranks = new Map<number, Map<string, number>>()
  for (const series of history.series) {
    if (history.targets[series.target]?.own !== true) continue
    const ofKeyword = ranks.get(series.keyword) ?? new Map<string, number>()
    ranks.set(series.keyword, ofKeyword)
    for (const [place, day] of history.days.entries()) {
      const rank = rankOn(series, place)
      if (rank !== null) ofKeyword.set(day, Math.min(rank, ofKeyword.get(day) ?? rank))
    }
  }
  return ranks
}

function rankOn({ cells, seen }: RankSeries, day: number): number | null {
  return dayValue(cells[day] ?? null, seen[day])?.rank ?? null
}

/**
 * What Search Console counted of each keyword at each rank: day by day where the files have days, else over a period in which its rank moved
 * by one place at most. Words of the brand are left out: they are clicked whatever their rank.
 */
export function clickSamples(store: ClickReads, history: RankHistory): readonly KeywordSamples[] {
  const ranks = ownRanks(history)
  const sites = ownSites(history)
  const daily = clicksReader(store, history, 'day')
  const reader = daily.counted.length > 0 ? daily : clicksReader(store, history, 'period')
  const untilOf = new Map(reader.counted.map(({ from, until }) => [from, until]))
  // Of other days no rank is known.
  const [first, last] = [history.days[0], history.days.at(-1)].map((day) => readDay(day ?? '')) as [
    number,
    number,
  ]
  const rows = reader.rowsOf(reader.counted.filter(({ from, until }) => until >= first && from <= last))
  return history.keywords.flatMap(({ query, kind }, place) => {
    if (kind !== 'organic' || sites.some((site) => isBrandWord(query, site))) return []
    const ofKeyword = ranks.get(place) ?? new Map<string, number>()
    const samples: RankSample[] = []
    for (const { day, clicks, impressions } of rows[place] ?? []) {
      const rank = steadyRank(ofKeyword, day, untilOf.get(day) ?? day)
      if (rank !== null && rank <= fittedRanks) samples.push({ rank, clicks, impressions })
    }
    return samples.length === 0 ? [] : [{ keyword: query, samples }]
  })
}

/** The rank between two days, where it moved by one place at most; null where it is not known. */
function steadyRank(ranks: ReadonlyMap<string, number>, from: number, until: number): number | null {
  if (from === until) return ranks.get(dayText(from)) ?? null
  const within = [...ranks].flatMap(([day, rank]) => {
    const at = readDay(day)
    return at >= from && at <= until ? [rank] : []
  })
  within.sort((a, b) => a - b)
  const [least, most] = [within[0], within.at(-1)]
  if (least === undefined || most === undefined || most - least > 1) return null
  return within[Math.floor(within.length / 2)] ?? null
}

/** The curve of a job's own clicks; null where nothing was counted at any rank. */
export function ownCurve(store: ClickReads, history: RankHistory): CtrCurve | null {
  const samples = clickSamples(store, history).flatMap(({ samples: all }) => all)
  const fitted = fitCurve(samples, defaultCurve.rates)
  return fitted.every(({ isDefault }) => isDefault) ? null : curveFrom(fitted, ownSites(history).join(', '))
}

function curveFrom(fitted: readonly FittedRank[], sites: string): CtrCurve {
  const impressions = fitted.reduce((sum, one) => sum + one.impressions, 0)
  const scaled = fitted.flatMap(({ rank, isDefault }) => (isDefault ? [rank] : []))
  const rest =
    scaled.length === 0
      ? ''
      : `; ${scaled.length} ranks with too few impressions follow the shape of ${defaultCurve.name}`
  return {
    name: `Own clicks of ${sites}`,
    version: '1',
    source: `Search Console, ${grouped(impressions)} impressions, all devices${rest}`,
    rates: fitted.map(({ rate }) => rate),
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

/** The history with what Search Console counted of its keywords in a period; as it is where nothing covers that. */
export function withCountedClicks(
  store: ClickReads,
  history: RankHistory,
  period: { readonly from: string; readonly until: string } | null,
): RankHistory {
  const lastDay = history.days.at(-1)
  if (lastDay === undefined) return history
  const days = countedDays(period ?? { from: lastDay, until: lastDay })
  const wanted = { from: readDay(days.from), until: readDay(days.until) }
  const daily = clicksReader(store, history, 'day')
  const spans = spansFor(daily.counted, wanted)
  if (spans !== null) return withCounts(history, daily, spans.now, spans.before)
  const periods = clicksReader(store, history, 'period')
  const begins = readDay(history.days[0] as string)
  const own = periodFor(periods.counted, { ...wanted, begins })
  return own === null ? history : withCounts(history, periods, [own], null)
}

function withCounts(
  history: RankHistory,
  reader: ReturnType<typeof clicksReader>,
  now: readonly CountedSpan[],
  before: readonly CountedSpan[] | null,
): RankHistory {
  const rows = reader.rowsOf(now)
  const rowsBefore = before === null ? null : reader.rowsOf(before)
  const keywords = history.keywords.map((keyword, place) => {
    const own = rows[place] ?? []
    const impressions = sumOf(own, 'impressions')
    if (keyword.kind !== 'organic' || impressions === 0) return keyword
    const counted = {
      clicks: sumOf(own, 'clicks'),
      impressions,
      position: sumOf(own, 'positionSum') / impressions + 1,
      clicksBefore: rowsBefore === null ? null : sumOf(rowsBefore[place] ?? [], 'clicks'),
    }
    return { ...keyword, counted }
  })
  const spanOf = (spans: readonly CountedSpan[]) => ({
    from: dayText((spans[0] as CountedSpan).from),
    until: dayText((spans.at(-1) as CountedSpan).until),
  })
  const countedClicks = { ...spanOf(now), before: before === null ? null : spanOf(before) }
  return { ...history, keywords, countedClicks }
}

function sumOf(rows: readonly StoredClicks[], column: 'clicks' | 'impressions' | 'positionSum'): number {
  return rows.reduce((sum, one) => sum + one[column], 0)
}

/** Days that suggestions and comparisons look back on. */
const suggestedDays = 90

/** Every query of the own sites over the newest days, with its page where the files have one. */
export function countedQueries(
  store: ClickReads & Pick<Store, 'sumsOfQueries'>,
  history: RankHistory,
): { readonly queries: readonly CountedQuery[]; readonly sites: readonly string[] } {
  const sites = ownSites(history)
  const spans = store.clickSpans(sites)
  const daily = countedSpans(spans, { rowsOf: 'query', timeSpan: 'day' })
  const last = daily.at(-1)?.until ?? 0
  const counted =
    daily.length > 0
      ? daily.filter(({ from }) => from > last - suggestedDays)
      : countedSpans(spans, { rowsOf: 'query', timeSpan: 'period' }).slice(-1)
  const countries = new Set(history.keywords.map(({ params }) => countryOfParams(params)))
  const [country = ''] = countries.size === 1 ? countries : []
  const byTable = (some: readonly ClickSpan[]) =>
    [...groupedBy(some, ({ table }) => table)].map(([table, own]) => ({
      table,
      days: own.map(({ day }) => day),
    }))
  const pages = spans.filter((one) => one.countedBy === 'page' && one.rowsOf === 'query')
  const sums = new Map<string, { clicks: number; impressions: number; positionSum: number }>()
  for (const { table, days } of byTable(counted.flatMap((one) => one.spans)))
    for (const { query, clicks, impressions, positionSum } of store.sumsOfQueries(table, days, country)) {
      const sum = sums.get(query) ?? { clicks: 0, impressions: 0, positionSum: 0 }
      sum.clicks += clicks
      sum.impressions += impressions
      sum.positionSum += positionSum
      sums.set(query, sum)
    }
  const best = new Map<
    string,
    { readonly page: string; readonly clicks: number; readonly impressions: number }
  >()
  for (const { table, days } of byTable(pages))
    for (const { query, page, clicks, impressions } of store.sumsOfQueries(table, days, country)) {
      const known = best.get(query)
      const isBetter =
        known === undefined ||
        clicks > known.clicks ||
        (clicks === known.clicks && impressions > known.impressions)
      if (page !== null && isBetter) best.set(query, { page, clicks, impressions })
    }
  const queries = [...sums].map(([query, { clicks, impressions, positionSum }]) => ({
    query,
    clicks,
    impressions,
    position: positionSum / impressions + 1,
    page: best.get(query)?.page ?? null,
  }))
  return { queries, sites }
}

/** Places that rank and average position may lie apart. */
const mostApart = 3

/** Keywords whose mean rank in the days of counted clicks, or else the newest one, lies more than three places from Search Console's position. */
export function rankDifferences(history: RankHistory) {
  const { countedClicks } = history
  if (countedClicks === undefined) return []
  const ranks = ownRanks(history)
  return history.keywords.flatMap(({ query, counted }, place) => {
    const all = [...(ranks.get(place) ?? [])]
    const within = all.filter(([day]) => day >= countedClicks.from && day <= countedClicks.until)
    const used = within.length > 0 ? within : all.slice(-1)
    if (counted === undefined || used.length === 0) return []
    const rank = used.reduce((sum, [, one]) => sum + one, 0) / used.length
    return Math.abs(rank - counted.position) <= mostApart
      ? []
      : [{ query, rank, position: counted.position, impressions: counted.impressions }]
  })
}

/** The rate of one rank of an own curve. */
type FittedRank = ReturnType<typeof fitCurve>[number]

/** What a day, or a period, is read from: where several tables are named, each has another part of the site. */
export type CountedSpan = ReturnType<typeof countedSpans>[number]
