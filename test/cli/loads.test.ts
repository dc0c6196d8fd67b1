import { afterAll, beforeAll, expect, test } from 'vitest'
import { driverFor } from '../../src/store/sqlite/driver.ts'
import { collectedJob } from '../support/collected-job.ts'
import { loadedBy } from '../support/loaded.ts'
import type { Workspace } from '../support/rankline.ts'
import type { Stage } from '../support/stage.ts'

let job: Stage
let place: Workspace
beforeAll(async () => {
  job = await collectedJob()
  place = job.place
})
afterAll(() => job[Symbol.asyncDispose]())

/** What reads a command line, and nothing else. */
const toBegin = [
  'src/arguments.ts',
  'src/cli.ts',
  'src/commands/command.ts',
  'src/commands/flags.ts',
  'src/commands/index.ts',
  'src/config.ts',
  'src/errors.ts',
  'src/mistyped.ts',
  'src/model/url.ts',
  'src/open-terminal.ts',
  'src/start.ts',
  'src/terminal.ts',
  'src/text-width.ts',
  'src/version.ts',
  'src/words.ts',
]
const toParse = [
  'ansi-regex',
  'ansi-styles',
  'cliui',
  'escalade',
  'get-caller-file',
  'strip-ansi',
  'wrap-ansi',
  'y18n',
  'yargs',
  'yargs-parser',
]

test.each([[['--help']], [['--version']], [['report', '--help']], [['runss']]])(
  '%j loads what reads a command line',
  async (args) => {
    expect([...(await loadedBy(place, args))].sort()).toEqual([...toBegin, ...toParse].sort())
  },
)

/** Those of the driver that name its binary file, too. */
const driver = driverFor(process.versions.napi)
const toStore = [driver, 'bindings', 'file-uri-to-path']

function packagesOf(loaded: ReadonlySet<string>): readonly string[] {
  return [...loaded].filter((name) => !name.startsWith('src/') && ![...toParse, ...toStore].includes(name))
}

test('a list of runs loads a database beside that, and nothing that calls, reads answers or writes', async () => {
  const loaded = await loadedBy(place, ['runs'])
  expect(loaded).toContain(driver)
  expect(packagesOf(loaded)).toEqual([])
  const folders = [...loaded].map((name) => name.match(/^src\/(\w+)\//)?.[1])
  expect([...new Set(folders)].sort()).toEqual([
    'actions',
    'commands',
    'model',
    'report',
    'run',
    'store',
    undefined,
  ])
  expect(loaded).not.toContain('src/store/sqlite/open.ts')
})

test('a report loads neither what calls nor what reads files, nor the forms that were not asked for', async () => {
  const loaded = await loadedBy(place, ['report', 'job'])
  expect(loaded).toContain('src/report/rank-table.ts')
  expect(packagesOf(loaded)).toEqual([])
  const others = /^src\/(api|jobfile|xlsx|report\/(page|workbook|markdown))\//
  expect([...loaded].filter((name) => others.test(name))).toEqual([])
})

test('where Node keeps what it compiled, it is asked to before anything else is loaded', async () => {
  const pretence = `import module from 'node:module';module.enableCompileCache=()=>process.stderr.write('kept\\n')`
  const { stdout, stderr } = await place.run(['--version'], {
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(pretence)}`,
  })
  expect(stderr).toBe('kept\n')
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})
