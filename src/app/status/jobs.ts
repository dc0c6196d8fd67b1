import { existsSync, statSync } from 'node:fs'
import { basename, extname, relative, resolve } from 'node:path'
import { openJob } from '../../jobfile/open.ts'
import { type JobSettings, noFile } from '../../model/job.ts'
import type { Store } from '../../store/store.ts'
import type { JobFileFacts } from '../../workspace/status/facts.ts'
import { searchJob } from '../job-files.ts'
import { yamlJobFiles } from '../planning/due-files.ts'

/** A job of the working folder or of the database. */
export interface KnownJob {
  readonly name: string
  readonly file: JobFileFacts
  /** What its file says now; null where that cannot be read, or says it only with the flags of a run. */
  readonly settings: JobSettings | null
  /** When its file was last changed, epoch ms; null where there is none. */
  readonly changedAt: number | null
}

/** Every job, by name: those that YAML files of the folder describe, and those that ran. */
export async function knownJobs(store: Store, folder: string): Promise<readonly KnownJob[]> {
  const stored = await storedFiles(store)
  const jobs = new Map<string, KnownJob>()
  for (const path of await yamlJobFiles(folder)) {
    const job = await describedBy(path, stored)
    if (!jobs.has(job.name)) jobs.set(job.name, job)
  }
  for (const [name, path] of stored) if (!jobs.has(name)) jobs.set(name, await storedJob(name, path))
  return [...jobs.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
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
async function describedBy(path: string, stored: ReadonlyMap<string, string | null>): Promise<KnownJob> {
  const settings = await settingsOf(path)
  if (settings !== null) return known(settings.name, path, settings)
  const [name = basename(path, extname(path))] = [...stored].find(([, file]) => file === resolve(path)) ?? []
  return known(name, path, null)
}

/** A job of the database whose file does not stand in the folder, or names no settings. */
async function storedJob(name: string, path: string | null): Promise<KnownJob> {
  const none = { name, settings: null, changedAt: null }
  if (path === null) return { ...none, file: { path, state: 'sound' } }
  if (!existsSync(path)) return { ...none, file: { path: shown(path), state: 'missing' } }
  if (!/\.ya?ml$/i.test(path))
    return { ...known(name, path, null), file: { path: shown(path), state: 'sound' } }
  const settings = await settingsOf(path)
  // A file that names another job by now.
  if (settings !== null && settings.name !== name)
    return { ...none, file: { path: shown(path), state: 'missing' } }
  return known(name, path, settings)
}

function known(name: string, path: string, settings: JobSettings | null): KnownJob {
  return {
    name,
    settings,
    file: { path: shown(path), state: settings === null ? 'broken' : 'sound' },
    changedAt: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null,
  }
}

async function settingsOf(path: string): Promise<JobSettings | null> {
  return (await openJob(path, {}, () => {}))?.settings ?? null
}

/** A path as a user would type it here. */
function shown(path: string): string {
  const short = relative('.', path)
  return short.startsWith('..') ? path : short
}
