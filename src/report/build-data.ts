import { featureBits } from '../model/result.ts'
import type { Run, RunQuality } from '../model/run.ts'
import { groupedBy } from '../model/text.ts'
import { addDays } from '../model/time.ts'
import type { Store } from '../store/sqlite/open.ts'
import type { FirstResult } from '../store/sqlite/rankings/tracking.ts'
import {
  type Citation,
  changesOf,
  offeredComparisons,
  offeredPeriods,
  once,
  type PageContent,
  type PageData,
  type PageSerp,
  stateOf,
  withLate,
} from './data.ts'
import { places } from './history/build-history.ts'
import { baselineOrder } from './history/keyword-status.ts'
import type { ComparisonDay } from './history/movement.ts'
import { type RequestedPeriod, reportPeriod } from './history/period.ts'
import type { Keyword, RankHistory, RankSeries } from './history/rank-history.ts'
import { rankingLink } from './metrics/pages.ts'
import type { Presentation } from './presentation/presentation.ts'
import type { RankedJob, ReportSource } from './report.ts'
import { wordsOf } from './words/words.ts'

const shownResults = 10
/** More than any AI answer has. */
const mostReferences = 1_000

export type WholeReport = ReturnType<typeof wholeReport>

/** The content of a report that is a document, with its rows. */
export function wholeReport(source: ReportSource) {
  const report = source.ranked.report()
  return { ...reportPageData(source), report }
}

/** The history with the first results of the last day and of the compared one. Those are read when they are asked for. */
export function reportPageData(source: ReportSource): PageData {
  const { keywords } = source.ranked.history
  const read = once(() => {
    const { inTurn, ...named } = serpReading(source, daysOfSerps(source))
    return { ...named, serps: [...inTurn()] }
  })
  return withLate(
    { ...outlineOf(source), features: [] },
    {
      serps: () => read().serps,
      citations: () => (keywords.some(isReference) ? read().citations : []),
      texts: () => read().texts,
      links: () => read().links,
      sites: () => read().sites,
    },
  )
}

/** The content of the page: with the first results of all days that it offers to compare with. */
export function reportPageContent(source: ReportSource): PageContent {
  const days = daysOfSerps(source, true)
  const { inTurn, texts, links, sites } = serpReading(source, days)
  const outline = outlineOf(source)
  const presentation = withMarks(outline.presentation, outline.history)
  return withLate(
    { ...outline, presentation, serps: { [Symbol.iterator]: inTurn }, texts, links, sites },
    {
      citations: () => citationsIn(source, { ...days, offered: [] }),
      features: () => featureHistory(source),
    },
  )
}

/** What is known without a look at results. */
function outlineOf(source: ReportSource) {
  const { ranked, measure, requestedPeriod, presentation } = source
  const { history, period, compare } = ranked
  return { history, period, compare, requestedPeriod, presentation, measure, runs: shownRuns(source) }
}

/** Runs that a report lists at most. */
const mostRuns = 30

/**
 * How the last runs ended, the newest last.
 *
 * @param runs the newest first
 */
export function lastRuns(runs: readonly Run[], store: Pick<Store, 'runQuality'>): readonly RunQuality[] {
  return runs
    .slice(0, mostRuns)
    .map(({ id, date }) => ({ ...store.runQuality(id), date }))
    .reverse()
}

/** The runs that the readers of a report are shown. */
function shownRuns({ ranked, store, presentation }: ReportSource): readonly RunQuality[] {
  return presentation.audience === 'client' ? [] : lastRuns(ranked.runs, store)
}

function daysOfSerps({ ranked, serpDays: recent }: ReportSource, isPage = false): SerpDays {
  const { days, keywords } = ranked.history
  return serpDays(days, ranked.compare, keywords.length, { serpDays: recent, isPage })
}

/** With a note on each day on which keywords were first asked as they are now. */
function withMarks(presentation: Presentation, { keywords }: RankHistory): Presentation {
  const changed = new Map<string, number>()
  for (const { since } of keywords) if (since !== undefined) changed.set(since, (changed.get(since) ?? 0) + 1)
  if (changed.size === 0) return presentation
  const say = wordsOf(presentation.language).unscripted
  const marks = [...changed].map(([date, keywords]) => ({
    date,
    text: say.askedOtherwiseFrom(keywords),
    url: null,
  }))
  return { ...presentation, notes: [...presentation.notes, ...marks] }
}

/** The citations of AI answers alone: result pages without them are not read. */
function citationsIn(source: ReportSource, wanted: SerpDays): readonly Citation[] {
  const { inTurn, citations } = serpReading(source, wanted, isReference)
  for (const _ of inTurn());
  return citations
}

function isReference({ kind }: Keyword): boolean {
  return kind === 'reference'
}

/** The first results of keywords, all by default, as they are taken in turn; and what they name and cite, which is whole after the last one. */
function serpReading(
  source: ReportSource,
  wanted: SerpDays,
  isWanted: (keyword: Keyword) => boolean = () => true,
) {
  const { ranked, store } = source
  const { history, queryIds } = ranked
  const [texts, links, sites] = [places<string>(), places<string>(), places<string>()]
  const citations: Citation[] = []

  function* inTurn(): Generator<PageSerp> {
    const runsOn = groupedBy(ranked.runs, ({ date }) => date)
    const seriesOf: RankSeries[][] = history.keywords.map(() => [])
    for (const one of history.series) seriesOf[one.keyword]?.push(one)
    const looksAt = ({ keyword, day }: ShownSerp): Parameters<Store['firstResults']>[0] => {
      const { kind } = history.keywords[keyword] as Keyword
      const top = kind === 'reference' ? mostReferences : shownResults
      const query = queryIds[keyword] as number
      return (runsOn.get(history.days[day] as string) ?? []).map(({ id }) => ({ run: id, query, kind, top }))
    }
    const shown = serpsToShow(seriesOf, wanted).filter(({ keyword }) =>
      isWanted(history.keywords[keyword] as Keyword),
    )
    for (let from = 0; from < shown.length; from += readAtOnce) {
      const some = shown.slice(from, from + readAtOnce)
      const read = readTogether(store, some.map(looksAt))
      const placesOf = placesOnce({ texts, links, sites })
      for (const [place, { keyword, day, isOffered }] of some.entries()) {
        const found = read[place]
        if (found === undefined) continue
        const { depth, results } = found
        const targetsOf = targetsByLink(history, seriesOf[keyword] ?? [], day)
        // Days that are only offered for comparison do not belong to the history of citations.
        if (isReference(history.keywords[keyword] as Keyword) && !isOffered)
          citations.push({ keyword, day, ...citationOf(results, targetsOf) })
        const first = results.length > shownResults ? results.slice(0, shownResults) : results
        yield {
          keyword,
          day,
          depth: Math.min(shownResults, depth),
          results: first.map(({ rank, says }) => {
            const named = placesOf(says)
            return [rank, named[0], named[1], named[2], targetsOf(says.link)] as const
          }),
        }
      }
    }
  }
  return { inTurn, citations, texts: texts.all, links: links.all, sites: sites.all }
}

/** A statement for each SERP would take longer than what it reads, and all of them together would take memory. */
const readAtOnce = 500

/** The first results of SERPs, each of which several runs may have seen: those of the first that checked any. Undefined where none has. */
function readTogether(
  store: Pick<Store, 'firstResults'>,
  serps: readonly Parameters<Store['firstResults']>[0][],
) {
  const seen = store.firstResults(serps.flat())
  let next = 0
  return serps.map((requests) => {
    const from = next
    next += requests.length
    return seen.slice(from, next).find(({ depth }) => depth > 0)
  })
}

type Strings = ReturnType<typeof places<string>>
type NamedPlaces = readonly [title: number | null, link: number | null, site: number | null]

/** Looks up what results name once for all that say the same. */
function placesOnce({ texts, links, sites }: Record<'texts' | 'links' | 'sites', Strings>) {
  const placeIn = ({ place }: Strings, text: string | null) => (text === null ? null : place(text))
  const known = new Map<FirstResult['says'], NamedPlaces>()
  return (says: FirstResult['says']): NamedPlaces => {
    const before = known.get(says)
    if (before !== undefined) return before
    const { title, link, site } = says
    const named = [placeIn(texts, title), placeIn(links, link), placeIn(sites, site)] as const
    known.set(says, named)
    return named
  }
}

type ShownSerp = ReturnType<typeof serpsToShow>[number]

/** Each keyword with its days that are known. */
function serpsToShow(seriesOf: readonly (readonly RankSeries[])[], wanted: SerpDays) {
  const daysKnownBy = serpDaysOf(wanted)
  return seriesOf.flatMap((series, keyword) => {
    const isKnown = (day: number): boolean => series.some(({ cells }) => (cells[day] ?? 0) !== 0)
    return daysKnownBy(isKnown).map(({ day, isOffered }) => ({ keyword, day, isOffered }))
  })
}

function citationOf(results: readonly FirstResult[], targetsOf: TargetsByLink) {
  const indexes = new Map<number, number[]>()
  for (const { says, position, rank } of results)
    for (const target of targetsOf(says.link))
      indexes.set(target, [...(indexes.get(target) ?? []), position ?? rank])
  return {
    references: results.length,
    cited: [...indexes].sort(([a], [b]) => a - b).map(([target, those]) => ({ target, indexes: those })),
  }
}

/** The targets that a link ranked for, own ones first; empty for other sites. */
export type TargetsByLink = (link: string | null) => readonly number[]

const none: readonly number[] = []

/** Finds the targets of the results of a keyword on a day. */
export function targetsByLink(
  { links }: RankHistory,
  series: readonly RankSeries[],
  day: number,
): TargetsByLink {
  const ranking: string[] = []
  const targetOf: number[] = []
  for (const one of series)
    for (const link of linksOn(one, day)) {
      ranking.push(links[link] as string)
      targetOf.push(one.target)
    }
  return (link) => {
    let targets = none
    for (let place = 0; place < ranking.length; place++)
      if (ranking[place] === link) targets = [...targets, targetOf[place] as number]
    return targets
  }
}

function linksOn(series: RankSeries, day: number): readonly number[] {
  const several = series.places[day]
  if (several !== undefined) return [...new Set(several.map(([, link]) => link))]
  const link = rankingLink(series, day)
  return link === null ? [] : [link]
}

/** What the page offers to choose, usual comparisons first. */
const offered: readonly RequestedPeriod[] = [null, ...offeredComparisons].flatMap((compare) =>
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

/** The days whose SERPs a report has. */
export function serpDays(
  days: readonly string[],
  compare: ComparisonDay | null,
  keywords: number,
  {
    serpDays: recent,
    isPage,
  }: {
    /** Days before the last one, beside the compared day. */
    readonly serpDays: number
    /** Whether the periods that a page offers need theirs. */
    readonly isPage: boolean
  },
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
function daysOf(days: readonly string[], asked: RequestedPeriod): readonly WantedDays[] {
  const period = reportPeriod(days, asked)
  if (period === null) return []
  const until = days.filter((day) => day <= period.until)
  return [baselineOrder(until, period.compare), [until.length - 1]].filter(([first = -1]) => first >= 0)
}

/** Finds the days of a keyword, ascending; those that are only offered are marked. */
export function serpDaysOf({ wanted, offered: further }: SerpDays) {
  const found = (isKnown: (day: number) => boolean) => {
    const daysIn = (all: readonly WantedDays[]) => all.flatMap((one) => one.find(isKnown) ?? [])
    const always = new Set(daysIn(wanted))
    return [...new Set([...always, ...daysIn(further)])]
      .sort((a, b) => a - b)
      .map((day) => ({ day, isOffered: !always.has(day) }))
  }
  // Most keywords are known on all of them.
  const usual = found(() => true)
  return (isKnown: (day: number) => boolean) =>
    usual.every(({ day }) => isKnown(day)) ? usual : found(isKnown)
}

/** The features of every keyword whose answers tell of some. Of two runs on one day the later one counts. */
export function featureHistory({
  ranked: { history, queryIds, runs },
  store,
  featuresOf,
}: Pick<ReportSource, 'featuresOf'> & {
  readonly ranked: Pick<RankedJob, 'history' | 'queryIds'> &
    Readonly<Record<'runs', readonly Pick<Run, 'id' | 'date'>[]>>
  readonly store: Pick<Store, 'featuresIn'>
}) {
  const { days, keywords } = history
  const knownOf = new Map(
    queryIds.map((id, keyword) => [id, featureBits(featuresOf(keywords[keyword]?.operation ?? ''))]),
  )
  const dayOf = new Map(days.map((date, day) => [date, day]))
  const states = new Map<number, number[]>()
  for (const { id, date } of runs.toSorted((a, b) => a.id - b.id)) {
    const day = dayOf.get(date)
    if (day === undefined) continue
    const { queries, features } = store.featuresIn(id)
    for (let page = 0; page < queries.length; page++) {
      const query = queries[page] as number
      const known = knownOf.get(query) ?? 0
      if (known === 0) continue
      let own = states.get(query)
      if (own === undefined) {
        own = Array<number>(days.length).fill(0)
        states.set(query, own)
      }
      own[day] = stateOf(known, features[page] as number)
    }
  }
  return queryIds.flatMap((query, keyword) => {
    const own = states.get(query)
    return own === undefined ? [] : [{ keyword, changes: changesOf(own) }]
  })
}
