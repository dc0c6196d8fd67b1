import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { afterAll, beforeAll, expect } from 'vitest'
import { openPostgres, type Postgres } from '../../../src/store/postgres/connection.ts'
import { type TestPostgres, testPostgres } from '../../support/postgres.ts'
import { type Workspace, workspace } from '../../support/rankline.ts'
import { testTable } from '../../support/test-table.ts'

const password = 'pa55-w0rd:/?#'
const encoded = encodeURIComponent(password)
const unused = { RANKLINE_BASE_URL: 'http://127.0.0.1:9', RANKLINE_API_KEY: 'unused' }

let server: TestPostgres
let admin: Postgres
let place: Workspace
let web: Server
let wall: TcpServer
/** Server, and a database in which these users may do what their names say. */
let at: string
let database: string

beforeAll(async () => {
  server = await testPostgres()
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
  await server[Symbol.asyncDispose]()
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
    () => `postgres://maker:${encoded}@queue.invalid/${database}`,
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
    "User 'nobody' may not lay out the queue at 127.0.0.1:…/test_1. Have someone with that right run: rankline queue migrate",
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
    'a password that was not encoded',
    () => `postgres://maker:${password}@${at}/${database}`,
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
  const said = ended.stderr.split('\n')[0]?.replaceAll(/(?<=127\.0\.0\.1:)\d{2,}/g, '…')
  expect(said?.replace(/(is not known|cannot be looked up now)/, 'is unknown')).toBe(`rankline: ${sentence}`)
  expect(ended).toMatchObject({ code, stdout: '' })
  for (const secret of [password, encoded]) expect(ended.stderr).not.toContain(secret)
})

testTable([
  ['run', 'job.csv'],
  ['worker', '--once'],
  ['sync'],
  ['queue', 'migrate'],
  ['queue', 'status', '--json'],
  ['queue', 'drain'],
  ['queue', 'retry'],
])('%s %s: a queue that cannot be used is one sentence, and nothing is sent', async (...command) => {
  await place.file('job.csv', 'query\nshoes\n')
  const env = { ...unused, RANKLINE_QUEUE: `postgres://maker:wrong@${at}/${database}` }
  const { code, stdout, stderr } = await place.call(command, env)
  expect(stderr).toMatch(/^(Worker up\.\n)?rankline: \S+ refuses user 'maker' with this password\. [^\n]+\n$/)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
})
