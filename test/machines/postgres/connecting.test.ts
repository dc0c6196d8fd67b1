import { chmod, readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { JournalAbandoned } from '../../../src/machines/journal.ts'
import { openPostgres, type Postgres } from '../../../src/machines/postgres/connection.ts'
import { passwordIn, postgresAddresses } from '../../../src/run/postgres-address.ts'
import { startSandbox } from '../../../src/sandbox/server.ts'
import { waitWhile } from '../../cli/staged.ts'
import { sharedPostgres, testPostgres } from '../../support/postgres.ts'
import { type Workspace, workspace } from '../../support/rankline.ts'
import { testTable } from '../../support/test-table.ts'

const password = 'pa55-w0rd:/?#'
const encoded = encodeURIComponent(password)
const withoutDriver = fileURLToPath(new URL('../../support/without-pg.mjs', import.meta.url))
const unused = { RANKLINE_BASE_URL: 'http://127.0.0.1:9', RANKLINE_API_KEY: 'unused-key' }

let admin: Postgres
let place: Workspace
let web: Server
let wall: TcpServer
/** Server, and a database in which these users may do what their names say. */
let at: string
let database: string

beforeAll(async () => {
  const server = await sharedPostgres()
  const url = await server.database()
  database = url.slice(url.lastIndexOf('/') + 1)
  at = `127.0.0.1:${server.port}`
  admin = await openPostgres(url)
  await admin.query(`CREATE USER maker PASSWORD '${password}'`)
  await admin.query(`CREATE USER nobody PASSWORD '${password}'`)
  await admin.query(`GRANT CREATE ON DATABASE ${database} TO maker`)
  place = await workspace()
  web = createServer()
  wall = createTcpServer((socket) => socket.destroy())
  for (const one of [web, wall]) await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  web.close()
  wall.close()
  await place[Symbol.asyncDispose]()
  await admin[Symbol.asyncDispose]()
})

function portOf(listening: Server | TcpServer): number {
  return (listening.address() as AddressInfo).port
}

/** What is said of each address of a queue, and the exit code. */
const addresses: readonly (readonly [string, () => string, number, string])[] = [
  [
    'no server there',
    () => `postgres://maker:${encoded}@127.0.0.1:9/${database}`,
    6,
    'The queue cannot be reached: nothing listens at 127.0.0.1:9. Nothing was sent. Check its address and the network, then run the same command again',
  ],
  [
    'a host that does not exist',
    () => `postgres://maker:${encoded}@queue.invalid/${database}?sslmode=verify-full`,
    6,
    'The queue cannot be reached: the host of queue.invalid:5432 is unknown. Nothing was sent. Check its address and the network, then run the same command again',
  ],
  [
    'a server that closes every connection',
    () => `postgres://maker:${encoded}@127.0.0.1:${portOf(wall)}/${database}`,
    6,
    'The queue cannot be reached: 127.0.0.1:… broke the connection. Nothing was sent. Check its address and the network, then run the same command again',
  ],
  [
    'another server',
    () => `postgres://maker:${encoded}@127.0.0.1:${portOf(web)}/${database}`,
    2,
    'What answers at 127.0.0.1:… is no Postgres server. Check host and port in the address of the queue',
  ],
  [
    'no such database',
    () => `postgres://maker:${encoded}@${at}/missing`,
    2,
    "There is no database 'missing' at 127.0.0.1:…. Name another one in the address of the queue, or have this one made: createdb missing",
  ],
  [
    'a wrong password',
    () => `postgres://maker:wrong@${at}/${database}`,
    2,
    "127.0.0.1:… refuses user 'maker' with this password. Check both in the address of the queue, PGPASSWORD or ~/.pgpass",
  ],
  [
    'no password',
    () => `postgres://maker@${at}/${database}`,
    2,
    "127.0.0.1:… asks for the password of user 'maker', and none was given. Set PGPASSWORD, or put it into ~/.pgpass",
  ],
  [
    'no right to lay it out',
    () => `postgres://nobody:${encoded}@${at}/${database}`,
    2,
    "User 'nobody' may not lay out the queue at 127.0.0.1:…/queue. Have someone with that right run: rankline queue migrate",
  ],
  [
    'TLS from a server without it',
    () => `postgres://maker:${encoded}@${at}/${database}?sslmode=require`,
    2,
    '127.0.0.1:… does not speak TLS, which the address of the queue asks for. Switch it on there, or write sslmode=disable where the network can be trusted',
  ],
  [
    'a certificate that is not there',
    () => `postgres://maker:${encoded}@${at}/${database}?sslmode=verify-full&sslrootcert=missing.pem`,
    2,
    "What the address of the queue says after the ? cannot be used (ENOENT: no such file or directory, open 'missing.pem'). Correct it",
  ],
  [
    'another machine without TLS',
    () => `postgres://maker:${encoded}@queue.invalid/${database}`,
    2,
    'RANKLINE_QUEUE would send the password and the data in the clear. Add ?sslmode=verify-full to it, or ?sslmode=disable if that is meant',
  ],
  [
    'a password that was not encoded',
    () => `postgres://maker:${password}@${at}/${database}`,
    2,
    'RANKLINE_QUEUE cannot be read as an address. Write / ? # @ and % of its password as %2F %3F %23 %40 and %25, or leave the password out and set PGPASSWORD',
  ],
  [
    'a password that would be taken for a port',
    () => `postgres://maker:12#${password}@${at}/${database}`,
    2,
    'RANKLINE_QUEUE cannot be read as an address. Write / ? # @ and % of its password as %2F %3F %23 %40 and %25, or leave the password out and set PGPASSWORD',
  ],
  [
    'another service',
    () => `https://maker:${encoded}@${at}/${database}`,
    2,
    'RANKLINE_QUEUE is not the address of a Postgres database. Write it like postgres://user@host/database',
  ],
]

testTable(addresses)('one sentence for %s', async (_, address, code, sentence) => {
  const ended = await place.call(['sync', '--verbose'], { HOME: place.folder, RANKLINE_QUEUE: address() })
  const said = ended.stderr
    .split('\n')[0]
    ?.replaceAll(/(?<=127\.0\.0\.1:)\d{2,}/g, '…')
    .replace(database, 'queue')
  expect(said?.replace(/(is not known|cannot be looked up now)/, 'is unknown')).toBe(`rankline: ${sentence}`)
  expect(ended).toMatchObject({ code, stdout: '' })
  for (const secret of [password, encoded]) expect(ended.stderr).not.toContain(secret)
})

testTable([
  ['run', 'job.csv'],
  ['worker', '--once'],
  ['sync'],
  ['queue', 'migrate'],
  ['queue', 'status'],
  ['queue', 'drain'],
  ['queue', 'retry'],
])('%s %s: a queue that cannot be used is one sentence, and nothing is sent', async (...command) => {
  await place.file('job.csv', 'query\nshoes\n')
  const env = { ...unused, RANKLINE_QUEUE: `postgres://maker:wrong@${at}/${database}` }
  const { code, stdout, stderr } = await place.call(command, env)
  expect(stderr).toMatch(/^rankline: \S+ refuses user 'maker' with this password\. [^\n]+\n$/)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
})

test('a password in --queue is noted once; the program shows it nowhere', async () => {
  const queue = `postgres://nobody:${encoded}@${at}/${database}`
  const { stdout, stderr } = await place.call(['queue', 'status', '--queue', queue, '--verbose'])
  const [first, second] = stderr.split('\n')
  expect(first).toMatch(
    /^Every user of this machine sees the password in --queue, in the list of processes\. Put the address into RANKLINE_QUEUE, or /,
  )
  expect(second).toMatch(/^rankline: There is no queue at \S+ yet\. .*: rankline queue migrate$/)
  for (const secret of [password, encoded]) expect(stdout + stderr).not.toContain(secret)
})

describe('an address without a word of TLS', () => {
  const refusal = (address: string, env = {}) => {
    try {
      postgresAddresses.of(address, 'RANKLINE_QUEUE', { PGPASSWORD: 'p', ...env })
      return null
    } catch (error) {
      return (error as Error).message
    }
  }
  testTable([
    ['postgres://me@localhost/q'],
    ['postgres://me@LocalHost/q'],
    ['postgres://me@127.0.0.1:5433/q'],
    ['postgres://me@127.9.9.9/q'],
    ['postgres://me@[::1]/q'],
    ['postgres:///q?host=/run/postgresql'],
    ['postgres://me@%2Frun%2Fpostgresql/q'],
    ['postgres:///q?host=::1'],
    ['postgres:///q'],
  ])('may lead to this machine: %s', (address) => {
    expect(refusal(address)).toBeNull()
    expect(postgresAddresses.unencryptedNote(address, 'RANKLINE_QUEUE', {})).toBeNull()
  })

  testTable([
    ['postgres://me@db.example/q', {}],
    ['postgres://me@10.0.0.7/q', {}],
    ['postgres://me@[fd00::1]/q', {}],
    ['postgres://me@localhost.example/q', {}],
    ['postgres://me@localhost/q?host=db.example', {}],
    ['postgres:///q', { PGHOST: 'db.example' }],
    ['postgres://me@db.example/q?ssl=false', {}],
    ['postgres://me@db.example/q?sslmode=', {}],
    ['postgres://me@db.example/q', { PGSSLMODE: 'allow' }],
  ])('may not lead to another one: %s %j', (address, env) => {
    expect(refusal(address, env)).toMatch(/in the clear\. Add \?sslmode=verify-full to it/)
  })

  testTable([
    ['?sslmode=verify-full', {}],
    ['?sslmode=require', {}],
    ['?sslmode=allow', {}],
    ['?sslmode=no-verify', {}],
    ['?ssl=true', {}],
    ['?sslrootcert=ca.pem', {}],
    ['', { PGSSLMODE: 'require' }],
  ])('may do so with TLS: %s %j', (more, env) => {
    const address = `postgres://me@db.example/q${more}`
    expect(refusal(address, env)).toBeNull()
    expect(postgresAddresses.unencryptedNote(address, 'RANKLINE_QUEUE', env)).toBeNull()
  })

  testTable([
    ['?sslmode=disable', {}],
    ['', { PGSSLMODE: 'disable' }],
  ])('or where it says that none is wanted, with a line: %s %j', (more, env) => {
    const address = `postgres://me@db.example/q${more}`
    expect(refusal(address, env)).toBeNull()
    expect(postgresAddresses.unencryptedNote(address, 'RANKLINE_QUEUE', env)).toMatch(
      /^Nothing encrypts .* RANKLINE_QUEUE names/,
    )
  })

  test('is said once by a command', async () => {
    const env = { RANKLINE_QUEUE: `postgres://me:${encoded}@queue.invalid/q?sslmode=disable` }
    const { code, stderr } = await place.call(['sync', '--verbose'], env)
    expect(stderr.match(/Nothing encrypts the connection/g)).toHaveLength(1)
    expect(code).toBe(6)
    for (const secret of [password, encoded]) expect(stderr).not.toContain(secret)
  })
})

describe('a password that is not in the address', () => {
  test('is taken from the environment, from .env and from ~/.pgpass, without a word', async () => {
    await using home = await workspace()
    const address = { RANKLINE_QUEUE: `postgres://maker@${at}/${database}`, HOME: home.folder }
    const migrated = { code: 0, stderr: '' }
    expect(await home.run(['queue', 'migrate'], { ...address, PGPASSWORD: password })).toMatchObject(migrated)

    await home.file('.env', `PGPASSWORD='${password}'`)
    expect(await home.call(['queue', 'migrate'], address)).toMatchObject(migrated)
    await home.file('.env', '')

    await home.file('.pgpass', `# mine\n${at}:*:maker:${password.replaceAll(':', '\\:')}\n`)
    await chmod(`${home.folder}/.pgpass`, 0o600)
    expect(await home.run(['queue', 'migrate'], address)).toMatchObject(migrated)

    await chmod(`${home.folder}/.pgpass`, 0o644)
    const { code, stderr } = await home.call(['queue', 'migrate'], address)
    expect(code).toBe(2)
    expect(stderr).toMatch(/Others may read the password file \S+, so it is not used\. Run: chmod 600 \S+$/m)
  })

  const owner = { host: 'db', port: '5432', database: 'queue', user: 'me' }
  testTable([
    ['db:5432:queue:me:secret', 'secret'],
    ['*:*:*:*:secret', 'secret'],
    ['# db:5432:queue:me:secret', null],
    ['other:5432:queue:me:a\r\ndb:*:queue:me:b\r\n*:*:*:*:c', 'b'],
    ['db:5432:queue:me:with\\:colon\\\\', 'with:colon\\'],
    ['db:5432:queue:me:with:colon', 'with:colon'],
    ['db:5432:queue:you:secret', null],
    ['db:5432:queue', null],
    ['', null],
  ])('in the password file %j: %s', (text, found) => {
    expect(passwordIn(text, owner)).toBe(found)
  })
})

test('TLS is used where its certificate is trusted, and refused with one sentence where it is not', async () => {
  await using guarded = await testPostgres()
  const url = await guarded.database()
  const file = (name: string) => fileURLToPath(new URL(`../../support/tls/${name}.pem`, import.meta.url))
  await using owner = await openPostgres(url)
  for (const [name, path] of [
    ['crt', file('certificate')],
    ['key', file('key')],
  ] as const)
    await owner.query(
      `COPY (SELECT unnest(string_to_array('${(await readFile(path, 'utf8')).trim()}', E'\n'))) TO PROGRAM 'umask 077; cat > server.${name}'`,
    )
  await owner.query('ALTER SYSTEM SET ssl = on')
  await owner.query('SELECT pg_reload_conf()')
  const queue = (more: string) => ({ RANKLINE_QUEUE: `${url}?${more}` })

  for (const mode of ['require', 'verify-full']) {
    const { code, stderr } = await place.call(['queue', 'migrate'], queue(`sslmode=${mode}`))
    expect(stderr).toMatch(
      /^rankline: The certificate of \S+ is not trusted here \([^\n]+\)\. Name the file .*: add sslrootcert=<file> to the address of the queue\n$/,
    )
    expect(code).toBe(2)
  }
  const trusted = `sslmode=require&sslrootcert=${file('certificate')}`
  expect(await place.call(['queue', 'migrate'], queue(trusted))).toMatchObject({ code: 0, stderr: '' })
  expect(await place.call(['queue', 'migrate'], queue('sslmode=no-verify'))).toMatchObject({ code: 0 })
})

test('a worker waits for a server that is not up yet, says why, and goes on when it is', async () => {
  await using sandbox = await startSandbox()
  await using host = await workspace(sandbox)
  await using late = await testPostgres()
  const queue = { RANKLINE_QUEUE: await late.database() }
  await late.stop()
  const { child, ended } = host.start(['worker', '--once'], queue)
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr?.on('data', (text: string) => {
    said += text
  })
  await waitWhile(() => !said.includes('Waiting for it'))
  await late.start()
  const { code, stderr } = await ended
  expect(stderr).toBe(
    `The queue cannot be reached yet: nothing listens at 127.0.0.1:${late.port}. Waiting for it.\nWorker up.\nWorker ended.\n`,
  )
  expect(code).toBe(0)
})

test('without the package pg, what needs it says so, and all else works', async () => {
  await using sandbox = await startSandbox()
  await using host = await workspace(sandbox)
  await host.file('job.csv', 'query\nshoes\n')
  const env = { NODE_OPTIONS: `--import ${withoutDriver}` }
  const queue = { ...env, RANKLINE_QUEUE: `postgres://maker@${at}/${database}` }
  for (const command of [['run', 'job.csv'], ['worker']]) {
    const { code, stderr } = await host.run(command, queue)
    expect(stderr).toMatch(/^rankline: Postgres needs one more package\. Add it: npm install pg, .*\n$/)
    expect(code).toBe(2)
  }
  expect(sandbox.ledger.requests).toEqual([])
  expect((await host.run(['run', 'job.csv'], env)).code).toBe(0)
  expect((await host.run(['queue', 'migrate', '--print'], env)).stdout).toContain('CREATE SCHEMA rankline')
})

test('A connection that is not needed for a minute is ended, and none that is needed now and then', async () => {
  await using postgres = await openPostgres(`postgres://maker:${encoded}@${at}/${database}`)
  const connection = async () => (await postgres.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const first = await connection()
  vi.advanceTimersByTime(59_000)
  expect(await connection()).toEqual(first)
  vi.advanceTimersByTime(60_000)
  expect(await connection()).not.toEqual(first)
})

test('What is asked at once waits for one of two connections, and for no longer than 100 ms', async () => {
  await using postgres = await openPostgres(`postgres://maker:${encoded}@${at}/${database}`)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const connection = async () =>
    (await postgres.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]?.pid
  const used = new Set(await Promise.all(Array.from({ length: 6 }, connection)))
  expect(used.size).toBe(2)
  await postgres.transaction(() =>
    postgres.transaction(async () => {
      let third: number | undefined
      const asked = connection().then((pid) => {
        third = pid
      })
      vi.advanceTimersByTime(99)
      await new Promise((resolve) => setImmediate(resolve))
      expect(third).toBeUndefined()
      vi.advanceTimersByTime(1)
      await asked
      expect(used.has(third)).toBe(false)
    }),
  )
})

test('What waits for a connection is asked before the end, and not at all after connections were broken off', async () => {
  const url = `postgres://maker:${encoded}@${at}/${database}`
  const slow = 'SELECT pg_sleep(0.05)'
  const ended = await openPostgres(url)
  const asked = Promise.all(Array.from({ length: 4 }, () => ended.query(slow)))
  await ended[Symbol.asyncDispose]()
  expect(await asked).toHaveLength(4)

  const broken = await openPostgres(url)
  await admin.query('CREATE TABLE asked (number integer)')
  await admin.query('GRANT INSERT ON asked TO maker')
  const lost = Array.from({ length: 4 }, (_, number) =>
    broken.query(number < 2 ? 'SELECT pg_sleep(60)' : `INSERT INTO asked VALUES (${number})`),
  )
  broken.breakOff()
  for (const one of lost) await expect(one).rejects.toBeInstanceOf(JournalAbandoned)
  await broken[Symbol.asyncDispose]()
  await new Promise((resolve) => setTimeout(resolve, 250))
  expect(await admin.query('SELECT number FROM asked')).toEqual([])
})
