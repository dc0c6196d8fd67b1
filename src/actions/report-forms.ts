import { asciiSigns } from '../report/ascii.ts'
import { askedBack, offeredBack } from '../report/baseline.ts'
import type { BuiltHistory } from '../report/build-history.ts'
import { buildPageData } from '../report/build-page-data.ts'
import { reportColumns } from '../report/columns.ts'
import type { Measure } from '../report/headline.ts'
import { lastRuns } from '../report/last-runs.ts'
import type { PageData } from '../report/page-data.ts'
import { rankTable } from '../report/rank-table.ts'
import { type Summary, summarise } from '../report/summary.ts'
import { summaryDocument } from '../report/summary-document.ts'
import { type SummaryLook, summaryText } from '../report/summary-text.ts'
import type { WholeReport } from '../report/whole-report.ts'
import type { Store } from '../store/store.ts'
import type { RankedJob } from './rank-report.ts'

/** What a form is made of. */
export interface FormSource {
  readonly job: string
  readonly ranked: RankedJob
  readonly measure: Measure
  readonly store: Store
  readonly look: SummaryLook & { readonly ascii: boolean }
  /** CSV for programs: text that a spreadsheet would take for a formula stays as it is. */
  readonly raw: boolean
  /** Days before the last one whose SERPs go along, where the form shows them. */
  readonly serpDays: number
}

type Pieces = AsyncIterable<string | Uint8Array>

/** One form of a report. */
export interface Form {
  /** Everything is read of the store before it returns; what is read later may be of another moment. */
  readonly pieces: (source: FormSource) => Pieces
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

/** Every form of a report by its name in `--format`; the first one where none is named. */
export const forms = {
  table: { pieces: (source) => text(tableText(source)), painted: true, measured: true, sorted: true },
  csv: { pieces: (source) => rows(source, 'csv'), sorted: true, raw: true },
  json: { pieces: (source) => rows(source, 'json'), sorted: true },
  jsonl: { pieces: (source) => rows(source, 'jsonl'), sorted: true },
  md: { pieces: markdownPieces, measured: true, sorted: true },
  xlsx: { pieces: workbookPieces, binary: true, measured: true, sorted: true },
  html: { pieces: pagePieces, measured: true, serps: true },
} as const satisfies Record<string, Form>

export type FormName = keyof typeof forms

/** The figures alone. */
export const metricsForms: Partial<Record<FormName, Form>> = {
  table: { pieces: (source) => text(figures(source)), painted: true, measured: true },
  json: { pieces: (source) => text(figuresJson(source)), measured: true },
}

async function* text(whole: string): AsyncGenerator<string> {
  yield whole
}

/** What writes a form is loaded when it is asked for, and everything has been read by then. */
async function* loaded(pieces: () => Promise<Pieces>): AsyncGenerator<string | Uint8Array> {
  yield* await pieces()
}

function rows({ ranked, raw }: FormSource, format: 'csv' | 'json' | 'jsonl'): Pieces {
  const { rows } = ranked.report()
  return loaded(async () => {
    const { rowsOut } = await import('../report/rows-out.ts')
    return rowsOut(rows, { columns: reportColumns, format, raw })
  })
}

function markdownPieces(source: FormSource): Pieces {
  const report = whole(source)
  return loaded(async () => text((await import('../report/markdown/document.ts')).markdown(report)))
}

function tableText(source: FormSource): string {
  const { ranked, look } = source
  const table = rankTable(ranked.report(), { ...look, compare: ranked.compare })
  return table === '' ? '' : `${figures(source)}\n${look.ascii ? asciiSigns(table) : table}`
}

function figures(source: FormSource): string {
  const block = summaryText(summaryOf(source), source.look)
  return source.look.ascii ? asciiSigns(block) : block
}

function figuresJson(source: FormSource): string {
  const suspect = source.ranked.report().rows.filter((row) => row.suspect === 1).length
  const document = summaryDocument(summaryOf(source), pageDataOf(source))
  return `${JSON.stringify({ ...document, suspect_observations: suspect }, null, 2)}\n`
}

function summaryOf(source: FormSource): Summary {
  return summarise(builtOf(source).history, { ...source.measure, compare: source.ranked.compare })
}

/** A job that has not run has a history without days. */
function builtOf({ job, ranked }: FormSource): BuiltHistory {
  const history = { job, days: [], keywords: [], targets: [], series: [], links: [], removed: [] }
  return ranked.built ?? { history, queryIds: [], removedTargets: 0 }
}

function whole(source: FormSource): WholeReport {
  const { job, ranked, measure, store } = source
  return {
    job,
    report: ranked.report(),
    history: builtOf(source).history,
    compare: ranked.compare,
    measure,
    runs: lastRuns(ranked.runs, store),
  }
}

function pagePieces(source: FormSource): Pieces {
  const { ranked, measure, store, serpDays } = source
  const { compare, runs } = ranked
  const built = builtOf(source)
  const offered = offeredBack.flatMap((back) => askedBack(back, built.history.days) ?? [])
  const data = buildPageData({ built, compare, offered, measure, runs, store, serpDays })
  return loaded(async () => {
    const { reportPage } = await import('../report/page/html.ts')
    const { pageAssets } = await import('./page-assets.ts')
    return reportPage(data, await pageAssets())
  })
}

/** The first results of the last day and of the one that it is compared with, beside the history. */
function pageDataOf(source: FormSource): PageData {
  const { ranked, measure, store } = source
  const { compare, runs } = ranked
  return buildPageData({ built: builtOf(source), compare, measure, runs, store, serpDays: 0 })
}

function workbookPieces(source: FormSource): Pieces {
  const report = { ...whole(source), serps: pageDataOf(source) }
  return loaded(async () => (await import('../report/workbook/workbook.ts')).reportWorkbook(report))
}
