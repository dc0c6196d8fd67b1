import { readFile } from 'node:fs/promises'
import { basename, dirname, extname } from 'node:path'
import type { JobSettings } from '../model/job.ts'
import { fileMistake, fromJobFile, yamlText } from './files.ts'
import { variable } from './issues.ts'
import { entriesOf } from './queries.ts'
import { isMap, type Report, type Source, type Tree } from './source.ts'
import { readWorkspace } from './workspace.ts'
import { parseYaml } from './yaml.ts'

// Parts of a job file, whatever mistakes the rest of it has.

/** The CSV files that a YAML job file names; none where it cannot be read. */
export async function csvFilesOf(file: string): Promise<readonly string[]> {
  return (await entriesIn(file)).flatMap((entry) =>
    isMap(entry) && typeof entry.file === 'string' ? [fromJobFile(file, entry.file)] : [],
  )
}

/** Whether a query of a YAML job file says how often it is due. */
export async function hasQueryWithEvery(file: string): Promise<boolean> {
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
  const { data } = variable.safeParse(isMap(part) ? part.url_env : undefined)
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
  const text = yamlText(await readFile(file), file, ignore)
  return text === null ? null : parseYaml(text, file, ignore)
}
