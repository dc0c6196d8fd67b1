import type { Target } from '../../../model/job.ts'
import type { Row } from '../../../model/result.ts'
import type { RunQuality } from '../../../model/run.ts'
import { parseUrl } from '../../../model/url.ts'
import { asStream } from '../../../output/formats/format.ts'
import { sanitize } from '../../../output/terminal.ts'
import { type WholeReport, wholeReport } from '../../build-data.ts'
import { changeText, localeText, paramsApart, shortUrl, trend } from '../../cells.ts'
import { columnMetrics, figureText, type Headline } from '../../headline.ts'
import { type Part, partLabel } from '../../history/filter-history.ts'
import type { KeywordStatus } from '../../history/keyword-status.ts'
import type { Keyword, RankHistory } from '../../history/rank-history.ts'
import { type CtrCurve, curveName } from '../../metrics/figure.ts'
import { headlineMetrics } from '../../metrics/index.ts'
import { top } from '../../metrics/positions.ts'
import { notesOfPeriod, type Presentation } from '../../presentation/presentation.ts'
import type { ReportFormat } from '../../report.ts'
import { rankCell, suspectLines } from '../../rows.ts'
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
          ...tagSection(segments(history, { ...measure, compare }), history, summary, say),
          ...keywordsSection(whole, say),
          ...runsSection(runs, say),
          ...definitionsSection(whole, summary, say),
        ]
  return `${[...headLines(history.job, summary.date, whole.presentation), ...parts].join('\n\n')}\n`
}

/** The title, for whom and by whom the report is, and the words of the analyst. */
function headLines(
  job: string,
  date: string | null,
  { title, client, agency, comment, language }: Presentation,
): readonly string[] {
  const { brand, markdown: words } = wordsOf(language)
  const name = title === null ? words.title(mdText(job)) : mdText(title)
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

/** What happened on days of the period. */
function notesSection(whole: WholeReport, say: Words): readonly string[] {
  const notes = notesOfPeriod(whole).map(({ date, text, url }) => {
    const what = url === null ? mdText(text) : mdLink(text, url)
    return `- ${say.mediumDay(date)}: ${what}`
  })
  return notes.length === 0 ? [] : [`## ${say.overview.blocks.notes}`, notes.join('\n')]
}

/** What happened, in sentences and figures; what moved, and what to do next. */
function storySection(
  { label, sentences, limits, cards, moves, steps, nothing }: Story & { readonly label: string | null },
  say: Words,
): readonly string[] {
  const { columns } = say.markdown
  const whose = label === null ? '' : `, ${label}`
  const moved = moves.slice(0, shownMoves)
  return [
    ...(label === null ? [] : [`**${label}**`]),
    sentences.map(({ text }) => `- ${text}`).join('\n'),
    ...(cards.length === 0
      ? []
      : [
          mdTable(
            [
              { title: columns.figure, cell: (card) => card.label },
              toTheRight<Story['cards'][number]>(columns.value, ({ value }) => value),
              toTheRight<Story['cards'][number]>(columns.change, ({ change }) => change?.text ?? ''),
              { title: columns.of, cell: ({ about }) => about },
            ],
            cards,
          ),
        ]),
    ...(limits.length === 0 ? [] : [limits.join(' ')]),
    ...(moved.length === 0
      ? []
      : [
          `## ${say.overview.blocks.moved}${whose}`,
          mdTable(
            [
              { title: '', cell: ({ way }) => (way === 'up' || way === 'entered' ? '▲' : '▼') },
              { title: columns.keyword, cell: ({ name }) => name },
              toTheRight<Story['moves'][number]>(columns.before, ({ from }) => from),
              toTheRight<Story['moves'][number]>(columns.now, ({ to }) => to),
              toTheRight<Story['moves'][number]>(columns.clicks, ({ clicks }) =>
                clicks === null ? '-' : say.gain(clicks),
              ),
              { title: columns.rival, cell: ({ about }) => about },
            ],
            moved,
          ),
        ]),
    `## ${say.overview.blocks.next}${whose}`,
    steps.length === 0
      ? nothing
      : mdTable(
          [
            { title: columns.step, cell: ({ what }) => what },
            { title: columns.why, cell: ({ reason }) => reason },
            toTheRight<Story['steps'][number]>(columns.clicks, ({ clicks }) =>
              say.figure(clicks, 'clicks a month'),
            ),
            {
              title: columns.page,
              cell: ({ pages }) =>
                pages.map(({ where, page }) => say.story.inMarket(where, pageLink(page))).join(', '),
            },
          ],
          steps,
        ),
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
  const several = (of: (part: Part) => string) => new Set(parts.map(of)).size > 1
  const target: MdColumn<PartOfTarget> = { title: columns.site, cell: (part) => targetName(part.target) }
  if (!several((part) => partLabel(part, say))) return [target]
  const isOneKind = !several(({ kind }) => kind)
  // For clients engines are named by their kinds of results.
  const cell = (part: PartOfTarget): string => (isOneKind ? part.engine : partLabel(part, say))
  return [target, { title: isOneKind ? columns.engine : columns.results, cell }]
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

/** The figures of every site, with their coverage. */
function sitesSection(summary: Summary, say: Words): readonly string[] {
  const { targets, parts, otherParts } = summary
  const { columns, bothDays, own } = say.markdown
  const of = (some: readonly Part[]) => {
    const lines = linesOf(summary, some)
    return mdTable(
      [
        ...nameColumns(some, say),
        toTheRight<PartOfTarget>(columns.ranked, ({ coverage: { ranked, observed } }) =>
          say.overview.ofChecked(ranked, observed),
        ),
        toTheRight<PartOfTarget>(columns.unknown, ({ coverage: { observed, expected } }) =>
          say.number(expected - observed),
        ),
        toTheRight<PartOfTarget>(columns.topTen, ({ distribution }) => say.number(top(distribution, 10))),
        ...headlineColumns(lines, say),
      ],
      lines,
    )
  }
  const both = targets[0]?.parts[0]?.knownOnBothDays ?? 0
  return [
    `## ${say.overview.blocks.rivals}`,
    of(parts),
    [...(both === 0 ? [] : [bothDays(both)]), own].join(' '),
    ...(otherParts.length === 0 ? [] : [`## ${say.markdown.otherKinds}`, of(otherParts)]),
  ]
}

/** The figures of own targets per tag; nothing if no keyword has a tag. */
function tagSection(
  all: readonly Segment[],
  { targets }: RankHistory,
  { parts }: Summary,
  say: Words,
): readonly string[] {
  if (all.every(({ tag }) => tag === null)) return []
  const lines = all.flatMap(({ tag, keywords, targets: some }) =>
    some.flatMap(([place, partOfTarget]) => {
      const target = targets[place] as Target
      if (!target.own) return []
      return linesOf({ targets: [{ target, parts: partOfTarget }] }, parts).map((line) => ({
        ...line,
        tag,
        keywords,
      }))
    }),
  )
  const { columns, byTag } = say.markdown
  const shown: readonly MdColumn<(typeof lines)[number]>[] = [
    { title: columns.tag, cell: ({ tag }) => (tag === null ? `*${say.scorecards.noTag}*` : mdText(tag)) },
    ...nameColumns(parts, say),
    toTheRight(columns.keywords, ({ keywords }) => say.number(keywords)),
    ...headlineColumns(lines, say),
    toTheRight(columns.topTen, ({ distribution }) => say.number(top(distribution, 10))),
  ]
  return lines.length === 0 ? [] : [`## ${byTag}`, mdTable(shown, lines)]
}

interface KeywordLine {
  readonly row: Row
  readonly status: KeywordStatus
}

/** The query; the engine and the locale if there are several. */
function keywordColumns({ keywords, series }: RankHistory, say: Words): readonly MdColumn<KeywordLine>[] {
  const { columns } = say.markdown
  const asked = [...new Set(series.map(({ keyword }) => keyword))].map((place) => keywords[place] as Keyword)
  const several = (of: (keyword: Keyword) => string) => new Set(asked.map(of)).size > 1
  const operation = (keyword: Keyword) => keyword.operation
  const apart = paramsApart(keywords)
  const locale = (keyword: Keyword) =>
    [localeText(keyword.params), ...apart(keyword)].filter((part) => part !== '').join(' ')
  const column = (title: string, of: (keyword: Keyword) => string): MdColumn<KeywordLine> => ({
    title,
    cell: ({ status }) => mdText(of(status.keyword)),
  })
  return [
    column(columns.keyword, ({ query }) => query),
    ...(several(operation) ? [column(columns.engine, operation)] : []),
    ...(several(locale) ? [column(columns.locale, locale)] : []),
  ]
}

function keywordsSection({ report, history, measure }: WholeReport, say: Words): readonly string[] {
  const { rows, statuses } = report
  const { columns, signs } = say.markdown
  const lines = statuses.map((status, place): KeywordLine => ({ status, row: rows[place] as Row }))
  const hasTrend = history.days.length > 1
  const shown: readonly MdColumn<KeywordLine>[] = [
    ...keywordColumns(history, say),
    {
      title: columns.site,
      cell: ({ status }) => targetName(history.targets[status.series.target] as Target),
    },
    toTheRight(columns.rank, ({ row, status }) => rankCell(row, status)),
    toTheRight(columns.change, ({ row }) => changeText(row, say.ranks)),
    ...(hasTrend
      ? [{ title: columns.trend, cell: ({ status }: KeywordLine) => trendCell(status.series.cells) }]
      : []),
    toTheRight(columns.best, ({ row }) => String(row.best_rank ?? '')),
    ...clickColumns(history, measure.curve, say).map(({ name, text }) =>
      toTheRight<KeywordLine>(columns[name], ({ status }) => text(status)),
    ),
    { title: columns.page, cell: ({ row }) => pageLink(row.url == null ? null : String(row.url)) },
  ]
  return [
    `## ${say.overview.blocks.keywords}`,
    mdTable(shown, lines),
    hasTrend ? `${signs} ${say.unscripted.trendLegend}` : signs,
    ...suspectLines(rows),
  ]
}

/** Markdown joins plain spaces, so a trend has figure spaces. */
function trendCell(cells: Parameters<typeof trend>[0]): string {
  return trend(cells).replaceAll(' ', '\u2007')
}

const mostRuns = 10

/** How the last runs ended and what they cost. */
function runsSection(
  runs: readonly RunQuality[],
  { markdown: { runs: words }, number }: Words,
): readonly string[] {
  if (runs.length === 0) return []
  const { columns } = words
  const count = (title: string, of: (run: RunQuality) => number) =>
    toTheRight<RunQuality>(title, (run) => number(of(run)))
  return [
    `## ${words.title}`,
    mdTable(
      [
        { title: columns.day, cell: ({ date }) => date },
        {
          title: columns.ended,
          cell: ({ finishReason }) => (finishReason === null ? words.running : words.ends[finishReason]),
        },
        toTheRight<RunQuality>(columns.done, ({ tasks }) => words.done(tasks.done, tasks.planned)),
        count(columns.failed, ({ tasks }) => tasks.failed),
        count(columns.credits, ({ spent }) => spent),
        count(columns.ambiguous, ({ ambiguous }) => ambiguous),
      ],
      runs.slice(-mostRuns),
    ),
  ]
}

/** What the figures are, and where the clicks come from. */
function definitionsSection({ measure }: WholeReport, { curve }: Summary, say: Words): readonly string[] {
  const { columns } = say.markdown
  const all = headlineMetrics.map(({ name }) => say.metric(name, measure))
  return [
    `## ${say.markdown.definitions.title}`,
    mdTable(
      [
        { title: columns.figure, cell: ({ label }) => label },
        { title: columns.is, cell: ({ definition }) => mdText(definition) },
        { title: columns.formula, cell: ({ formula }) => mdText(formula) },
        { title: columns.from, cell: ({ source }) => mdText(source) },
      ],
      all,
    ),
    curveText(curve, say),
  ]
}

const shownRates = 10

function curveText(curve: CtrCurve, say: Words): string {
  const { source, rates } = curve
  const { rates: title, byRank, curveSource } = say.markdown.definitions
  return `${title}: ${mdText(curveName(curve))}. ${mdText(curveSource(source))}. ${byRank(rates.slice(0, shownRates))}`
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
      .replace(/\b(www)\./gi, '$1\\.')
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
  readonly cell: (row: T, place: number) => string
}

/** A column whose cells stand to the right, as numbers do. */
export function toTheRight<T>(title: string, cell: MdColumn<T>['cell']): MdColumn<T> {
  return { title, align: 'right', cell }
}

/** A table; its cells are Markdown. */
export function mdTable<T>(columns: readonly MdColumn<T>[], rows: readonly T[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    line(columns.map(({ title }) => title)),
    line(columns.map(({ align }) => (align === 'right' ? '---:' : '---'))),
    ...rows.map((row, place) => line(columns.map(({ cell }) => cell(row, place)))),
  ].join('\n')
}
