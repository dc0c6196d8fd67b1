import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gatherStatus, type StatusDocument, statusDocument } from '../../../check/status.ts'
import { jobPlaces } from '../../../jobfile/files.ts'
import { RanklineError, UsageError } from '../../../model/errors.ts'
import type { JobSettings } from '../../../model/job.ts'
import type { Cell } from '../../../model/result.ts'
import { endOf, exitCodes } from '../../../model/run.ts'
import type { Audience, Language } from '../../../model/settings.ts'
import { count, firstNames } from '../../../model/text.ts'
import { latestKnown, systemClock } from '../../../model/time.ts'
import { writeFileAtomically } from '../../../output/file.ts'
import { asStream, type CsvStyle, cellsOf } from '../../../output/formats/format.ts'
import { rowFormats } from '../../../output/formats/index.ts'
import { asciiSigns } from '../../../output/table.ts'
import { note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { pageFormat, portfolioAssets } from '../../../page/html.ts'
import { portfolioPage } from '../../../page/portfolio/page.ts'
import {
  groupedProblems,
  inOrder,
  mostNamedClients,
  type PortfolioProblem,
  type PortfolioRanks,
  type PortfolioRow,
  portfolioRanks,
  portfolioTable,
} from '../../../report/formats/portfolio.ts'
import type { MetricOptions } from '../../../report/metrics/figure.ts'
import type { Presentation } from '../../../report/presentation/presentation.ts'
import type { ReportFormat, ReportSource } from '../../../report/report.ts'
import { presentationAnyway, presentationSettings } from '../../../report/requests/presentation.ts'
import { type ReportRequest, reportSource } from '../../../report/requests/report-source.ts'
import { wordsOf } from '../../../report/words/words.ts'
import { browserPlaces, databaseFile } from '../../../run/config.ts'
import { clickCurves } from '../../../run/job-curve.ts'
import { searchJob } from '../../../run/job-files.ts'
import { openCopy, openReader, type Store } from '../../../store/sqlite/open.ts'
import { findJob, formatArguments, syncFirst } from '../../arguments.ts'
import { outFile } from '../../output.ts'
import { type ReportOptions, reportChoices } from './report.ts'
import { problemText } from './status.ts'

const formats = ['table', 'csv', 'json', 'jsonl', 'html'] as const
type Format = (typeof formats)[number]

/** Several jobs in one place: a row each, the most clicks at stake first; as a page, with the own report of each job beside it. */
export async function portfolio(
  named: readonly string[] | null,
  flags: ReportOptions,
  terminal: Terminal,
): Promise<number> {
  const { format, out, folder } = chosenOutput(flags)
  refuseMeaningless(flags, format)
  outFile.rejectInput(out, [...(named ?? []), flags.ctr])
  const request = {
    ...reportChoices(flags, {}),
    layout: { width: outFile.columns, color: false, ascii: false, rows: false },
    format: {},
    browsers: browserPlaces(),
  }
  const database = databaseFile.path(flags)
  await syncFirst(flags, terminal)
  await using reader = await openReader(database)
  await outFile.refuseOntoJobFiles(reader, { out })
  const jobs = named === null ? await storedJobs(reader) : await namedJobs(reader, named, flags, terminal)
  if (jobs === null) return 2
  const now = systemClock.wall()
  const status = statusDocument(await gatherStatus(flags, now))
  const withNew = jobs.filter(
    ({ name, settings }) =>
      settings !== null && reader.runsToBackfill(name, settings.targets, null).length > 0,
  )
  await using copy = withNew.length > 0 ? await openCopy(database) : null
  const store = copy ?? reader
  for (const { settings } of withNew) {
    const { backfillAndNotify } = await import('../../../run/derive.ts')
    if (settings !== null) await backfillAndNotify(store, settings, null, (line) => note(terminal, line))
  }
  if (folder !== null) makeFolder(folder)
  const write = format === 'html' ? reportWriter(jobs, out as string) : null
  const rows: PortfolioRow[] = []
  for await (const row of portfolioRows(store, jobs, { ...request, status, now, write })) {
    const unseen = row.level === null ? null : unseenProblem(row.ranks)
    rows.push(unseen === null ? row : withProblem(row, unseen))
    terminal.status?.(`${rows.length} of ${count(jobs.length, 'job')}`)
  }
  terminal.status?.('')
  if (rows.length === 0) terminal.log('No job has run yet. Start one with: rankline run <job file>')
  await writeRows(
    { rows: inOrder(rows), status, now },
    { format, out, csv: formatArguments.csvStyle(flags) },
    terminal,
  )
  // Other formats have it in their rows.
  const plain = write === null ? [] : rows.flatMap(withoutLogo)
  for (const line of plain) terminal.log(line)
  return plain.length > 0 ? exitCodes.completed_with_failures : exitCodes.completed
}

/**
 * The format, and the file to write, or stdout. A folder that is named for it gets a page with the name that web servers show first, and is made
 * where it is missing.
 */
function chosenOutput(flags: ReportOptions) {
  const { out } = flags
  const isPlain = flags.format === undefined && flags.json !== true
  if (out !== undefined && namesFolder(out) && (isPlain || flags.format === 'html'))
    return { format: 'html' as const, out: join(out, 'index.html'), folder: out }
  const format = formatArguments.chosen(flags, formats)
  if (format === 'html' && out === undefined)
    throw new UsageError(
      'The page of several jobs has the report of each beside it. Name a file or a folder with --out',
    )
  return { format, out, folder: null }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true })
  } catch (error) {
    throw new UsageError(`The folder ${path} cannot be made. Give --out the name of another folder`, {
      cause: error,
    })
  }
}

function namesFolder(path: string): boolean {
  return /[\\/]$/.test(path) || jobPlaces.isFolder(path)
}

function refuseMeaningless(flags: ReportOptions, format: Format): void {
  const { tag, target, serps, paper, sort, metrics, kind, date, explain, comment, raw, excel } = flags
  const ofOneJob = { tag, target, serps, paper, sort, metrics, kind, date, explain, comment }
  const found = Object.entries(ofOneJob).find(([, value]) => value !== undefined)
  if (found !== undefined)
    throw new UsageError(`--${found[0]} has no meaning for several jobs. Leave it out, or name one job`)
  if (raw === true && format !== 'csv')
    throw new UsageError('--raw has no meaning here, where no text runs as a formula; use --format csv')
  if (excel === true && format !== 'csv')
    throw new UsageError('--excel has no meaning here, where nothing is CSV; use --format csv')
}

/** Every job of the database; what its newest run stored says how its report looks. */
async function storedJobs(store: Store): Promise<readonly PortfolioJob[]> {
  const names = await store.jobsThatRan()
  return names.filter((name) => name !== searchJob).map((name) => ({ name, settings: null }))
}

/** The jobs that were named, each once; null after mistakes in a file, which were logged. */
async function namedJobs(
  store: Store,
  named: readonly string[],
  { verbose }: ReportOptions,
  terminal: Terminal,
): Promise<readonly PortfolioJob[] | null> {
  const jobs = new Map<string, PortfolioJob>()
  for (const job of named) {
    const found = await findJob(store, { job, verbose }, terminal)
    if (found === null) return null
    if (!jobs.has(found.name)) jobs.set(found.name, found)
  }
  return [...jobs.values()]
}

/** Writes the page of each job beside that of all. */
function reportWriter(jobs: readonly PortfolioJob[], page: string) {
  const names = fileNames(
    jobs.map(({ name }) => name),
    [page.replace(/^.*[\\/]/, '')],
  )
  return async (source: ReportSource): Promise<string> => {
    const name = names.get(source.job) as string
    await writeFileAtomically(join(dirname(page), name), pageFormat.chunks(source))
    return name
  }
}

async function writeRows(
  {
    rows,
    status,
    now,
  }: {
    readonly rows: readonly PortfolioRow[]
    readonly status: StatusDocument
    readonly now: number
  },
  { format, out, csv }: Omit<ReturnType<typeof chosenOutput>, 'folder'> & { readonly csv: CsvStyle },
  terminal: Terminal,
): Promise<void> {
  const ofAll = status.problems.filter(({ job }) => job === null)
  if (format === 'html') {
    const page = { rows, language: commonLanguage(rows), now, problems: ofAll, ...moneyOf(status) }
    const assets = await portfolioAssets()
    await outFile.write(asStream(portfolioPage(page, assets)), out, terminal)
    const reports = rows.filter(({ file }) => file !== null).length
    note(terminal, `Beside it: ${count(reports, 'report')}`)
  } else if (format === 'table') {
    const isFile = out !== undefined
    const layout = isFile ? { columns: outFile.columns, color: false } : terminal
    const text = [
      problemText({ problems: [...ofAll, ...problemLines(rows)] }, layout),
      portfolioTable(rows, { width: layout.columns }),
    ]
    const shown = text.filter((part) => part !== '').join('\n')
    const isAscii = !isFile && terminal.ascii === true
    await outFile.write(asStream(isAscii ? asciiSigns(shown) : shown), out, terminal, true)
  } else {
    const json = format !== 'csv'
    const all = rows.map((row) => portfolioCells(row, json))
    const columns = portfolioColumns.map((name) => ({
      name,
      type: json && name === 'problems' ? ('json' as const) : ('text' as const),
    }))
    const write = await rowFormats[format].load()
    await outFile.write(write(cellsOf(all, columns), { columns, csv }), out, terminal)
  }
}

function moneyOf({ balance, spent_this_month }: StatusDocument) {
  return {
    balance: balance === null ? null : { credits: balance.credits, days: balance.days_left },
    spentThisMonth: spent_this_month,
  }
}

/** A job of a portfolio. */
interface PortfolioJob {
  readonly name: string
  /** What its file says now; null where it was named without one. */
  readonly settings: JobSettings | null
}

type PortfolioRequest = Parameters<typeof portfolioRows>[2]

/** Reads one job after the other. Of each only its row is kept: a portfolio needs as much memory as its largest job. */
async function* portfolioRows(
  store: Store,
  jobs: readonly PortfolioJob[],
  request: Pick<ReportRequest, 'period' | 'tolerance' | 'layout' | 'browsers'> & {
    readonly measure: MetricOptions
    readonly audience: Audience
    /** How all jobs are doing. */
    readonly status: StatusDocument
    readonly now: number
    readonly format: Pick<ReportFormat, 'dayBefore'>
    /** Writes the own report of a job, and answers the name of its file; null where none is wanted. */
    readonly write: ((source: ReportSource) => Promise<string>) | null
  },
): AsyncGenerator<PortfolioRow> {
  for (const job of jobs) {
    const { presentation, mistake } = await looksOf(store, job, request)
    const standing = await standingOf(store, job.name, request)
    const row = mistake === null ? standing : withProblem(standing, mistake)
    try {
      yield { ...row, ...(await reported(store, job, { ...request, presentation })) }
    } catch (error) {
      // A period without a run is a matter of one client.
      if (!(error instanceof RanklineError)) throw error
      const problem: PortfolioProblem = { level: 'warning', kind: 'report', text: sanitize(error.message) }
      yield withProblem(row, problem)
    }
  }
}

/** How the report of a job looks; without its logo where that cannot be read, and what is wrong with it. */
async function looksOf(
  store: Store,
  { name, settings }: PortfolioJob,
  { audience }: Pick<PortfolioRequest, 'audience'>,
): Promise<{ readonly presentation: Presentation; readonly mistake: PortfolioProblem | null }> {
  const given = await presentationSettings(store, name, settings)
  let mistake: PortfolioProblem | null = null
  const presentation = await presentationAnyway(given, audience, (error) => {
    if (!(error instanceof RanklineError)) throw error
    const text = `The report has no logo. ${sanitize(error.message)}`
    mistake = { level: 'warning', kind: 'logo', text }
  })
  return { presentation, mistake }
}

/** A line for a report that was written without its logo. */
function withoutLogo({ job, file, problems }: PortfolioRow): readonly string[] {
  const problem = problems.find(({ kind }) => kind === 'logo')
  return file === null || problem === undefined ? [] : [`${sanitize(job)}: ${problem.text}`]
}

/** What a job says of its report, and where it ranks. */
async function reported(
  store: Store,
  { name: job, settings }: PortfolioJob,
  {
    presentation,
    write,
    audience: _audience,
    status: _status,
    now: _now,
    ...request
  }: PortfolioRequest & { readonly presentation: Presentation },
): Promise<Pick<PortfolioRow, 'name' | 'language' | 'ranks' | 'file'>> {
  // What is collected meanwhile is in neither the row nor the report.
  using _snapshot = store.snapshot()
  const measure = await clickCurves.measureOf(store, request.measure, { job, settings })
  const source = await reportSource(store, { ...request, measure, job, settings, presentation })
  const file = write === null ? null : await write(source)
  return {
    name: presentation.client ?? presentation.title ?? job,
    language: presentation.language,
    ranks: portfolioRanks(source),
    file,
  }
}

/** How a job is doing, without its ranks. */
async function standingOf(
  store: Store,
  job: string,
  { status: { jobs, problems }, now }: Pick<PortfolioRequest, 'status' | 'now'>,
): Promise<PortfolioRow> {
  const known = jobs.find((one) => one.job === job)
  const { good } = await store.newestRuns(job, latestKnown(now))
  return {
    job,
    name: job,
    language: null,
    ranks: null,
    file: null,
    // `status` leaves out jobs that were given up.
    level: known?.level ?? null,
    problems: problems.filter((one) => one.job === job),
    lastGood: good === null ? null : endOf(good),
    spentThisMonth: known?.spent_this_month ?? 0,
    openAlerts: known?.open_alerts.length ?? 0,
  }
}

function withProblem(row: PortfolioRow, problem: PortfolioProblem): PortfolioRow {
  const level = row.level === 'error' ? 'error' : 'warning'
  return { ...row, level, problems: [...row.problems, problem] }
}

/** What is not seen at all: less rounds to 0.0%. */
const leastSeen = 0.0005

/** Why a client is looked at that no search engine shows; null where some rank is. */
export function unseenProblem(ranks: PortfolioRanks | null): PortfolioProblem | null {
  if (ranks === null || ranks.checked === 0) return null
  const { visibility, checked, site } = ranks
  if (visibility.value === null || visibility.value >= leastSeen) return null
  return {
    level: 'warning',
    kind: 'ranks',
    text: `${site} has a visibility of 0.0% for ${count(checked, 'keyword')}. Look whether it can be found, and whether the target is the right site`,
  }
}

/** The problems of clients as lines, each kind once, in English. */
export function problemLines(rows: readonly PortfolioRow[]) {
  const { kinds } = wordsOf('en').portfolio
  return groupedProblems(rows).map(({ level, kind, clients }) => {
    const first = clients[0] as (typeof clients)[number]
    if (clients.length === 1) return { level, job: first.name, text: first.text }
    const names = firstNames([...new Set(clients.map(({ name }) => name))], mostNamedClients)
    const about = `${kinds[kind] ?? kind} (${clients.length} clients): ${names}`
    return { level, job: null, text: `${about}. The first: ${first.text}` }
  })
}

/** Names that Windows keeps for devices, whatever follows the dot. */
const reserved = /^(con|prn|aux|nul|com\d|lpt\d)$/i

const longest = 80

/**
 * Names of files for the reports of jobs, which may have any name: letters, digits, `.`, `-` and `_` only, none twice, also where
 * upper and lower case are one.
 *
 * @param taken names that others have already
 */
export function fileNames(
  jobs: readonly string[],
  taken: readonly string[] = [],
): ReadonlyMap<string, string> {
  const used = new Set(taken.map((name) => name.toLowerCase()))
  const names = new Map<string, string>()
  for (const job of jobs) {
    const stem = safeStem(job)
    let name = `${stem}.html`
    for (let more = 2; used.has(name.toLowerCase()); more++) name = `${stem}-${more}.html`
    used.add(name.toLowerCase())
    names.set(job, name)
  }
  return names
}

function safeStem(job: string): string {
  const stem = job
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
    .replace(/^[.-]+|[.-]+$/g, '')
  const short = Array.from(stem)
    .slice(0, longest)
    .join('')
    .replace(/[.-]+$/, '')
  return short === '' || reserved.test(short.split('.')[0] as string)
    ? `job-${short}`.replace(/-$/, '')
    : short
}

/** The language of the page: that of the reports, where they have only one. */
export function commonLanguage(rows: readonly Pick<PortfolioRow, 'language'>[]): Language {
  const [first, ...others] = new Set(rows.flatMap(({ language }) => language ?? []))
  return first === undefined || others.length > 0 ? 'en' : first
}

const portfolioColumns = [
  'job',
  'client',
  'level',
  'problems',
  'site',
  'keywords',
  'checked',
  'from',
  'date',
  'compared_date',
  'visibility',
  'visibility_change',
  'average_position',
  'average_position_change',
  'top_10',
  'top_10_change',
  'clicks',
  'clicks_change',
  'last_good_run',
  'spent_this_month',
  'open_alerts',
  'clicks_at_stake',
] as const

/**
 * A row for programs. Shares are from 0 to 1, changes are now minus before; null is not known.
 *
 * @param json whether problems are a list, as JSON text
 */
function portfolioCells(
  row: PortfolioRow,
  json: boolean,
): Readonly<Record<(typeof portfolioColumns)[number], Cell>> {
  const { ranks } = row
  const problems = row.problems.map(({ text }) => text)
  return {
    job: row.job,
    client: row.name,
    level: row.level,
    problems: json ? JSON.stringify(problems) : problems.join('; ') || null,
    site: ranks?.site ?? null,
    keywords: ranks?.keywords ?? null,
    checked: ranks?.checked ?? null,
    from: ranks?.from ?? null,
    date: ranks?.until ?? null,
    compared_date: ranks?.compared ?? null,
    visibility: ranks?.visibility.value ?? null,
    visibility_change: ranks?.visibility.change ?? null,
    average_position: ranks?.averagePosition.value ?? null,
    average_position_change: ranks?.averagePosition.change ?? null,
    top_10: ranks?.topTen.value ?? null,
    top_10_change: ranks?.topTen.change ?? null,
    clicks: ranks?.clicks.value ?? null,
    clicks_change: ranks?.clicks.change ?? null,
    last_good_run: row.lastGood === null ? null : new Date(row.lastGood).toISOString(),
    spent_this_month: row.spentThisMonth,
    open_alerts: row.openAlerts,
    clicks_at_stake: ranks?.stake ?? null,
  }
}
