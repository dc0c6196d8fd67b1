import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Workspace } from './rankline.ts'

const dist = fileURLToPath(new URL('../../dist/', import.meta.url))

/** Notes every module that is imported, every script that is run and every part of Node that is required, and at the end every module that was required. */
const tracer = (to: string): string => {
  const note = `import{appendFileSync}from'node:fs';const note=(name)=>appendFileSync(${JSON.stringify(to)},name+'\\n')`
  const hooks = `${note};export const load=(url,context,next)=>{note(url);return next(url,context)}`
  return dataUrl(`import{register,syncBuiltinESMExports}from'node:module';import Module from'node:module';import vm from'node:vm';${note};
    vm.Script=class extends vm.Script{constructor(text,about){super(text,about);if(about?.filename)note(about.filename)}};
    syncBuiltinESMExports();const load=Module._load;Module._load=(name,...rest)=>{if(name.startsWith('node:'))note(name);return load(name,...rest)};
    register(${JSON.stringify(dataUrl(hooks))});process.on('exit',()=>Object.keys(Module._cache).forEach(note))`)
}

function dataUrl(script: string): string {
  return `data:text/javascript,${encodeURIComponent(script)}`
}

/** What a command of the built program loads: sources by their path from the top, packages by their names. */
export async function loadedBy(place: Workspace, args: readonly string[]): Promise<ReadonlySet<string>> {
  return await sourcesIn(await filesLoadedBy(place, args))
}

/** The paths of all files that a command of the built program loads. */
export async function filesLoadedBy(place: Workspace, args: readonly string[]): Promise<readonly string[]> {
  const list = join(place.folder, `loaded-${args.join('-').replaceAll(/\W/g, '-')}`)
  await place.run(args, { NODE_OPTIONS: `--import ${tracer(list)}` })
  return (await readFile(list, 'utf8')).trim().split('\n')
}

export async function sourcesIn(files: readonly string[]): Promise<ReadonlySet<string>> {
  const sources = await Promise.all(files.map(sourcesOf))
  return new Set(sources.flat())
}

/** A file of ours names the sources that it was made of. */
async function sourcesOf(file: string): Promise<readonly string[]> {
  if (/^(node|data):/.test(file)) return []
  const path = file.startsWith('file:') ? fileURLToPath(file) : file
  if (!path.startsWith(dist)) return [nameOf(path)]
  const comments = (await readFile(path, 'utf8')).matchAll(/^\/\/ ((?:src|node_modules)\/.+)$/gm)
  return [...comments].map(([, source]) => nameOf(source as string))
}

function nameOf(path: string): string {
  return path.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? path
}
