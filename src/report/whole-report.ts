import type { RunQuality } from '../model/run.ts'
import type { AskedDay } from './baseline.ts'
import type { Measure } from './headline.ts'
import type { PageData } from './page-data.ts'
import type { RankHistory } from './rank-history.ts'
import type { RankReport } from './rank-rows.ts'

/** Everything that a report as a document tells. */
export interface WholeReport {
  readonly job: string
  readonly report: RankReport
  readonly history: RankHistory
  readonly compare: AskedDay | null
  readonly measure: Measure
  /** The last runs, the newest last. */
  readonly runs: readonly RunQuality[]
}

/** What is told with the first results of the latest and the compared day. */
export interface ReportWithSerps extends WholeReport {
  readonly serps: Pick<PageData, 'serps' | 'texts' | 'links' | 'sites'>
}
