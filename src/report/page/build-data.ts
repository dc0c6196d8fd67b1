import { addDays } from '../../model/time.ts'
import type { FirstResult } from '../../store/reports.ts'
import { baselineOrder } from '../history/keyword-status.ts'
import type { ComparisonDay } from '../history/movement.ts'
import type { Keyword, RankHistory, RankSeries } from '../history/rank-history.ts'
import { rankingLink } from '../metrics/serps.ts'
import { builtHistory, lastRuns, type ReportSource } from '../report.ts'
import type { Citation, PageData, Serp } from './data.ts'

const shownResults = 10
/** More than any AI answer has. */
const mostReferences = 1_000

export interface SerpChoice {
  /** Further days that the page offers to compare with. */
  readonly offered?: readonly ComparisonDay[]
  /** Days before the last one, beside the compared days. */
  readonly serpDays?: number
}

/** The history with the first results of the last day, of the compared one, and of further days. */
export function reportPageData(source: ReportSource, choice: SerpChoice = {}): PageData {
  const { ranked, measure, store, asked, presentation } = source
  const { compare, runs } = ranked
  const { history, queryIds } = builtHistory(source)
  const [texts, links, sites] = [stringTable(), stringTable(), stringTable()]
  const runsOn = new Map<string, number[]>()
  for (const { id, date } of runs) runsOn.set(date, [...(runsOn.get(date) ?? []), id])
  const seriesOf: RankSeries[][] = history.keywords.map(() => [])
  for (const one of history.series) seriesOf[one.keyword]?.push(one)
  const serps: Serp[] = []
  const citations: Citation[] = []
  for (const { keyword, day, isOffered } of serpsToShow(history.days, seriesOf, compare, choice)) {
    const query = queryIds[keyword] as number
    const { kind } = history.keywords[keyword] as Keyword
    const checked = (runsOn.get(history.days[day] as string) ?? [])
      .map((id) => ({ run: id, depth: store.unbrokenDepth(id, query) }))
      .find(({ depth }) => depth > 0)
    if (checked === undefined) continue
    const { run, depth } = checked
    const targetsOf = targetsByLink(history, seriesOf[keyword] ?? [], day)
    const top = kind === 'reference' ? mostReferences : shownResults
    const results = store.firstResults({ run, query, kind, top })
    // Days that are only offered for comparison do not belong to the history of citations.
    if (kind === 'reference' && !isOffered)
      citations.push({ keyword, day, ...citationOf(results, targetsOf) })
    serps.push({
      keyword,
      day,
      depth: Math.min(shownResults, depth),
      results: results
        .slice(0, shownResults)
        .map((one) => [
          one.rank,
          texts.indexOf(one.title),
          links.indexOf(one.link),
          sites.indexOf(one.site),
          targetsOf(one.link),
        ]),
    })
  }
  return {
    history,
    compare,
    asked,
    presentation,
    measure,
    runs: lastRuns(runs, store),
    serps,
    citations,
    texts: texts.strings,
    links: links.strings,
    sites: sites.strings,
  }
}

/**
 * Each keyword with its known days among the last, the compared, the recent and the offered ones.
 */
function* serpsToShow(
  days: readonly string[],
  seriesOf: readonly (readonly RankSeries[])[],
  compare: ComparisonDay | null,
  { offered = [], serpDays = 0 }: SerpChoice,
) {
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

function citationOf(
  results: readonly FirstResult[],
  targetsOf: TargetsByLink,
): Omit<Citation, 'keyword' | 'day'> {
  const indexes = new Map<number, number[]>()
  for (const { link, position, rank } of results)
    for (const target of targetsOf(link))
      indexes.set(target, [...(indexes.get(target) ?? []), position ?? rank])
  return {
    references: results.length,
    cited: [...indexes].sort(([a], [b]) => a - b).map(([target, those]) => ({ target, indexes: those })),
  }
}

/** The targets that a link ranked for, own ones first; empty for other sites. */
export type TargetsByLink = (link: string | null) => readonly number[]

/** Finds the targets of the results of a keyword on a day. */
export function targetsByLink(
  { links }: RankHistory,
  series: readonly RankSeries[],
  day: number,
): TargetsByLink {
  const byLink = new Map<string, number[]>()
  for (const one of series)
    for (const link of linksOn(one, day)) {
      const name = links[link] as string
      byLink.set(name, [...(byLink.get(name) ?? []), one.target])
    }
  return (link) => (link === null ? [] : (byLink.get(link) ?? []))
}

function linksOn(series: RankSeries, day: number): readonly number[] {
  const several = series.places[day]
  if (several !== undefined) return [...new Set(several.map(([, link]) => link))]
  const link = rankingLink(series, day)
  return link === null ? [] : [link]
}

/** Distinct texts in a list; they are named by their place. */
function stringTable() {
  const known = new Map<string, number>()
  const strings: string[] = []
  return {
    strings,
    /** Place of a text; adds a new text. Null for null. */
    indexOf: (text: string | null): number | null => {
      if (text === null) return null
      const index = known.get(text) ?? strings.push(text) - 1
      known.set(text, index)
      return index
    },
  }
}
