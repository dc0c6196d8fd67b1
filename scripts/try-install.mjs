/**
 * Packs rankline, installs it into an empty folder as a user would, and runs it there. What the checkout has compiled is
 * taken over: `npm ci` has shown that it compiles. To be started with `npm run test:install`, which says where npm is.
 */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const checkout = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'))
const folder = mkdtempSync(join(tmpdir(), 'rankline-install-'))
const program = join(folder, 'node_modules/rankline/dist/cli.js')
try {
  const [packed] = JSON.parse(
    npm(checkout, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder),
  )
  checkContents(packed.files.map(({ path }) => path))
  writeFileSync(join(folder, 'package.json'), '{"private": true}')
  npm(folder, 'install', '--ignore-scripts', '--prefer-offline', join(folder, packed.filename))
  const compiled = 'node_modules/better-sqlite3-12/build'
  if (existsSync(join(checkout, compiled)))
    cpSync(join(checkout, compiled), join(folder, compiled), { recursive: true })
  equal(rankline('--version'), `${version}\n`)
  match(rankline('demo'), / credits, in .*^What to do next$/ms)
  // The PDF is there where a browser is.
  const written = readdirSync(join(folder, 'data')).filter((name) => name !== 'demo-report.pdf')
  deepEqual(written.sort(), [
    'demo-rankings.csv',
    'demo-report.eml',
    'demo-report.html',
    'demo-serps.csv',
    'demo.db',
  ])
  await tryWorkspace()
  // What collects on many machines needs a package that users of one machine are spared.
  ok(!existsSync(join(folder, 'node_modules/pg')), 'pg is installed')
  const worker = spawnSync(process.execPath, [program, 'worker', '--queue', 'postgres://127.0.0.1:1/none'], {
    cwd: folder,
    encoding: 'utf8',
  })
  equal(worker.status, 2)
  match(worker.stderr, /needs one more package\. Add it: npm install pg/)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** What `init` lays out runs against the sandbox by the commands that it prints. */
async function tryWorkspace() {
  const { next } = JSON.parse(rankline('init', '--yes', '--json'))
  const sandbox = spawn(process.execPath, [program, 'sandbox', '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = await once(sandbox.stdout.setEncoding('utf8'), 'data')
    process.env.RANKLINE_BASE_URL = JSON.parse(line).base_url
    const printed = [['doctor'], ...next.map((command) => command.split(' ').slice(1))].map((typed) =>
      rankline(...typed),
    )
    match(printed[0], /^All is well\.$/m)
    match(printed[1], /^ranks +10 +20 /m)
    match(printed[2], /^ranks \(run 1\): completed, 20 of 20 tasks done/)
    match(printed[3], /^northdesk\.example +\d+ of 10/m)
  } finally {
    sandbox.kill()
  }
}

function checkContents(paths) {
  for (const path of ['CHANGELOG.md', 'LICENSE', 'README.md', 'docs/ranks.md', 'jobs/rank-tracking.yaml'])
    ok(paths.includes(path), `${path} is not in the package`)
  const strange = paths.filter((path) =>
    /_snapshot\.json$|^(src|test|bench|scripts|dist\/bench)\//.test(path),
  )
  deepEqual(strange, [], 'the package holds what only developers need')
}

function npm(cwd, ...args) {
  return run(cwd, process.env.npm_execpath, ...args)
}

function rankline(...args) {
  return run(folder, program, ...args)
}

function run(cwd, script, ...args) {
  return execFileSync(process.execPath, [script, ...args], { cwd, encoding: 'utf8' })
}
