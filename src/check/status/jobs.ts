import { existsSync, statSync } from 'node:fs'
import { basename, extname, relative, resolve } from 'node:path'
import { openJob } from '../../jobfile/open.ts'
import { csvFilesOf } from '../../jobfile/peek.ts'
import { firstMistake } from '../../jobfile/source.ts'
import { isWorkspaceMistake } from '../../jobfile/workspace.ts'
import { type JobSettings, noFile, type Problem } from '../../model/job.ts'
import { searchJob } from '../../run/job-files.ts'
import { yamlJobFiles } from '../../run/planning/due-files.ts'
import type { Store } from '../../store/store.ts'
import type { BrokenShared, JobFileFacts } from '../../unattended/status/facts.ts'

/** A job of the working folder or of the database. */
export interface KnownJob {
  readonly name: string
  readonly file: JobFileFacts
  /** What its file says now; null where that cannot be read, or says it only with the flags of a run. */
  readonly settings: JobSettings | null
  /** When its file was last changed, epoch ms; null where there is none. */
  readonly changedAt: number | null
}

/** A job with the mistake of the file that its folder shares; null where there is none. */
type FoundJob = KnownJob & Pick<OpenedJob, 'shared'>

/** Every job, and the files that they share and that have mistakes. */
export interface KnownJobs {
  readonly jobs: readonly KnownJob[]
  readonly brokenShared: readonly BrokenShared[]
}

/** Every job, by name: those that YAML files of the folder describe, and those that ran. */
export async function knownJobs(store: Store, folder: string): Promise<KnownJobs> {
  const stored = await storedFiles(store)
  const jobs = new Map<string, FoundJob>()
  for (const path of await yamlJobFiles(folder)) {
    const job = await describedBy(path, stored)
    if (!jobs.has(job.name)) jobs.set(job.name, job)
  }
  for (const [name, path] of stored) if (!jobs.has(name)) jobs.set(name, await storedJob(name, path))
  const all = [...jobs.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  const waiting = new Map<string, number>()
  for (const { shared } of all) if (shared !== null) waiting.set(shared, (waiting.get(shared) ?? 0) + 1)
  return { jobs: all, brokenShared: [...waiting].map(([mistake, jobs]) => ({ mistake, jobs })) }
}

/** Names of the jobs of the database, and their files; null is a job that came through standard input. */
async function storedFiles(store: Store): Promise<ReadonlyMap<string, string | null>> {
  const names = new Set([...(await store.jobNames()), ...(await store.jobsThatRan())])
  names.delete(searchJob)
  const files = new Map<string, string | null>()
  for (const name of names) {
    const file = await store.jobFile(name)
    files.set(name, file === noFile ? null : file)
  }
  return files
}

/** The job of a YAML file; one with mistakes has the name under which it ran. */
async function describedBy(path: string, stored: ReadonlyMap<string, string | null>): Promise<FoundJob> {
  const opened = await openedJob(path)
  if (opened.settings !== null) return known(opened.settings.name, path, opened)
  const [name = basename(path, extname(path))] = [...stored].find(([, file]) => file === resolve(path)) ?? []
  return known(name, path, opened)
}

/** A job of the database whose file does not stand in the folder, or names no settings. */
async function storedJob(name: string, path: string | null): Promise<FoundJob> {
  const none = { name, settings: null, changedAt: null, shared: null }
  if (path === null) return { ...none, file: { path, state: 'sound', mistake: null } }
  if (!existsSync(path)) return { ...none, file: { path: shown(path), state: 'missing', mistake: null } }
  if (!/\.ya?ml$/i.test(path))
    return {
      ...known(name, path, { settings: null, mistake: null, shared: null }),
      file: { path: shown(path), state: 'sound', mistake: null },
    }
  const opened = await openedJob(path)
  // A file that names another job by now.
  if (opened.settings !== null && opened.settings.name !== name)
    return { ...none, file: { path: shown(path), state: 'missing', mistake: null } }
  return known(name, path, opened)
}

function known(name: string, path: string, opened: OpenedJob): FoundJob {
  const { settings, mistake, shared } = opened
  return {
    name,
    settings,
    shared,
    file: {
      path: shown(path),
      state: shared !== null ? 'waiting' : settings === null ? 'broken' : 'sound',
      mistake,
    },
    changedAt: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null,
  }
}

/** What can be said of a job file without its queries. */
interface OpenedJob {
  readonly settings: JobSettings | null
  readonly mistake: string | null
  /** The mistake where it stands in the file that jobs of the folder share; null where there is none. */
  readonly shared: string | null
}

async function openedJob(path: string): Promise<OpenedJob> {
  const mistakes: Problem[] = []
  const job = await openJob(path, {}, (mistake) => mistakes.push(mistake))
  const shared = firstMistake(mistakes.filter(isWorkspaceMistake))
  return { settings: job?.settings ?? null, mistake: firstMistake(mistakes), shared }
}

/** The first mistake in the queries of a job, its CSV files included; null where there is none. */
export async function mistakeInQueries(path: string): Promise<string | null> {
  const mistakes: Problem[] = []
  const job = await openJob(path, {}, (mistake) => mistakes.push(mistake))
  if (job !== null) for await (const _ of job.queries());
  return firstMistake(mistakes)
}

/** Whether a job file, or a CSV file that it names, was changed after an instant. */
export async function isChangedSince(path: string, instant: number): Promise<boolean> {
  const files = [path, ...(await csvFilesOf(path))]
  return files.some((file) => {
    const found = statSync(file, { throwIfNoEntry: false })
    return found === undefined || found.mtimeMs > instant
  })
}

/** A path as a user would type it here. */
function shown(path: string): string {
  const short = relative('.', path)
  return short.startsWith('..') ? path : short
}
