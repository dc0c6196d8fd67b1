import { featuresOf } from '../../catalog/index.ts'
import type { JobSettings } from '../../model/job.ts'
import type { CsvStyle } from '../../output/formats/format.ts'
import type { Store } from '../../store/sqlite/open.ts'
import { defaultCurve } from '../ctr.ts'
import { type RowOrder, sortRows } from '../formats/rows.ts'
import type { RequestedPeriod } from '../history/period.ts'
import type { MetricOptions } from '../metrics/figure.ts'
import { sourceForClient } from '../presentation/audience.ts'
import { type Presentation, plainPresentation } from '../presentation/presentation.ts'
import { type BrowserPlaces, type Paper, papers, type ReportFormat, type ReportSource } from '../report.ts'
import { ownCurve } from './measured-clicks.ts'
import { presentationSettings, withKeywordsOfViews } from './presentation.ts'
import { newestRun, type ReportFilter, rankedJob } from './rank-report.ts'

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

/** How a report is to measure: with the curve of the job's own clicks where its file says so and no option names another one. */
async function jobMeasure(
  store: Store,
  { job, settings, measure, date }: ReportRequest,
): Promise<MetricOptions> {
  if (measure.curve !== defaultCurve) return measure
  const newest = settings ?? (await newestRun(store, job, date))?.settings
  if (newest?.ctr !== 'own') return measure
  const { built } = await rankedJob(store, job, { date, targets: settings?.targets })
  return { ...measure, curve: (built === null ? null : ownCurve(store, built.history)) ?? defaultCurve }
}

/** Reads what every format of a report is made of. */
export async function reportSource(store: Store, request: ReportRequest): Promise<ReportSource> {
  const { job, settings, format, date, tolerance, filter = {}, order } = request
  const measure = await jobMeasure(store, request)
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
  const sorted = order === undefined ? ranked : { ...ranked, report: () => sortRows(ranked.report(), order) }
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
