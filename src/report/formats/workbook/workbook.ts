import { type Sheet, workbook } from '../../../output/xlsx.ts'
import { reportPageData } from '../../page/build-data.ts'
import { type ReportFormat, type ReportWithSerps, wholeReport } from '../../report.ts'
import { segments } from '../../segments.ts'
import { summarise } from '../../summary.ts'
import { historySheet, movementSheet, rankingsSheet, serpsSheet, sitesSheet } from './rank-sheets.ts'
import { competitorsSheet, definitionsSheet, runsSheet, summarySheet, tagsSheet } from './summary-sheets.ts'

/** A report as an XLSX workbook. */
export const workbookFormat: ReportFormat = {
  chunks: (source) => reportWorkbook({ ...wholeReport(source), serps: reportPageData(source) }),
  binary: true,
  document: true,
  english: true,
  measured: true,
  sorted: true,
}

export function reportWorkbook(whole: ReportWithSerps): AsyncIterable<Buffer> {
  const { history, period, compare, measure, runs, presentation } = whole
  const summary = summarise(history, { ...measure, compare })
  const sheets = [
    summarySheet(summary, period),
    tagsSheet(segments(history, { ...measure, compare }), history),
    rankingsSheet(whole),
    movementSheet(whole),
    historySheet(history),
    serpsSheet(whole),
    competitorsSheet(summary),
    sitesSheet(whole),
    ...(presentation.audience === 'client' ? [] : [runsSheet(runs)]),
    definitionsSheet(measure),
  ]
  return workbook(presentation.audience === 'client' ? sheets.map(forClient) : sheets)
}

/** Clients read kinds of results where others read operations. */
function forClient({ columns, ...rest }: Sheet): Sheet {
  const renamed = (header: string): string => (header === 'operation' ? 'results' : header)
  return { ...rest, columns: columns.map((one) => ({ ...one, header: renamed(one.header) })) }
}
