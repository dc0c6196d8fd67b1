import { styleText } from 'node:util'
import type { Row } from '../../model/result.ts'
import { count } from '../../model/text.ts'
import { asStream } from '../../output/formats/format.ts'
import { asciiSigns, boldHead, type CellColumn, colored, tableOf, wrap } from '../../output/table.ts'
import { sanitize, textWidth } from '../../output/terminal.ts'
import { reportPageData } from '../build-data.ts'
import { between, changeText, fullPlaces, shortUrl, trend } from '../cells.ts'
import { columnMetrics, deltaText, valueText } from '../headline.ts'
import { hasClicks, type Part, partKey } from '../history/filter-history.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import type { ReportPeriod } from '../history/period.ts'
import { definitionOf } from '../metrics/definitions.ts'
import { curveName, type HeadlineMetric } from '../metrics/figure.ts'
import { type HeadlineName, headlineMetrics } from '../metrics/index.ts'
import { movementNames } from '../metrics/movements.ts'
import { buckets, top } from '../metrics/positions.ts'
import type { ReportFormat, ReportSource, TextLayout } from '../report.ts'
import { type RankReport, rankCell, suspectLines } from '../rows.ts'
import { isRise } from '../story/moves.ts'
import { type Story, shownMoves, storiesOf } from '../story/story.ts'
import {
  linesOf,
  type PartOfTarget,
  type Segment,
  type Summary,
  segments,
  summarise,
  type TargetSummary,
} from '../summary.ts'
import { kinds } from '../words/en/figures.ts'
import type { FigureChange } from '../words/formats.ts'
import { periodSentence, wordsOf } from '../words/words.ts'
import { clickColumns } from './rows.ts'

const say = wordsOf('en')

/** What happened; with rows, the figures of all targets and every rank below it. */
export const tableFormat: ReportFormat = {
  chunks: (source) => {
    const { ranked, layout } = source
    const told = storyText(source)
    if (!layout.rows) return asStream(told)
    const clicks = clicksBeside(ranked.report(), source)
    const table = rankTable(ranked.report(), { ...layout, period: ranked.period, clicks })
    if (table === '') return asStream('')
    return asStream(`${told}\n${figures(source)}\n${layout.ascii ? asciiSigns(table) : table}`)
  },
  painted: true,
  measured: true,
  sorted: true,
}

/** The figures without the ranks, compared with the day before. */
export const figuresFormat: ReportFormat = {
  chunks: (source) => asStream(figures(source)),
  painted: true,
  measured: true,
  dayBefore: true,
}

function figures(source: ReportSource): string {
  const { ranked, measure, layout } = source
  const { history } = ranked
  const options = { ...measure, compare: ranked.compare }
  const summary = summarise(history, options)
  const text = `${summaryText(summary, layout)}${tagsText(segments(history, options), summary, layout)}`
  return layout.ascii ? asciiSigns(text) : text
}

/** The rank table for a terminal. Lines below it say what was counted and compared. */
export function rankTable(
  report: RankReport,
  {
    width,
    color,
    period = null,
    clicks = [],
  }: TextLayout & { readonly period?: ReportPeriod | null; readonly clicks?: readonly CellColumn<Row>[] },
): string {
  const { rows } = report
  if (rows.length === 0) return ''
  const { table, shown } = tableOf(rows, columnsOf(report, clicks), width)
  const lines = footer(report, period, shown).flatMap((line) => wrap(line, width))
  return `${color ? colored(table) : table}\n${lines.join('\n')}\n`
}

/** In the order of the table; in a narrow terminal the last columns are dropped first. */
function columnsOf(
  { rows, statuses }: RankReport,
  clicks: readonly CellColumn<Row>[],
): readonly CellColumn<Row>[] {
  const place = fullPlaces(statuses.map(({ keyword }) => keyword))
  const places = statuses.map(({ keyword }) => sanitize(place(keyword)))
  const hasOneOperation = new Set(rows.map(({ operation }) => operation)).size === 1
  return [
    { title: 'query', shrinks: true, least: 24, cell: ({ query }) => sanitize(String(query)) },
    { title: 'operation', when: !hasOneOperation, shrinks: true, cell: (row) => String(row.operation) },
    {
      title: 'locale',
      shrinks: true,
      dropped: new Set(places).size === 1,
      cell: (_, place) => places[place] ?? '',
    },
    { title: 'target', shrinks: true, least: 18, cell: ({ target }) => sanitize(String(target)) },
    { title: 'rank', align: 'right', cell: (row, place) => rankCell(row, statuses[place] as KeywordStatus) },
    { title: 'change', align: 'right', cell: (row) => changeText(row) },
    {
      title: 'since',
      when: baselines(rows).length > 1,
      dropped: true,
      cell: (row) => String(row.previous_date ?? ''),
    },
    {
      title: 'trend',
      // One day is no trend.
      when: (statuses[0]?.series.cells.length ?? 0) > 1,
      shrinks: true,
      keepsEnd: true,
      least: 12,
      dropped: true,
      cell: (_, place) => trend(statuses[place]?.series.cells ?? []),
    },
    { title: 'best', align: 'right', dropped: true, cell: (row) => String(row.best_rank ?? '') },
    { title: 'best on', dropped: true, cell: (row) => String(row.best_date ?? '') },
    ...clicks,
    { title: 'page', shrinks: true, least: 20, dropped: true, cell: (row) => sanitize(shortUrl(row.url)) },
  ]
}

/** Clicks that are estimated, and beside them those that Search Console counted; nothing where none were added. */
function clicksBeside(
  { statuses }: RankReport,
  { ranked, measure }: ReportSource,
): readonly CellColumn<Row>[] {
  const { columns } = say.markdown
  return clickColumns(ranked.history, measure.curve, say).map(({ name, text }) => ({
    title: columns[name],
    align: 'right',
    dropped: true,
    cell: (_, place) => text(statuses[place] as KeywordStatus),
  }))
}

/** What signs beside ranks mean, where they are used. */
function rankSigns({ rows, statuses }: RankReport): string {
  const ranks = rows.map((row, place) => rankCell(row, statuses[place] as KeywordStatus))
  const signs = [
    ['>', ' >n: not among the first n results.'],
    ['~', ' ~: estimated.'],
    ['?', ' ?: not known.'],
  ] as const
  return signs.map(([sign, meaning]) => (ranks.some((rank) => rank.includes(sign)) ? meaning : '')).join('')
}

/** The days that rows are compared with. */
function baselines(rows: readonly Row[]): readonly string[] {
  const dates = rows.flatMap(({ previous_date: date }) => (date == null ? [] : [String(date)]))
  return [...new Set(dates)].sort()
}

function footer(
  report: RankReport,
  period: ReportPeriod | null,
  shown: readonly string[],
): readonly string[] {
  const { rows, leftOut } = report
  const number = (state: string): number => rows.filter((row) => row.state === state).length
  const parts = [
    `${number('ranked')} ranked`,
    `${number('absent')} ${say.charts.notFound}`,
    `${number('unknown')} ${say.ranks.notKnown}`,
  ]
  const compared = baselines(rows)
  const days = between([...new Set(rows.map(({ date }) => String(date)))].sort())
  return [
    `${count(rows.length, 'observation')} ${days}: ${parts.join(', ')}.${rankSigns(report)}`,
    ...suspectLines(rows),
    ...(period === null && compared.length === 0 ? [] : [periodSentence(say, period, compared)]),
    ...(shown.includes('trend') ? [say.unscripted.trendLegend] : []),
    ...omission(leftOut),
  ]
}

function omission({ queries, targets }: RankReport['leftOut']): readonly string[] {
  const parts = [
    ...(queries > 0 ? [count(queries, 'query', 'queries')] : []),
    ...(targets > 0 ? [count(targets, 'target')] : []),
  ]
  return parts.length === 0 ? [] : [`Left out: ${parts.join(' and ')} that the job no longer asks for.`]
}

/** The figures of all targets, to be printed above the rank table; empty for a job without targets. */
export function summaryText(summary: Summary, { width, color }: TextLayout): string {
  const { targets } = summary
  if (targets.length === 0) return ''
  const lines = linesOf(summary, summary.parts)
  const engines = summary.parts.length > 1
  const shown = columnMetrics(lines)
  const { table } = tableOf(
    lines,
    [
      { title: 'target', shrinks: true, cell: ({ target }) => sanitize(target.label) },
      { title: 'engine', when: engines, cell: ({ engine }) => engine },
      { title: 'ranked', align: 'right', cell: rankedCell },
      ...shown.map((metric) => {
        const title = metric.denominator === null ? shortName(metric) : metric.label
        return figureColumn(metric, title, alignedTexts(metric, lines))
      }),
    ],
    width,
  )
  const own = lines.filter(({ target }) => target.own)
  const named = ({ target, engine }: PartOfTarget): string =>
    own.length < 2 ? '' : ` of ${sanitize(target.label)}${engines ? `, ${engine}` : ''}`
  const below = [
    ...own.flatMap((one) => counts(one, named(one))),
    denominators(summary, shown),
    notes(summary),
  ]
  return `${color ? boldHead(table) : table}${below.flatMap((line) => (line === '' ? [] : wrap(line, width))).join('\n')}\n`
}

/** The column of a figure. Sums are left out of a narrow terminal: they follow from ratios that are there. */
function figureColumn(
  { denominator }: HeadlineMetric,
  title: string,
  texts: readonly string[],
): CellColumn<unknown> {
  return { title, align: 'right', dropped: denominator === null, cell: (_, place) => texts[place] ?? '' }
}

function shortName({ label, shortLabel }: HeadlineMetric): string {
  return shortLabel ?? label
}

/** Ranked keywords of the observed ones, with the number of unknown ones. */
function rankedCell({ coverage: { ranked, observed, expected } }: PartOfTarget): string {
  return `${ranked} of ${observed}${expected > observed ? `, ${expected - observed} ?` : ''}`
}

/** The values of a column, each followed by its change; changes are aligned. */
function alignedTexts(
  metric: HeadlineMetric<HeadlineName>,
  lines: readonly PartOfTarget[],
): readonly string[] {
  const texts = lines.map(({ figures }) => ({
    value: valueText(figures[metric.name].value, metric),
    delta: deltaText(metric, figures[metric.name]),
  }))
  const widest = Math.max(...texts.map(({ delta }) => textWidth(delta)))
  return texts.map(({ value, delta }) =>
    widest === 0 ? value : `${value} ${delta}${' '.repeat(widest - textWidth(delta))}`,
  )
}

function counts({ distribution, movements }: PartOfTarget, whose: string): readonly [string, string] {
  const ranks = buckets.flatMap((bucket) => {
    const unranked = { absent: say.charts.notFound, unknown: say.ranks.notKnown }
    const word = bucket === 'absent' || bucket === 'unknown' ? unranked[bucket] : `at ${bucket}`
    return distribution[bucket] === 0 ? [] : [`${distribution[bucket]} ${word}`]
  })
  const moves = movementNames.flatMap((name) =>
    movements[name] === 0 ? [] : [`${movements[name]} ${say.ranks.group(name, null)}`],
  )
  return [`Ranks${whose}: ${ranks.join(', ')}.`, `Movements${whose}: ${moves.join(', ')}.`]
}

/** Of the figures that are shown, what they are divided by. */
function denominators({ absent }: Summary, shown: readonly HeadlineMetric<HeadlineName>[]): string {
  const ratios = headlineMetrics.filter(
    ({ name, denominator }) => denominator !== null && shown.some((metric) => metric.name === name),
  )
  const assumptions = ratios.map(({ name, assumption }) => {
    const { label, denominator } = definitionOf(name, { absent })
    return [`${label}: divided by ${denominator}`, assumption?.({ absent }) ?? []].flat().join(', ')
  })
  return assumptions.length === 0 ? '' : `${assumptions.join('; ')}.`
}

function notes({ compared, added, removed, curve, targets, parts, otherParts }: Summary): string {
  const otherKinds = [...new Set(otherParts.map(({ kind }) => kind))]
  const own = targets.find(({ target }) => target.own) ?? targets[0]
  const both = own?.parts[0]?.knownOnBothDays ?? 0
  return [
    ...(both === 0
      ? []
      : [`▲ ▼: against ${daysText(compared)}, of ${count(both, 'keyword')} known on both days.`]),
    ...(added + removed === 0 ? [] : [`${count(added, 'keyword')} added, ${removed} removed.`]),
    ...uncountedTexts(own, parts),
    ...(otherKinds.length === 0
      ? []
      : [
          `Figures of ${kinds[parts[0]?.kind ?? 'organic']}; of ${otherKinds.map((kind) => kinds[kind]).join(', ')} with --kind ${otherKinds.join(' or ')}.`,
        ]),
    `CTR: ${sanitize(curveName(curve))}.`,
  ].join(' ')
}

/** How many keywords a metric could not count because they lack something that it needs. */
function uncountedTexts(target: TargetSummary | undefined, parts: readonly Part[]): readonly string[] {
  const all = headlineMetrics.flatMap(({ name, needs, byClicks }) => {
    const uncounted = target?.figures[name].uncounted ?? 0
    const isMentioned = needs !== undefined && (!byClicks || parts.every(({ kind }) => hasClicks(kind)))
    return isMentioned && uncounted > 0 ? [`Without ${needs}: ${count(uncounted, 'keyword')}.`] : []
  })
  return [...new Set(all)]
}

/** Tags that the terminal shows; all of them are in Markdown, XLSX and HTML. */
const most = 15

/** The tags with the most keywords, for the first own target; empty if no keyword has a tag. */
export function tagsText(
  segments: readonly Segment[],
  { targets, parts }: Summary,
  { width, color }: TextLayout,
): string {
  const owns = targets.flatMap(({ target }) => (target.own ? [target] : []))
  const [[own], [part]] = [owns, parts]
  if (own === undefined || part === undefined || segments.every(({ tag }) => tag === null)) return ''
  // The figures of the headline: other engines and kinds have theirs in the other formats.
  const lines = segments.filter((one) => one.target === own && partKey(one) === partKey(part))
  const shown = lines.toSorted((a, b) => b.coverage.expected - a.coverage.expected).slice(0, most)
  const { table } = tableOf(
    shown,
    [
      { title: 'tag', shrinks: true, cell: ({ tag }) => (tag === null ? '(none)' : sanitize(tag)) },
      { title: 'keywords', align: 'right', cell: ({ coverage }) => String(coverage.expected) },
      ...columnMetrics(shown).map((metric) => {
        const texts = shown.map(({ figures }) => {
          const figure = figures[metric.name]
          return `${valueText(figure.value, metric)} ${deltaText(metric, figure)}`.trim()
        })
        return figureColumn(metric, shortName(metric), texts)
      }),
      {
        title: 'top 10',
        align: 'right',
        dropped: true,
        cell: ({ distribution }) => String(top(distribution, 10)),
      },
    ],
    width,
  )
  const left = lines.length - shown.length
  const whose = [
    ...(owns.length > 1 ? [sanitize(own.label)] : []),
    ...(parts.length > 1 ? [part.engine] : []),
  ].join(', ')
  const more = left > 0 ? `And ${count(left, 'more tag')}: --format md or --format xlsx has them all.\n` : ''
  return `\nBy tag${whose === '' ? '' : ` for ${whose}`}:\n${color ? boldHead(table) : table}${more}`
}

/** The sentences, the figures, what moved and what to do next, without the ranks. */
export const storyFormat: ReportFormat = {
  chunks: (source) => asStream(storyText(source)),
  painted: true,
  measured: true,
}

/** What a terminal shows first. */
function storyText(source: ReportSource): string {
  return textOfStories(storiesOf(reportPageData(source), { say, mark: sanitize }), source.layout)
}

/** Stories one after the other; each begins with its name where there are several. */
export function textOfStories(
  stories: ReturnType<typeof storiesOf>,
  layout: TextLayout & { readonly ascii: boolean },
): string {
  const text = stories
    .map((one) => [...(one.label === null ? [] : [`${one.label}:`]), ...blocks(one, layout)].join('\n'))
    .join('\n\n')
  return text === '' ? '' : `${layout.ascii ? asciiSigns(text) : text}\n`
}

const colors = { better: 'green', worse: 'red', same: 'gray' } as const

function blocks({ sentences, limits, cards, moves, steps, nothing }: Story, { width, color }: TextLayout) {
  const styled = (format: 'bold' | (typeof colors)[FigureChange['way']], text: string): string =>
    color ? styleText(format, text, { validateStream: false }) : text
  /** The rows of a table, each with a sign or change in its colour; a colour covers the whole of it. */
  const painted = <T>(
    things: readonly T[],
    columns: readonly CellColumn<NoInfer<T>>[],
    mark: (thing: T) => readonly [text: string, way: FigureChange['way']],
  ): readonly string[] => {
    const [, ...rows] = tableOf(things, columns, width).table.trimEnd().split('\n')
    return rows.map((row, place) => {
      const [text, way] = mark(things[place] as T)
      return text === '' ? row : row.replace(text, () => styled(colors[way], text))
    })
  }
  const figures = painted(
    cards,
    [
      { title: '', cell: ({ label }) => label },
      { title: '', align: 'right', cell: ({ value }) => value },
      { title: '', align: 'right', cell: ({ change }) => change?.text ?? '' },
      { title: '', shrinks: true, cell: ({ about }) => about },
    ],
    ({ change }) => [change?.text ?? '', change?.way ?? 'same'],
  )
  const shown = moves.slice(0, shownMoves)
  const isUp = ({ way }: (typeof shown)[number]): boolean => isRise(way)
  const moved = painted(
    shown,
    [
      { title: '', cell: (move) => (isUp(move) ? '▲' : '▼') },
      { title: '', shrinks: true, least: 24, cell: ({ name }) => name },
      { title: '', cell: ({ from, to }) => `${from} → ${to}` },
      { title: '', align: 'right', cell: ({ clicks }) => (clicks === null ? '' : say.gain(clicks)) },
      { title: '', shrinks: true, dropped: true, cell: ({ about }) => about },
    ],
    (move) => (isUp(move) ? ['▲', 'better'] : ['▼', 'worse']),
  )
  const todo = steps.map(({ what, reason, stake, pages }) => {
    const known = [
      stake ?? [],
      pages.map(({ where, page }) => say.story.inMarket(where, sanitize(shortUrl(page)))),
    ]
    return `- ${what}: ${reason}${known.flat().length === 0 ? '' : ` (${known.flat().join('; ')})`}`
  })
  const block = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : ['', styled('bold', title), ...lines]
  return [
    ...sentences.flatMap(({ text }) => wrap(text, width)),
    ...(figures.length === 0 ? [] : ['', ...figures]),
    ...limits.flatMap((line) => wrap(line, width)),
    ...block(
      shown.some(({ clicks }) => clicks !== null)
        ? `${say.overview.blocks.moved}, by clicks a month`
        : say.overview.blocks.moved,
      moved,
    ),
    ...block(
      say.overview.blocks.next,
      steps.length === 0 ? wrap(nothing, width) : todo.flatMap((line) => wrap(line, width)),
    ),
  ]
}

/** A day, or the first and the last of several; empty where there are none. */
function daysText(days: readonly string[]): string {
  return days.length < 2 ? (days[0] ?? '') : `${days[0]} to ${days.at(-1)}`
}
