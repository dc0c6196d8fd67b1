import { featuresOf } from '../../catalog/index.ts'
import { queryConditions } from '../../model/condition.ts'
import type { JobSettings } from '../../model/job.ts'
import { groupedBy } from '../../model/text.ts'
import { dayMs, latestKnown } from '../../model/time.ts'
import { groupKeywords, usualShare } from '../../rank/grouping.ts'
import type { Store } from '../../store/sqlite/open.ts'
import { type RowOrder, sortRows } from '../formats/rows.ts'
import { type Part, partOf } from '../history/filter-history.ts'
import type { RequestedPeriod } from '../history/period.ts'
import type { Keyword, RankHistory } from '../history/rank-history.ts'
import { type Presentation, plainPresentation } from '../presentation/presentation.ts'
import {
  type BrowserPlaces,
  type Paper,
  papers,
  type RankedJob,
  type ReportFormat,
  type ReportSource,
} from '../report.ts'
import { type Words, wordsOf } from '../words/words.ts'
import { asQuery, presentationSettings } from './presentation.ts'
import { rankedJob } from './rank-report.ts'

/** Which report of a job is wanted. What is left out is as usual. */
export interface ReportRequest
  extends Pick<ReportSource, 'job' | 'measure' | 'layout'>,
    Partial<Pick<ReportSource, 'presentation' | 'csv' | 'serpDays'>>,
    Pick<Parameters<typeof rankedJob>[2], 'date' | 'filter'> {
  /** What the file of the job says now; null where the job was named without it. */
  readonly settings: JobSettings | null
  readonly format: Pick<ReportFormat, 'dayBefore'>
  /** What options ask for; the job file says the rest. */
  readonly period?: { readonly [part in keyof RequestedPeriod]?: string | undefined }
  /** Days that an observation may lie from the compared day. */
  readonly tolerance?: number | undefined
  readonly order?: RowOrder
  readonly paper?: Paper
  /** Where an installed browser may be, which makes the PDF. */
  readonly browsers: BrowserPlaces
}

/** Reads what every format of a report is made of. */
export async function reportSource(store: Store, request: ReportRequest): Promise<ReportSource> {
  const { job, settings, format, date, tolerance, filter = {}, order, measure } = request
  const { period = null, compare = null } = request.period ?? {}
  const { report: ofJob } = await presentationSettings(store, job, settings)
  const requestedPeriod = {
    period: period ?? ofJob?.period ?? null,
    compare: compare ?? ofJob?.compare ?? null,
  }
  // What programs read is rows alone: no next steps, and nothing that was imported.
  const isForPrograms = format.dayBefore === true
  const isDayBefore = isForPrograms && period === null && compare === null
  const ranked = await rankedJob(store, job, {
    date,
    filter,
    targets: settings?.targets,
    periodRequest: isDayBefore ? null : { ...requestedPeriod, tolerance },
    absent: measure.absent,
    imported: !isForPrograms,
  })
  const { report } = ranked
  // Results are those of the newest run.
  const hasSteps = !isForPrograms && date === undefined
  const history = hasSteps ? withClusters(store, ranked) : ranked.history
  const source: ReportSource = {
    job,
    measure,
    store,
    requestedPeriod,
    layout: request.layout,
    featuresOf,
    ranked: { ...ranked, history, report: order === undefined ? report : () => sortRows(report(), order) },
    presentation: withKeywordsOfViews(request.presentation ?? plainPresentation, history),
    csv: request.csv ?? 'guarded',
    serpDays: request.serpDays ?? 0,
    print: { browsers: request.browsers, paper: request.paper ?? papers[0] },
  }
  return source.presentation.audience === 'client' ? sourceForClient(source) : source
}

/** With the keywords of each saved view that has a condition. */
export function withKeywordsOfViews(presentation: Presentation, history: RankHistory): Presentation {
  const views = presentation.views.map((view) => {
    if (view.where === undefined) return view
    const { isMet } = queryConditions.of(`The view '${view.name}'`, view.where, 'store')
    return { ...view, isTrue: history.keywords.map((keyword) => (isMet(asQuery(keyword)) ? 1 : 0)) }
  })
  return { ...presentation, views }
}

/** With the clusters of its keywords, as `rankline cluster` has them. */
function withClusters(store: Store, { history, queryIds, runs: [newest] }: RankedJob): RankHistory {
  if (newest === undefined) return history
  const places = new Map(queryIds.map((id, place) => [id, place]))
  // By the clock of the run: the same database gives the same report.
  const latest = latestKnown(newest.finishedAt ?? newest.startedAt + dayMs)
  const keywords = [...store.keywordPages(newest.id, latest)].flatMap(
    ({ queryId, operation, params, text, links }) => {
      const place = places.get(queryId)
      if (place === undefined || links.length === 0) return []
      const volume = history.keywords[place]?.volume ?? null
      return { market: `${operation} ${params}`, text, volume, links, place }
    },
  )
  const { heads, order } = groupKeywords(keywords, usualShare)
  const clusters = [...groupedBy([...order], (at) => heads[at]).values()]
    .filter((members) => members.length > 1)
    .map((members) => members.map((at) => (keywords[at] as (typeof keywords)[number]).place))
  return clusters.length === 0 ? history : { ...history, clusters }
}

/**
 * A report as a client is shown it: without numbers of runs, and with the kinds of results in place of operations. Engines are
 * told apart by letters where there are several. Keywords keep their places and their figures.
 */
export function sourceForClient(source: ReportSource): ReportSource {
  const { ranked, presentation } = source
  const { history } = ranked
  const names = clientNames(history.keywords, wordsOf(presentation.language))
  const nameOf = (operation: string): string => names.get(operation) ?? ''
  const operations = new Map([...names].map(([operation, name]) => [name, operation]))
  const renamed = new Map(
    history.keywords.map((keyword) => [keyword, { ...keyword, operation: nameOf(keyword.operation) }]),
  )
  const { suspect } = history
  return {
    ...source,
    ranked: {
      ...ranked,
      history: {
        ...history,
        keywords: [...renamed.values()],
        removed: history.removed.map((one) => ({ ...one, operation: nameOf(one.operation) })),
        ...(suspect === undefined ? {} : { suspect: { ...suspect, audience: 'client' } }),
      },
      report: () => {
        const report = ranked.report()
        return {
          ...report,
          rows: report.rows.map((row) => ({
            ...row,
            operation: nameOf(String(row.operation)),
            run_id: null,
          })),
          statuses: report.statuses.map((status) => ({
            ...status,
            keyword: renamed.get(status.keyword) ?? status.keyword,
          })),
        }
      },
    },
    featuresOf: (name) => source.featuresOf(operations.get(name) ?? name),
  }
}

/** A name for each operation, no two alike; `partOf` reads the names of one part as one engine. */
function clientNames(keywords: readonly Keyword[], say: Words): ReadonlyMap<string, string> {
  const engines = [...new Set(keywords.map((one) => partOf(one).engine))].sort()
  const partName = ({ kind, engine }: Part): string =>
    engines.length < 2
      ? say.kinds[kind]
      : say.unscripted.engineOfKind(say.kinds[kind], String.fromCodePoint(0x41 + engines.indexOf(engine)))
  const names = new Map<string, string>()
  const taken = new Map<string, number>()
  for (const keyword of keywords) {
    if (names.has(keyword.operation)) continue
    const name = partName(partOf(keyword))
    const count = (taken.get(name) ?? 0) + 1
    taken.set(name, count)
    names.set(keyword.operation, count === 1 ? name : `${name}.${count}`)
  }
  return names
}
