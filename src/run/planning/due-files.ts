import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type JobFile, openJob } from '../../jobfile/open.ts'
import { hasQueryWithEvery } from '../../jobfile/peek.ts'
import { isWorkspaceFile } from '../../jobfile/workspace.ts'
import { UsageError } from '../../model/errors.ts'
import type { JobSettings } from '../../model/job.ts'

/** Other programs have YAML files, too, and some of them a `schedule`; a job has queries at its top. */
const hasQueries = /^["']?queries["']?\s*:/m
const saysWhen = /^["']?(every|cadence|schedule)["']?\s*:/m

interface YamlFile {
  readonly file: string
  /** Null where it cannot be read. */
  readonly text: string | null
}

/** YAML files of a folder that are jobs, in alphabetical order; none that are hidden. */
async function yamlJobs(folder: string): Promise<readonly YamlFile[]> {
  const names = await readdir(folder).catch(() => [])
  const files = names.filter((name) => /^[^.].*\.ya?ml$/i.test(name) && !isWorkspaceFile(name)).sort()
  const read = files.map(async (name) => {
    const file = join(folder, name)
    return { file, text: await textOf(file) }
  })
  return (await Promise.all(read)).filter(({ text }) => text === null || hasQueries.test(text))
}

/** A folder is no job file, whatever its name is. */
async function textOf(file: string): Promise<string | null> {
  return await readFile(file, 'utf8').catch(({ code }: NodeJS.ErrnoException) =>
    code === 'EISDIR' ? '' : null,
  )
}

/** Job files of a folder, whether they say when they are due or not; those that cannot be read are among them. */
export async function yamlJobFiles(folder: string): Promise<readonly string[]> {
  return (await yamlJobs(folder)).map(({ file }) => file)
}

/** Whether a job says when it is due; single queries may say so, too. */
export function saysWhenDue({ schedule, every, cadence }: JobSettings): boolean {
  return schedule !== null || every !== null || cadence !== null
}

/** Whether a job, or a query of it, says when it is due. */
async function isScheduled({ settings, queries }: JobFile): Promise<boolean> {
  if (saysWhenDue(settings)) return true
  for await (const { every } of queries()) if (every !== null) return true
  return false
}

/**
 * Job files of a folder that say when they are due. One with mistakes is among them if its text says so. Throws a sentence where
 * there is none: a command that finds nothing to do in the wrong folder would never say so.
 */
export async function dueJobFiles(folder: string): Promise<readonly string[]> {
  const due: string[] = []
  for (const { file, text } of await yamlJobs(folder)) {
    const job = await openJob(file, {}, () => {})
    const isDue = job === null ? saysWhen.test(text ?? '') : await isScheduled(job)
    if (isDue || (await hasQueryWithEvery(file))) due.push(file)
  }
  if (due.length > 0) return due
  throw new UsageError(
    "No job file of this folder says when it is due. Write 'every: 1d' or a schedule into one, or name a job",
  )
}
