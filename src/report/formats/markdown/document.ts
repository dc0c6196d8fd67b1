import type { Row } from '../../../model/result.ts'
import { count, grouped } from '../../../model/text.ts'
import { asStream } from '../../../output/formats/format.ts'
import { citationsIn } from '../../build-data.ts'
import { changeText, shortUrl, trend, trendLegend } from '../../cells.ts'
import { type Conclusions, conclusions } from '../../findings/conclusions.ts'
import type { NextAction } from '../../findings/next-actions/action.ts'
import { reasonsOf } from '../../findings/next-actions/say.ts'
import { sentenceOf } from '../../findings/say.ts'
import { definitionOf, valueText } from '../../headline.ts'
import { filterHistory } from '../../history/filter-history.ts'
import type { KeywordStatus } from '../../history/keyword-status.ts'
import type { RankHistory, TrackedTarget } from '../../history/rank-history.ts'
import type { CtrCurve } from '../../metrics/figure.ts'
import { headlineMetrics, type MetricName } from '../../metrics/index.ts'
import type { Presentation } from '../../presentation/presentation.ts'
import { type ReportFormat, type ReportWithCitations, type WholeReport, wholeReport } from '../../report.ts'
import { rankCell, suspectLines } from '../../rows.ts'
import { segments } from '../../segments.ts'
import { type Summary, summarise } from '../../summary.ts'
import { periodSentence } from '../../words/period-text.ts'
import { wordsOf } from '../../words/words.ts'
import {
  countsSection,
  headlineSection,
  headToHeadSection,
  keywordColumns,
  landingSection,
  type MdColumn,
  mdLink,
  mdTable,
  mdText,
  moversSection,
  runsSection,
  tagSection,
  targetName,
  toTheRight,
  urlSwapsSection,
} from './sections.ts'

/** A report for a pull request, a wiki or an e-mail: Markdown with the tables of GitHub. */
export const markdownFormat: ReportFormat = {
  chunks: (source) => asStream(markdown({ ...wholeReport(source), citations: citationsIn(source) })),
  document: true,
  commented: true,
  english: true,
  measured: true,
  sorted: true,
}

export function markdown(whole: ReportWithCitations): string {
  const { job, report, history, compare, period, measure, runs, citations } = whole
  const summary = summarise(history, { ...measure, compare })
  const said = conclusions(history, { compare, measure, citations })
  const parts =
    report.rows.length === 0
      ? ['There are no ranks to report.', ...runsSection(runs)]
      : [
          ...findingsSection(said),
          comparison(summary, whole),
          ...headlineSection(summary, measure),
          ...nextActionsSection(said, history),
          ...tagSection(segments(history, { ...measure, compare }), history, summary),
          ...countsSection(summary),
          ...moversSection(summary, history),
          ...headToHeadSection(summary),
          ...landingSection(whole),
          ...urlSwapsSection(period === null ? history : filterHistory(history, { from: period.from })),
          ...keywordsSection(whole),
          ...runsSection(runs),
          ...definitionsSection(whole, summary),
        ]
  return `${[...headLines(job, summary.date, whole.presentation), ...parts].join('\n\n')}\n`
}

/** The title, for whom and by whom the report is, and the words of the analyst. */
function headLines(
  job: string,
  date: string | null,
  { title, client, agency, comment }: Presentation,
): readonly string[] {
  const { brand } = wordsOf('en')
  const name = title === null ? `Ranks of ${mdText(job)}` : mdText(title)
  const names = [
    client === null ? [] : brand.for(mdText(client)),
    agency === null ? [] : brand.by(mdText(agency)),
  ]
  const people = names.flat().join(' · ')
  return [
    `# ${name}${date === null ? '' : `, ${date}`}`,
    ...(people === '' ? [] : [`${brand.kind} ${people}`]),
    ...(comment === null ? [] : [comment.markdown]),
  ]
}

function comparison(
  { compared, keywords, added, removed, targets }: Summary,
  { period }: WholeReport,
): string {
  return [
    periodSentence(wordsOf('en'), period, compared),
    `${count(keywords, 'keyword')}, ${count(targets.length, 'target')};`,
    `${count(added, 'keyword')} added, ${removed} removed.`,
  ].join(' ')
}

interface KeywordLine {
  readonly row: Row
  readonly status: KeywordStatus
}

function keywordsSection({ report, history }: WholeReport): readonly string[] {
  const { rows, statuses } = report
  const lines = statuses.map((status, place): KeywordLine => ({ status, row: rows[place] as Row }))
  const hasTrend = history.days.length > 1
  const columns: readonly MdColumn<KeywordLine>[] = [
    ...keywordColumns<KeywordLine>(history, ({ status }) => status.keyword),
    {
      title: 'target',
      cell: ({ status }) => targetName(history.targets[status.series.target] as TrackedTarget),
    },
    toTheRight('rank', ({ row, status }) => rankCell(row, status)),
    toTheRight('change', ({ row }) => changeText(row)),
    ...(hasTrend
      ? [{ title: 'trend', cell: ({ status }: KeywordLine) => trendCell(status.series.cells) }]
      : []),
    toTheRight('best', ({ row }) => String(row.best_rank ?? '')),
    { title: 'page', cell: ({ row }) => (row.url == null ? '' : mdLink(shortUrl(row.url), String(row.url))) },
  ]
  return [
    '## All keywords',
    mdTable(columns, lines),
    `Rank >n: not among the first n results; ~: estimated; ?: not known.${hasTrend ? ` ${trendLegend}` : ''}`,
    ...suspectLines(rows),
  ]
}

/** Markdown joins plain spaces, so a trend has figure spaces. */
function trendCell(cells: Parameters<typeof trend>[0]): string {
  return trend(cells).replaceAll(' ', '\u2007')
}

const defined: readonly MetricName[] = [
  ...headlineMetrics.map(({ name }) => name),
  'distribution',
  'movements',
  'gain',
  'head_to_head',
  'landing_page',
  'cannibalisation',
  'best_rank',
]

/** The definition of every figure, with its source. */
function definitionsSection({ measure }: WholeReport, { curve }: Summary): readonly string[] {
  const all = defined.map((name) => definitionOf(name, measure))
  return [
    '## Definitions',
    mdTable(
      [
        { title: 'figure', cell: ({ label }) => label },
        { title: 'is', cell: ({ definition }) => mdText(definition) },
        { title: 'formula', cell: ({ formula }) => mdText(formula) },
        { title: 'not found and not known', cell: ({ missing }) => mdText(missing) },
        { title: 'from', cell: ({ source }) => mdText(source) },
      ],
      all,
    ),
    ...curveSection(curve),
  ]
}

const shownRates = 20

function curveSection({ name, version, source, rates }: CtrCurve): readonly string[] {
  const shown = rates.slice(0, shownRates)
  return [
    `CTR curve: ${mdText(name)}, ${mdText(version)}. ${mdText(source)}.`,
    mdTable(
      [
        { title: 'rank', cell: () => 'CTR' },
        ...shown.map((rate, place) =>
          toTheRight<null>(String(place + 1), () => valueText(rate, { unit: 'share' })),
        ),
      ],
      [null],
    ),
    rates.length > shown.length
      ? `And so on to rank ${rates.length}; none behind it.`
      : `None behind rank ${rates.length}.`,
  ]
}

/** How things stand, in sentences; for each own target. */
function findingsSection(all: readonly Conclusions[]): readonly string[] {
  const say = wordsOf('en')
  return all.flatMap(({ target, findings }) => [
    ...(all.length > 1 ? [`**${mdText(target?.label ?? '')}**`] : []),
    findings.map((one) => `- ${sentenceOf(one, say, mdText)}`).join('\n'),
  ])
}

/** What to do next, the most clicks at stake first; for each own target. */
function nextActionsSection(all: readonly Conclusions[], history: RankHistory): readonly string[] {
  const say = wordsOf('en')
  const { title, reason, clicks, page } = say.nextActions
  const columns: readonly MdColumn<NextAction>[] = [
    ...keywordColumns<NextAction>(history, ({ status }) => status.keyword),
    { title: reason.toLowerCase(), cell: (action) => reasonsOf(action, say, mdText) },
    toTheRight(clicks.toLowerCase(), (action) =>
      action.clicks === null ? '-' : grouped(Math.round(action.clicks)),
    ),
    {
      title: page.toLowerCase(),
      cell: (action) => (action.page === null ? '' : mdLink(shortUrl(action.page), action.page)),
    },
  ]
  return all.flatMap(({ target, actions }) => {
    if (actions.length === 0) return []
    const whose = all.length > 1 ? `, ${mdText(target?.label ?? '')}` : ''
    return [`## ${title}${whose}`, mdTable(columns, actions)]
  })
}
