import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { openJob } from '../../src/jobfile/open.ts'
import { mistakeLines } from '../../src/jobfile/source.ts'
import type { JobOptions, JobSettings } from '../../src/model/job.ts'
import type { JobQuery } from '../../src/model/query.ts'

type Files = Readonly<Record<string, string | Buffer>>

/** What reading a job gave; paths in problems are relative to the folder of the files. */
export interface ReadJob {
  readonly opened: boolean
  readonly settings: JobSettings | null
  readonly queries: readonly JobQuery[]
  readonly problems: readonly string[]
  readonly digest: string | null
  /** What is no mistake. */
  readonly notices: readonly string[]
}

/** Writes the files into a new folder that lasts as long as the test. */
export async function folderOf(files: Files): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'rankline-jobfile-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
    await writeFile(path.join(folder, name), content)
  }
  return folder
}

/** Writes the files, opens the first as a job and reads it whole. */
export async function readJob(files: Files, flags: JobOptions = {}): Promise<ReadJob> {
  const folder = await folderOf(files)
  return await readIn(folder, Object.keys(files)[0] ?? '', flags)
}

/** Opens a job in a folder and reads it whole. */
export async function readIn(folder: string, name: string, flags: JobOptions = {}): Promise<ReadJob> {
  const problems: string[] = []
  const job = await openJob(path.join(folder, name), flags, (problem) =>
    problems.push(mistakeLines.format(problem).replaceAll(`${folder}${path.sep}`, '')),
  )
  const queries: JobQuery[] = []
  if (job !== null) for await (const query of job.queries()) queries.push(query)
  const digest = job?.contentHash() ?? null
  const notices = (job?.notices() ?? []).map(({ text }) => text.replaceAll(`${folder}${path.sep}`, ''))
  return { opened: job !== null, settings: job?.settings ?? null, queries, problems, digest, notices }
}

/** The problems of a YAML file. */
export async function yamlProblems(text: string | Buffer, flags?: JobOptions): Promise<readonly string[]> {
  return (await readJob({ 'job.yaml': text }, flags)).problems
}

/** The problems of a CSV file. */
export async function csvProblems(text: string | Buffer, flags?: JobOptions): Promise<readonly string[]> {
  return (await readJob({ 'k.csv': text }, flags)).problems
}

/** The texts of the queries of a CSV file. */
export async function csvTexts(text: string | Buffer): Promise<readonly string[]> {
  const { queries, problems } = await readJob({ 'k.csv': text })
  return [...queries.map((query) => query.text), ...problems]
}
