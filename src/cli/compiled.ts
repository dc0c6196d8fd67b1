import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'

type Load = (file: string) => unknown
type Wrapped = (exports: unknown, require: Load, module: { exports: unknown }, file: string) => void

/**
 * Loads files of the program, and what they require, with what the build compiled of them: Node 20 would compile them at every start.
 * Where it was another Node that built, V8 refuses that, and compiles.
 *
 * @param beside address of a file of the program
 */
export function compiledLoader(beside: string): Load {
  const requirePackage = createRequire(beside)
  const loaded = new Map<string, { exports: unknown }>()
  const load: Load = (name) => {
    if (!name.startsWith('./')) return requirePackage(name)
    const known = loaded.get(name)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    loaded.set(name, module)
    const file = fileURLToPath(new URL(name, beside))
    const compiled = `${file}.compiled`
    const cachedData = existsSync(compiled) ? readFileSync(compiled) : undefined
    const text = `(function (exports, require, module, __filename) {${readFileSync(file, 'utf8')}\n})`
    const run = new Script(text, { filename: file, cachedData }).runInThisContext() as Wrapped
    run(module.exports, load, module, file)
    return module.exports
  }
  return load
}
