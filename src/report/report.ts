import type { Run, RunQuality } from '../model/run.ts'
import type { TrackingStore } from '../store/reports.ts'
import type { BuiltHistory } from './history/build-history.ts'
import type { ComparisonDay } from './history/movement.ts'
import type { RankHistory } from './history/rank-history.ts'
import type { MetricOptions } from './metrics/figure.ts'
import type { PageData } from './page/data.ts'
import type { RankReport } from './rows.ts'

/** Everything that a report as a document tells. */
export interface WholeReport {
  readonly job: string
  readonly report: RankReport
  readonly history: RankHistory
  readonly compare: ComparisonDay | null
  readonly measure: MetricOptions
  /** The last runs, the newest last. */
  readonly runs: readonly RunQuality[]
}

/** What is told with the first results of the latest and the compared day. */
export interface ReportWithSerps extends WholeReport {
  readonly serps: Pick<PageData, 'serps' | 'texts' | 'links' | 'sites'>
}

/** As many are told of, by a page as by a document. */
const mostRuns = 30

/**
 * How the last runs went, the newest last.
 * @param runs the newest first
 */
export function lastRuns(
  runs: readonly Run[],
  store: Pick<TrackingStore, 'runQuality'>,
): readonly RunQuality[] {
  return runs
    .slice(0, mostRuns)
    .map(({ id, date }) => ({ ...store.runQuality(id), date }))
    .reverse()
}

export interface RankedJob {
  /** The rows of the report; they are read when they are asked for, and not every form has rows. */
  readonly report: () => RankReport
  /** What the report is made of; null where nothing has run yet. */
  readonly built: BuiltHistory | null
  readonly compare: ComparisonDay | null
  /** Runs that are reported, the newest first; it says what is asked. */
  readonly runs: readonly Run[]
}

/** What a report is made of, in whichever format. */
export interface ReportSource {
  readonly job: string
  readonly ranked: RankedJob
  readonly measure: MetricOptions
  readonly store: Pick<TrackingStore, 'firstResults' | 'unbrokenDepth' | 'runQuality'>
  readonly look: TextLook & { readonly ascii: boolean }
  /** CSV for programs: text that a spreadsheet would take for a formula stays as it is. */
  readonly raw: boolean
  /** Days before the last one whose SERPs go along, where the format shows them. */
  readonly serpDays: number
}

/** How text for people is laid out. */
export interface TextLook {
  /** Columns of the terminal. */
  readonly width: number
  readonly color: boolean
}

/** One format of a report, and which flags have a meaning for it. */
export interface ReportFormat {
  /** Everything is read of the store before it returns; what is read later may be of another moment. */
  readonly chunks: (source: ReportSource) => AsyncIterable<string | Uint8Array>
  /** Whether a terminal cannot show it. */
  readonly binary?: true
  /** Whether it is text that may have colors. */
  readonly painted?: true
  /** Whether it tells figures, which can be measured in several ways. */
  readonly measured?: true
  /** Whether it has rows, which can be sorted. */
  readonly sorted?: true
  /** Whether it shows SERPs of as many days as are asked for. */
  readonly serps?: true
  /** Whether text can be written as it is, or so that spreadsheets are safe. */
  readonly raw?: true
}

/** A line of the registry: a format is loaded when it is asked for. */
export interface ReportFormatEntry {
  /** Extensions of the files that are of this format; text for people has any. */
  readonly extensions: readonly string[]
  readonly load: () => Promise<ReportFormat>
}

/** What the job observed; one that has not run has a history without days. */
export function builtHistory({ job, ranked }: ReportSource): BuiltHistory {
  const history = { job, days: [], keywords: [], targets: [], series: [], links: [], removed: [] }
  return ranked.built ?? { history, queryIds: [], removedTargets: 0 }
}

/** Everything that a report as a document tells, read now. */
export function wholeReport(source: ReportSource): WholeReport {
  const { job, ranked, measure, store } = source
  return {
    job,
    report: ranked.report(),
    history: builtHistory(source).history,
    compare: ranked.compare,
    measure,
    runs: lastRuns(ranked.runs, store),
  }
}
