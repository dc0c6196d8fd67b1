import { readFile } from 'node:fs/promises'
import { basename, dirname, extname } from 'node:path'
import type { JobSettings } from '../model/job.ts'
import { fileMistake, yamlText } from './files.ts'
import { isMap, type Report, type Tree } from './source.ts'
import { readWorkspace } from './workspace.ts'
import { parseYaml } from './yaml.ts'

const ignore: Report = () => {}

/**
 * Name and switch of a job file as far as it can be read: what is wrong elsewhere in it does not matter, for that is what the
 * switch is to be told. The switch is null where the job has none.
 */
export async function readPing(file: string): Promise<Pick<JobSettings, 'name' | 'ping'>> {
  const tree = await treeOf(file)
  const written = isMap(tree) ? tree.name : undefined
  const name = typeof written === 'string' && written.trim() !== '' ? written : basename(file, extname(file))
  const own = isMap(tree) ? pingIn(tree.ping) : null
  return { name, ping: own ?? (await readWorkspace(dirname(file), ignore))?.defaults.data.ping ?? null }
}

async function treeOf(file: string): Promise<Tree | undefined> {
  if (!/\.ya?ml$/i.test(file) || (await fileMistake(file)) !== null) return undefined
  const text = yamlText(await readFile(file), file, ignore)
  return text === null ? undefined : parseYaml(text, file, ignore)?.tree
}

function pingIn(part: Tree | undefined): JobSettings['ping'] {
  const variable = isMap(part) ? part.url_env : undefined
  return typeof variable === 'string' && /^[A-Za-z_]\w*$/.test(variable) ? { urlEnv: variable } : null
}
