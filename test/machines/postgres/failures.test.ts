import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { JournalUnreachable } from '../../../src/machines/journal.ts'
import {
  type DatabasePlace,
  failureOf,
  openPostgres,
  type Statements,
} from '../../../src/machines/postgres/connection.ts'
import { openPromise } from '../../support/open-promise.ts'
import { sharedPostgres } from '../../support/postgres.ts'
import { testTable } from '../../support/test-table.ts'

const place: DatabasePlace = {
  ...{ server: 'db:5432', database: 'queue', user: 'me', hasPassword: true },
  purpose: { address: 'the address of the queue', grant: 'Ask someone' },
}

function failed(code: string, message = 'so it is', more: object = {}): Error {
  return Object.assign(new Error(message), { code, ...more })
}

describe('what passes is waited for', () => {
  testTable<[string, Error, string]>([
    ['a closed port', failed('ECONNREFUSED', '', { syscall: 'connect' }), 'nothing listens at db:5432'],
    ['a socket that is missing', failed('ENOENT', '', { syscall: 'connect' }), 'nothing listens at db:5432'],
    [
      'a host without a name',
      failed('ENOTFOUND', '', { syscall: 'getaddrinfo' }),
      'the host of db:5432 is not known',
    ],
    [
      'names that cannot be asked for',
      failed('EAI_AGAIN', '', { syscall: 'getaddrinfo' }),
      'the host of db:5432 cannot be looked up now',
    ],
    ['no way', failed('EHOSTUNREACH', '', { syscall: 'connect' }), 'there is no way to db:5432'],
    ['silence', failed('ETIMEDOUT', '', { syscall: 'read' }), 'db:5432 does not answer'],
    ['a reset', failed('ECONNRESET', '', { syscall: 'read' }), 'db:5432 broke the connection'],
    [
      'two addresses of a host',
      failed('ECONNREFUSED', '', { errors: [{ code: 'ECONNREFUSED', syscall: 'connect' }] }),
      'nothing listens at db:5432',
    ],
    [
      'a server that is gone',
      new Error('Connection terminated unexpectedly'),
      'db:5432 broke the connection',
    ],
    ['a slow connection', new Error('timeout expired'), 'db:5432 does not answer'],
    ['a full pool', new Error('timeout exceeded when trying to connect'), 'db:5432 does not answer'],
    ['a statement without an answer', new Error('Query read timeout'), 'db:5432 does not answer'],
    [
      'a connection that broke before',
      new Error('Client has encountered a connection error and is not queryable'),
      'db:5432 broke the connection',
    ],
    [
      'a pooler without its server',
      failed('08P01', 'server login has been failing, try again later (server_login_retry)'),
      'db:5432 says: server login has been failing, try again later (server_login_retry)',
    ],
    ...[
      '57P01',
      '57P02',
      '57P03',
      '57P05',
      '08006',
      '53100',
      '53200',
      '53300',
      '25P03',
      '25P04',
      '25006',
      '40P01',
      '53400',
      '55000',
      '55006',
      '55P03',
      '57014',
      '58030',
      'XX000',
      'XX001',
    ].map((code): [string, Error, string] => [code, failed(code), 'db:5432 says: so it is']),
  ])('%s', (_, error, message) => {
    const failure = failureOf(error, place)
    expect(failure).toBeInstanceOf(JournalUnreachable)
    expect(failure).toMatchObject({ message, cause: error })
  })
})

describe('what waiting cannot cure is one sentence', () => {
  testTable<[string, Error, RegExp]>([
    [
      'a user whom the pooler does not know',
      failed('08P01', 'password authentication failed'),
      /^db:5432 refuses user 'me'/,
    ],
    [
      'a database that the pooler does not know',
      failed('08P01', 'no such database: queue'),
      /^There is no database 'queue'/,
    ],
    [
      'a user that may not come in',
      failed('28000', 'no entry'),
      /^db:5432 does not let in user 'me' \(no entry\)/,
    ],
    [
      'TLS that is wanted',
      failed('28000', 'no entry for host, no encryption'),
      /^db:5432 wants TLS .*sslmode=verify-full/,
    ],
    [
      'a right',
      failed('42501', 'not you'),
      /^User 'me' may not do that at db:5432\/queue \(not you\)\. Ask someone$/,
    ],
    [
      'a pooler that refuses',
      failed('08P01', 'unsupported startup parameter: options'),
      /parameter: options\). Check .* pooler/,
    ],
    [
      'an old TLS',
      failed('EPROTO', 'wrong version number', { syscall: 'write' }),
      /find no common TLS \(wrong version/,
    ],
    [
      'another name',
      failed('ERR_TLS_CERT_ALTNAME_INVALID', 'not db'),
      /certificate of db:5432 is not trusted here \(not db\)/,
    ],
    [
      'a certificate that is over',
      failed('CERT_HAS_EXPIRED', 'over'),
      /certificate of db:5432 is not trusted here \(over\)/,
    ],
  ])('%s', (_, error, sentence) => {
    expect(failureOf(error, place)).toMatchObject({
      name: 'UsageError',
      exitCode: 2,
      message: expect.stringMatching(sentence),
    })
  })

  testTable([
    ['a mistake in a statement', failed('42601')],
    ['a row that is there twice', failed('23505')],
    ['a value that is not allowed', failed('22P02')],
    ['a function that is missing', failed('42883')],
    ['a mistake of ours', new TypeError('undefined is not a function')],
  ])('but %s stays as it is', (_, error) => {
    expect(failureOf(error, place)).toBe(error)
  })
})

test('transactions that wait for each other in a circle are all done', async () => {
  const url = await (await sharedPostgres()).database()
  await using postgres = await openPostgres(url)
  await postgres.query('CREATE TABLE rows (id integer PRIMARY KEY, changes integer NOT NULL DEFAULT 0)')
  await postgres.query('INSERT INTO rows VALUES (1), (2)')
  await postgres.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET deadlock_timeout = '10ms'`)
  const change = (statements: Statements, id: number) =>
    statements.query('UPDATE rows SET changes = changes + 1 WHERE id = $1', [id])
  let arrived = 0
  const both = openPromise()
  const crossed = (first: number, second: number) =>
    postgres.transaction(async (statements) => {
      await change(statements, first)
      arrived += 1
      if (arrived === 2) both.fulfil()
      await both.promise
      await change(statements, second)
    })
  await Promise.all([crossed(1, 2), crossed(2, 1)])
  expect(await postgres.query('SELECT changes FROM rows')).toEqual([{ changes: 2 }, { changes: 2 }])
  expect(arrived).toBeGreaterThan(2)
})

test('a transaction gives up its locks when its process says nothing any more, and leaves the session as it was', async () => {
  const { database } = await sharedPostgres()
  await using postgres = await openPostgres(await database())
  const setting = (statements: Statements) =>
    statements.query('SHOW idle_in_transaction_session_timeout') as Promise<readonly object[]>
  expect(await postgres.transaction(setting)).toEqual([{ idle_in_transaction_session_timeout: '1min' }])
  expect(await setting(postgres)).toEqual([{ idle_in_transaction_session_timeout: '0' }])
})

test('a session that is ended in the moment of its beginning is waited for, and ends no process', async () => {
  const message = (kind: string, body: Buffer): Buffer => {
    const length = Buffer.alloc(4)
    length.writeInt32BE(body.length + 4)
    return Buffer.concat([Buffer.from(kind), length, body])
  }
  const isIn = message('R', Buffer.alloc(4))
  const isReady = message('Z', Buffer.from('I'))
  const isEnded = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'))
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write(Buffer.concat([isIn, isReady, isEnded])))
  })
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await using postgres = await openPostgres(`postgres://me@127.0.0.1:${port}/queue?sslmode=disable`)

  const transaction = postgres.transaction(({ query }) => query('SELECT 1'))

  await expect(transaction).rejects.toBeInstanceOf(JournalUnreachable)
  await expect(postgres.query('SELECT 1')).rejects.toBeInstanceOf(JournalUnreachable)
})
