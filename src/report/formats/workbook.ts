import type { Target } from '../../model/job.ts'
import type { Row } from '../../model/result.ts'
import type { RunQuality } from '../../model/run.ts'
import { capitalised } from '../../model/text.ts'
import { type CellKind, type Sheet, type SheetCell, type SheetColumn, workbook } from '../../output/xlsx.ts'
import { type WholeReport, wholeReport } from '../build-data.ts'
import type { PageSerp, SerpResult } from '../data.ts'
import { hasClicks, historyOfParts, kindLabels, type Part, partsOf } from '../history/filter-history.ts'
import { keywordStatuses, valueOn } from '../history/keyword-status.ts'
import type { ReportPeriod } from '../history/period.ts'
import type { DayValue, Keyword, RankHistory } from '../history/rank-history.ts'
import { definitionOf, type MetricName, metrics } from '../metrics/definitions.ts'
import type { MetricOptions } from '../metrics/figure.ts'
import { headlineMetrics } from '../metrics/index.ts'
import { type Mover, movementNames, winnersAndLosers } from '../metrics/movements.ts'
import { rankingLinks } from '../metrics/pages.ts'
import { buckets, top } from '../metrics/positions.ts'
import { serpPairs } from '../metrics/serps.ts'
import { discoverCompetitors, type SiteShare } from '../metrics/shares.ts'
import { notesOfPeriod } from '../presentation/presentation.ts'
import type { ReportFormat } from '../report.ts'
import { shownMoves, storiesOf } from '../story/story.ts'
import {
  linesOf,
  type PartOfTarget,
  type Segment,
  type Summary,
  segments,
  statusesByTarget,
  summarise,
  type TargetSummary,
} from '../summary.ts'
import { threeDigits } from '../words/formats.ts'
import { periodSentence, type Words, wordsOf } from '../words/words.ts'
import { clickKinds, columnKinds, labelColumn, labelNames, rowsOf, withClicks } from './rows.ts'

/** A report as an XLSX workbook. */
export const workbookFormat: ReportFormat = {
  chunks: (source) => reportWorkbook(wholeReport(source)),
  binary: true,
  document: true,
  measured: true,
  sorted: true,
}

export function reportWorkbook(whole: WholeReport): AsyncIterable<Buffer> {
  const { history, period, compare, measure, runs, presentation } = whole
  const summary = summarise(history, { ...measure, compare })
  const say = wordsOf(presentation.language)
  const told = storiesOf(whole, { say, mark: (name) => name })
  const sheets = [
    firstSheet(whole, told, summary, say),
    summarySheet(summary, period),
    stepsSheet(told, history),
    tagsSheet(segments(history, { ...measure, compare }), history),
    rankingsSheet(whole),
    movementSheet(whole),
    serpsSheet(whole),
    competitorsSheet(summary),
    sitesSheet(whole),
    ...(presentation.audience === 'client' ? [] : [runsSheet(runs)]),
    definitionsSheet(measure),
    historySheet(history),
  ]
  const shown = presentation.audience === 'client' ? sheets.map(forClient) : sheets
  return workbook(shown.map((one) => (ofPrograms.has(one.name) ? one : inLanguage(one, say.workbook))))
}

/** Sheets whose columns are those of other formats, by names that programs read. */
const ofPrograms: ReadonlySet<string> = new Set(['Rankings', 'Runs', 'Rank history'])

function inLanguage({ name, columns, ...rest }: Sheet, { sheets, heads }: Words['workbook']): Sheet {
  return {
    ...rest,
    name: sheets[name] ?? name,
    columns: columns.map((one) => ({ ...one, header: heads[one.header] ?? one.header })),
  }
}

/** Clients read kinds of results where others read operations. */
function forClient({ columns, ...rest }: Sheet): Sheet {
  const renamed = (header: string): string => (header === 'operation' ? 'results' : header)
  return { ...rest, columns: columns.map((one) => ({ ...one, header: renamed(one.header) })) }
}

type Stories = ReturnType<typeof storiesOf>

/** What people read first, from top to bottom, in the language of the report: what happened, what moved, what to do next, notes. */
function firstSheet(
  { presentation, period, history }: WholeReport,
  told: Stories,
  { compared }: Summary,
  say: Words,
): Sheet {
  const { title, client } = presentation
  const { blocks } = say.overview
  const { columns } = say.markdown
  const heading = (value: string): SheetCell => ({ value, style: 'heading' })
  const headings = (...values: readonly string[]): readonly SheetCell[] =>
    values.map((value) => ({ value, style: 'heading of numbers' }))
  const paragraph = (value: string): readonly SheetCell[] => [{ value, style: 'paragraph' }]
  const figure = (value: string | undefined): SheetCell =>
    value === undefined ? null : { value, style: 'figure' }
  const clicksOf = (clicks: number | null, style: 'grouped' | 'signed'): SheetCell =>
    clicks === null ? null : { value: Math.sign(clicks) * threeDigits(clicks), style }
  const name = title ?? say.email.heading(client ?? history.job)
  const rows: (readonly SheetCell[])[] = [
    [{ value: name, style: 'title' }],
    ...(title === null || client === null ? [] : [paragraph(say.brand.for(client))]),
    paragraph(periodSentence(say, period, compared)),
  ]
  const block = (head: readonly SheetCell[], lines: readonly (readonly SheetCell[])[]): void => {
    if (lines.length > 0) rows.push([], head, ...lines)
  }
  for (const { label, sentences, limits, cards, moves, steps, nothing } of told) {
    rows.push(
      [],
      ...(label === null ? [] : [[heading(label)]]),
      ...sentences.map(({ text }) => paragraph(text)),
    )
    rows.push(...limits.map(paragraph))
    block(
      [
        heading(capitalised(columns.figure)),
        ...headings(capitalised(columns.value), capitalised(columns.change)),
        cards.some(({ about }) => about) ? heading(capitalised(columns.of)) : null,
      ],
      cards.map(({ label, value, change, about }) => [label, figure(value), figure(change?.text), about]),
    )
    block(
      [heading(blocks.moved), null, ...headings(say.portfolio.columns.clicks)],
      moves
        .slice(0, shownMoves)
        .map(({ name, from, to, clicks, about }) => [
          name,
          figure(say.email.fromTo(from, to)),
          clicksOf(clicks, 'signed'),
          about || null,
        ]),
    )
    block(
      [heading(blocks.next), null, ...headings(say.portfolio.columns.clicks)],
      steps.length === 0 && cards.length > 0
        ? [paragraph(nothing)]
        : steps.map(({ what, reason, clicks, pages }) => [
            what,
            null,
            clicksOf(clicks, 'grouped'),
            [reason, ...pages.map(({ where, page }) => `(${say.story.inMarket(where, page)})`)].join(' '),
          ]),
    )
  }
  block(
    [heading(blocks.notes)],
    notesOfPeriod({ presentation, history, period }).map(({ date, text }) => [
      text,
      figure(say.shortDay(date)),
    ]),
  )
  const widths = [40, 28, 18, 58]
  return {
    name: say.email.inShort,
    isText: true,
    columns: widths.map((width) => ({ header: '', width, kind: 'prose' })),
    rows: history.days.length === 0 ? [paragraph(say.markdown.nothing)] : rows,
  }
}

/** What to do next, the most clicks at stake first. */
function stepsSheet(all: Stories, history: RankHistory): Sheet {
  const rows = all.flatMap(({ label, steps }) =>
    steps.flatMap((step) => step.statuses.map((status) => ({ target: label ?? '', step, status }))),
  )
  return sheet<(typeof rows)[number]>(
    'What to do next',
    [
      field('target', 'text', ({ target }) => target),
      field('what', 'text', ({ step }) => step.what, 40),
      ...keywordFields<(typeof rows)[number]>(history, ({ status }) => status.keyword),
      field('reason', 'text', ({ step }) => step.reason, 80),
      field('clicks a month', 'decimal', ({ step }) => step.clicks),
      field('rank', 'number', ({ status }) => status.current.rank),
      field('volume', 'number', ({ status }) => status.keyword.volume),
      field(
        'page',
        'text',
        ({ step, status }) => step.pages.find(({ statuses }) => statuses.includes(status))?.page ?? null,
        50,
      ),
    ],
    rows,
  )
}

const textWidths: Readonly<Partial<Record<string, number>>> = {
  query: 36,
  operation: 14,
  gl: 6,
  hl: 6,
  state: 10,
  movement: 11,
  url: 50,
  title: 40,
  intended_url: 50,
}

/** Columns that programs need, and people do not: the last sheet has them. */
const forPrograms: readonly string[] = ['params', 'exactness']

/** The rows of the report as in CSV, without what is for programs alone. */
function rankingsSheet({ report, presentation, history, measure }: WholeReport): Sheet {
  const labels = labelNames(report).map((name) => [labelColumn(name), 'text'] as const)
  const isShown = (name: string): boolean =>
    !forPrograms.includes(name) && (presentation.audience === 'team' || name !== 'run_id')
  const params = otherParams(history).map((name) =>
    field<Row>(name, 'text', ({ params }) => JSON.parse(String(params))[name] ?? null),
  )
  const clicks = history.countedClicks === undefined ? [] : Object.entries(clickKinds)
  const fields = [...Object.entries(columnKinds), ...clicks, ...labels].flatMap(([name, kind]) =>
    isShown(name) ? [field<Row>(name, kind, (row) => row[name] ?? null, textWidths[name])] : [],
  )
  return sheet('Rankings', [...fields, ...params], rowsOf(withClicks(report, history, measure.curve)))
}

interface Moved extends Mover {
  readonly target: string
}

/** Every winner and loser, over all kinds of results, in the order of their worth. */
function movementSheet({ history, compare, measure }: WholeReport): Sheet {
  const byTarget = statusesByTarget(keywordStatuses(history, compare))
  const moved = history.targets.flatMap(({ label }, target) => {
    const { winners, losers } = winnersAndLosers(byTarget.get(target) ?? [], measure.curve)
    return [...winners, ...losers].map((mover): Moved => ({ ...mover, target: label }))
  })
  return sheet<Moved>(
    'Movement',
    [
      field('target', 'text', ({ target }) => target),
      field('movement', 'text', ({ status }) => status.change.movement, 12),
      ...keywordFields<Moved>(history, ({ status }) => status.keyword),
      field('volume', 'number', ({ status }) => status.keyword.volume),
      field('previous_rank', 'number', ({ status }) => status.baseline?.value.rank ?? null),
      field('rank', 'number', ({ status }) => status.current.rank),
      field('change', 'number', ({ status }) => status.change.change),
      field(`${metrics.gain.label}, ${metrics.gain.unit}`, 'decimal', ({ gain }) => gain),
    ],
    moved,
  )
}

interface ObservationLine {
  readonly date: string
  readonly keyword: Keyword
  readonly target: Target
  readonly value: DayValue
  readonly url: string | null
}

/** A row for each observed day, keyword and target: the input of a pivot table. */
function historySheet(history: RankHistory): Sheet {
  const fields: readonly SheetField<ObservationLine>[] = [
    field('date', 'date', ({ date }) => date),
    ...keywordFields<ObservationLine>(history, ({ keyword }) => keyword),
    field('tags', 'text', ({ keyword }) => (keyword.tags.length === 0 ? null : keyword.tags.join(';')), 16),
    field('volume', 'number', ({ keyword }) => keyword.volume),
    field('target', 'text', ({ target }) => target.label),
    field('own', 'number', ({ target }) => (target.own ? 1 : 0), 6),
    field('state', 'text', ({ value }) => value.state, 10),
    field('rank', 'number', ({ value }) => value.rank),
    field('depth', 'number', ({ value }) => value.depth),
    field('url', 'text', ({ url }) => url, 50),
    field('exactness', 'text', ({ value }) => value.exactness, 11),
    field('params', 'text', ({ keyword }) => JSON.stringify(keyword.params), 20),
  ]
  // Excel reserves the name History.
  return sheet('Rank history', fields, observations(history))
}

function* observations({ days, keywords, targets, series, links }: RankHistory): Generator<ObservationLine> {
  for (const one of series) {
    const ranking = rankingLinks(one)
    const keyword = keywords[one.keyword] as Keyword
    const target = targets[one.target] as Target
    for (const day of one.cells.keys()) {
      const value = valueOn(one, day)
      if (value === null) continue
      const link = ranking[day] ?? null
      yield {
        date: days[day] as string,
        keyword,
        target,
        value,
        url: link === null ? null : (links[link] ?? null),
      }
    }
  }
}

interface ResultLine {
  readonly serp: PageSerp
  readonly keyword: Keyword
  readonly result: SerpResult
}

/** The first ten results of every keyword on the latest and on the compared day. */
function serpsSheet({ history, serps, texts, links, sites }: WholeReport): Sheet {
  const named = (place: number | null, names: readonly string[]) =>
    place === null ? null : (names[place] ?? null)
  const all = serps.flatMap((serp) =>
    serp.results.map(
      (result): ResultLine => ({ serp, result, keyword: history.keywords[serp.keyword] as Keyword }),
    ),
  )
  return sheet<ResultLine>(
    'SERPs',
    [
      field('date', 'date', ({ serp }) => history.days[serp.day] ?? null),
      ...keywordFields<ResultLine>(history, ({ keyword }) => keyword),
      field('rank', 'number', ({ result: [rank] }) => rank),
      field('title', 'text', ({ result }) => named(result[1], texts), 50),
      field('link', 'text', ({ result }) => named(result[2], links), 60),
      field('site', 'text', ({ result }) => named(result[3], sites)),
      field('target', 'text', ({ result: [, , , , targets] }) => labelsOf(targets, history)),
    ],
    all,
  )
}

interface SiteOfPart extends Part, SiteShare {}

/** Every site among the first ten results of each kind and engine, with its gain. */
function sitesSheet({ history, compare, measure, serps, sites }: WholeReport): Sheet {
  const { curve } = measure
  const all = partsOf(history, measure.kind).flatMap((part) => {
    const some = historyOfParts(history, [part])
    if (!hasClicks(part.kind)) return []
    const found = discoverCompetitors(serpPairs(some, serps, compare), { history: some, curve })
    return found.sites.map((site): SiteOfPart => ({ ...part, ...site }))
  })
  return sheet<SiteOfPart>(
    'Sites',
    [
      field('results', 'text', ({ kind }) => kindLabels[kind], 14),
      field('engine', 'text', ({ engine }) => engine, 8),
      field('site', 'text', ({ site }) => sites[site] ?? null),
      field('target', 'text', ({ targets }) => labelsOf(targets, history)),
      field('SERPs', 'number', ({ appearances }) => appearances),
      field('SERPs before', 'number', ({ appearancesBefore }) => appearancesBefore),
      field('share', 'percent', ({ share }) => share),
      field('share before', 'percent', ({ shareBefore }) => shareBefore),
      field('change', 'percent', ({ change }) => change),
    ],
    all,
  )
}

/** The names of targets, joined by `;` as tags are. */
function labelsOf(targets: readonly number[], history: RankHistory): string | null {
  return targets.length === 0 ? null : targets.map((one) => history.targets[one]?.label ?? '').join(';')
}

type ShownPart = Omit<PartOfTarget, 'distribution' | 'movements'>

function targetFields<T extends ShownPart>(): readonly SheetField<T>[] {
  return [
    field('target', 'text', ({ target }) => target.label),
    field('site', 'text', ({ target }) => target.site),
    field('own', 'number', ({ target }) => (target.own ? 1 : 0), 6),
    field('results', 'text', ({ kind }) => kindLabels[kind], 14),
    field('engine', 'text', ({ engine }) => engine, 8),
    ...(['expected', 'observed', 'ranked'] as const).map((part) =>
      field<T>(part === 'expected' ? 'asked' : part, 'number', ({ coverage }) => coverage[part]),
    ),
    field('known on both days', 'number', ({ knownOnBothDays }) => knownOnBothDays),
    ...headlineMetrics.flatMap(({ name, label, unit }) => {
      const kind = unit === 'share' ? 'percent' : 'decimal'
      return [
        field<T>(label, kind, ({ figures }) => figures[name].value),
        field<T>(`${label}, change`, kind, ({ figures }) => figures[name].cohort?.delta ?? null),
      ]
    }),
  ]
}

/** A row for each target, kind of results and engine: its figures, and its keywords by rank and by movement. */
function summarySheet(summary: Summary, period: ReportPeriod | null): Sheet {
  const { date, compared, parts, otherParts } = summary
  return sheet<PartOfTarget>(
    'Summary',
    [
      field('date', 'date', () => date),
      field('period from', 'date', () => period?.from ?? null),
      field('period until', 'date', () => period?.until ?? null),
      field('compared from', 'date', () => compared[0] ?? null),
      field('compared to', 'date', () => compared.at(-1) ?? null),
      ...targetFields<PartOfTarget>(),
      ...buckets.map((name) =>
        field<PartOfTarget>(
          /\d/.test(name) ? `rank ${name}` : name,
          'number',
          (one) => one.distribution[name],
        ),
      ),
      ...movementNames.map((name) =>
        field<PartOfTarget>(`moved: ${name}`, 'number', (one) => one.movements[name]),
      ),
    ],
    linesOf(summary, [...parts, ...otherParts]),
  )
}

/** The same figures for each tag; a keyword counts in each of its tags. */
function tagsSheet(segments: readonly Segment[], { targets }: RankHistory): Sheet {
  const lines = segments.flatMap(({ tag, targets: all }) =>
    all.flatMap(([place, parts]) =>
      parts.map((part) => ({ ...part, tag, target: targets[place] as Target })),
    ),
  )
  type SummaryLine = (typeof lines)[number]
  const fields = [
    field<SummaryLine>('tag', 'text', ({ tag }) => tag),
    ...targetFields<SummaryLine>(),
    field<SummaryLine>('top 10', 'number', ({ distribution }) => top(distribution, 10)),
  ]
  return sheet('Tags', fields, lines)
}

type TargetPair = Pick<TargetSummary, 'target'> & { readonly rivalry: TargetSummary['competitors'][number] }

/** Each target against every other target. */
function competitorsSheet({ targets }: Summary): Sheet {
  const pairs = targets.flatMap(({ target, competitors: against }) =>
    against.map((rivalry): TargetPair => ({ target, rivalry })),
  )
  return sheet<TargetPair>(
    'Competitors',
    [
      field('target', 'text', ({ target }) => target.label),
      field('own', 'number', ({ target }) => (target.own ? 1 : 0), 6),
      field('against', 'text', ({ rivalry }) => rivalry.other.label),
      ...(['won', 'lost', 'tied', 'neither', 'undecided'] as const).map((name) =>
        field<TargetPair>(name, 'number', ({ rivalry }) => rivalry[name]),
      ),
    ],
    pairs,
  )
}

/** How the last runs ended and what they cost. */
function runsSheet(runs: readonly RunQuality[]): Sheet {
  return sheet<RunQuality>(
    'Runs',
    [
      field('run', 'number', ({ run }) => run),
      field('date', 'date', ({ date }) => date),
      field('finish_reason', 'text', ({ finishReason }) => finishReason),
      field('tasks_planned', 'number', ({ tasks }) => tasks.planned),
      field('tasks_done', 'number', ({ tasks }) => tasks.done),
      field('tasks_failed', 'number', ({ tasks }) => tasks.failed),
      field('credits_spent', 'number', ({ spent }) => spent),
      field('credits_ambiguous', 'number', ({ ambiguous }) => ambiguous),
      field('mismatched_answers', 'number', ({ mismatched = 0 }) => mismatched),
    ],
    runs,
  )
}

const defined: readonly MetricName[] = [
  ...headlineMetrics.map(({ name }) => name),
  'distribution',
  'movements',
  'gain',
  'best_rank',
  'head_to_head',
  'site_share',
]

/** The definition of every figure, then the CTR curve rank by rank. */
function definitionsSheet(measure: MetricOptions): Sheet {
  const { name, version, source, rates } = measure.curve
  const all = [
    ...defined.map((metric) => {
      const { label, ...words } = definitionOf(metric, measure)
      return { figure: label, ...words, ctr: null }
    }),
    ...rates.map((ctr, place) => ({
      figure: `CTR(${place + 1})`,
      unit: 'share',
      better: null,
      definition: `click-through rate of rank ${place + 1}: ${name}, ${version}`,
      formula: null,
      denominator: 'searches',
      missing: null,
      source,
      ctr,
    })),
  ]
  return sheet<(typeof all)[number]>(
    'Definitions',
    [
      field('figure', 'text', ({ figure }) => figure),
      field('unit', 'text', ({ unit }) => unit, 14),
      field('better', 'text', ({ better }) => better, 8),
      field('definition', 'text', ({ definition }) => definition, 60),
      field('formula', 'text', ({ formula }) => formula, 50),
      field('denominator', 'text', ({ denominator }) => denominator, 40),
      field('absent and unknown', 'text', ({ missing }) => missing, 50),
      field('source', 'text', ({ source: from }) => from, 50),
      field('CTR', 'percent', ({ ctr }) => ctr),
    ],
    all,
  )
}

/** A column of a sheet, with the cell that it makes of a thing. */
interface SheetField<T> extends SheetColumn {
  readonly of: (thing: T) => SheetCell
}

const widths: Readonly<Record<Exclude<CellKind, 'prose'>, number>> = {
  text: 24,
  number: 12,
  decimal: 12,
  date: 12,
  datetime: 20,
  percent: 12,
}

/** A column with a width that fits most of its cells. */
function field<T>(
  header: string,
  kind: keyof typeof widths,
  of: (thing: T) => SheetCell,
  width = widths[kind],
): SheetField<T> {
  return { header, kind, width: Math.max(width, header.length + 3), of }
}

/** A sheet with a row for each thing. */
function sheet<T>(name: string, fields: readonly SheetField<T>[], things: Iterable<T>): Sheet {
  return {
    name,
    columns: fields.map(({ header, kind, width }) => ({ header, kind, width })),
    rows: rows(),
  }

  function* rows(): Generator<readonly SheetCell[]> {
    for (const thing of things) yield fields.map(({ of }) => of(thing))
  }
}

/** The columns that name a keyword; rows of all sheets can be joined by them. */
function keywordFields<T>(history: RankHistory, keywordOf: (thing: T) => Keyword): readonly SheetField<T>[] {
  const param = (name: string) =>
    field<T>(name, 'text', (thing) => keywordOf(thing).params[name] ?? null, name === 'location' ? 20 : 6)
  return [
    field('query', 'text', (thing) => keywordOf(thing).query, 36),
    field('operation', 'text', (thing) => keywordOf(thing).operation, 14),
    ...[...usualParams, ...otherParams(history)].map(param),
  ]
}

const usualParams = ['gl', 'hl', 'location']

/** Further parameters that keywords are asked with. */
function otherParams({ keywords }: RankHistory): readonly string[] {
  const all = new Set(keywords.flatMap(({ params }) => Object.keys(params)))
  return [...all].filter((name) => !usualParams.includes(name)).sort()
}
