import { workbook } from '../../xlsx/workbook.ts'
import { segments } from '../segments.ts'
import { summarise } from '../summary.ts'
import type { ReportWithSerps } from '../whole-report.ts'
import { competitorsSheet, definitionsSheet, runsSheet, summarySheet, tagsSheet } from './figures.ts'
import { historySheet, movementSheet, rankingsSheet } from './ranks.ts'
import { serpsSheet, sitesSheet } from './serps.ts'

/** A report as an XLSX workbook, in pieces. */
export function reportWorkbook(whole: ReportWithSerps): AsyncIterable<Buffer> {
  const { history, compare, measure, runs } = whole
  const summary = summarise(history, { ...measure, compare })
  return workbook([
    summarySheet(summary),
    tagsSheet(segments(history, { ...measure, compare }), history),
    rankingsSheet(whole),
    movementSheet(whole),
    historySheet(history),
    serpsSheet(whole),
    competitorsSheet(summary),
    sitesSheet(whole),
    runsSheet(runs),
    definitionsSheet(measure),
  ])
}
