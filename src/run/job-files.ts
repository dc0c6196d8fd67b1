import { existsSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { billableOperation } from '../catalog/index.ts'
import type { BillableOperation } from '../catalog/operation.ts'
import { type JobText, jobPlaces, unreadable, workspaceFile } from '../jobfile/files.ts'
import type { JobFile } from '../jobfile/open.ts'
import { mistakeLines, type Notice, type Report } from '../jobfile/source.ts'
import { UsageError } from '../model/errors.ts'
import { type JobOptions, type JobSettings, noFile, type Problem, removedJob } from '../model/job.ts'
import { canonicalParams, type JobQuery, type PlannedQuery, queryKey } from '../model/query.ts'
import type { Workspace } from '../model/settings.ts'
import { count, eachOnce, firstNames, grouped } from '../model/text.ts'
import type { InvalidValue } from '../model/values.ts'
import type { Store } from '../store/sqlite/open.ts'
import type { PlanDraft } from '../store/sqlite/planning/draft.ts'
import { heap } from './heap.ts'

/** The job files of a command, and what it was told of their jobs. */
export interface JobFileOptions extends JobOptions {
  readonly job: readonly string[]
  readonly skipBad?: boolean | undefined
  readonly verbose?: boolean | undefined
  /** By path: what job files said before, where they have mistakes now. */
  readonly texts?: ReadonlyMap<string, Buffer> | undefined
}

/** A job whose queries are staged in a draft. */
export interface StagedJob {
  readonly settings: JobSettings
  /** Ranks of targets are watched, of the whole job or of single queries. */
  readonly tracked: boolean
  /** Targets are watched, but some query does not say where it is asked from. */
  readonly originOpen: boolean
  /** Rows of the file that are planned. */
  readonly chosen: number
  /** What its files have to say that is no mistake. */
  readonly notices: readonly Notice[]
}

/** Which queries of a job are planned; null where none of them is, whatever they are. */
export type ChoiceOf = (settings: JobSettings) => Promise<{
  /** Whether each of these queries is planned; the second list has their keys. */
  readonly choose: (queries: readonly JobQuery[], keys: readonly Buffer[]) => Promise<readonly boolean[]>
  /** What is wrong with the job, once all its queries were read; null where nothing is. */
  readonly mistake: () => InvalidValue | null
} | null>

type QueryChoice = NonNullable<Awaited<ReturnType<ChoiceOf>>>

const all: QueryChoice = { choose: async (queries) => queries.map(() => true), mistake: () => null }

/** What happens while jobs are planned, for the one who asked for it. */
export interface PlanEvents {
  /** Prints a line even with `--quiet`, such as what a question is about. */
  readonly log: (line: string) => void
  /** A line about mistakes in files. */
  readonly logMistake: (line: string) => void
  /** The mistakes for which a job file is not used: those of its own, or of `rankline.yaml` beside it. */
  readonly onMistakes: (path: string, mistakes: readonly Problem[]) => void
  /** Prints a line of information; nothing with `--quiet`. */
  readonly note: (line: string) => void
  /** Asks a person yes or no; null where no person can answer. */
  readonly ask: ((question: string) => Promise<boolean>) | null
  /** How far a job file is read; null after the last one. */
  readonly onRead: (read: { readonly job: string; readonly queries: number } | null) => void
}

const staged = 500

/** From so many queries on, what V8 leaves lying while lists are read would be as much as rankline needs for all else. */
const largeList = 20_000

/** What mistakes call a job that came through standard input. */
const stdinName = 'stdin'

/**
 * Reads every job file whole into the draft. Answers null when there was any mistake in them or in `rankline.yaml`, and with `--skip-bad` when no file was without
 * one; each mistake was then logged as one line, and the draft must not be used.
 */
export async function stageJobs(
  options: JobFileOptions,
  draft: Pick<PlanDraft, 'add' | 'leaveOut'> | null,
  store: Pick<Store, 'jobFile'>,
  events: Pick<PlanEvents, 'logMistake' | 'onMistakes' | 'onRead'>,
  choiceOf: ChoiceOf = async () => all,
): Promise<readonly StagedJob[] | null> {
  const { onMistakes, onRead } = events
  const skipBad = options.skipBad === true
  // A file that several jobs use has its mistakes once.
  const log = eachOnce(events.logMistake)
  const asked = jobPaths(options)
  const broken = await brokenWorkspaces(asked, { log, all: options.verbose === true })
  const brokenBeside = (path: string): readonly Problem[] | null => broken.get(workspacePath(path)) ?? null
  for (const path of asked) {
    const mistakes = brokenBeside(path)
    if (mistakes !== null) onMistakes(path, mistakes)
  }
  if (broken.size > 0 && !skipBad) return null
  const paths = asked.filter((path) => brokenBeside(path) === null)
  const leftOut = asked.filter((path) => brokenBeside(path) !== null)
  // Many short lists together are as much as a long one.
  if (paths.length > 1) heap.keepNewFew()
  const jobs: StagedJob[] = []
  // What a bad file staged lies under its name.
  const named: JobSettings[] = []
  for (const path of paths) {
    const mistakes: Problem[] = []
    const { report: print, end } = mistakeLines.printer(log, options.verbose === true)
    const report: Report = (mistake) => {
      mistakes.push(mistake)
      print(mistake)
    }
    const file = await openNamed(path, options, log, report)
    const clash = file === null ? null : await nameClash(file.settings, named, store)
    if (clash !== null) report({ where: shownName(path), line: null, column: null, ...clash })
    let staged: Omit<StagedJob, 'settings'> | null = null
    if (file !== null) {
      named.push(file.settings)
      // Its other mistakes are logged, too, where its name is taken.
      const choice = clash === null ? await choiceOf(file.settings) : all
      staged = choice === null ? noQueries : await stage(file, clash === null ? draft : null, onRead, choice)
      for (const wrong of [choice?.mistake() ?? null, await withoutChannels(file.settings)])
        if (wrong !== null) report({ where: shownName(path), line: null, column: null, ...wrong })
    }
    if (end() > 0) {
      onMistakes(path, mistakes)
      leftOut.push(path)
    } else if (file !== null && staged !== null) jobs.push({ settings: file.settings, ...staged })
  }
  onRead(null)
  if (skipBad && leftOut.length > 0 && jobs.length > 0)
    log(`${firstNames(leftOut.map(shownName))} ${leftOut.length === 1 ? 'is' : 'are'} left out.`)
  const enough = skipBad ? 1 : paths.length
  return jobs.length >= enough ? jobs : null
}

/** What a job sends to where its workspace has no channel at all would never be told. */
async function withoutChannels({ file, alerts, digest }: JobSettings): Promise<InvalidValue | null> {
  const [name] = [...(alerts ?? []).flatMap(({ to }) => to ?? []), ...(digest?.to ?? [])]
  if (name === undefined || Object.keys((await workspaceOf(file)).channels).length > 0) return null
  return {
    message: `messages are to go to '${name}', but ${workspaceFile} has no channels`,
    fix: `write channels: into ${workspaceFile}, or leave out to:`,
  }
}

const noQueries = { tracked: false, originOpen: false, chosen: 0, notices: [] }

function shownName(path: string): string {
  return path === noFile ? stdinName : path
}

/** Whether job files were left out for their mistakes. */
export function areLeftOut(options: JobFileOptions, jobs: readonly unknown[]): boolean {
  return jobs.length < jobPaths(options).length
}

/** The settings of job files; null after mistakes in them, which were logged. */
export async function openJobs(
  options: JobFileOptions,
  log: PlanEvents['log'],
): Promise<readonly JobSettings[] | null> {
  const jobs: JobSettings[] = []
  const paths = jobPaths(options)
  if ((await brokenWorkspaces(paths, { log, all: options.verbose === true })).size > 0) return null
  for (const path of paths) {
    const { report, end } = mistakeLines.printer(log, options.verbose === true)
    const file = await openNamed(path, options, log, report)
    end()
    if (file !== null) jobs.push(file.settings)
  }
  return jobs.length === paths.length ? jobs : null
}

/** The same file by another spelling is the same job. */
function jobPaths({ job }: JobFileOptions): readonly string[] {
  return [...new Map(job.map((path) => [path === noFile ? path : resolve(path), path])).values()]
}

/** Opens the job file of that name; `-` is standard input, which is read to its end first. */
async function openNamed(
  path: string,
  options: JobFileOptions,
  log: PlanEvents['log'],
  report: Report,
): Promise<JobFile | null> {
  const text = options.texts?.get(path)
  const before = text === undefined ? path : { where: path, bytes: text, path }
  const job = path === noFile ? await readStdin(log) : before
  const { openJob } = await import('../jobfile/open.ts')
  return await openJob(job, options, report)
}

async function readStdin(log: PlanEvents['log']): Promise<JobText> {
  if (process.stdin.isTTY) log('Reading a job from the terminal, until Ctrl-D.')
  try {
    return { where: stdinName, bytes: await buffer(process.stdin) }
  } catch (error) {
    const { message } = unreadable(error as NodeJS.ErrnoException)
    throw new UsageError(
      `${stdinName}: ${message}; send a job into it, as in: cat job.csv | rankline run - --name job`,
      {
        cause: error,
      },
    )
  }
}

async function stage(
  { settings, queries, notices }: JobFile,
  draft: Pick<PlanDraft, 'add' | 'leaveOut'> | null,
  show: PlanEvents['onRead'],
  choice: QueryChoice,
): Promise<Omit<StagedJob, 'settings'>> {
  let tracked = settings.targets.length > 0
  let originOpen = false
  let read = 0
  let chosen = 0
  let batch: JobQuery[] = []
  const marked: MarkedPlaces = { first: [], count: 0, last: null }
  const flush = async (): Promise<void> => {
    const planned = batch.map(planQuery)
    const keys = planned.map(({ key }) => key)
    const isChosen = await choice.choose(batch, keys)
    await draft?.add(
      settings.name,
      planned.filter((_, place) => isChosen[place]),
    )
    await draft?.leaveOut(
      settings.name,
      keys.filter((_, place) => !isChosen[place]),
    )
    chosen += isChosen.filter((is) => is).length
    read += batch.length
    if (read >= staged) heap.keepNewFew()
    if (read >= largeList) heap.keepOldFew()
    batch = []
    show({ job: settings.name, queries: read })
  }
  for await (const query of queries()) {
    const watched = settings.targets.length > 0 || query.targets.length > 0
    tracked ||= watched
    originOpen ||= watched && isOriginOpen(query)
    if (query.marksLeftOut) addPlace(marked, query.source)
    batch.push(query)
    if (batch.length >= staged) await flush()
  }
  await flush()
  const ofMarks = marked.count === 0 ? [] : [{ text: marksLeftOut(marked), inRuns: false }]
  return { tracked, originOpen, chosen, notices: [...notices(), ...ofMarks] }
}

/** Lines that a sentence names at most. */
const mostPlaces = 5

/** Where texts with invisible marks stand: the first of them, and how many there are. */
interface MarkedPlaces {
  readonly first: string[]
  count: number
  last: JobQuery['source'] | null
}

/** Adds a line to the lines of files: how many, and the first few. */
function addPlace(places: MarkedPlaces, source: JobQuery['source']): void {
  // The queries of a row follow each other, and it is told once.
  if (source === places.last) return
  places.last = source
  places.count += 1
  if (places.count <= mostPlaces) places.first.push(`${source.file}:${source.line}`)
}

function marksLeftOut({ first, count: texts }: MarkedPlaces): string {
  const more = texts > first.length ? ` and ${grouped(texts - first.length)} more` : ''
  return `${first.join(', ')}${more}: invisible marks (zero-width or of direction) are left out of ${count(texts, 'text')}.`
}

const originParams = ['location', 'uule', 'lat', 'lon']

function isOriginOpen({ operation, params }: JobQuery): boolean {
  const known = billableOperation(operation).params
  return originParams.some((name) => name in known) && !originParams.some((name) => name in params)
}

/** Two files of one name would continue each other's runs. */
async function nameClash(
  { name, file }: JobSettings,
  others: readonly JobSettings[],
  store: Pick<Store, 'jobFile'>,
): Promise<InvalidValue | null> {
  if (name === searchJob || name === removedJob)
    return {
      message: `the job name '${name}' is that of ${name === searchJob ? 'one-off searches' : 'jobs that were removed'}`,
      fix: 'give it another name with name: (or --name)',
    }
  const sibling = others.find((other) => other.name === name)?.file
  const other = sibling ?? (file === noFile ? null : otherFile(await store.jobFile(name)))
  if (other === null || other === file) return null
  return {
    message: `the job name '${name}' belongs to ${other === noFile ? stdinName : relative('', other)} already`,
    fix: 'give one of them another name with name: (or --name)',
  }
}

/** The file that a name stood for, as long as it is there; what came through standard input is known by its name alone. */
function otherFile(stored: string | null): string | null {
  return stored === null || stored === noFile || !existsSync(stored) ? null : resolve(stored)
}

/** One-off searches are runs of a job of this name, so that they are found in every view and export. */
export const searchJob = 'search'

/** The workspace of a folder, empty where it has no `rankline.yaml`. Throws one sentence where that file has a mistake. */
async function openWorkspace(folder: string): Promise<Workspace> {
  const mistakes: Problem[] = []
  const read = await readWorkspace(folder, (mistake) => mistakes.push(mistake))
  if (read !== null) return read.workspace
  throw new UsageError(mistakeLines.first(mistakes) ?? `${folder} cannot be read`)
}

/** The workspace that a job file is in; that of the working folder for a job that has no file. */
async function workspaceOf(jobFile: string): Promise<Workspace> {
  return await openWorkspace(folderOf(jobFile))
}

/** The mistakes of the workspaces of these job files, by the whole path of their folders; each was logged as one line. */
async function brokenWorkspaces(
  jobFiles: readonly string[],
  { log, all }: { readonly log: (line: string) => void; readonly all: boolean },
): Promise<ReadonlyMap<string, readonly Problem[]>> {
  const named = jobFiles.map((file) => jobPlaces.workspaceFolder(folderOf(file)))
  const folders = new Map(named.map((folder) => [resolve(folder), folder]))
  const broken = new Map<string, readonly Problem[]>()
  for (const [path, folder] of folders) {
    const mistakes: Problem[] = []
    const { report, end } = mistakeLines.printer(log, all)
    await readWorkspace(folder, (mistake) => {
      mistakes.push(mistake)
      report(mistake)
    })
    if (end() > 0) broken.set(path, mistakes)
  }
  return broken
}

/** The whole path of the workspace of a job file; that of the working folder for a job that has none. */
function workspacePath(jobFile: string): string {
  return resolve(jobPlaces.workspaceFolder(folderOf(jobFile)))
}

function folderOf(jobFile: string): string {
  return jobFile === noFile ? '.' : dirname(jobFile)
}

async function readWorkspace(folder: string, report: Report) {
  const { readWorkspace: read } = await import('../jobfile/workspace.ts')
  return read(folder, report)
}

/** A planned query: with its key, its price and the pages that it may need. */
export function planQuery(query: JobQuery): PlannedQuery {
  const operation = billableOperation(query.operation)
  const range = pageRange(operation, query)
  return {
    key: queryKey(query),
    operation: query.operation,
    text: query.text,
    params: JSON.stringify(Object.fromEntries(canonicalParams(query.params))),
    credits: operation.cost,
    pages: range.max,
    pageSize: range.pageSize,
    depth: range.depth,
    priority: query.priority,
    volume: query.volume,
    url: query.url,
    tags: query.tags,
    labels: query.labels,
    targets: query.targets,
    source: query.source,
  }
}

/** Without a documented page size, pages are bought until the depth is reached, but never more than pages of this size would need. */
const fewestResultsPerPage = 5

/** The pages of a query: `depth` divided by the size of a page, or `pages`, or one. */
export function pageRange(
  operation: BillableOperation,
  { depth, pages, params }: Pick<JobQuery, 'depth' | 'pages' | 'params'>,
): {
  /** Pages at most. */
  readonly max: number
  /** Results per page, documented or requested with `num`; null if not known. */
  readonly pageSize: number | null
  /** Results after which to stop if no page size is documented; null if `max` is the limit. */
  readonly depth: number | null
} {
  if (operation.paging === null) return { max: 1, pageSize: null, depth: null }
  const pageSize = typeof params.num === 'number' ? params.num : operation.paging.pageSize
  if (depth === null) return { max: pages ?? 1, pageSize, depth: null }
  if (pageSize !== null) return { max: Math.ceil(depth / pageSize), pageSize, depth: null }
  return { max: Math.ceil(depth / fewestResultsPerPage), pageSize, depth }
}

/** The workspaces that job files are in. */
export const workspaces = {
  open: openWorkspace,
  of: workspaceOf,
  pathOf: workspacePath,
}
