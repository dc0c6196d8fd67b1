import { featuresOf } from '../../catalog/features.ts'
import type { JobSettings } from '../../model/job.ts'
import { type RowOrder, sortRows } from '../../report/formats/rows.ts'
import type { AskedPeriod } from '../../report/history/period.ts'
import type { MetricOptions } from '../../report/metrics/figure.ts'
import { type Presentation, plainPresentation } from '../../report/presentation/presentation.ts'
import type { ReportSource } from '../../report/report.ts'
import type { Store } from '../../store/store.ts'
import { type Comparison, type ReportFilter, rankedJob } from './rank-report.ts'

/** Which report of a job is wanted. What is left out is as usual. */
export interface ReportRequest {
  readonly job: string
  /** What the file of the job says now; null where the job was named without it. */
  readonly settings: JobSettings | null
  readonly date?: string | undefined
  readonly comparison?: Comparison | null
  readonly filter?: ReportFilter
  readonly measure: MetricOptions
  readonly order?: RowOrder
  readonly asked?: AskedPeriod
  readonly presentation?: Presentation
  readonly look: ReportSource['look']
  readonly raw?: boolean
  readonly serpDays?: number
}

/** Reads what every format of a report is made of. */
export async function reportSource(store: Store, request: ReportRequest): Promise<ReportSource> {
  const { job, settings, date, comparison = null, filter = {}, measure, order } = request
  const ranked = await rankedJob(store, job, {
    ...{ date, comparison, filter, targets: settings?.targets },
    absent: measure.absent ?? 'depth',
  })
  return {
    ...{ job, measure, store, look: request.look, featuresOf },
    ranked: order === undefined ? ranked : { ...ranked, report: () => sortRows(ranked.report(), order) },
    asked: request.asked ?? { period: null, compare: null },
    presentation: request.presentation ?? plainPresentation,
    raw: request.raw ?? false,
    serpDays: request.serpDays ?? 0,
  }
}
