import { readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { jobPlaces, workspaceFile } from '../../jobfile/files.ts'
import { openJob } from '../../jobfile/open.ts'
import { peek } from '../../jobfile/peek.ts'
import { mistakeLines, type Report } from '../../jobfile/source.ts'
import type { JobSettings, Problem } from '../../model/job.ts'
import { eachOnce, firstNames } from '../../model/text.ts'
import type { TimeSpan } from '../../model/time.ts'
import type { LogLevel, Terminal } from '../../output/terminal.ts'
import { dueWork } from '../../run/due-work.ts'
import { localTime, slotsBetween } from '../../schedule/slots.ts'

/** Called with a line for the user. */
type WriteLog = Terminal['log']

/** Where scheduled jobs are. */
interface JobPlaces {
  /** Empty where none was named. */
  readonly named: readonly string[]
  readonly folder: string
}

/** A job as its file last was without mistakes. */
export interface LastValidJob {
  /** As the user named it. */
  readonly path: string
  readonly settings: JobSettings
  readonly text: Buffer
  /** The file has mistakes now; the job runs as it was before. */
  readonly isBroken: boolean
}

/** The settings of every scheduled job, without reading its queries; null for each file with a mistake, which was logged. */
async function scheduledJobs(places: JobPlaces, log: WriteLog): Promise<readonly (JobSettings | null)[]> {
  const jobs: (JobSettings | null)[] = []
  for (const path of await jobPaths(places)) {
    const read = await readJobFile(path, { isNamed: places.named.length > 0, withQueries: false }, log)
    if (isMistaken(read)) jobs.push(null)
    else if (read !== 'not scheduled') jobs.push(read.settings)
  }
  return jobs
}

interface KnownFile {
  /** Size and time of the file, and of all that it is read with. */
  readonly signature: string
  /** Its CSV files. */
  readonly tables: readonly string[]
  readonly lastValid: LastValidJob | null
  /** Empty where the file is not broken. */
  readonly mistakes: readonly Problem[]
}

/** Watches job files: mistakes in a changed one are logged, and its last valid job stays. */
function watchJobFiles(places: JobPlaces, log: WriteLog) {
  const known = new Map<string, KnownFile>()
  let wasRead = false

  const refreshOne = async (path: string, log: WriteLog): Promise<FileChange | null> => {
    const before = known.get(path)
    if (before !== undefined && before.signature === (await signatureOf(path, before.tables))) return null
    const tables = peek.csvFiles(path)
    // Before it is read: a change meanwhile is seen the next time.
    const signature = await signatureOf(path, tables)
    const read = await readJobFile(path, { isNamed: places.named.length > 0, withQueries: true }, log)
    const isBroken = isMistaken(read)
    const good = isMistaken(read) || read === 'not scheduled' ? null : read
    const lastValid = isBroken && before?.lastValid ? { ...before.lastValid, isBroken } : good
    const now = { signature, tables, lastValid, mistakes: isBroken ? read : [] }
    known.set(path, now)
    const isBeside = now.mistakes.some(({ where }) => where !== path)
    const change = isBeside ? 'waits' : changeOf(before, now)
    return wasRead || isBroken ? change : null
  }

  return {
    /** The last valid job of each file, read again where it has changed; what became of a changed file is logged once. */
    refresh: async (): Promise<readonly LastValidJob[]> => {
      const paths = jobPaths(places)
      const changes = new Map<FileChange, string[]>()
      const note = (change: FileChange | null, path: string): void => {
        if (change !== null) changes.set(change, [...(changes.get(change) ?? []), path])
      }
      // Mistakes in a file that several jobs use are said once.
      const once: WriteLog = eachOnce(log)
      for (const path of paths) note(await refreshOne(path, once), path)
      for (const [path, { lastValid }] of known)
        if (!paths.includes(path)) {
          known.delete(path)
          if (lastValid !== null) note('gone', path)
        }
      for (const [change, files] of changes) {
        const { level, one, many } = wording[change]
        log(`${firstNames(files)} ${files.length === 1 ? one : many}`, { level, files })
      }
      wasRead = true
      return [...known.values()].flatMap(({ lastValid }) => lastValid ?? [])
    },
    /** The mistakes of files that never were valid. */
    leftOut: (): ReadonlyMap<string, readonly Problem[]> =>
      new Map(
        [...known].flatMap(([path, { lastValid, mistakes }]) =>
          lastValid === null && mistakes.length > 0 ? [[path, mistakes] as const] : [],
        ),
      ),
  }
}

/** What became of a file. Of the files that a job file is read with, no earlier text is kept: the job waits until they are mended. */
type FileChange = 'waits' | 'left out' | 'as before' | 'mended' | 'not scheduled' | 'changed' | 'new' | 'gone'

/** Each as the end of a sentence about one file, or several. */
const wording: Readonly<
  Record<FileChange, { readonly level: LogLevel; readonly one: string; readonly many: string }>
> = {
  waits: {
    level: 'error',
    one: 'is not run until the mistakes in that file are mended.',
    many: 'are not run until the mistakes in that file are mended.',
  },
  'left out': {
    level: 'error',
    one: 'is left out until its mistakes are mended.',
    many: 'are left out until their mistakes are mended.',
  },
  'as before': {
    level: 'error',
    one: 'has mistakes: its job runs as it was before, until they are mended.',
    many: 'have mistakes: their jobs run as they were before, until they are mended.',
  },
  mended: { level: 'info', one: 'has no mistakes any more.', many: 'have no mistakes any more.' },
  'not scheduled': {
    level: 'info',
    one: 'is not scheduled any more.',
    many: 'are not scheduled any more.',
  },
  changed: { level: 'info', one: 'has changed.', many: 'have changed.' },
  new: { level: 'info', one: 'is scheduled now.', many: 'are scheduled now.' },
  gone: {
    level: 'warn',
    one: 'is gone: its job runs no more.',
    many: 'are gone: their jobs run no more.',
  },
}

/** What became of a file; null where there is nothing to say. */
function changeOf(
  before: KnownFile | undefined,
  { lastValid, mistakes }: Pick<KnownFile, 'lastValid' | 'mistakes'>,
): FileChange | null {
  if (mistakes.length > 0) return lastValid === null ? 'left out' : 'as before'
  if (before !== undefined && before.mistakes.length > 0) return 'mended'
  if (lastValid === null) return before?.lastValid ? 'not scheduled' : null
  return before?.lastValid ? 'changed' : 'new'
}

/** The files that were named, or every YAML file of a folder. The same file by another spelling is the same job. */
function jobPaths({ named, folder }: JobPlaces): readonly string[] {
  if (named.length > 0) return [...new Map(named.map((path) => [resolve(path), path])).values()]
  return peek.jobFiles(folder)
}

/** What changes when a job file, or a file that it is read with, is written. */
async function signatureOf(path: string, tables: readonly string[]): Promise<string> {
  const files = [path, join(jobPlaces.workspaceFolder(dirname(path)), workspaceFile), ...tables]
  const signs = files.map(async (file) => {
    const found = await stat(file).catch(() => null)
    return found === null ? 'missing' : `${found.ino}:${found.size}:${found.mtimeMs}:${found.ctimeMs}`
  })
  return (await Promise.all(signs)).join(' ')
}

/** The mistakes for which a job cannot be read: in its own file, or in one that it is read with. */
type Mistaken = readonly Problem[]

function isMistaken(read: LastValidJob | Mistaken | 'not scheduled'): read is Mistaken {
  return Array.isArray(read)
}

async function readJobFile(
  path: string,
  { isNamed, withQueries }: { readonly isNamed: boolean; readonly withQueries: boolean },
  log: WriteLog,
): Promise<LastValidJob | Mistaken | 'not scheduled'> {
  const { report: print, end } = mistakeLines.printer(log, false)
  const mistakes: Problem[] = []
  const report: Report = (problem) => {
    mistakes.push(problem)
    print(problem)
  }
  const text = await readFile(path).catch(() => Buffer.alloc(0))
  const file = await openJob(path, {}, report)
  let isScheduled = file !== null && dueWork.saysWhen(file.settings)
  // A query may say for itself how often it is due.
  if (file !== null && (withQueries || !isScheduled))
    for await (const { every } of file.queries()) isScheduled ||= every !== null
  if (file !== null && isNamed && !isScheduled)
    report({
      where: path,
      line: null,
      column: null,
      message: 'the file does not say when its job runs',
      fix: 'write for instance schedule: "0 6 * * *"',
    })
  if (end() > 0 || file === null) return mistakes
  return isScheduled ? { path, settings: file.settings, text, isBroken: false } : 'not scheduled'
}

/** When a job runs. */
export type ListedSlot = ReturnType<typeof listed>

/**
 * The slots of jobs in the order of time; those of one instant in the order of the jobs.
 *
 * @param range `until` is infinite where there is no end; `most` is how many slots of each job are listed at most
 */
function* listSlots(
  jobs: readonly JobSettings[],
  range: TimeSpan & { readonly most: number },
): Generator<ListedSlot> {
  const streams = jobs.map((job) => {
    const slots = slotsOf(job, range)
    return { job, slots, next: slots.next() }
  })
  for (;;) {
    const [earliest] = streams
      .filter(({ next }) => next.done !== true)
      .sort((a, b) => Number(a.next.value) - Number(b.next.value))
    if (earliest === undefined) return
    const { job, slots, next } = earliest
    yield listed(job, Number(next.value))
    earliest.next = slots.next()
  }
}

function* slotsOf(
  { schedule, timezone }: JobSettings,
  { from, until, most }: TimeSpan & { readonly most: number },
): Generator<number> {
  if (schedule === null) return
  let left = most
  for (const slot of slotsBetween(schedule, timezone, from, until)) {
    if (left-- <= 0) return
    yield slot
  }
}

function listed({ name, timezone }: JobSettings, slot: number) {
  return {
    job: name,
    /** Instant, ISO 8601, UTC. */
    at: new Date(slot).toISOString(),
    /** The same instant as clocks of the zone show it, with their distance from UTC. */
    local: localTime(slot, timezone),
    zone: timezone,
  }
}

/** Job files whose jobs are scheduled. */
export const scheduledFiles = {
  jobs: scheduledJobs,
  watch: watchJobFiles,
  listSlots,
}
