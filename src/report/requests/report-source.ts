import { featuresOf } from '../../catalog/index.ts'
import type { JobSettings } from '../../model/job.ts'
import { dayMs, latestKnown } from '../../model/time.ts'
import type { CsvStyle } from '../../output/formats/format.ts'
import { groupKeywords, usualShare } from '../../rank/grouping.ts'
import type { Store } from '../../store/sqlite/open.ts'
import { type RowOrder, sortRows } from '../formats/rows.ts'
import type { RequestedPeriod } from '../history/period.ts'
import type { MetricOptions } from '../metrics/figure.ts'
import { sourceForClient } from '../presentation/audience.ts'
import { type Presentation, plainPresentation } from '../presentation/presentation.ts'
import {
  type BrowserPlaces,
  type Paper,
  papers,
  type RankedJob,
  type ReportFormat,
  type ReportSource,
} from '../report.ts'
import { presentationSettings, withKeywordsOfViews } from './presentation.ts'
import { type ReportFilter, rankedJob } from './rank-report.ts'

/** Which report of a job is wanted. What is left out is as usual. */
export interface ReportRequest {
  readonly job: string
  /** What the file of the job says now; null where the job was named without it. */
  readonly settings: JobSettings | null
  readonly format: Pick<ReportFormat, 'dayBefore'>
  readonly date?: string | undefined
  /** What options ask for; the job file says the rest. */
  readonly period?: { readonly [part in keyof RequestedPeriod]?: string | undefined }
  /** Days that an observation may lie from the compared day. */
  readonly tolerance?: number | undefined
  readonly filter?: ReportFilter
  readonly measure: MetricOptions
  readonly order?: RowOrder
  readonly presentation?: Presentation
  readonly layout: ReportSource['layout']
  readonly csv?: CsvStyle
  readonly serpDays?: number
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
  const isDayBefore = format.dayBefore === true && period === null && compare === null
  const ranked = await rankedJob(store, job, {
    date,
    filter,
    targets: settings?.targets,
    periodRequest: isDayBefore ? null : { ...requestedPeriod, tolerance },
    absent: measure.absent ?? 'depth',
  })
  // Results are those of the newest run, and what programs read has no next steps.
  const hasSteps = format.dayBefore !== true && date === undefined
  const told = hasSteps ? withClusters(store, ranked) : ranked
  const sorted = order === undefined ? told : { ...told, report: () => sortRows(told.report(), order) }
  const source: ReportSource = {
    job,
    measure,
    store,
    requestedPeriod,
    layout: request.layout,
    featuresOf,
    ranked: sorted,
    presentation: withKeywordsOfViews(request.presentation ?? plainPresentation, ranked.built?.history),
    csv: request.csv ?? 'guarded',
    serpDays: request.serpDays ?? 0,
    print: { browsers: request.browsers, paper: request.paper ?? papers[0] },
  }
  return source.presentation.audience === 'client' ? sourceForClient(source) : source
}

/** With the clusters of its keywords, as `rankline cluster` has them. */
function withClusters(store: Store, ranked: RankedJob): RankedJob {
  const { built, runs } = ranked
  const [newest] = runs
  if (built === null || newest === undefined) return ranked
  const { history } = built
  const nameOf = (operation: string, params: string, text: string): string => `${operation} ${params} ${text}`
  const places = new Map(
    history.keywords.map(({ operation, params, query }, place) => [
      nameOf(operation, JSON.stringify(params), query),
      place,
    ]),
  )
  // By the clock of the run: the same database gives the same report.
  const latest = latestKnown(newest.finishedAt ?? newest.startedAt + dayMs)
  const keywords = [...store.keywordPages(newest.id, latest)].flatMap(
    ({ operation, params, text, links }) => {
      const place = places.get(nameOf(operation, params, text))
      if (place === undefined || links.length === 0) return []
      const volume = history.keywords[place]?.volume ?? null
      return { market: `${operation} ${params}`, text, volume, links, place }
    },
  )
  const { heads, order } = groupKeywords(keywords, usualShare)
  const members = new Map<number, number[]>()
  for (const at of order) {
    const head = heads[at] as number
    const place = (keywords[at] as (typeof keywords)[number]).place
    members.set(head, [...(members.get(head) ?? []), place])
  }
  const clusters = [...members.values()].filter((places) => places.length > 1)
  if (clusters.length === 0) return ranked
  return { ...ranked, built: { ...built, history: { ...history, clusters } } }
}
