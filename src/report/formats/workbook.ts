import type { Target } from '../../model/job.ts'
import type { Row } from '../../model/result.ts'
import { capitalised } from '../../model/text.ts'
import { type CellKind, type Sheet, type SheetCell, workbook } from '../../output/xlsx.ts'
import { type WholeReport, wholeReport } from '../build-data.ts'
import { hasClicks, historyOfParts, type Part, partsOf } from '../history/filter-history.ts'
import { keywordStatuses, valueOn } from '../history/keyword-status.ts'
import type { Keyword, RankHistory } from '../history/rank-history.ts'
import { definitionOf, type MetricName, metrics } from '../metrics/definitions.ts'
import type { MetricOptions } from '../metrics/figure.ts'
import { headlineMetrics } from '../metrics/index.ts'
import { movementNames, winnersAndLosers } from '../metrics/movements.ts'
import { rankingLinks } from '../metrics/pages.ts'
import { buckets, top } from '../metrics/positions.ts'
import { serpPairs } from '../metrics/serps.ts'
import { discoverCompetitors } from '../metrics/shares.ts'
import { notesOfPeriod } from '../presentation/presentation.ts'
import type { ReportFormat } from '../report.ts'
import { shownMoves, storiesOf } from '../story/story.ts'
import {
  linesOf,
  type PartOfTarget,
  type Summary,
  segments,
  statusesByTarget,
  summarise,
} from '../summary.ts'
import { kinds } from '../words/en/figures.ts'
import { threeDigits } from '../words/formats.ts'
import { periodSentence, type Words, wordsOf } from '../words/words.ts'
import { wholeRows } from './rows.ts'

/** A report as an XLSX workbook. */
export const workbookFormat: ReportFormat = {
  chunks: (source) => reportWorkbook(wholeReport(source)),
  binary: true,
  document: true,
  measured: true,
  sorted: true,
}

export function reportWorkbook(whole: WholeReport): AsyncIterable<Buffer> {
  const { history, compare, measure, presentation } = whole
  const summary = summarise(history, { ...measure, compare })
  const say = wordsOf(presentation.language)
  const told = storiesOf(whole, { say, mark: (name) => name })
  const isForClient = presentation.audience === 'client'
  const sheets = [
    firstSheet(whole, told, summary, say),
    summarySheet(summary, whole),
    stepsSheet(told, history),
    tagsSheet(whole),
    rankingsSheet(whole),
    movementSheet(whole),
    serpsSheet(whole),
    competitorsSheet(summary),
    sitesSheet(whole),
    ...(isForClient ? [] : [runsSheet(whole)]),
    definitionsSheet(measure),
    historySheet(history),
  ]
  // Clients read kinds of results where others read operations.
  const shown = isForClient ? sheets.map((one) => withHeads(one, { operation: 'results' })) : sheets
  return workbook(
    shown.map((one) =>
      ofPrograms.has(one.name)
        ? one
        : { ...withHeads(one, say.workbook.heads), name: say.workbook.sheets[one.name] ?? one.name },
    ),
  )
}

/** Sheets whose columns are those of other formats, by names that programs read. */
const ofPrograms: ReadonlySet<string> = new Set(['Rankings', 'Runs', 'Rank history'])

function withHeads({ columns, ...rest }: Sheet, heads: Readonly<Record<string, string>>): Sheet {
  return { ...rest, columns: columns.map((one) => ({ ...one, header: heads[one.header] ?? one.header })) }
}

type CellStyle = Extract<SheetCell, object>['style']

/** What people read first, from top to bottom, in the language of the report: what happened, what moved, what to do next, notes. */
function firstSheet(
  whole: WholeReport,
  told: ReturnType<typeof storiesOf>,
  { compared }: Summary,
  say: Words,
): Sheet {
  const { presentation, period, history } = whole
  const { title, client } = presentation
  const { columns } = say.markdown
  const { blocks } = say.overview
  const styled = (style: CellStyle) => (value: string) => ({ value, style })
  const [heading, ofNumbers] = [styled('heading'), styled('heading of numbers')]
  const [paragraph, figure] = [styled('paragraph'), styled('figure')]
  const clicksOf = (clicks: number | null, style: CellStyle): SheetCell =>
    clicks === null ? null : { value: Math.sign(clicks) * threeDigits(clicks), style }
  const headOfClicks = (title: string) => [heading(title), null, ofNumbers(say.portfolio.columns.clicks)]
  const block = (head: readonly SheetCell[], lines: readonly (readonly SheetCell[])[]) =>
    lines.length === 0 ? [] : [[], head, ...lines]
  const stories = told.flatMap(({ label, sentences, limits, cards, moves, steps, nothing }) => [
    [],
    ...(label === null ? [] : [[heading(label)]]),
    ...[...sentences.map(({ text }) => text), ...limits].map((text) => [paragraph(text)]),
    ...block(
      [
        heading(capitalised(columns.figure)),
        ofNumbers(capitalised(columns.value)),
        ofNumbers(capitalised(columns.change)),
        cards.some(({ about }) => about) ? heading(capitalised(columns.of)) : null,
      ],
      cards.map(({ label, value, change, about }) => [
        label,
        figure(value),
        change === null ? null : figure(change.text),
        about,
      ]),
    ),
    ...block(
      headOfClicks(blocks.moved),
      moves
        .slice(0, shownMoves)
        .map(({ name, from, to, clicks, about }) => [
          name,
          figure(`${from} → ${to}`),
          clicksOf(clicks, 'signed'),
          about,
        ]),
    ),
    ...block(
      headOfClicks(blocks.next),
      steps.length === 0 && cards.length > 0
        ? [[paragraph(nothing)]]
        : steps.map(({ what, reason, clicks, pages }) => [
            what,
            null,
            clicksOf(clicks, 'grouped'),
            [reason, ...pages.map(({ where, page }) => `(${say.story.inMarket(where, page)})`)].join(' '),
          ]),
    ),
  ])
  const rows = [
    [{ value: title ?? say.email.heading(client ?? history.job), style: 'title' as const }],
    ...(title === null || client === null ? [] : [[paragraph(say.brand.for(client))]]),
    [paragraph(periodSentence(say, period, compared))],
    ...stories,
    ...block(
      [heading(blocks.notes)],
      notesOfPeriod(whole).map(({ date, text }) => [text, figure(say.shortDay(date))]),
    ),
  ]
  return {
    name: say.email.inShort,
    isText: true,
    columns: [40, 28, 18, 58].map((width) => ({ header: '', width, kind: 'prose' })),
    rows: history.days.length === 0 ? [[paragraph(say.markdown.nothing)]] : rows,
  }
}

/** What to do next, the most clicks at stake first. */
function stepsSheet(all: ReturnType<typeof storiesOf>, history: RankHistory): Sheet {
  const lines = all.flatMap(({ label, steps }) =>
    steps.flatMap((step) =>
      step.statuses.map((status) => ({ label, step, status, keyword: status.keyword })),
    ),
  )
  return sheet('What to do next', lines, [
    ['target', 'text', ({ label }) => label],
    ['what', 'text', ({ step }) => step.what, 40],
    ...keywordFields(history),
    ['reason', 'text', ({ step }) => step.reason, 80],
    ['clicks a month', 'decimal', ({ step }) => step.clicks],
    ['rank', 'number', ({ status }) => status.current.rank],
    ['volume', 'number', ({ keyword }) => keyword.volume],
    ['page', 'text', ({ step, status }) => step.pages.find((one) => one.statuses.includes(status))?.page, 50],
  ])
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

/** The rows of the report as in CSV, without what is for programs alone: the last sheet has that. */
function rankingsSheet({ report, presentation, history, measure }: WholeReport): Sheet {
  const hidden = ['params', 'exactness', ...(presentation.audience === 'team' ? [] : ['run_id'])]
  const { columns, rows } = wholeRows(report, history, measure.curve)
  return sheet('Rankings', rows, [
    ...columns
      .filter(([name]) => !hidden.includes(name))
      .map(([name, kind]): SheetField<Row> => [name, kind, (row) => row[name], textWidths[name]]),
    ...otherParams(history).map(
      (name): SheetField<Row> => [name, 'text', ({ params }) => JSON.parse(String(params))[name]],
    ),
  ])
}

/** Every winner and loser, over all kinds of results, in the order of their worth. */
function movementSheet({ history, compare, measure }: WholeReport): Sheet {
  const byTarget = statusesByTarget(keywordStatuses(history, compare))
  const moved = history.targets.flatMap(({ label }, target) => {
    const { winners, losers } = winnersAndLosers(byTarget.get(target) ?? [], measure.curve)
    return [...winners, ...losers].map(({ status, gain }) => ({ ...status, gain, label }))
  })
  return sheet('Movement', moved, [
    ['target', 'text', ({ label }) => label],
    ['movement', 'text', ({ change }) => change.movement, 12],
    ...keywordFields(history),
    ['volume', 'number', ({ keyword }) => keyword.volume],
    ['previous_rank', 'number', ({ baseline }) => baseline?.value.rank],
    ['rank', 'number', ({ current }) => current.rank],
    ['change', 'number', ({ change }) => change.change],
    [`${metrics.gain.label}, ${metrics.gain.unit}`, 'decimal', ({ gain }) => gain],
  ])
}

/** A row for each observed day, keyword and target: the input of a pivot table. */
function historySheet(history: RankHistory): Sheet {
  // Excel reserves the name History.
  return sheet('Rank history', observations(history), [
    ['date', 'date', ({ date }) => date],
    ...keywordFields(history),
    ['tags', 'text', ({ keyword }) => keyword.tags.join(';'), 16],
    ['volume', 'number', ({ keyword }) => keyword.volume],
    ['target', 'text', ({ target }) => target.label],
    ownField,
    ['state', 'text', ({ value }) => value.state, 10],
    ['rank', 'number', ({ value }) => value.rank],
    ['depth', 'number', ({ value }) => value.depth],
    ['url', 'text', ({ url }) => url, 50],
    ['exactness', 'text', ({ value }) => value.exactness, 11],
    ['params', 'text', ({ keyword }) => JSON.stringify(keyword.params), 20],
  ])
}

function* observations({ days, keywords, targets, series, links }: RankHistory) {
  for (const one of series) {
    const ranking = rankingLinks(one)
    const [keyword, target] = [keywords[one.keyword] as Keyword, targets[one.target] as Target]
    for (const day of one.cells.keys()) {
      const value = valueOn(one, day)
      const url = links[ranking[day] ?? -1]
      if (value !== null) yield { date: days[day], keyword, target, value, url }
    }
  }
}

/** The first ten results of every keyword on the latest and on the compared day. */
function serpsSheet({ history, serps, texts, links, sites }: WholeReport): Sheet {
  const lines = serps.flatMap(({ day, keyword, results }) =>
    results.map(([rank, title, link, site, targets]) => ({
      date: history.days[day],
      keyword: history.keywords[keyword] as Keyword,
      rank,
      title: texts[title ?? -1],
      link: links[link ?? -1],
      site: sites[site ?? -1],
      targets,
    })),
  )
  return sheet('SERPs', lines, [
    ['date', 'date', ({ date }) => date],
    ...keywordFields(history),
    ['rank', 'number', ({ rank }) => rank],
    ['title', 'text', ({ title }) => title, 50],
    ['link', 'text', ({ link }) => link, 60],
    ['site', 'text', ({ site }) => site],
    ['target', 'text', ({ targets }) => labelsOf(targets, history)],
  ])
}

/** Every site among the first ten results of each kind and engine, with its gain. */
function sitesSheet({ history, compare, measure, serps, sites }: WholeReport): Sheet {
  const { curve } = measure
  const lines = partsOf(history, measure.kind).flatMap((part) => {
    if (!hasClicks(part.kind)) return []
    const some = historyOfParts(history, [part])
    const found = discoverCompetitors(serpPairs(some, serps, compare), { history: some, curve })
    return found.sites.map((site) => ({ ...part, ...site }))
  })
  return sheet('Sites', lines, [
    ...partFields,
    ['site', 'text', ({ site }) => sites[site]],
    ['target', 'text', ({ targets }) => labelsOf(targets, history)],
    ['SERPs', 'number', ({ appearances }) => appearances],
    ['SERPs before', 'number', ({ appearancesBefore }) => appearancesBefore],
    ['share', 'percent', ({ share }) => share],
    ['share before', 'percent', ({ shareBefore }) => shareBefore],
    ['change', 'percent', ({ change }) => change],
  ])
}

/** The names of targets, joined by `;` as tags are. */
function labelsOf(targets: readonly number[], history: RankHistory): string {
  return targets.map((one) => history.targets[one]?.label ?? '').join(';')
}

const ownField: SheetField<{ readonly target: Target }> = ['own', 'number', ({ target }) => +target.own, 6]

const partFields: readonly SheetField<Part>[] = [
  ['results', 'text', ({ kind }) => kinds[kind], 14],
  ['engine', 'text', ({ engine }) => engine, 8],
]

const targetFields: readonly SheetField<PartOfTarget>[] = [
  ['target', 'text', ({ target }) => target.label],
  ['site', 'text', ({ target }) => target.site],
  ownField,
  ...partFields,
  ['asked', 'number', ({ coverage }) => coverage.expected],
  ['observed', 'number', ({ coverage }) => coverage.observed],
  ['ranked', 'number', ({ coverage }) => coverage.ranked],
  ['known on both days', 'number', ({ knownOnBothDays }) => knownOnBothDays],
  ...headlineMetrics.flatMap(({ name, label, unit }): readonly SheetField<PartOfTarget>[] => {
    const kind = unit === 'share' ? 'percent' : 'decimal'
    return [
      [label, kind, ({ figures }) => figures[name].value],
      [`${label}, change`, kind, ({ figures }) => figures[name].cohort?.delta],
    ]
  }),
]

/** A row for each target, kind of results and engine: its figures, and its keywords by rank and by movement. */
function summarySheet(summary: Summary, { period }: WholeReport): Sheet {
  const { date, compared, parts, otherParts } = summary
  return sheet('Summary', linesOf(summary, [...parts, ...otherParts]), [
    ['date', 'date', () => date],
    ['period from', 'date', () => period?.from],
    ['period until', 'date', () => period?.until],
    ['compared from', 'date', () => compared[0]],
    ['compared to', 'date', () => compared.at(-1)],
    ...targetFields,
    ...buckets.map((name): SheetField<PartOfTarget> => {
      const head = /\d/.test(name) ? `rank ${name}` : name
      return [head, 'number', ({ distribution }) => distribution[name]]
    }),
    ...movementNames.map(
      (name): SheetField<PartOfTarget> => [`moved: ${name}`, 'number', ({ movements }) => movements[name]],
    ),
  ])
}

/** The same figures for each tag; a keyword counts in each of its tags. */
function tagsSheet({ history, compare, measure }: WholeReport): Sheet {
  return sheet('Tags', segments(history, { ...measure, compare }), [
    ['tag', 'text', ({ tag }) => tag],
    ...targetFields,
    ['top 10', 'number', ({ distribution }) => top(distribution, 10)],
  ])
}

/** Each target against every other target. */
function competitorsSheet({ targets }: Summary): Sheet {
  const pairs = targets.flatMap(({ target, competitors }) =>
    competitors.map((rivalry) => ({ ...rivalry, target })),
  )
  return sheet('Competitors', pairs, [
    ['target', 'text', ({ target }) => target.label],
    ownField,
    ['against', 'text', ({ other }) => other.label],
    ['won', 'number', ({ won }) => won],
    ['lost', 'number', ({ lost }) => lost],
    ['tied', 'number', ({ tied }) => tied],
    ['neither', 'number', ({ neither }) => neither],
    ['undecided', 'number', ({ undecided }) => undecided],
  ])
}

/** How the last runs ended and what they cost. */
function runsSheet({ runs }: WholeReport): Sheet {
  return sheet('Runs', runs, [
    ['run', 'number', ({ run }) => run],
    ['date', 'date', ({ date }) => date],
    ['finish_reason', 'text', ({ finishReason }) => finishReason],
    ['tasks_planned', 'number', ({ tasks }) => tasks.planned],
    ['tasks_done', 'number', ({ tasks }) => tasks.done],
    ['tasks_failed', 'number', ({ tasks }) => tasks.failed],
    ['credits_spent', 'number', ({ spent }) => spent],
    ['credits_ambiguous', 'number', ({ ambiguous }) => ambiguous],
    ['mismatched_answers', 'number', ({ mismatched = 0 }) => mismatched],
  ])
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
  const lines = [
    ...defined.map((metric) => ({ ...definitionOf(metric, measure), ctr: null })),
    ...rates.map((ctr, place) => ({
      label: `CTR(${place + 1})`,
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
  return sheet('Definitions', lines, [
    ['figure', 'text', ({ label }) => label],
    ['unit', 'text', ({ unit }) => unit, 14],
    ['better', 'text', ({ better }) => better, 8],
    ['definition', 'text', ({ definition }) => definition, 60],
    ['formula', 'text', ({ formula }) => formula, 50],
    ['denominator', 'text', ({ denominator }) => denominator, 40],
    ['absent and unknown', 'text', ({ missing }) => missing, 50],
    ['source', 'text', ({ source: from }) => from, 50],
    ['CTR', 'percent', ({ ctr }) => ctr],
  ])
}

const widths: Readonly<Record<Exclude<CellKind, 'prose'>, number>> = {
  text: 24,
  number: 12,
  decimal: 12,
  date: 12,
  datetime: 20,
  percent: 12,
}

/** A column of a sheet, with the cell that it makes of a thing. By default it has a width that fits most cells of its kind. */
type SheetField<T> = readonly [
  header: string,
  kind: keyof typeof widths,
  cell: (thing: T) => SheetCell | undefined,
  width?: number | undefined,
]

/** A sheet with a row for each thing. */
function sheet<T>(name: string, things: Iterable<T>, fields: readonly SheetField<T>[]): Sheet {
  return {
    name,
    columns: fields.map(([header, kind, , width = widths[kind]]) => ({
      header,
      kind,
      width: Math.max(width, header.length + 3),
    })),
    rows: rows(),
  }

  function* rows(): Generator<readonly SheetCell[]> {
    for (const thing of things) yield fields.map(([, , cell]) => cell(thing) ?? null)
  }
}

/** The columns that name a keyword; rows of all sheets can be joined by them. */
function keywordFields(history: RankHistory): readonly SheetField<{ readonly keyword: Keyword }>[] {
  return [
    ['query', 'text', ({ keyword }) => keyword.query, 36],
    ['operation', 'text', ({ keyword }) => keyword.operation, 14],
    ...[...usualParams, ...otherParams(history)].map(
      (name): SheetField<{ readonly keyword: Keyword }> => [
        name,
        'text',
        ({ keyword }) => keyword.params[name],
        name === 'location' ? 20 : 6,
      ],
    ),
  ]
}

const usualParams = ['gl', 'hl', 'location']

/** Further parameters that keywords are asked with. */
function otherParams({ keywords }: RankHistory): readonly string[] {
  const all = new Set(keywords.flatMap(({ params }) => Object.keys(params)))
  return [...all].filter((name) => !usualParams.includes(name)).sort()
}
