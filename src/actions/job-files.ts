import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { billableOperation } from '../catalog/index.ts'
import { UsageError } from '../errors.ts'
import { type JobText, unreadable } from '../jobfile/files.ts'
import type { JobFlags } from '../jobfile/flags.ts'
import { type JobFile, openJob } from '../jobfile/open.ts'
import { mistakePrinter, type Report } from '../jobfile/problem.ts'
import { systemClock } from '../model/clock.ts'
import { type JobQuery, type JobSettings, noFile, type Problem } from '../model/job.ts'
import { planQuery } from '../plan/plan.ts'
import type { PlanDraft, RunStore } from '../store/store.ts'
import type { Terminal } from '../terminal.ts'
import { count } from '../words.ts'
import { display } from './progress.ts'
import { searchJob } from './search-job.ts'

/** Flags of the commands that take job files, as typed. */
export interface JobFileFlags {
  readonly job: readonly string[]
  readonly name?: string
  readonly operation?: readonly string[]
  readonly param?: readonly string[]
  readonly depth?: string
  readonly pages?: string
  readonly paging?: string
  readonly until?: string
  readonly 'deep-every'?: string
  readonly style?: string
  readonly async?: string
  readonly freshness?: string
  readonly 'strict-echo'?: boolean
  readonly timezone?: string
  readonly target?: readonly string[]
  readonly competitor?: readonly string[]
  readonly match?: string
  readonly 'max-credits'?: string
  readonly keep?: string
  readonly 'skip-bad'?: boolean
  readonly verbose?: boolean | undefined
}

/** A job whose queries are staged in a draft. */
export interface StagedJob {
  readonly settings: JobSettings
  /** Ranks of targets are watched, of the whole job or of single queries. */
  readonly tracked: boolean
  /** Targets are watched, but some query does not say where it is asked from. */
  readonly originOpen: boolean
}

/** How far a job file is read. */
interface Read {
  readonly job: string
  readonly queries: number
}

const staged = 500

/** What mistakes call a job that came through standard input. */
const stdinName = 'stdin'

/**
 * Reads every job file whole into the draft. Answers null when there was any mistake, and with `--skip-bad` when no file was without
 * one; each was then told as one line, and nothing of the draft may be used.
 */
export async function stageJobs(
  flags: JobFileFlags,
  draft: PlanDraft,
  store: Pick<RunStore, 'jobFile'>,
  terminal: Terminal,
): Promise<readonly StagedJob[] | null> {
  const paths = jobPaths(flags)
  const jobs: StagedJob[] = []
  // What a bad file staged lies under its name.
  const named: JobSettings[] = []
  const reading = display<Read>(
    terminal,
    systemClock,
    ({ job, queries }) => `Reading ${job}: ${count(queries, 'query', 'queries')}`,
  )
  for (const path of paths) {
    const { report, end } = mistakePrinter(terminal.say, flags.verbose === true)
    const file = await openNamed(path, flags, terminal, report)
    const clash = file === null ? null : await nameClash(file.settings, named, store)
    if (clash !== null) report({ where: shownName(path), line: null, column: null, ...clash })
    let staged: Omit<StagedJob, 'settings'> | null = null
    if (file !== null) {
      named.push(file.settings)
      // Its mistakes are told, too, where its name is wrong.
      staged = await stage(file, clash === null ? draft : null, reading.show)
    }
    if (end() > 0) {
      if (flags['skip-bad'] === true) terminal.say(`${shownName(path)} is left out.`)
    } else if (file !== null && staged !== null) jobs.push({ settings: file.settings, ...staged })
  }
  reading.end()
  const enough = flags['skip-bad'] === true ? 1 : paths.length
  return jobs.length >= enough ? jobs : null
}

function shownName(path: string): string {
  return path === noFile ? stdinName : path
}

/** Whether job files were left out for their mistakes. */
export function areLeftOut(flags: JobFileFlags, jobs: readonly unknown[]): boolean {
  return jobs.length < jobPaths(flags).length
}

/** The settings of job files; null after mistakes in them, which were told. */
export async function openJobs(
  flags: JobFileFlags,
  terminal: Terminal,
): Promise<readonly JobSettings[] | null> {
  const jobs: JobSettings[] = []
  const paths = jobPaths(flags)
  for (const path of paths) {
    const { report, end } = mistakePrinter(terminal.say, flags.verbose === true)
    const file = await openNamed(path, flags, terminal, report)
    end()
    if (file !== null) jobs.push(file.settings)
  }
  return jobs.length === paths.length ? jobs : null
}

/** The same file by another spelling is the same job. */
function jobPaths({ job }: JobFileFlags): readonly string[] {
  return [...new Map(job.map((path) => [path === noFile ? path : resolve(path), path])).values()]
}

/** Opens the job file of that name; `-` is standard input, which is read to its end first. */
async function openNamed(
  path: string,
  flags: JobFileFlags,
  terminal: Terminal,
  report: Report,
): Promise<JobFile | null> {
  const job = path === noFile ? await readStdin(terminal) : path
  return await openJob(job, jobFlags(flags), report)
}

async function readStdin(terminal: Terminal): Promise<JobText> {
  if (process.stdin.isTTY) terminal.say('Reading a job from the terminal, until Ctrl-D.')
  try {
    return { where: stdinName, bytes: await buffer(process.stdin) }
  } catch (error) {
    const { what } = unreadable(error as NodeJS.ErrnoException)
    throw new UsageError(
      `${stdinName}: ${what}; send a job into it, as in: cat job.csv | rankline run - --name job`,
      {
        cause: error,
      },
    )
  }
}

async function stage(
  { settings, queries }: JobFile,
  draft: PlanDraft | null,
  show: (read: Read) => void,
): Promise<Omit<StagedJob, 'settings'>> {
  let tracked = settings.targets.length > 0
  let originOpen = false
  let read = 0
  let batch: JobQuery[] = []
  const flush = async (): Promise<void> => {
    await draft?.add(settings.name, batch.map(planQuery))
    read += batch.length
    batch = []
    show({ job: settings.name, queries: read })
  }
  for await (const query of queries()) {
    const watched = settings.targets.length > 0 || query.targets.length > 0
    tracked ||= watched
    originOpen ||= watched && isOriginOpen(query)
    batch.push(query)
    if (batch.length >= staged) await flush()
  }
  await flush()
  return { tracked, originOpen }
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
  store: Pick<RunStore, 'jobFile'>,
): Promise<Pick<Problem, 'what' | 'instead'> | null> {
  if (name === searchJob)
    return {
      what: `the job name '${name}' is that of one-off searches`,
      instead: 'give it another name with name: (or --name)',
    }
  const beside = others.find((other) => other.name === name)?.file
  const other = beside ?? (file === noFile ? null : otherFile(await store.jobFile(name)))
  if (other === null || other === file) return null
  return {
    what: `the job name '${name}' belongs to ${other === noFile ? stdinName : relative('', other)} already`,
    instead: 'give one of them another name with name: (or --name)',
  }
}

/** The file that a name stood for, as long as it is there; what came through standard input is known by its name alone. */
function otherFile(stored: string | null): string | null {
  return stored === null || stored === noFile || !existsSync(stored) ? null : resolve(stored)
}

function jobFlags(flags: JobFileFlags): JobFlags {
  const {
    job: _,
    'max-credits': maxCredits,
    'deep-every': deepEvery,
    'strict-echo': strictEcho,
    ...rest
  } = flags
  const { name, operation, param, depth, pages, paging, until, style, freshness, timezone } = rest
  const { target, competitor, match, keep } = rest
  return Object.fromEntries(
    Object.entries({
      name,
      operation,
      param,
      depth,
      pages,
      paging,
      until,
      deepEvery,
      style,
      async: rest.async,
      freshness,
      strictEcho: strictEcho === undefined ? undefined : String(strictEcho),
      timezone,
      target,
      competitor,
      match,
      maxCredits,
      keep,
    }).filter(([, value]) => value !== undefined),
  )
}
