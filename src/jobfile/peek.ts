import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { JobSettings } from '../model/job.ts'
import { fileMistake, jobPlaces, yamlTexts } from './files.ts'
import { variable } from './issues.ts'
import { entriesOf } from './open.ts'
import { isMap, type Report, type Source, type Tree } from './source.ts'
import { isWorkspaceFile, readWorkspace } from './workspace.ts'
import { parseYaml } from './yaml.ts'

// Parts of a job file, whatever mistakes the rest of it has.

/** The CSV files that a YAML job file names; none where it cannot be read. */
async function csvFilesOf(file: string): Promise<readonly string[]> {
  return (await entriesIn(file)).flatMap((entry) =>
    isMap(entry) && typeof entry.file === 'string' ? [jobPlaces.fromJobFile(file, entry.file)] : [],
  )
}

/** Whether a query of a YAML job file says how often it is due. */
async function hasQueryWithEvery(file: string): Promise<boolean> {
  return (await entriesIn(file)).some((entry) => isMap(entry) && entry.every != null)
}

/** Name and `ping:` of a job file, or of `rankline.yaml` beside it; null where neither has one. */
export async function readPing(file: string): Promise<Pick<JobSettings, 'name' | 'ping'>> {
  const tree = /\.ya?ml$/i.test(file) ? (await sourceOf(file))?.tree : undefined
  const { name, ping } = isMap(tree) ? tree : {}
  return {
    name: typeof name === 'string' && name.trim() !== '' ? name : basename(file, extname(file)),
    ping: pingIn(ping) ?? (await readWorkspace(dirname(file), ignore))?.defaults.data.ping ?? null,
  }
}

function pingIn(part: Tree | undefined): JobSettings['ping'] {
  const { data } = variable().safeParse(isMap(part) ? part.url_env : undefined)
  return data === undefined ? null : { urlEnv: data }
}

const ignore: Report = () => {}

/** What stands below `queries:`; nothing where the file cannot be read. */
async function entriesIn(file: string): Promise<readonly Tree[]> {
  const source = await sourceOf(file)
  return source === null ? [] : entriesOf(source)
}

async function sourceOf(file: string): Promise<Source | null> {
  if ((await fileMistake(file)) !== null) return null
  const text = yamlTexts.of(await readFile(file), file, ignore)
  return text === null ? null : parseYaml(text, file, ignore)
}

/** Other programs have YAML files, too, and some of them a `schedule`; a job has queries at its top. */
const hasQueries = /^["']?queries["']?\s*:/m

/** YAML files of a folder that are jobs, in alphabetical order; none that are hidden. */
async function yamlJobs(folder: string): Promise<
  readonly {
    readonly file: string
    /** Null where it cannot be read. */
    readonly text: string | null
  }[]
> {
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
async function yamlJobFiles(folder: string): Promise<readonly string[]> {
  return (await yamlJobs(folder)).map(({ file }) => file)
}

/** What a job file says at first sight. */
export const peek = {
  csvFiles: csvFilesOf,
  jobFiles: yamlJobFiles,
  jobs: yamlJobs,
  hasQueryWithEvery,
}
