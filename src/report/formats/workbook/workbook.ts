import { type Sheet, workbook } from '../../../output/xlsx.ts'
import { reportPageData } from '../../build-data.ts'
import { type Conclusions, conclusions } from '../../findings/conclusions.ts'
import type { NextAction } from '../../findings/next-actions/action.ts'
import { reasonsOf } from '../../findings/next-actions/say.ts'
import { sentenceOf } from '../../findings/say.ts'
import { type ReportFormat, type ReportWithSerps, wholeReport } from '../../report.ts'
import { segments } from '../../segments.ts'
import { summarise } from '../../summary.ts'
import { wordsOf } from '../../words/words.ts'
import { historySheet, movementSheet, rankingsSheet, serpsSheet, sitesSheet } from './rank-sheets.ts'
import { field, keywordFields, sheet } from './sheet.ts'
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

interface Sentence {
  readonly target: string
  readonly sentence: string
}

/** How things stand, in sentences. */
function findingsSheet(all: readonly Conclusions[]): Sheet {
  const say = wordsOf('en')
  const sentences = all.flatMap(({ target, findings }) =>
    findings.map((one): Sentence => ({ target: target?.label ?? '', sentence: sentenceOf(one, say) })),
  )
  return sheet<Sentence>(
    'In short',
    [
      field('target', 'text', ({ target }) => target),
      field('sentence', 'text', ({ sentence }) => sentence, 100),
    ],
    sentences,
  )
}

interface ActionLine {
  readonly target: string
  readonly action: NextAction
}

/** What to do next, the most clicks at stake first. */
function nextActionsSheet(all: readonly Conclusions[]): Sheet {
  const say = wordsOf('en')
  const rows = all.flatMap(({ target, actions }) =>
    actions.map((action): ActionLine => ({ target: target?.label ?? '', action })),
  )
  return sheet<ActionLine>(
    'What to do next',
    [
      field('target', 'text', ({ target }) => target),
      ...keywordFields<ActionLine>(({ action }) => action.status.keyword),
      field('reason', 'text', ({ action }) => reasonsOf(action, say), 80),
      field('clicks a month', 'decimal', ({ action }) => action.clicks),
      field('rank', 'number', ({ action }) => action.status.current.rank),
      field('volume', 'number', ({ action }) => action.status.keyword.volume),
      field('page', 'text', ({ action }) => action.page, 50),
    ],
    rows,
  )
}
