import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import pkg from '../../package.json' with { type: 'json' }
import { driverFor, loadDriver } from '../../src/store/sqlite/connection/driver.ts'
import { testTable } from '../support/test-table.ts'

testTable([
  ['Node 20 and 22.13', '9', 'better-sqlite3-12'],
  ['Node 22.14', '10', 'better-sqlite3'],
  ['a later Node', '11', 'better-sqlite3'],
  ['what names no version', undefined, 'better-sqlite3-12'],
])('%s takes the driver that does not end it', (_, napi, name) => {
  expect(driverFor(napi)).toBe(name)
})

const compiling =
  'Where no binary is ready for this system, that compiles it, which needs Python 3, make and a C++ compiler'
const prefix = dirname(dirname(process.execPath))
const headers = existsSync(join(prefix, 'include/node/node_api.h')) ? ` --nodedir=${prefix}` : ''
const missing = (name: string, folder: string) =>
  `The SQLite module for ${node}, ${name}, is not installed: npm leaves it out without a word where no binary can be fetched and none can be compiled. Install it by its name, so that npm says what fails: npm install --prefix ${folder} ${name}@${pkg.optionalDependencies[name as 'better-sqlite3']}${headers}.`

function failing(code: string | undefined, message: string) {
  return () => {
    throw Object.assign(new Error(message), { code })
  }
}

const node = `Node ${process.versions.node}`
const root = process.cwd()
const rebuilding = (what: string) =>
  `The SQLite module better-sqlite3-12 ${what} and does not work on ${node}. Build it again: npm rebuild --prefix ${root} better-sqlite3-12${headers}. ${compiling}`
const building = (what: string) =>
  `The SQLite module better-sqlite3 ${what} and does not work on ${node}. Build it again: npm run build-release --prefix ${root}/node_modules/better-sqlite3${headers}. ${compiling}`

testTable([
  [
    'missing',
    '10',
    failing('MODULE_NOT_FOUND', "Cannot find module 'better-sqlite3'\nRequire stack:\n- /x"),
    `${missing('better-sqlite3', root)} ${compiling}`,
  ],
  [
    'not built',
    '9',
    failing(undefined, 'Could not locate the bindings file. Tried:\n → /x/build/better_sqlite3.node'),
    rebuilding('has not been built'),
  ],
  [
    'not brought for this system',
    '10',
    failing('MODULE_NOT_FOUND', "Cannot find module '/x/build/Release/better_sqlite3.node'\nRequire stack:"),
    building('has not been built'),
  ],
  [
    'of another Node',
    '9',
    failing(
      'ERR_DLOPEN_FAILED',
      "The module '/x/better_sqlite3.node'\nwas compiled against a different Node.js version using\nNODE_MODULE_VERSION 137.",
    ),
    rebuilding('was built for another Node'),
  ],
  [
    'of another system',
    '10',
    failing('ERR_DLOPEN_FAILED', '/x/better_sqlite3.node: invalid ELF header'),
    building('cannot be loaded (/x/better_sqlite3.node: invalid ELF header)'),
  ],
])('a driver that is %s is a sentence with the command that mends it', (_, napi, load, message) => {
  expect(() => loadDriver(load, import.meta.filename, napi, () => true)).toThrow(
    expect.objectContaining({ exitCode: 2, message }),
  )
})

test('what is missing for compiling is named', () => {
  const load = failing('MODULE_NOT_FOUND', "Cannot find module 'better-sqlite3-12'")
  expect(() => loadDriver(load, import.meta.filename, '9', (program) => program === 'python')).toThrow(
    `${missing('better-sqlite3-12', root)} ${compiling}; missing here: make, a C++ compiler`,
  )
})

test('a database that cannot be opened for want of its driver is exit 2; what needs no database works', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rankline no driver '))
  try {
    await cp('dist', join(folder, 'dist'), { recursive: true, filter: (path) => !path.includes('bench') })
    await writeFile(join(folder, 'package.json'), '{"type": "module"}')
    const run = promisify(execFile)
    const program = [join(folder, 'dist/cli.js')]
    await expect(run(process.execPath, [...program, 'runs'])).rejects.toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(
        `rankline: ${missing(driverFor(process.versions.napi), `"${folder}"`)} ${compiling}`,
      ),
    })
    expect((await run(process.execPath, [...program, 'operations'])).stdout).toContain('alpha.search')
  } finally {
    await rm(folder, { recursive: true })
  }
})
