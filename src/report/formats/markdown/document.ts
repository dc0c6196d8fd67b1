import type { Target } from '../../../model/job.ts'
import type { Row } from '../../../model/result.ts'
import type { RunQuality } from '../../../model/run.ts'
import { joined } from '../../../model/text.ts'
import { parseUrl } from '../../../model/url.ts'
import { asStream } from '../../../output/formats/format.ts'
import { sanitize } from '../../../output/terminal.ts'
import { type WholeReport, wholeReport } from '../../build-data.ts'
import { changeText, fullPlaces, shortUrl, trend } from '../../cells.ts'
import { type ComparedFigure, columnMetrics, deltaText, type Headline } from '../../headline.ts'
import { type Part, partLabel } from '../../history/filter-history.ts'
import type { KeywordStatus } from '../../history/keyword-status.ts'
import type { Keyword, RankHistory } from '../../history/rank-history.ts'
import { curveName, type HeadlineMetric } from '../../metrics/figure.ts'
import { headlineMetrics } from '../../metrics/index.ts'
import { top } from '../../metrics/positions.ts'
import { notesOfPeriod, type Presentation } from '../../presentation/presentation.ts'
import type { ReportFormat } from '../../report.ts'
import { rankCell, suspectLines } from '../../rows.ts'
import { isRise } from '../../story/moves.ts'
import { type Story, shownMoves, storiesOf } from '../../story/story.ts'
import { linesOf, type PartOfTarget, type Segment, type Summary, segments, summarise } from '../../summary.ts'
import { periodSentence, type Words, wordsOf } from '../../words/words.ts'
import { clickColumns } from '../rows.ts'

/** A report for a pull request, a wiki or an e-mail: Markdown with the tables of GitHub. */
export const markdownFormat: ReportFormat = {
  chunks: (source) => asStream(markdown(wholeReport(source))),
  document: true,
  commented: true,
  measured: true,
  sorted: true,
}

export function markdown(whole: WholeReport): string {
  const { report, history, compare, period, measure, runs } = whole
  const say = wordsOf(whole.presentation.language)
  const summary = summarise(history, { ...measure, compare })
  const { compared, keywords, targets, added, removed } = summary
  const parts =
    report.rows.length === 0
      ? [say.markdown.nothing, ...runsSection(runs, say)]
      : [
          ...storiesOf(whole, { say, mark: mdText }).flatMap((one) => storySection(one, say)),
          [
            periodSentence(say, period, compared),
            say.markdown.asked(keywords, targets.length, added, removed),
          ].join(' '),
          ...sitesSection(summary, say),
          ...notesSection(whole, say),
          ...tagSection(segments(history, { ...measure, compare }), summary, say),
          ...keywordsSection(whole, say),
          ...runsSection(runs, say),
          ...definitionsSection(whole, summary, say),
        ]
  const all = [...headLines(history.job, summary.date, whole.presentation), ...parts]
  return `${all.filter((part) => part !== '').join('\n\n')}\n`
}

/** What stands under a heading; nothing if its first part is empty. */
function section(heading: string, ...parts: readonly string[]): readonly string[] {
  return parts[0] === '' ? [] : [`## ${heading}`, ...parts]
}

/** The title, for whom and by whom the report is, and the words of the analyst. */
function headLines(
  job: string,
  date: string | null,
  { title, client, agency, comment, language }: Presentation,
): readonly string[] {
  const { brand, markdown: words } = wordsOf(language)
  const name = title === null ? words.title(mdText(job)) : mdText(title)
  const people = joined([client && brand.for(mdText(client)), agency && brand.by(mdText(agency))], ' · ')
  return [
    `# ${name}${date === null ? '' : `, ${date}`}`,
    people === '' ? '' : `${brand.kind} ${people}`,
    comment?.markdown ?? '',
  ]
}

/** What happened on days of the period. */
function notesSection(whole: WholeReport, say: Words): readonly string[] {
  const notes = notesOfPeriod(whole).map(({ date, text, url }) => {
    const what = url === null ? mdText(text) : mdLink(text, url)
    return `- ${say.mediumDay(date)}: ${what}`
  })
  return section(say.overview.blocks.notes, notes.join('\n'))
}

/** What happened, in sentences and figures; what moved, and what to do next. */
function storySection(
  { label, sentences, limits, cards, moves, steps, nothing }: Story & { readonly label: string | null },
  say: Words,
): readonly string[] {
  const { columns } = say.markdown
  const whose = label === null ? '' : `, ${label}`
  return [
    label === null ? '' : `**${label}**`,
    sentences.map(({ text }) => `- ${text}`).join('\n'),
    mdTable(cards, [
      { title: columns.figure, cell: (card) => card.label },
      toTheRight(columns.value, ({ value }) => value),
      toTheRight(columns.change, ({ change }) => change?.text ?? ''),
      { title: columns.of, cell: ({ about }) => about },
    ]),
    limits.join(' '),
    ...section(
      `${say.overview.blocks.moved}${whose}`,
      mdTable(moves.slice(0, shownMoves), [
        { title: '', cell: ({ way }) => (isRise(way) ? '▲' : '▼') },
        { title: columns.keyword, cell: ({ name }) => name },
        toTheRight(columns.before, ({ from }) => from),
        toTheRight(columns.now, ({ to }) => to),
        toTheRight(columns.clicks, ({ clicks }) => (clicks === null ? '-' : say.gain(clicks))),
        { title: columns.rival, cell: ({ about }) => about },
      ]),
    ),
    `## ${say.overview.blocks.next}${whose}`,
    steps.length === 0
      ? nothing
      : mdTable(steps, [
          { title: columns.step, cell: ({ what }) => what },
          { title: columns.why, cell: ({ reason }) => reason },
          toTheRight(columns.clicks, ({ clicks }) => say.figure(clicks, 'clicks a month')),
          {
            title: columns.page,
            cell: ({ pages }) =>
              pages.map(({ where, page }) => say.story.inMarket(where, pageLink(page))).join(', '),
          },
        ]),
  ]
}

function pageLink(link: string | null): string {
  return link === null ? '' : mdLink(shortUrl(link), link)
}

/** The name of a target; own targets are bold. */
function targetName({ label, own }: Pick<Target, 'label' | 'own'>): string {
  return own ? `**${mdText(label)}**` : mdText(label)
}

/** The target; the kind of results and the engine if there are several. */
function nameColumns(parts: readonly Part[], say: Words): readonly MdColumn<PartOfTarget>[] {
  const { columns } = say.markdown
  const target: MdColumn<PartOfTarget> = { title: columns.site, cell: (part) => targetName(part.target) }
  if (!hasSeveral(parts, (part) => partLabel(part, say))) return [target]
  // For clients engines are named by their kinds of results.
  return hasSeveral(parts, ({ kind }) => kind)
    ? [target, { title: columns.results, cell: (part) => partLabel(part, say) }]
    : [target, { title: columns.engine, cell: ({ engine }) => engine }]
}

function hasSeveral<T>(all: readonly T[], of: (one: T) => string): boolean {
  return new Set(all.map(of)).size > 1
}

function headlineColumns<T extends { readonly figures: Headline }>(
  lines: readonly T[],
  say: Words,
): readonly MdColumn<T>[] {
  return columnMetrics(lines).map((metric) =>
    toTheRight(say.metric(metric.name, {}).label, ({ figures }) =>
      figureText(metric, figures[metric.name], say),
    ),
  )
}

/** A figure in a table for people: its value and its change; of an average position also how many keywords were not found. */
function figureText(metric: HeadlineMetric, figure: ComparedFigure, say: Words): string {
  const { value, coverage } = figure
  const missing = metric.unit === 'rank' && value !== null ? coverage.observed - coverage.ranked : 0
  return [
    say.figure(value, metric.unit),
    ...(missing === 0 ? [] : [say.ranks.missing(missing)]),
    deltaText(metric, figure, say),
  ]
    .join(' ')
    .trim()
}

/** The figures of every site, with their coverage. */
function sitesSection(summary: Summary, say: Words): readonly string[] {
  const { targets, parts, otherParts } = summary
  const { columns, bothDays, own } = say.markdown
  const of = (some: readonly Part[]) => {
    const lines = linesOf(summary, some)
    return mdTable(lines, [
      ...nameColumns(some, say),
      toTheRight(columns.ranked, ({ coverage: { ranked, observed } }) =>
        say.overview.ofChecked(ranked, observed),
      ),
      toTheRight(columns.unknown, ({ coverage: { observed, expected } }) => say.number(expected - observed)),
      toTheRight(columns.topTen, ({ distribution }) => say.number(top(distribution, 10))),
      ...headlineColumns(lines, say),
    ])
  }
  const both = targets[0]?.parts[0]?.knownOnBothDays ?? 0
  return [
    ...section(say.overview.blocks.rivals, of(parts), both === 0 ? own : `${bothDays(both)} ${own}`),
    ...section(say.markdown.otherKinds, of(otherParts)),
  ]
}

/** The figures of own targets per tag; nothing if no keyword has a tag. */
function tagSection(all: readonly Segment[], { parts }: Summary, say: Words): readonly string[] {
  if (all.every(({ tag }) => tag === null)) return []
  const lines = all.filter(({ target, kind }) => target.own && kind === parts[0]?.kind)
  const { columns, byTag } = say.markdown
  return section(
    byTag,
    mdTable(lines, [
      { title: columns.tag, cell: ({ tag }) => (tag === null ? `*${say.scorecards.noTag}*` : mdText(tag)) },
      ...nameColumns(parts, say),
      toTheRight(columns.keywords, ({ keywords }) => say.number(keywords)),
      ...headlineColumns(lines, say),
      toTheRight(columns.topTen, ({ distribution }) => say.number(top(distribution, 10))),
    ]),
  )
}

/** The query; the engine and the locale if there are several. */
function keywordColumns(
  { keywords, series }: RankHistory,
  { markdown: { columns } }: Words,
): readonly MdColumn<{ readonly status: KeywordStatus }>[] {
  const asked = [...new Set(series.map(({ keyword }) => keyword))].map((place) => keywords[place] as Keyword)
  const column = (title: string, of: (keyword: Keyword) => string) => ({ title, of })
  return [
    column(columns.keyword, ({ query }) => query),
    ...[
      column(columns.engine, ({ operation }) => operation),
      column(columns.locale, fullPlaces(keywords)),
    ].filter(({ of }) => hasSeveral(asked, of)),
  ].map(({ title, of }) => ({ title, cell: ({ status }) => mdText(of(status.keyword)) }))
}

function keywordsSection({ report, history, measure }: WholeReport, say: Words): readonly string[] {
  const { rows, statuses } = report
  const { columns, signs } = say.markdown
  const lines = statuses.map((status, place) => ({ status, row: rows[place] as Row }))
  // Markdown joins plain spaces, so a trend has figure spaces.
  const trendOf = ({ status }: (typeof lines)[number]) => trend(status.series.cells).replaceAll(' ', '\u2007')
  const hasTrend = history.days.length > 1
  return section(
    say.overview.blocks.keywords,
    mdTable(lines, [
      ...keywordColumns(history, say),
      {
        title: columns.site,
        cell: ({ status }) => targetName(history.targets[status.series.target] as Target),
      },
      toTheRight(columns.rank, ({ row, status }) => rankCell(row, status)),
      toTheRight(columns.change, ({ row }) => changeText(row, say.ranks)),
      ...(hasTrend ? [{ title: columns.trend, cell: trendOf }] : []),
      toTheRight(columns.best, ({ row }) => String(row.best_rank ?? '')),
      ...clickColumns(history, measure.curve, say).map(({ name, text }) =>
        toTheRight(columns[name], ({ status }: (typeof lines)[number]) => text(status)),
      ),
      { title: columns.page, cell: ({ row }) => pageLink(row.url == null ? null : String(row.url)) },
    ]),
    hasTrend ? `${signs} ${say.unscripted.trendLegend}` : signs,
    ...suspectLines(rows),
  )
}

const mostRuns = 10

/** How the last runs ended and what they cost. */
function runsSection(
  all: readonly RunQuality[],
  { markdown: { runs: words }, number }: Words,
): readonly string[] {
  const { columns } = words
  return section(
    words.title,
    mdTable(all.slice(-mostRuns), [
      { title: columns.day, cell: ({ date }) => date },
      {
        title: columns.ended,
        cell: ({ finishReason }) => (finishReason === null ? words.running : words.ends[finishReason]),
      },
      toTheRight(columns.done, ({ tasks }) => words.done(tasks.done, tasks.planned)),
      toTheRight(columns.failed, ({ tasks }) => number(tasks.failed)),
      toTheRight(columns.credits, ({ spent }) => number(spent)),
      toTheRight(columns.ambiguous, ({ ambiguous }) => number(ambiguous)),
    ]),
  )
}

const shownRates = 10

/** What the figures are, and where the clicks come from. */
function definitionsSection(
  { measure }: WholeReport,
  { curve }: Summary,
  { markdown: { columns, definitions }, metric }: Words,
): readonly string[] {
  const { title, rates, byRank, curveSource } = definitions
  return section(
    title,
    mdTable(
      headlineMetrics.map(({ name }) => metric(name, measure)),
      [
        { title: columns.figure, cell: ({ label }) => label },
        { title: columns.is, cell: ({ definition }) => mdText(definition) },
        { title: columns.formula, cell: ({ formula }) => mdText(formula) },
        { title: columns.from, cell: ({ source }) => mdText(source) },
      ],
    ),
    `${rates}: ${mdText(curveName(curve))}. ${mdText(curveSource(curve.source))}. ${byRank(curve.rates.slice(0, shownRates))}`,
  )
}

/** Invisible and without width; it separates the two sides of a name. */
const joiner = '\u2060'

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * Escapes text from outside: no emphasis, code, links, HTML, lists, headings or cells can come of it. A word joiner keeps
 * sites from reading mentions (`@name`) and references (`#12`) in it.
 */
export function mdText(text: string): string {
  const line = sanitize(text).replace(/\s+/g, ' ').trim()
  return (
    line
      .replace(/[\\`*_[\]|~$!]/g, '\\$&')
      // Lists and rules.
      .replace(/^[-+=]/, '\\$&')
      .replace(/^(\d+)([.)])/, '$1\\$2')
      // Addresses that sites make links of.
      .replace(/(www)\./gi, '$1\\.')
      .replace(/([a-z]):(?=\S)/gi, '$1\\:')
      .replace(/#/g, `\\#${joiner}`)
      .replace(/@/g, `@${joiner}`)
      .replace(/[&<>]/g, (sign) => entities[sign] as string)
  )
}

/** A link if it can be opened, else its text. */
export function mdLink(text: string, link: string): string {
  const href = hrefOf(link)
  return href === null ? mdText(text) : `[${mdText(text)}](${href})`
}

/** The address as browsers send it, with the characters escaped that end a link; null if it is not a web address. */
function hrefOf(link: string): string | null {
  const url = parseUrl(link)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return null
  return url.href
    .replace(
      /[^\w.~:/?#@!$',;=%&+-]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .replaceAll('&', '&amp;')
}

/** A column of a table. */
export interface MdColumn<T> {
  readonly title: string
  readonly align?: 'right'
  /** Markdown. */
  readonly cell: (row: T) => string
}

/** A column whose cells stand to the right, as numbers do. */
function toTheRight<T>(title: string, cell: MdColumn<T>['cell']): MdColumn<T> {
  return { title, align: 'right', cell }
}

/** A table; its cells are Markdown. Empty without rows. */
export function mdTable<T>(rows: readonly T[], columns: readonly MdColumn<NoInfer<T>>[]): string {
  if (rows.length === 0) return ''
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    line(columns.map(({ title }) => title)),
    line(columns.map(({ align }) => (align === 'right' ? '---:' : '---'))),
    ...rows.map((row) => line(columns.map(({ cell }) => cell(row)))),
  ].join('\n')
}
