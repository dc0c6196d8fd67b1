import { readdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { csvFilesOf, openJob } from '../../jobfile/open.ts'
import { mistakePrinter } from '../../jobfile/source.ts'
import type { JobSettings } from '../../model/job.ts'

/** A job file as it was when it last was without a mistake. */
export interface JobForm {
  /** As the user named it. */
  readonly path: string
  readonly settings: JobSettings
  readonly text: Buffer
  /** The file has mistakes now: this form of it is used instead. */
  readonly isBroken: boolean
}

/** Job files that are read again when they have changed. */
export interface JobFiles {
  /** The last good form of each; mistakes in a changed file are reported once. */
  readonly refresh: () => Promise<readonly JobForm[]>
}

/** What all jobs of a folder share; it is no job. */
const workspaceFile = 'rankline.yaml'

interface KnownFile {
  /** Size and time of the file, and of all that it is read with. */
  readonly signature: string
  readonly form: JobForm | null
  readonly isBroken: boolean
}

/**
 * Watches job files: those that were named, or every YAML file of a folder that says when it runs.
 *
 * @param log called with a line for each mistake, and for what became of a changed file
 */
export function watchJobFiles(
  named: readonly string[] | null,
  folder: string,
  log: (line: string) => void,
): JobFiles {
  const known = new Map<string, KnownFile>()

  const refreshOne = async (path: string): Promise<void> => {
    const before = known.get(path)
    const signature = await signatureOf(path, folder)
    if (before?.signature === signature) return
    const read = await readForm(path, named !== null, log)
    const isBroken = read === 'broken'
    const form = isBroken ? lastGood(before) : read
    known.set(path, { signature, form, isBroken })
    if (before === undefined) {
      if (isBroken) log(`${path} is left out until its mistakes are mended.`)
      else if (form !== null && named === null && wasRead) log(`${path} is new.`)
    } else if (isBroken) {
      if (form !== null) log(`${path} has mistakes; the job runs as it was before, until they are mended.`)
    } else if (before.isBroken) log(`${path} is mended.`)
    else if (form !== null) log(`${path} has changed.`)
  }
  let wasRead = false

  return {
    refresh: async () => {
      const paths = named ?? (await yamlFiles(folder))
      for (const path of paths) await refreshOne(path)
      for (const [path, { form }] of known)
        if (!paths.includes(path)) {
          known.delete(path)
          if (form !== null) log(`${path} is gone; it runs no more.`)
        }
      wasRead = true
      return [...known.values()].flatMap(({ form }) => form ?? [])
    },
  }
}

function lastGood(before: KnownFile | undefined): JobForm | null {
  return before === undefined || before.form === null ? null : { ...before.form, isBroken: true }
}

/** The YAML files of a folder, in the order of their names; none where it cannot be read. */
async function yamlFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => /^[^.].*\.ya?ml$/i.test(name) && name !== workspaceFile).sort()
}

/** What changes when a job file, or a file that it is read with, is written. */
async function signatureOf(path: string, folder: string): Promise<string> {
  const csv = await csvFilesOf(path).catch(() => [])
  const files = [path, join(folder, workspaceFile), ...csv]
  const signs = files.map(async (file) => {
    const found = await stat(file).catch(() => null)
    return found === null ? 'missing' : `${found.ino}:${found.size}:${found.mtimeMs}:${found.ctimeMs}`
  })
  return (await Promise.all(signs)).join(' ')
}

/** Reads a file with all its queries; null for one that does not say when it runs. */
async function readForm(
  path: string,
  isNamed: boolean,
  log: (line: string) => void,
): Promise<JobForm | null | 'broken'> {
  const { report, end } = mistakePrinter(log, false)
  const text = await readFile(path).catch(() => Buffer.alloc(0))
  const file = await openJob(path, {}, report)
  if (file !== null) for await (const _ of file.queries());
  const { settings = null } = file ?? {}
  if (settings !== null && isNamed && !saysWhen(settings))
    report({
      ...{ where: path, line: null, column: null },
      message: 'the file does not say when the job runs',
      fix: 'write for instance schedule: "0 6 * * *"',
    })
  if (end() > 0 || settings === null) return 'broken'
  return saysWhen(settings) ? { path, settings, text, isBroken: false } : null
}

function saysWhen({ schedule }: JobSettings): boolean {
  return schedule !== null
}

/** Whether a job file is named twice, by whatever spelling. */
export function distinct(paths: readonly string[]): readonly string[] {
  return [...new Map(paths.map((path) => [resolve(path), path])).values()]
}
