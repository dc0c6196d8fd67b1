import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'

type Load = (file: string) => unknown
type Wrapped = (exports: unknown, require: Load, module: { exports: unknown }, file: string) => void

/**
 * Loads files of the program, and what they require, with what the build compiled of them: Node 20 would compile them at every start.
 * Where it was another Node that built, V8 refuses that, and compiles.
 *
 * @param beside a file of the program
 * @param keep called with each file and its script
 */
export function compiledLoader(
  beside: string,
  keep: (file: string, script: Script) => void = () => {},
): Load {
  const requirePackage = createRequire(beside)
  const loaded = new Map<string, { exports: unknown }>()
  const load: Load = (name) => {
    if (!name.startsWith('./')) return requirePackage(name)
    const known = loaded.get(name)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    loaded.set(name, module)
    const file = join(dirname(beside), name)
    const cachedData = compiledOf(file)
    const script = new Script(asFunction(readFileSync(file, 'utf8')), { filename: file, cachedData })
    keep(file, script)
    const run = script.runInThisContext() as Wrapped
    run(module.exports, load, module, file)
    return module.exports
  }
  return load
}

/** To ask first whether it is there takes time at each of many files. */
function compiledOf(file: string): Buffer | undefined {
  try {
    return readFileSync(`${file}.compiled`)
  } catch {
    return undefined
  }
}

/** A script that answers a function which runs a file of the program. */
export function asFunction(text: string): string {
  return `(function (exports, require, module, __filename) {${text}\n})`
}
