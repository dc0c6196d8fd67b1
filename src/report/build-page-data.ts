import type { Run } from '../model/run.ts'
import type { FirstResult, TrackingStore } from '../store/tracking.ts'
import type { AskedDay } from './baseline.ts'
import type { BuiltHistory } from './build-history.ts'
import { baselineOrder } from './cohort.ts'
import { addDays } from './days.ts'
import type { Measure } from './headline.ts'
import { lastRuns } from './last-runs.ts'
import type { Citation, PageData, Serp } from './page-data.ts'
import type { Keyword, RankHistory, RankSeries } from './rank-history.ts'
import { type Owners, ownersOf } from './serp-owners.ts'
import { wordList } from './word-list.ts'

/** Where the data of a page come from. */
export interface PageSource {
  readonly built: BuiltHistory
  readonly compare: AskedDay | null
  /** Further days that a reader may compare with: their SERPs go along, too. */
  readonly offered?: readonly AskedDay[]
  readonly measure: Measure
  /** Runs that are reported, the newest first. */
  readonly runs: readonly Run[]
  readonly store: Pick<TrackingStore, 'firstResults' | 'unbrokenDepth' | 'runQuality'>
  /** Days before the last one whose SERPs go along, beside those of the compared days. */
  readonly serpDays: number
}

const shownResults = 10
/** No AI answer has as many references. */
const mostReferences = 1_000

/** Everything that the report as a page shows. */
export function buildPageData(source: PageSource): PageData {
  const { built, compare, offered = [], measure, runs, store, serpDays } = source
  const { history, queryIds } = built
  const [texts, links, sites] = [wordList(), wordList(), wordList()]
  const runsOn = new Map<string, number[]>()
  for (const { id, date } of runs) runsOn.set(date, [...(runsOn.get(date) ?? []), id])
  const seriesOf = seriesByKeyword(history)
  const serps: Serp[] = []
  const citations: Citation[] = []
  for (const { keyword, day, isOffered } of looks(history, { seriesOf, compare, offered, serpDays })) {
    const query = queryIds[keyword] as number
    const { kind } = history.keywords[keyword] as Keyword
    const looked = (runsOn.get(history.days[day] as string) ?? [])
      .map((id) => ({ run: id, depth: store.unbrokenDepth(id, query) }))
      .find(({ depth }) => depth > 0)
    if (looked === undefined) continue
    const { run, depth } = looked
    const owner = ownersOf(history, seriesOf[keyword] ?? [], day)
    const top = kind === 'reference' ? mostReferences : shownResults
    const results = store.firstResults({ run, query, kind, top })
    // The course of citations has no days that are there to be compared with alone.
    if (kind === 'reference' && !isOffered) citations.push({ keyword, day, ...citationOf(results, owner) })
    serps.push({
      keyword,
      day,
      depth: Math.min(shownResults, depth),
      results: results
        .slice(0, shownResults)
        .map((one) => [
          one.rank,
          texts.place(one.title),
          links.place(one.link),
          sites.place(one.site),
          owner(one.link),
        ]),
    })
  }
  return {
    history,
    compare,
    measure,
    runs: lastRuns(runs, store),
    serps,
    citations,
    texts: texts.words,
    links: links.words,
    sites: sites.words,
  }
}

type SeriesOf = readonly (readonly RankSeries[])[]

function seriesByKeyword({ keywords, series }: RankHistory): SeriesOf {
  const all: RankSeries[][] = keywords.map(() => [])
  for (const one of series) all[one.keyword]?.push(one)
  return all
}

interface Choice {
  readonly seriesOf: SeriesOf
  readonly compare: AskedDay | null
  readonly offered: readonly AskedDay[]
  readonly serpDays: number
}

/**
 * Keywords with the days on which anything is known of them: the last, the one that it is compared with, those asked for,
 * and those that are offered to compare with.
 */
function* looks({ days }: RankHistory, { seriesOf, compare, offered, serpDays }: Choice) {
  const last = days.length - 1
  const latest = days[last]
  if (latest === undefined) return
  const order = baselineOrder(days, compare)
  const furtherOrders = offered.map((asked) => baselineOrder(days, asked))
  const since = addDays(latest, -serpDays)
  const recent = days.flatMap((date, day) => (date > since ? [day] : []))
  for (const [keyword, series] of seriesOf.entries()) {
    const isKnown = (day: number): boolean => series.some(({ cells }) => (cells[day] ?? 0) !== 0)
    const compared = order.find(isKnown)
    const wanted = new Set([...recent, ...(compared === undefined ? [] : [compared]), last])
    const further = furtherOrders.flatMap((one) => one.find(isKnown) ?? [])
    for (const day of [...new Set([...wanted, ...further])].sort((a, b) => a - b))
      if (isKnown(day)) yield { keyword, day, isOffered: !wanted.has(day) }
  }
}

function citationOf(results: readonly FirstResult[], owner: Owners): Omit<Citation, 'keyword' | 'day'> {
  const indexes = new Map<number, number[]>()
  for (const { link, position, rank } of results)
    for (const target of owner(link)) indexes.set(target, [...(indexes.get(target) ?? []), position ?? rank])
  return {
    references: results.length,
    cited: [...indexes].sort(([a], [b]) => a - b).map(([target, those]) => ({ target, indexes: those })),
  }
}
