import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type Database from 'better-sqlite3'
import pkg from '../../../../package.json' with { type: 'json' }
import { UsageError } from '../../../model/errors.ts'

/** What compiles the module where no binary is ready for this system: the programs, any of which will do, and what they are called. */
const tools: readonly (readonly [names: readonly string[], meaning: string])[] = [
  [['python3', 'python'], 'Python 3'],
  [['make'], 'make'],
  [['c++', 'g++', 'clang++'], 'a C++ compiler'],
]

/**
 * Version 13 is built for Node-API 10. A Node that has less (20, and 22.0 to 22.13) it ends without a word, so that
 * 12 is installed beside it; that one in turn ends Node 24.
 */
export function driverFor(napi: string | undefined): string {
  return Number(napi) >= 10 ? 'better-sqlite3' : 'better-sqlite3-12'
}

/** Named where it is required, so that the build puts its script beside the program, where what V8 compiled of it is kept. */
function requireDriver(name: string): unknown {
  return name === 'better-sqlite3-12'
    ? createRequire(import.meta.url)('better-sqlite3-12')
    : createRequire(import.meta.url)(name)
}

/**
 * @param load requires a package by its name
 * @param here a file of this program
 */
export function loadDriver(
  load: (name: string) => unknown = requireDriver,
  here: string = fileURLToPath(import.meta.url),
  napi: string | undefined = process.versions.napi,
  isThere: (program: string) => boolean = isInstalled,
): typeof Database {
  const name = driverFor(napi)
  try {
    const Driver = load(name) as typeof Database
    // Only the first database loads the binary, wherever that is opened.
    new Driver(':memory:').close()
    return Driver
  } catch (error) {
    throw new UsageError(whyUnusable(name, error as NodeJS.ErrnoException, here, isThere), { cause: error })
  }
}

/** What starts programs is loaded only here: every command opens a database. */
function isInstalled(program: string): boolean {
  const { spawnSync } = createRequire(import.meta.url)(
    'node:child_process',
  ) as typeof import('node:child_process')
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined
}

function whyUnusable(
  name: string,
  error: NodeJS.ErrnoException,
  here: string,
  isThere: (program: string) => boolean,
): string {
  const reason = error.message.split('\n')[0] as string
  const node = `Node ${process.versions.node}`
  const root = installedIn(here)
  if (error.code === 'MODULE_NOT_FOUND' && reason.includes(`'${name}'`))
    return `The SQLite module for ${node}, ${name}, is not installed: npm leaves it out without a word where no binary can be fetched and none can be compiled. Install it by its name, so that npm says what fails: ${installByName(name, root)}. ${compiling(isThere)}`
  const what = /bindings file|Cannot find module .*\.node'/.test(reason)
    ? 'has not been built'
    : error.message.includes('NODE_MODULE_VERSION')
      ? 'was built for another Node'
      : `cannot be loaded (${reason})`
  return `The SQLite module ${name} ${what} and does not work on ${node}. Build it again: ${buildAgain(name, root)}. ${compiling(isThere)}`
}

/** The folder whose `node_modules` holds what rankline needs: the one it was installed in, or that of its sources. */
function installedIn(here: string): string {
  const [, project] = here.match(/^(.*)[\\/]node_modules[\\/]rankline[\\/]/) ?? []
  if (project !== undefined && existsSync(join(project, 'package.json'))) return project
  // The built program has one of its own, which says that it is no module.
  let folder = dirname(dirname(here))
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}

function compiling(isThere: (program: string) => boolean): string {
  const missing = tools.filter(([names]) => !names.some(isThere)).map(([, meaning]) => meaning)
  const needed =
    'Where no binary is ready for this system, that compiles it, which needs Python 3, make and a C++ compiler'
  return missing.length === 0 ? needed : `${needed}; missing here: ${missing.join(', ')}`
}

/** Not as an optional package of rankline, whose failure npm does not show. */
function installByName(name: string, root: string): string {
  const version = pkg.optionalDependencies[name as keyof typeof pkg.optionalDependencies]
  const where = /[\\/]node_modules[\\/]rankline$/.test(root) ? '--global' : `--prefix ${quoted(root)}`
  return `npm install ${where} ${name}@${version}${ownHeaders()}`
}

/** The headers that came with this Node; without the flag they are fetched from nodejs.org. */
function ownHeaders(): string {
  const prefix = dirname(dirname(process.execPath))
  return existsSync(join(prefix, 'include/node/node_api.h')) ? ` --nodedir=${quoted(prefix)}` : ''
}

/** Of version 13, npm builds nothing by itself. */
function buildAgain(name: string, root: string): string {
  return name === 'better-sqlite3'
    ? `npm run build-release --prefix ${quoted(join(root, 'node_modules', name))}${ownHeaders()}`
    : `npm rebuild --prefix ${quoted(root)} ${name}${ownHeaders()}`
}

function quoted(path: string): string {
  return /^[\w./:\\-]+$/.test(path) ? path : `"${path}"`
}

/** The one place that loads the native module: every import of `better-sqlite3` leads here (see scripts/build.mjs). */
export default loadDriver()
