import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import type { JobSettings } from '../model/job.ts'
import { attempted, fileMistake, jobPlaces, yamlTexts } from './files.ts'
import { variable } from './issues.ts'
import { entriesOf } from './open.ts'
import { isMap, type Report, type Source, type Tree } from './source.ts'
import { isWorkspaceFile, readWorkspace } from './workspace.ts'
import { parseYaml } from './yaml.ts'

// Parts of a job file, whatever mistakes the rest of it has.

/** The CSV files that a YAML job file names; none where it cannot be read. */
function csvFilesOf(file: string): readonly string[] {
  return entriesIn(file).flatMap((entry) =>
    isMap(entry) && typeof entry.file === 'string' ? [jobPlaces.fromJobFile(file, entry.file)] : [],
  )
}

/** Whether a query of a YAML job file says how often it is due. */
function hasQueryWithEvery(file: string): boolean {
  return entriesIn(file).some((entry) => isMap(entry) && entry.every != null)
}

/** Name and `ping:` of a job file, or of `rankline.yaml` beside it; null where neither has one. */
export function readPing(file: string): Pick<JobSettings, 'name' | 'ping'> {
  const tree = /\.ya?ml$/i.test(file) ? sourceOf(file)?.tree : undefined
  const { name, ping } = isMap(tree) ? tree : {}
  return {
    name: typeof name === 'string' && name.trim() !== '' ? name : basename(file, extname(file)),
    ping: pingIn(ping) ?? readWorkspace(dirname(file), ignore)?.defaults.data.ping ?? null,
  }
}

function pingIn(part: Tree | undefined): JobSettings['ping'] {
  const { data } = variable().safeParse(isMap(part) ? part.url_env : undefined)
  return data === undefined ? null : { urlEnv: data }
}

const ignore: Report = () => {}

/** What stands below `queries:`; nothing where the file cannot be read. */
function entriesIn(file: string): readonly Tree[] {
  const source = sourceOf(file)
  return source === null ? [] : entriesOf(source)
}

function sourceOf(file: string): Source | null {
  if (fileMistake(file) !== null) return null
  const bytes = attempted(() => readFileSync(file))
  const text = bytes instanceof Error ? null : yamlTexts.of(bytes, file, ignore)
  return text === null ? null : parseYaml(text, file, ignore)
}

/** Other programs have YAML files, too, and some of them a `schedule`; a job has queries at its top. */
const hasQueries = /^["']?queries["']?\s*:/m

/** YAML files of a folder that are jobs, in alphabetical order; none that are hidden. */
function yamlJobs(folder: string): readonly {
  readonly file: string
  /** Null where it cannot be read. */
  readonly text: string | null
}[] {
  const names = attempted(() => readdirSync(folder))
  if (names instanceof Error) return []
  const files = names.filter((name) => /^[^.].*\.ya?ml$/i.test(name) && !isWorkspaceFile(name)).sort()
  const read = files.map((name) => ({ file: join(folder, name), text: textOf(join(folder, name)) }))
  return read.filter(({ text }) => text === null || hasQueries.test(text))
}

/** A folder is no job file, whatever its name is. */
function textOf(file: string): string | null {
  const text = attempted(() => readFileSync(file, 'utf8'))
  if (text instanceof Error) return text.code === 'EISDIR' ? '' : null
  return text
}

/** Job files of a folder, whether they say when they are due or not; those that cannot be read are among them. */
function yamlJobFiles(folder: string): readonly string[] {
  return yamlJobs(folder).map(({ file }) => file)
}

/** What a job file says at first sight. */
export const peek = {
  csvFiles: csvFilesOf,
  jobFiles: yamlJobFiles,
  jobs: yamlJobs,
  hasQueryWithEvery,
}
