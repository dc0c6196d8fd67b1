import { setFlagsFromString } from 'node:v8'
import { UsageError } from '../../../model/errors.ts'
import type { ResultKind } from '../../../model/result.ts'
import { suspicions } from '../../../model/run.ts'
import { type Audience, audiences, comparison, period } from '../../../model/settings.ts'
import { normalText, parseDuration } from '../../../model/text.ts'
import { listOption, type OptionSpecs, switchOption, textOption } from '../../../model/values.ts'
import { asStream } from '../../../output/formats/format.ts'
import { isScreen, note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { defaultCurve } from '../../../report/ctr.ts'
import { type RowOrder, rowOrders } from '../../../report/formats/rows.ts'
import { partsOf } from '../../../report/history/filter-history.ts'
import type { RankHistory } from '../../../report/history/rank-history.ts'
import type { MetricOptions } from '../../../report/metrics/figure.ts'
import { hasTab, type Presentation, plainPresentation } from '../../../report/presentation/presentation.ts'
import {
  type Paper,
  papers,
  type RankedJob,
  type ReportFormat,
  type ReportFormatEntry,
} from '../../../report/report.ts'
import { presentationOf, presentationSettings } from '../../../report/requests/presentation.ts'
import { notYetRun } from '../../../report/requests/rank-report.ts'
import { reportSource } from '../../../report/requests/report-source.ts'
import { kinds as kindLabels } from '../../../report/words/en/figures.ts'
import { browserPlaces, databaseFile } from '../../../run/config.ts'
import { clickCurves } from '../../../run/job-curve.ts'
import { openCopy, openReader, type Store } from '../../../store/sqlite/open.ts'
import {
  day,
  dayArguments,
  findJob,
  formatArguments,
  type ReportFormatName,
  syncFirst,
  syncFirstFlags,
} from '../../arguments.ts'
import { sharedFlags, type TypedOptions } from '../../flags.ts'
import { outFile } from '../../output.ts'

export const reportFlags = {
  ...sharedFlags.output(Object.keys(formatArguments.ofReports)),
  period: textOption(
    '7d, 28d, month, last-month, quarter, all or two days such as 2026-10-01..2026-10-31; default: 28d, or the whole history if it is shorter',
  ),
  compare: textOption(
    'previous-period, year, a day, or how long ago, for instance 7d; default: the day before the period; for csv, json, jsonl and --metrics 1d',
  ),
  tolerance: sharedFlags.compare.tolerance,
  date: textOption('The report as of this local day; default: the latest'),
  tag: listOption('Keywords with this tag only'),
  where: listOption(
    "Keywords of which this is true only, for instance 'volume>1000 and tag=money' or 'team=red'",
  ),
  target: listOption('This target only, by its name in the report'),
  kind: textOption(
    'Kind of results that the figures count: organic, news, video, image, reference [organic]',
  ),
  rows: switchOption('Also every rank, below the story; into a pipe or a file they are always written'),
  sort: textOption('query, rank, change or volume [query]'),
  metrics: switchOption('The figures only; with --json each with its definition and coverage'),
  ctr: textOption('File with a CTR curve of your own: rank,ctr'),
  absent: textOption('What an absent rank counts as: depth, looked-at, ranked-only or a rank [depth]'),
  for: textOption('client or team; a client is shown no runs, credits or operations [team]'),
  comment: textOption('Markdown file with words of your own, shown on top'),
  serps: textOption('html: include the top results of this many more days, for instance 30d'),
  paper: textOption('pdf: a4 or letter [a4]'),
  ...syncFirstFlags,
  explain: textOption('One query instead: its results page by page, and which target each matches and why'),
} satisfies OptionSpecs

export type ReportOptions = TypedOptions<typeof reportFlags>
export type ReportFlags = ReportOptions & { readonly job: string }

/**
 * V8 as a document needs it, which is written in a second or two: functions are optimised later and inline less, because much of what would be
 * optimised is not called any more, and the heap grows less. An HTML report of 5,000 keywords and 30 days takes 15 % less processor time
 * and 15 MB less.
 */
const briefWork = [
  '--interrupt-budget=400000',
  '--max-inlined-bytecode-size-cumulative=100',
  '--heap-growing-percent=120',
]
/**
 * Room for new objects stays as large as it is when what makes a document is loaded: an HTML report of 5,000 keywords and 30 days takes
 * 40 MB less, and 4 % more processor time.
 */
const noMoreRoom = '--semi-space-growth-factor=1'

/** Where the targets of a job stand, how they moved, and why one query says what it says. */
export async function report(flags: ReportFlags, terminal: Terminal): Promise<number> {
  rejectWithExplain(flags)
  outFile.rejectInput(flags.out, [flags.job, flags.ctr, flags.comment])
  const json = flags.explain === undefined ? false : formatArguments.isJsonAsked(flags)
  const format = await chosenReportFormat(flags, terminal)
  const isBrief = format.document === true && process.versions.v8.startsWith('11.')
  if (isBrief) for (const flag of briefWork) setFlagsFromString(flag)
  const csv = formatArguments.csvStyle(flags)
  const { audience, measure: options, period: requestedPeriod, tolerance } = reportChoices(flags, format)
  const order = rowOrder(flags)
  const days = serpDays(flags)
  const paper = paperOf(flags)
  const date = day('--date', flags.date)
  const database = databaseFile.path(flags)
  await syncFirst(flags, terminal)
  await using reader = await openReader(database)
  await outFile.refuseOntoJobFiles(reader, flags)
  const named = await findJob(reader, flags, terminal)
  if (named === null) return 2
  const { name: job, settings } = named
  // What new targets would have been is found in a copy: a report changes nothing, and the next run keeps it.
  const hasNew = settings !== null && reader.runsToBackfill(job, settings.targets, null).length > 0
  await using copy = hasNew ? await openCopy(database) : null
  const store = copy ?? reader
  if (hasNew) {
    const { backfillAndNotify } = await import('../../../run/derive.ts')
    await backfillAndNotify(store, settings, null, (line) => note(terminal, line))
  }
  const measure = await clickCurves.measureOf(store, options, { job, settings, date })
  const layout = layoutOf(flags, terminal)
  const presentation =
    format.document === true
      ? await presentationOf(await presentationSettings(reader, job, settings), {
          audience,
          comment: flags.comment,
        })
      : plainPresentation
  if (isBrief) setFlagsFromString(noMoreRoom)
  const {
    ranked,
    presentation: shown,
    chunks,
  } = await atOneMoment(store, async () => {
    if (flags.explain !== undefined) {
      const { explainQuery } = await import('../../../report/explain/explain.ts')
      const wanted = { job, text: normalText(flags.explain), date }
      const text = await explainQuery(store, wanted, { json, width: layout.width })
      return { ranked: null, presentation, chunks: asStream(text) }
    }
    const source = await reportSource(store, {
      job,
      settings,
      format,
      date,
      period: requestedPeriod,
      tolerance,
      measure,
      order,
      layout,
      presentation,
      serpDays: days,
      paper,
      browsers: browserPlaces(),
      filter: { tags: flags.tag, targets: flags.target, where: flags.where },
      csv,
    })
    const { ranked } = source
    refuseMissingKind(measure, ranked.history)
    return { ranked, presentation: source.presentation, chunks: format.chunks(source) }
  })
  if (ranked?.history.series.length === 0) terminal.log(whyEmpty(job, ranked, date))
  const suspect = ranked?.history.suspect
  // What programs read has no sentences, or is read by none who could see them.
  if (suspect !== undefined && format.dayBefore === true)
    terminal.log(
      `The last run of ${job} is suspect: ${suspicions.text(suspect)}. Check before you tell anyone.`,
    )
  // Of a part of the keywords a view without any is no mistake.
  if (format.tabs === true && flags.tag === undefined && flags.where === undefined)
    for (const line of viewsWithoutTab(shown, ranked?.history)) note(terminal, line)
  await outFile.write(chunks, flags.out, terminal, ranked !== null && format.painted === true)
  return 0
}

/** A report reads one thing after the other; what is collected meanwhile is in none of them. */
async function atOneMoment<T>(store: Store, read: () => Promise<T>): Promise<T> {
  using _ = store.snapshot()
  return await read()
}

/** How text is written: for this terminal, or for a file, which is the same on every machine. A pipe and a file get all rows. */
function layoutOf({ out, rows = false }: ReportFlags, terminal: Terminal) {
  const { columns, color, ascii = false } = terminal
  return out === undefined
    ? { width: columns, color, ascii, rows: rows || !isScreen(terminal) }
    : { width: outFile.columns, color: false, ascii: false, rows: true }
}

function whyEmpty(job: string, { runs }: RankedJob, date: string | undefined): string {
  if (runs.length === 0) return notYetRun(job, date)
  return `The job ${job} has no rankings: it tracks no targets. Results are in: rankline export organic --job ${job}`
}

/** A tag may come from a CSV file, so that only a report can tell that no keyword has it. */
function viewsWithoutTab({ views }: Presentation, history: RankHistory | undefined): readonly string[] {
  if (history === undefined || history.days.length === 0) return []
  return views
    .filter((view) => !hasTab(view, history))
    .map(({ name, tags, kinds, where }) => {
      const wanted = [
        ...(tags.length === 0 ? [] : [`one of its tags (${tags.join(', ')})`]),
        ...(kinds.length === 0 ? [] : [`one of its kinds of results (${kinds.join(', ')})`]),
        ...(where === undefined ? [] : [`what its condition asks for (${where})`]),
      ]
      return sanitize(`The view '${name}' has no tab: no keyword has ${wanted.join(' and ')}`)
    })
}

/** Ten years: a date stays a date. */
const mostSerpDays = 3_653

/** The format that flags ask for. Throws a sentence where another flag has no meaning for it, or it cannot be shown. */
export async function chosenReportFormat(flags: ReportOptions, terminal: Terminal): Promise<ReportFormat> {
  const name = formatArguments.chosen(flags, Object.keys(formatArguments.ofReports) as ReportFormatName[])
  const entry: ReportFormatEntry | undefined =
    flags.metrics === true ? figureFormats[name] : formatArguments.ofReports[name]
  if (entry === undefined)
    throw new UsageError(
      `--metrics has no meaning for --format ${name}: figures alone are text, or JSON with --json`,
    )
  const format = await entry.load()
  refuseMeaningless(flags, format, flags.metrics === true ? '--metrics' : `--format ${name}`)
  if (format.binary === true && flags.out === undefined && isScreen(terminal))
    throw new UsageError(`A terminal cannot show ${name}. Name a file with --out, or write into a pipe`)
  return format
}

const noDocument = 'which is no document; use --format html, pdf, email, md or xlsx'
const noComment = 'which does not show it; use --format html, pdf, email or md'

function refuseMeaningless(flags: ReportOptions, format: ReportFormat, named: string): void {
  const { ctr, absent, kind, sort, serps, raw, excel, for: reader, comment, paper } = flags
  const reasons = [
    ['--ctr', ctr !== undefined && format.measured !== true, 'which has ranks and no figures'],
    ['--absent', absent !== undefined && format.measured !== true, 'which has ranks and no figures'],
    ['--kind', kind !== undefined && format.measured !== true, 'which has ranks and no figures'],
    ['--sort', sort !== undefined && format.sorted !== true, 'which has no rows'],
    ['--serps', serps !== undefined && format.serps !== true, 'which has none; use --format html'],
    ['--for', reader !== undefined && format.document !== true, noDocument],
    ['--comment', comment !== undefined && format.commented !== true, noComment],
    ['--paper', paper !== undefined && format.printed !== true, 'which is not printed; use --format pdf'],
    ['--raw', raw === true && format.csv !== true, 'where no text runs as a formula; use --format csv'],
    ['--excel', excel === true && format.csv !== true, 'which is no CSV; use --format csv'],
  ] as const
  const found = reasons.find(([, meaningless]) => meaningless)
  if (found !== undefined) throw new UsageError(`${found[0]} has no meaning for ${named}, ${found[2]}`)
}

/** What options say of a report of one job and of several: for whom it is, how it is measured, and of which days. */
export function reportChoices(flags: ReportOptions, format: Pick<ReportFormat, 'dayBefore'>) {
  return {
    audience: audienceOf(flags),
    measure: metricOptions(flags),
    period: {
      period: formatArguments.valueFlag('--period', flags.period, period),
      compare: formatArguments.valueFlag('--compare', flags.compare, comparison),
    },
    tolerance: toleranceOf(flags, format),
  }
}

/** Who is to read the report. */
function audienceOf({ for: reader = 'team' }: ReportOptions): Audience {
  const audience = audiences.find((one) => one === reader)
  if (audience !== undefined) return audience
  throw new UsageError(`--for cannot be '${reader}'; write client or team`)
}

/** Days that an observation may lie from the compared day. Throws where no day is named that is compared with. */
function toleranceOf(
  { period, compare, tolerance }: ReportOptions,
  { dayBefore }: Pick<ReportFormat, 'dayBefore'>,
): number | undefined {
  const days = dayArguments.days('--tolerance', tolerance)
  if (days === undefined || dayBefore !== true || period !== undefined || compare !== undefined) return days
  throw new UsageError(
    '--tolerance has no meaning without --period or --compare, where the day before is compared with',
  )
}

/** How rows are to be sorted. */
export function rowOrder({ sort }: ReportOptions): RowOrder {
  const order = sort === undefined ? rowOrders[0] : rowOrders.find((one) => one === sort)
  if (order !== undefined) return order
  throw new UsageError(`--sort cannot be '${sort}'; write one of ${rowOrders.join(', ')}`)
}

/** The paper that a PDF is for. */
function paperOf({ paper = papers[0] }: ReportOptions): Paper {
  const size = papers.find((one) => one === paper.toLowerCase())
  if (size !== undefined) return size
  throw new UsageError(`--paper cannot be '${paper}'; write one of ${papers.join(', ')}`)
}

/** Days before the last one whose SERPs go along. */
function serpDays({ serps }: ReportOptions): number {
  if (serps === undefined) return 0
  const days = (parseDuration(serps, 'dw') ?? Number.NaN) / 86_400_000
  if (days <= mostSerpDays) return days
  throw new UsageError(`--serps cannot be '${serps}'; write days such as 7d, 4w or 30d`)
}

/** What says how ranks are compared, chosen or written has no meaning for one query's evidence. */
function rejectWithExplain(flags: ReportOptions): void {
  if (flags.explain === undefined) return
  const { period, compare, tolerance, raw, excel, format, ctr, absent, kind, metrics, sort } = flags
  const { serps, paper, tag, where, target, comment } = flags
  const ofDays = { period, compare, tolerance, serps }
  const others = {
    ...ofDays,
    raw,
    excel,
    format,
    ctr,
    absent,
    kind,
    metrics,
    sort,
    paper,
    tag,
    where,
    target,
    comment,
  }
  const meaningless = Object.entries(others).find(([, value]) => value !== undefined)
  if (meaningless !== undefined)
    throw new UsageError(
      `--${meaningless[0]} has no meaning for --explain, which prints text, or JSON with --json`,
    )
}

/** How a report is to measure. Throws a sentence where the flags are wrong, and one for each mistake in the curve. */
export function metricOptions({ ctr, absent, kind }: ReportOptions): MetricOptions {
  return {
    curve: ctr === undefined ? defaultCurve : clickCurves.read(ctr),
    absent: absentOf(absent),
    ...(kind === undefined ? {} : { kind: kindOf(kind) }),
  }
}

/** Kinds of results that are ranked, as they are named in JSON. */
const kinds = ['organic', 'news', 'video', 'image', 'reference'] as const satisfies readonly ResultKind[]

/** As in JSON, or as `export` names them. */
function kindOf(text: string): ResultKind {
  const kind = kinds.find((one) => one === text || `${one}s` === text)
  if (kind !== undefined) return kind
  throw new UsageError(`--kind cannot be '${text}'; write one of ${kinds.join(', ')}`)
}

/** Throws where the report has no ranks of the kind that its figures are to be of. */
function refuseMissingKind({ kind }: MetricOptions, history: RankHistory): void {
  const has = partsOf(history).map((part) => part.kind)
  if (kind === undefined || has.length === 0 || has.includes(kind)) return
  throw new UsageError(
    `The job ${history.job} has no ranks of ${kindLabels[kind]}; write --kind ${[...new Set(has)].join(' or ')}, or leave it out`,
  )
}

/** Deeper is looked nowhere. */
const deepest = 100_000

function absentOf(text = 'depth'): NonNullable<MetricOptions['absent']> {
  if (text === 'depth') return 'depth'
  if (text === 'looked-at') return 'looked at'
  if (text === 'ranked-only') return 'left out'
  const rank = /^\d+$/.test(text) ? Number(text) : 0
  if (rank >= 1 && rank <= deepest) return rank
  throw new UsageError(
    `--absent cannot be '${text}'; write depth, looked-at, ranked-only, or a rank such as 101`,
  )
}

/** The formats of the figures without the ranks. */
const figureFormats: Partial<Record<ReportFormatName, ReportFormatEntry>> = {
  table: {
    extensions: [],
    load: async () => (await import('../../../report/formats/table.ts')).figuresFormat,
  },
  json: {
    extensions: ['.json'],
    load: async () => (await import('../../../report/formats/figures-json.ts')).figuresJsonFormat,
  },
}
