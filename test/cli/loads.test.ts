import { writeFile } from 'node:fs/promises'
import module from 'node:module'
import { join } from 'node:path'
import vm from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compiledLoader, textOf } from '../../src/cli/compiled.ts'
import { driverFor } from '../../src/store/sqlite/connection/driver.ts'
import { filesLoadedBy, loadedBy, sourcesIn } from '../support/loaded.ts'
import type { Workspace } from '../support/rankline.ts'
import { collectedJob, type Stage } from '../support/stage.ts'
import { testTable } from '../support/test-table.ts'

let job: Stage
let place: Workspace
beforeAll(async () => {
  job = await collectedJob()
  place = job.place
  // `job` is the name of a command, too.
  await place.file('desks.csv', 'query\ndesk\n')
  await place.call(['run', 'desks.csv', '--target', 'acme.com'])
}, 60_000)
afterAll(() => job[Symbol.asyncDispose]())

/** What reads a command line, and nothing else. */
const toBegin = [
  'src/cli/commands/index.ts',
  'src/cli/compiled.ts',
  'src/cli/flags.ts',
  'src/cli/main.ts',
  'src/cli/start.ts',
  'src/cli/terminal.ts',
  'src/jobfile/files.ts',
  'src/model/errors.ts',
  'src/model/text.ts',
  'src/model/url.ts',
  'src/model/values.ts',
  'src/output/table.ts',
  'src/output/terminal.ts',
  'src/run/config.ts',
  'src/run/postgres-address.ts',
]

testTable([
  ['--help', ['src/cli/help.ts']],
  ['--version', []],
  ['runss', []],
])('%s loads what reads a command line, and of yargs the parser', async (flag, more) => {
  const loaded = [...(await loadedBy(place, [flag]))]
  expect(loaded.filter((name) => name.startsWith('src/')).sort()).toEqual([...toBegin, ...more].sort())
  expect(loaded.filter((name) => !name.startsWith('src/')).sort()).toEqual(['yargs-parser'])
})

/** Where its binary is, it knows by itself. That of Node 20 lies beside the program, and says what it was made of: `bindings`, too. */
const driver = driverFor(process.versions.napi)
const toStore = [driver, 'bindings', 'drizzle-orm', 'quick-lru']

let loadedByAll: ReturnType<typeof loadedBy> | undefined

/** Packages that neither read a command line nor open a database. */
async function packagesOf(loaded: ReadonlySet<string>): Promise<readonly string[]> {
  loadedByAll ??= loadedBy(place, ['--version'])
  const usual = [...(await loadedByAll), ...toStore]
  return [...loaded].filter((name) => !name.startsWith('src/') && !usual.includes(name))
}

test('a list of runs also loads a database, and nothing that calls, reads answers, writes or migrates, nor what Node has for that', async () => {
  const files = await filesLoadedBy(place, ['runs'])
  expect(
    files.filter((file) => /^node:(crypto|child_process|fs\/promises|https?|net|stream)$/.test(file)),
  ).toEqual([])
  expect(files).toContain('node:fs')
  const loaded = await sourcesIn(files)
  expect(loaded).toContain(driver)
  expect(await packagesOf(loaded)).toEqual([])
  const folders = [...loaded].flatMap((name) => name.match(/^src\/(\w+)\//)?.[1] ?? [])
  expect([...new Set(folders)].sort()).toEqual([
    'cli',
    'collect',
    'jobfile',
    'model',
    'output',
    'run',
    'store',
  ])
  expect(
    [...loaded].filter((name) => /sqlite\/(open|migration-steps|results\/dictionary)\.ts$/.test(name)),
  ).toEqual([])
})

test('a report loads neither what calls nor what reads files, nor the forms that were not asked for', async () => {
  const loaded = await loadedBy(place, ['report', 'desks'])
  expect(loaded).toContain('src/report/formats/table.ts')
  expect(await packagesOf(loaded)).toEqual([])
  // What AI answers cite is read as for the page.
  const others =
    /^src\/(api|jobfile\/(?!files)|output\/xlsx|output\/formats\/(csv|parquet)|report\/(page\/(?!build-data|serp-days|offered)|formats\/(workbook|markdown)))\b/
  expect([...loaded].filter((name) => others.test(name))).toEqual([])
})

test('a workbook is packed by what lies beside the program, whose checksums are those of Node', async () => {
  const files = await filesLoadedBy(place, ['report', 'desks', '--format', 'xlsx', '--out', 'desks.xlsx'])
  expect(await sourcesIn(files)).toContain('yazl')
  expect(files.filter((file) => /node_modules[\\/](yazl|buffer-crc32)/.test(file))).toEqual([])
  expect(files).toContain('node:zlib')
})

test('status reads job files, and loads neither what calls nor what reads answers and tables, nor YAML in many files', async () => {
  const files = await filesLoadedBy(place, ['status'])
  const loaded = await sourcesIn(files)
  expect(loaded).toContain('src/jobfile/open.ts')
  expect(
    [...loaded].filter((name) =>
      /^src\/(api|collect|catalog\/(answers|dates))\b|^(csv-parse|p-queue)$/.test(name),
    ),
  ).toEqual([])
  expect(files.filter((file) => file.includes('node_modules/yaml/'))).toEqual([])
  // To load them takes longer than to read the files.
  expect(
    files.filter((file) => /^node:(assert|crypto|child_process|fs\/promises|https?|net|zlib)$/.test(file)),
  ).toEqual([])
})

test('doctor asks the service, and loads neither what reports, exports and collects, nor what only some of its findings need, nor what makes a database, and of packages that are files of their own the driver', async () => {
  await place.file('asked.yaml', 'operation: alpha.search\nqueries: [desk]\n')
  const files = await filesLoadedBy(place, ['doctor'])
  expect(files.filter((file) => file.includes('migrator'))).toEqual([])
  expect(files.filter((file) => /^node:(assert|fs\/promises|https?|perf_hooks|zlib)$/.test(file))).toEqual([])
  const sought = files.flatMap((file) => file.match(/node_modules[\\/]([\w-]+)/)?.[1] ?? [])
  expect([...new Set(sought)].sort()).toEqual([driver])
  const loaded = [...(await sourcesIn(files))]
  expect(loaded).toContain('src/api/client.ts')
  const others =
    /^src\/(report|page|export|machines|sandbox|catalog\/dates)\/|^src\/store\/sqlite\/maintenance\/(check|invariants)|^src\/collect\/(?!account|stop)|^(nodemailer|p-queue|pg|pino|yazl)$/
  expect(loaded.filter((name) => others.test(name))).toEqual([])
})

test('without a queue nothing of many machines is loaded, and of the HTTP client the pool alone', async () => {
  const machines = /^pg$|^src\/(machines\/(?!open-app)|store\/(postgres|shared)\/)/
  const files = await filesLoadedBy(place, ['run', 'job.csv', '--fresh'])
  expect(files.filter((file) => /[\\/]undici-\w+\.cjs$/.test(file))).toEqual([])
  const loaded = await sourcesIn(files)
  expect(loaded).toContain('undici')
  expect(loaded).toContain('src/collect/collect.ts')
  expect([...loaded].filter((name) => machines.test(name))).toEqual([])
  const withQueue = await loadedBy(place, ['queue', 'status', '--queue', 'postgres://127.0.0.1:1/none'])
  expect([...withQueue].some((name) => machines.test(name))).toBe(true)
})

test('where Node keeps what it compiled, it is asked to before anything else is loaded', async () => {
  const pretence = `import module from 'node:module';module.enableCompileCache=()=>process.stderr.write('kept\\n')`
  const { stdout, stderr } = await place.run(['--version'], {
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(pretence)}`,
  })
  expect(stderr).toBe('kept\n')
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})

test('where Node keeps nothing, what the build compiled is taken, also of packages, around a call and for a page', async () => {
  const telling = `import vm from 'node:vm';import{syncBuiltinESMExports}from'node:module';
    vm.Script=class extends vm.Script{constructor(text,about){super(text,about);
    if(about?.filename)process.stderr.write(this.cachedDataRejected+'\\n')}};syncBuiltinESMExports()`
  const { stdout, stderr } = await place.run(['doctor'], {
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(telling)}`,
  })
  expect(stdout).toMatch(/service +answers/)
  const page = await place.run(['report', 'desks', '--format', 'html', '--out', 'desks.html'], {
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(telling)}`,
  })
  expect(page.stderr).not.toContain('true')
  const keeps = 'enableCompileCache' in module
  expect([...new Set(stderr.split('\n'))]).toEqual(keeps ? [''] : ['false', ''])
})

test('what another Node compiled is compiled again, and a file is run once', async () => {
  await place.file('one.cjs', `module.exports = [require('./two.cjs'), require('./two.cjs')]`)
  await place.file('two.cjs', `exports.name = require('node:path').basename(__filename)`)
  await place.file('two.cjs.compiled', 'by another')
  const load = compiledLoader(join(place.folder, 'cli.js'))
  const [first, second] = load('./one.cjs') as readonly unknown[]
  expect(first).toEqual({ name: 'two.cjs' })
  expect(second).toBe(first)
})

testTable([
  ['numbers', `exports.ends = [${'.5,'.repeat(300_000)}].length`, 300_000],
  ['text', `exports.ends = '${'.'.repeat(3_000_000)}'.length`, 3_000_000],
])('a file of much %s is read whole, with what was compiled of it', async (name, text, ends) => {
  await place.file(`${name}.cjs`, text)
  const file = join(place.folder, `${name}.cjs`)
  await writeFile(`${file}.compiled`, new vm.Script(textOf(file)).createCachedData())
  const rejected: (boolean | undefined)[] = []
  const load = compiledLoader(join(place.folder, 'cli.js'), (_, script) =>
    rejected.push(script.cachedDataRejected),
  )
  expect(load(`./${name}.cjs`)).toEqual({ ends })
  expect(rejected).toEqual([false])
})
