import { closeSync, openSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, sep } from 'node:path'
import { Script } from 'node:vm'

type Load = (file: string) => unknown
type Wrapped = (exports: unknown, require: Load, module: { exports: unknown }, file: string) => void

/** What stands around the text of a file, so that it is a script which answers a function. */
const opening = '(function (exports, require, module, __filename) {'
const closing = '\n})'

/**
 * Where each file is read, one after the other: memory that a process has not used yet costs more than to read a file. The files of the
 * program hold ASCII alone, so that a byte is a character.
 */
let room = Buffer.allocUnsafeSlow(1024 * 1024)

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
  const folder = dirname(beside) + sep
  const loaded = new Map<string, { exports: unknown }>()
  const load: Load = (name) => {
    if (!name.startsWith('./')) return requirePackage(name)
    const known = loaded.get(name)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    loaded.set(name, module)
    const file = folder + name.slice('./'.length)
    const text = textOf(file)
    const script = new Script(text, { filename: file, cachedData: compiledOf(file) })
    keep(file, script)
    const run = script.runInThisContext() as Wrapped
    run(module.exports, load, module, file)
    return module.exports
  }
  return load
}

/** The script of a file, which answers a function that runs it. */
export function textOf(file: string): string {
  room.write(opening, 'latin1')
  const end = read(file, opening.length)
  return room.toString('latin1', 0, end + room.write(closing, end, 'latin1'))
}

/** Until the next file is read. To ask first whether it is there takes time at each of many files. */
function compiledOf(file: string): Buffer | undefined {
  try {
    const end = read(`${file}.compiled`, 0)
    return room.subarray(0, end)
  } catch {
    return undefined
  }
}

/** Reads a file into the room, from here on, and says where it ends; behind that there is room for the closing. */
function read(file: string, from: number): number {
  const opened = openSync(file, 'r')
  try {
    for (let end = from; ; ) {
      const got = readSync(opened, room, end, room.length - end, null)
      end += got
      const isFull = end + closing.length > room.length
      if (isFull) room = Buffer.concat([room], 2 * room.length)
      else if (got === 0) return end
    }
  } finally {
    closeSync(opened)
  }
}
