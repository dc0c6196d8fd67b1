/**
 * Counts the source files that one task runs through. The sources are compiled file by file, a run of 300 tasks is begun
 * and stopped, and its resumption is measured: a file counts where V8 saw one of its blocks run for at least 95 % of the
 * tasks. `npm run files-per-task`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const tasks = 300
const least = tasks * 0.95
const driver = 'src/store/sqlite/connection/driver.ts'
const migrations = 'src/store/sqlite/migrations'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const folder = mkdtempSync(join(tmpdir(), 'rankline-files-'))
const coverage = join(folder, 'coverage')
let sandbox = null
try {
  await compile()
  sandbox = rankline(['sandbox', '--json', '--port', '0', '--balance', '1000'])
  const [line] = await once(createInterface(sandbox.stdout), 'line')
  const { base_url: url, api_key: key } = JSON.parse(line)
  const service = { RANKLINE_BASE_URL: url, RANKLINE_API_KEY: key }
  const queries = Array.from({ length: tasks }, (_, index) => `standing desk ${index},us,en`)
  writeFileSync(join(folder, 'job.csv'), `query,gl,hl\n${queries.join('\n')}\n`)

  await control(url, { rules: [{ do: { status: 402 } }] })
  await ended(rankline(['run', 'job.csv', '--target', 'northdesk.example'], service), [4])
  await control(url, { rules: [] })
  await ended(rankline(['resume'], { ...service, NODE_V8_COVERAGE: coverage }), [0])
  await checkCharged(url)
  print(filesRun())
} finally {
  sandbox?.kill()
  rmSync(folder, { recursive: true, force: true })
}

/** Each source becomes one module of the same name, whose imports stay imports; `better-sqlite3` leads to the driver. */
async function compile() {
  const sources = readdirSync('src', { recursive: true })
    .map((name) => join('src', name))
    .filter((name) => name.endsWith('.ts'))
  const oneToOne = {
    name: 'one-to-one',
    setup(builder) {
      builder.onResolve({ filter: /.*/ }, ({ kind, path }) => {
        if (kind === 'entry-point') return undefined
        return { path: path.replace(/^(\..*)\.ts$/, '$1.js'), external: true }
      })
    },
  }
  await build({
    entryPoints: sources,
    outbase: '.',
    outdir: folder,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    plugins: [oneToOne],
    logLevel: 'warning',
  })
  writeFileSync(
    join(folder, 'hooks.mjs'),
    `const driver = new URL('./${compiled(driver)}', import.meta.url).href
export const resolve = (name, context, next) =>
  name === 'better-sqlite3' ? { url: driver, shortCircuit: true } : next(name, context)
`,
  )
  writeFileSync(
    join(folder, 'register.mjs'),
    "import { register } from 'node:module'\nregister('./hooks.mjs', import.meta.url)\n",
  )
  writeFileSync(
    join(folder, 'start.mjs'),
    `import { main } from './src/cli/main.js'
import { openTerminal } from './src/cli/terminal.js'
process.exitCode = await main(process.argv.slice(2), openTerminal())
`,
  )
  cpSync(migrations, join(folder, migrations), { recursive: true })
  cpSync('package.json', join(folder, 'package.json'))
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'), 'junction')
  mkdirSync(coverage)
}

function compiled(source) {
  return source.replace(/\.ts$/, '.js')
}

function rankline(args, env = {}) {
  const hooks = pathToFileURL(join(folder, 'register.mjs')).href
  return spawn(process.execPath, ['--import', hooks, join(folder, 'start.mjs'), ...args], {
    cwd: folder,
    // Variables of the machine are looked through once at the start; many of them would count as tasks.
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function ended(child, exitCodes) {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const [code] = await once(child, 'close')
  if (!exitCodes.includes(code)) throw new Error(`rankline ended with ${code}:\n${output}`)
}

async function control(url, change) {
  const sent = await fetch(new URL('/_sandbox/control', url), {
    method: 'POST',
    body: JSON.stringify(change),
  })
  if (!sent.ok) throw new Error(`the sandbox answers ${sent.status}: ${await sent.text()}`)
}

/** Every task must have been bought by the measured process, or the counts say nothing. */
async function checkCharged(url) {
  const ledger = await (await fetch(new URL('/_sandbox/ledger', url))).json()
  const charged = ledger.requests.filter((request) => request.charged > 0).length
  if (charged !== tasks) throw new Error(`${charged} calls were charged instead of ${tasks}`)
}

/** The sources with a block that ran often enough; a program may have several threads, each with a record of its own. */
function filesRun() {
  const root = pathToFileURL(join(folder, 'src')).href
  const most = new Map()
  for (const name of readdirSync(coverage))
    for (const { url, functions } of JSON.parse(readFileSync(join(coverage, name), 'utf8')).result) {
      if (!url.startsWith(`${root}/`)) continue
      const file = `src/${url.slice(root.length + 1).replace(/\.js$/, '.ts')}`
      const counts = functions.flatMap(({ ranges }) => ranges.map(({ count }) => count))
      most.set(file, Math.max(most.get(file) ?? 0, ...counts))
    }
  return [...most]
    .filter(([, count]) => count >= least)
    .map(([file]) => file)
    .sort()
}

function print(files) {
  let total = 0
  for (const file of files) {
    const lines = readFileSync(file, 'utf8').split('\n').length - 1
    total += lines
    process.stdout.write(`${String(lines).padStart(5)}  ${file}\n`)
  }
  process.stdout.write(
    `${files.length} files with ${total} lines run for at least ${least} of ${tasks} tasks\n`,
  )
}
