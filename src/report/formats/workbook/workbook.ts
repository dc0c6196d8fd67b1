import { type Sheet, workbook } from '../../../output/xlsx.ts'
import { conclusions } from '../../findings/conclusions.ts'
import { reportPageData } from '../../page/build-data.ts'
import { type ReportFormat, type ReportWithSerps, wholeReport } from '../../report.ts'
import { segments } from '../../segments.ts'
import { summarise } from '../../summary.ts'
import { findingsSheet, nextActionsSheet } from './conclusions-sheet.ts'
import { historySheet, movementSheet, rankingsSheet, serpsSheet, sitesSheet } from './rank-sheets.ts'
import { competitorsSheet, definitionsSheet, runsSheet, summarySheet, tagsSheet } from './summary-sheets.ts'

/** A report as an XLSX workbook. */
export const workbookFormat: ReportFormat = {
  chunks: (source) => {
    const serps = reportPageData(source)
    return reportWorkbook({ ...wholeReport(source), serps, citations: serps.citations })
  },
  binary: true,
  document: true,
  english: true,
  measured: true,
  sorted: true,
}

export function reportWorkbook(whole: ReportWithSerps): AsyncIterable<Buffer> {
  const { history, period, compare, measure, runs, presentation, citations } = whole
  const summary = summarise(history, { ...measure, compare })
  const said = conclusions(history, { compare, measure, citations })
  const sheets = [
    summarySheet(summary, period),
    findingsSheet(said),
    nextActionsSheet(said),
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
