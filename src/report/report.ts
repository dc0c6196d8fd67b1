import type { SerpFeature } from '../model/result.ts'
import type { Run } from '../model/run.ts'
import type { CsvStyle } from '../output/formats/format.ts'
import type { Store } from '../store/sqlite/open.ts'
import type { ComparisonDay } from './history/movement.ts'
import type { ReportPeriod, RequestedPeriod } from './history/period.ts'
import type { RankHistory } from './history/rank-history.ts'
import type { MetricOptions } from './metrics/figure.ts'
import type { Presentation } from './presentation/presentation.ts'
import type { RankReport } from './rows.ts'

export interface RankedJob {
  /** Reads the rows of the report; not every format has rows. */
  readonly report: () => RankReport
  /** What the report is made of, from the first day to the last one of the period; without days if nothing has run yet. */
  readonly history: RankHistory
  /** Numbers of the queries that stand in its keywords, place by place. */
  readonly queryIds: readonly number[]
  /** Null if nothing has run yet, and for a report that compares its last day with the nearest day before. */
  readonly period: ReportPeriod | null
  /** The day that the last day is compared with, that of the period; null for the nearest day before. */
  readonly compare: ComparisonDay | null
  /** Reported runs, the newest first. The newest one says what is asked. */
  readonly runs: readonly Run[]
}

/** What every format of a report is made of. */
export interface ReportSource {
  readonly job: string
  readonly ranked: RankedJob
  readonly measure: MetricOptions
  /** The period that options or the job file ask for. */
  readonly requestedPeriod: RequestedPeriod
  readonly presentation: Presentation
  readonly store: Pick<Store, 'firstResults' | 'featuresIn' | 'runQuality'>
  /** What answers of an operation can show beside their results. */
  readonly featuresOf: (operation: string) => readonly SerpFeature[]
  /** `rows`: also every rank, as for a pipe. */
  readonly layout: TextLayout & { readonly ascii: boolean; readonly rows: boolean }
  readonly csv: CsvStyle
  /** Days before the last one whose SERPs are included, if the format shows SERPs. */
  readonly serpDays: number
  /** By which browser it is printed, and on what. */
  readonly print: { readonly browsers: BrowserPlaces; readonly paper: Paper }
}

/** Sizes of paper. */
export const papers = ['a4', 'letter'] as const
export type Paper = (typeof papers)[number]

/** How text for people is laid out. */
export interface TextLayout {
  /** Columns of the terminal. */
  readonly width: number
  readonly color: boolean
}

/** One format of a report, and the options that apply to it. */
export interface ReportFormat {
  /** Reads everything from the store before it returns: what is read later may be of another moment. */
  readonly chunks: (source: ReportSource) => AsyncIterable<string | Uint8Array>
  /** Whether a terminal cannot show it. */
  readonly binary?: true
  /** Whether it is text that may have colors. */
  readonly painted?: true
  /** Whether it is a document: it has a title, and may be for a client. */
  readonly document?: true
  /** Whether it shows the comment. */
  readonly commented?: true
  /** Whether it has figures, which can be measured in several ways. */
  readonly measured?: true
  /** Whether it has rows, which can be sorted. */
  readonly sorted?: true
  /** Whether it shows SERPs of several days. */
  readonly serps?: true
  /** Whether the saved views of the job are tabs of it. */
  readonly tabs?: true
  /** Whether it is printed on paper of a size. */
  readonly printed?: true
  /** Whether it is CSV, which has forms of its own. */
  readonly csv?: true
  /** Whether it is for programs, which compare with the day before unless an option says otherwise. */
  readonly dayBefore?: true
}

/** An entry of the registry. A format is loaded when it is needed. */
export interface ReportFormatEntry {
  /** File extensions of the format; none for text for people. */
  readonly extensions: readonly string[]
  readonly load: () => Promise<ReportFormat>
}

/** Where a browser may be, as the environment says. */
export interface BrowserPlaces {
  /** What `CHROME_PATH` names; null if it is not set. */
  readonly named: string | null
  readonly platform: NodeJS.Platform
  /** Folders of programs that are started by their name. */
  readonly path: readonly string[]
  /** Folders in which Windows installs programs. */
  readonly programs: readonly string[]
  readonly home: string
  /** The environment that a browser is started with. */
  readonly environment: Readonly<Record<string, string | undefined>>
}
