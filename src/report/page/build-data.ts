import { addDays } from '../../model/time.ts'
import type { FirstResult } from '../../store/reports.ts'
import { featureHistory } from '../history/feature-history.ts'
import { baselineOrder } from '../history/keyword-status.ts'
import type { ComparisonDay } from '../history/movement.ts'
import { type AskedPeriod, reportPeriod } from '../history/period.ts'
import type { Keyword, RankHistory, RankSeries } from '../history/rank-history.ts'
import { rankingLink } from '../metrics/serps.ts'
import type { Presentation } from '../presentation/presentation.ts'
import { builtHistory, type ReportSource, shownRuns } from '../report.ts'
import { wordsOf } from '../words/words.ts'
import type { Citation, PageData, PageSerp } from './data.ts'
import { offeredComparisons, offeredPeriods } from './offered.ts'

const shownResults = 10
/** More than any AI answer has. */
const mostReferences = 1_000

/** The history with the first results of the last day, of the compared one, and of further days. */
export function reportPageData(source: ReportSource, choice: SerpChoice = {}): PageData {
  const { isPage = false } = choice
  const { ranked, measure, store, asked, presentation, featuresOf } = source
  const { period, compare, runs } = ranked
  const { history, queryIds } = builtHistory(source)
  return {
    history,
    period,
    compare,
    asked,
    presentation: withMarks(presentation, history),
    measure,
    runs: shownRuns(source),
    ...readSerps(source, serpDays(history.days, compare, history.keywords.length, choice)),
    features: isPage ? featureHistory({ ...history, queryIds, runs, store, featuresOf }) : [],
  }
}

/** With a note on each day on which keywords were first asked as they are now. */
function withMarks(presentation: Presentation, { keywords }: RankHistory): Presentation {
  const changed = new Map<string, number>()
  for (const { since } of keywords) if (since !== undefined) changed.set(since, (changed.get(since) ?? 0) + 1)
  if (changed.size === 0) return presentation
  const say = wordsOf(presentation.language).findings
  const marks = [...changed].map(([date, keywords]) => ({
    date,
    text: say.askedOtherwiseFrom(keywords),
    url: null,
  }))
  return { ...presentation, notes: [...presentation.notes, ...marks] }
}

/** The citations of AI answers on the last and the compared day. Result pages without AI answers are not read. */
export function citationsIn(source: ReportSource): readonly Citation[] {
  const { compare } = source.ranked
  const { days, keywords } = builtHistory(source).history
  const wanted = serpDays(days, compare, keywords.length, {})
  return readSerps(source, wanted, ({ kind }) => kind === 'reference').citations
}

/** The first results of keywords, all by default. */
function readSerps(
  source: ReportSource,
  wanted: SerpDays,
  isWanted: (keyword: Keyword) => boolean = () => true,
) {
  const { ranked, store } = source
  const { history, queryIds } = builtHistory(source)
  const [texts, links, sites] = [stringTable(), stringTable(), stringTable()]
  const runsOn = new Map<string, number[]>()
  for (const { id, date } of ranked.runs) runsOn.set(date, [...(runsOn.get(date) ?? []), id])
  const seriesOf: RankSeries[][] = history.keywords.map(() => [])
  for (const one of history.series) seriesOf[one.keyword]?.push(one)
  const serps: PageSerp[] = []
  const citations: Citation[] = []
  for (const { keyword, day, isOffered } of serpsToShow(seriesOf, wanted)) {
    const asked = history.keywords[keyword] as Keyword
    if (!isWanted(asked)) continue
    const query = queryIds[keyword] as number
    const { kind } = asked
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
  return { serps, citations, texts: texts.strings, links: links.strings, sites: sites.strings }
}

/** Each keyword with its days that are known. */
function* serpsToShow(seriesOf: readonly (readonly RankSeries[])[], wanted: SerpDays) {
  for (const [keyword, series] of seriesOf.entries()) {
    const isKnown = (day: number): boolean => series.some(({ cells }) => (cells[day] ?? 0) !== 0)
    for (const one of serpDaysOf(wanted, isKnown)) yield { keyword, ...one }
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

/** What the page offers to choose, usual comparisons first. */
const offered: readonly AskedPeriod[] = [null, ...offeredComparisons].flatMap((compare) =>
  offeredPeriods.map((period) => ({ period, compare })),
)

/** SERPs of days that are only offered, at most: a page of very many keywords has those of the compared day alone. */
const mostOffered = 12_000

/** A day, or the best known one of several. */
type WantedDays = readonly number[]

interface SerpDays {
  /** Of every keyword: the last day, the compared one, and the days that were asked for. */
  readonly wanted: readonly WantedDays[]
  /** Those that the page needs for the periods that it offers. */
  readonly offered: readonly WantedDays[]
}

interface SerpChoice {
  /** Days before the last one, beside the compared day. */
  readonly serpDays?: number
  /** Whether the periods that a page offers need theirs. */
  readonly isPage?: boolean
}

/** The days whose SERPs a report has. */
export function serpDays(
  days: readonly string[],
  compare: ComparisonDay | null,
  keywords: number,
  { serpDays: recent = 0, isPage = false }: SerpChoice,
): SerpDays {
  const latest = days.at(-1)
  if (latest === undefined) return { wanted: [], offered: [] }
  const since = addDays(latest, -recent)
  const wanted = [
    [days.length - 1],
    baselineOrder(days, compare),
    ...days.flatMap((date, day) => (date > since ? [[day]] : [])),
  ]
  if (!isPage) return { wanted, offered: [] }
  const known = new Set(wanted.map(([first]) => first))
  const further: WantedDays[] = []
  for (const one of offered.flatMap((asked) => daysOf(days, asked))) {
    const [first] = one
    if (first === undefined || known.has(first)) continue
    known.add(first)
    further.push(one)
  }
  return { wanted, offered: further.slice(0, Math.floor(mostOffered / Math.max(1, keywords))) }
}

/** The last day of a period, and those that it may be compared with. */
function daysOf(days: readonly string[], asked: AskedPeriod): readonly WantedDays[] {
  const period = reportPeriod(days, asked)
  if (period === null) return []
  const until = days.filter((day) => day <= period.until)
  return [baselineOrder(until, period.compare), [until.length - 1]].filter(([first = -1]) => first >= 0)
}

/** The days of one keyword, ascending; those that are only offered are marked. */
export function* serpDaysOf(
  { wanted, offered: further }: SerpDays,
  isKnown: (day: number) => boolean,
): Generator<{ readonly day: number; readonly isOffered: boolean }> {
  const daysIn = (all: readonly WantedDays[]) => all.flatMap((one) => one.find(isKnown) ?? [])
  const always = new Set(daysIn(wanted))
  for (const day of [...new Set([...always, ...daysIn(further)])].sort((a, b) => a - b))
    yield { day, isOffered: !always.has(day) }
}
