import { setMaxListeners } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { UsageError } from '../../model/errors.ts'
import { JournalAbandoned, JournalUnreachable } from '../journal.ts'

/** What runs statements: the database, or a transaction in it. */
export interface Statements {
  /** Runs one statement; its rows with the names of their columns. */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
}

/**
 * A Postgres database. Statements are rejected with `JournalUnreachable` where its server cannot be reached, and with one sentence where
 * it does not let this process do what it asks. What stood in the way of others is done again at once.
 */
export type Postgres = Awaited<ReturnType<typeof openPostgres>>

/** Connections at most; a pooler before the server may share them among processes. */
const connections = 6
/** Beside so many another one is made only for a statement that has waited so long for one of them: statements mostly take a few milliseconds. */
const usualConnections = 2
const waitForOneMs = 100
const connectTimeoutMs = 5_000
/** A new connection costs the server as much as twenty calls: one that is needed now and then stays. */
const idleMs = 60_000
/** A statement without an answer for so long is taken as lost: a network that drops everything gives no other sign for a quarter of an hour. */
const longestMs = 60_000
const unhurriedMs = 24 * 3_600_000
/** How often a statement or transaction that stood in the way of others is done. */
const mostTries = 5
const conflictPauseMs = 20

/**
 * Every transaction begins so: where its process vanishes without a word, the server gives up its locks after a minute, and not after hours.
 * Set for the transaction only, because a pooler gives the session to others.
 */
const begin = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '60s'`
const beginUnhurried = `${begin}; SET LOCAL statement_timeout = 0`

const ofQueue: Parameters<typeof addressOf>[1] = {
  address: 'the address of the queue',
  grant: 'Have someone grant the rights that rankline queue migrate --print shows at its end',
}

/** Opens a pool of connections; none is made before the first statement. */
export async function openPostgres(url: string, purpose = ofQueue) {
  const { Client, Pool, types } = await loadDriver()
  const connectionString = withCheckedTls(url)
  const { place, host, port } = addressOf(connectionString, purpose, Client)
  const clients = new Set<pg.Client>()
  class KnownClient extends Client {
    constructor(config?: pg.ClientConfig) {
      super(config)
      clients.add(this)
      // Also where the connection breaks in the very moment in which it is handed out, and neither the pool nor a statement listens: the
      // next statement is rejected for it.
      this.on('error', ignore)
      this.once('end', () => clients.delete(this))
    }
  }
  const pool = new Pool({
    Client: KnownClient,
    connectionString,
    max: connections,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleMs,
    query_timeout: longestMs,
    application_name: 'rankline',
    keepAlive: true,
    allowExitOnIdle: true,
    types: {
      getTypeParser: (oid: number, format?: 'text') =>
        oid === int8 ? Number : types.getTypeParser(oid, format),
    },
  } as pg.PoolConfig)
  // A connection that breaks while nothing is asked of it is replaced by the next statement.
  pool.on('error', () => {})

  const turns = turnsOf(pool)
  const run = async <Row extends object>(
    on: pg.Pool | pg.PoolClient,
    text: string,
    values: readonly unknown[] = [],
    most = longestMs,
  ): Promise<readonly Row[]> => {
    try {
      const statement = { text, values: [...values], query_timeout: most }
      return (await on.query<Row & pg.QueryResultRow>(statement)).rows
    } catch (error) {
      throw failureOf(error, place)
    }
  }

  const transact = async <T>(
    work: (statements: Statements) => Promise<T>,
    isUnhurried: boolean,
  ): Promise<T> => {
    const most = isUnhurried ? unhurriedMs : undefined
    const client = await pool.connect().catch((error: unknown) => {
      throw failureOf(error, place)
    })
    let broken: Error | undefined
    try {
      await run(client, isUnhurried ? beginUnhurried : begin)
      const result = await work({ query: (text, values) => run(client, text, values, most) })
      await run(client, 'COMMIT')
      return result
    } catch (error) {
      // What the server itself has not refused, it may still be at: nothing more comes through this connection.
      if (error instanceof JournalUnreachable && sqlState(error) === null) broken = error
      else
        await client.query('ROLLBACK').catch((lost: Error) => {
          broken = lost
        })
      throw error
    } finally {
      client.release(broken)
    }
  }

  const brokenOff = new AbortController()
  setMaxListeners(0, brokenOff.signal)
  const unlessBroken = <T>(work: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const { signal } = brokenOff
      const breakOff = (): void => reject(signal.reason)
      if (signal.aborted) return breakOff()
      signal.addEventListener('abort', breakOff, { once: true })
      work()
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', breakOff))
    })

  return {
    place,
    host,
    port,
    query: <Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]> =>
      unlessBroken(() => untilNoConflict(() => turns.take(() => run(pool, text, values)))),
    /**
     * Runs work in one transaction. Where its commit was lost on the way, whether it counts is not known: work must bear to be done again.
     *
     * @param pace statements that are `unhurried` may take as long as they want
     */
    transaction: <T>(work: (statements: Statements) => Promise<T>, pace?: 'unhurried'): Promise<T> =>
      unlessBroken(() => untilNoConflict(() => turns.take(() => transact(work, pace === 'unhurried')))),
    /** Ends every connection at once. What is under way, and what is asked later, is rejected with `JournalAbandoned`. */
    breakOff: (): void => {
      brokenOff.abort(new JournalAbandoned())
      for (const client of clients) socketOf(client).destroy()
      // What waits for a connection makes no new one: the process ends.
      void pool.end().catch(ignore)
    },
    [Symbol.asyncDispose]: async () => {
      // Who still waits for a connection that was ended is told so, and not waited for.
      if (brokenOff.signal.aborted) return
      // What waits for its turn was asked before the end, too.
      await turns.letAllGoOn()
      await pool.end()
    },
  }
}

/** Runs work that needs a connection: where none is free and another one would be made, it waits a moment for one that is there. */
function turnsOf(pool: pg.Pool) {
  let busy = 0
  let waiting: readonly (() => void)[] = []
  const oneIsFree = (): Promise<void> =>
    new Promise((resolve) => {
      const goOn = (): void => {
        clearTimeout(timer)
        waiting = waiting.filter((one) => one !== goOn)
        resolve()
      }
      // What has come meanwhile to a process that was kept from its work is looked at first.
      const timer = setTimeout(() => setImmediate(goOn), waitForOneMs)
      waiting = [...waiting, goOn]
    })
  const take = async <T>(work: () => Promise<T>): Promise<T> => {
    if (busy >= Math.max(usualConnections, pool.totalCount)) await oneIsFree()
    busy += 1
    try {
      return await work()
    } finally {
      busy -= 1
      waiting[0]?.()
    }
  }
  /** Fulfilled when all that waited has begun. */
  const letAllGoOn = async (): Promise<void> => {
    for (const goOn of waiting) goOn()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { take, letAllGoOn }
}

/** The driver has no other way to end a connection on which it waits for an answer. */
function socketOf(client: pg.Client): Socket {
  return (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream
}

function ignore(): void {}

const int8 = 20

async function untilNoConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await work()
    } catch (error) {
      if (tries === mostTries || !isConflict(error)) throw error
      // The one that had its way must be through before, or both stand in each other's way again.
      await pause(tries * conflictPauseMs)
    }
}

async function loadDriver(): Promise<typeof pg> {
  try {
    return (await import('pg')).default
  } catch (error) {
    // The program requires it; what runs as modules imports it.
    if (!/^(ERR_)?MODULE_NOT_FOUND$/.test((error as NodeJS.ErrnoException).code ?? '')) throw error
    throw new UsageError(
      'Postgres needs one more package. Add it: npm install pg, with --global where rankline is installed so',
      { cause: error },
    )
  }
}

/** The driver takes all of these for the last one, and says so with a warning. */
const checkedTls = ['allow', 'prefer', 'require', 'verify-ca', 'verify-full']

/** The same address; where it asks for TLS, the certificate is checked, unless it says `no-verify`. */
function withCheckedTls(url: string): string {
  const address = new URL(url)
  const mode = address.searchParams.get('sslmode')
  if (mode === null || !checkedTls.includes(mode) || address.searchParams.has('uselibpqcompat')) return url
  address.searchParams.set('sslmode', 'verify-full')
  return address.href
}

/** Which database it is, for people: no password is in it. */
export type DatabasePlace = ReturnType<typeof addressOf>['place']

/**
 * Where an address leads. The driver knows what the environment adds to it.
 *
 * @param purpose what sentences to people name
 */
function addressOf(
  connectionString: string,
  purpose: {
    /** What names the database. */
    readonly address: string
    /** What to do where a right is missing; null where the command says that. */
    readonly grant: string | null
  },
  Client: typeof pg.Client,
) {
  try {
    const { host, port, database = '', user = '', password } = new Client({ connectionString })
    /** Host and port. */
    const server = `${host.includes(':') ? `[${host}]` : host}:${port}`
    /** Whether a password was given for it. */
    const hasPassword = Boolean(password)
    return { place: { server, database, user, hasPassword, purpose }, host, port }
  } catch (error) {
    throw new UsageError(
      `What ${purpose.address} says after the ? cannot be used (${(error as Error).message}). Correct it`,
      { cause: error },
    )
  }
}

/** Server and database. */
export function placeName({ server, database }: DatabasePlace): string {
  return `${server}/${database}`
}

/**
 * What an error of the driver or of the database means: `JournalUnreachable` where waiting may cure it, `UsageError` where people must
 * do something first, and the error as it is where it is a mistake of ours.
 */
export function failureOf(error: unknown, place: DatabasePlace): unknown {
  const failure = ofPooler(error as Failure)
  const outage = outageOf(failure, place)
  if (outage !== null) return new JournalUnreachable(outage, { cause: error })
  const refusal = refusalOf(failure, place)
  return refusal === null ? error : new UsageError(refusal, { cause: error })
}

/** What the database said, or the system. */
interface Failure {
  readonly code?: string
  readonly message: string
  /** Of the system's errors: what it was asked for. */
  readonly syscall?: string
  /** Where several addresses of a host were tried: why each failed. */
  readonly errors?: readonly Failure[]
}

/** PgBouncer gives one code to all that it says itself: what the words say is told by the code that the database would give. */
function ofPooler(failure: Failure): Failure {
  const { code, message } = failure
  if (code !== '08P01') return failure
  const meant = [
    [/authentication failed|no such user/, '28P01'],
    [/no such database|database .* does not exist/, '3D000'],
    [/unsupported startup parameter|not allowed|required/, refusedByPooler],
  ] as const
  const known = meant.find(([words]) => words.test(message))?.[1]
  return { message, code: known ?? '08000' }
}

const refusedByPooler = '08P01'

/** The code that a database gave to an error of its own; null for errors of others. */
export function sqlState(error: unknown): string | null {
  const { code } = ((error as Error).cause ?? error) as { readonly code?: string }
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E') ? code : null
}

/** A change that stood in the way of another one: done again, it may succeed at once. */
function isConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(sqlState(error) ?? '')
}

/**
 * Failures that pass, by the first signs of their codes:
 * - 08: connections. 57P: servers that stop, start, recover or were told to end a session. 25006: copies that are about to take over.
 * - 57014, 55P03, 25P03, 25P04: a statement or transaction that someone cancelled, or that took longer than a limit of the server
 *   (`statement_timeout`, `lock_timeout`, `idle_in_transaction_session_timeout`, `transaction_timeout`): done again it may be quicker.
 * - 53, 55000, 55006, 58, XX: the server lacks connections, memory or room, is not ready, or its files or its own program fail, until
 *   someone mends that. It is no mistake of ours, and what was paid for waits in memory.
 * - 40: changes that stood in the way of others.
 */
const passing = /^(08(?!P)|25006|25P0[34]|40|53|55000|55006|55P03|57014|57P|58|XX)/

const byNetwork: Readonly<Record<string, (server: string) => string>> = {
  ECONNREFUSED: (server) => `nothing listens at ${server}`,
  ENOENT: (server) => `nothing listens at ${server}`,
  ENOTFOUND: (server) => `the host of ${server} is not known`,
  EAI_AGAIN: (server) => `the host of ${server} cannot be looked up now`,
  ETIMEDOUT: (server) => `${server} does not answer`,
  EHOSTUNREACH: (server) => `there is no way to ${server}`,
  ENETUNREACH: (server) => `there is no way to ${server}`,
}

/** Why the database cannot be reached now; null where it is something else. */
function outageOf(
  { code = '', message, syscall, errors }: Failure,
  { server }: DatabasePlace,
): string | null {
  if (sqlState({ code }) !== null) return passing.test(code) ? `${server} says: ${message}` : null
  const [first] = errors ?? []
  const asked = syscall ?? first?.syscall ?? ''
  if (['connect', 'getaddrinfo', 'read', 'write'].includes(asked) && code !== 'EPROTO')
    return (byNetwork[code] ?? broken)(server)
  if (/timeout/i.test(message)) return `${server} does not answer`
  if (/^Connection terminated|not queryable|establishing an SSL connection/.test(message))
    return broken(server)
  return null
}

function broken(server: string): string {
  return `${server} broke the connection`
}

/** What people must do before the database can be used; null where it is something else. */
function refusalOf({ code = '', message }: Failure, place: DatabasePlace): string | null {
  const { server, database, user, hasPassword } = place
  const { address, grant } = place.purpose
  if (code === '3D000')
    return `There is no database '${database}' at ${server}. Name another one in ${address}, or have this one made: createdb ${database}`
  if (/client password must be|empty password/.test(message) || (code === '28P01' && !hasPassword))
    return `${server} asks for the password of user '${user}', and none was given. Set PGPASSWORD, or put it into ~/.pgpass`
  if (code === '28P01')
    return `${server} refuses user '${user}' with this password. Check both in ${address}, PGPASSWORD or ~/.pgpass`
  if (code === '28000' && message.includes('no encryption'))
    return `${server} wants TLS (${message}). Add ?sslmode=verify-full to ${address}`
  if (code.startsWith('28'))
    return `${server} does not let in user '${user}' (${message}). Name another one in ${address}, or have this one let in`
  if (code === '42501' && grant !== null)
    return `User '${user}' may not do that at ${placeName(place)} (${message}). ${grant}`
  if (message.includes('does not support SSL'))
    return `${server} does not speak TLS, which ${address} asks for. Switch it on there, or write sslmode=disable where the network can be trusted`
  if (/CERT|SELF_SIGNED|UNABLE_TO_/.test(code))
    return `The certificate of ${server} is not trusted here (${message}). Name the file with the certificate of who signed it: add sslrootcert=<file> to ${address}`
  if (/^(EPROTO|ERR_SSL|ERR_TLS)/.test(code))
    return `${server} and this machine find no common TLS (${message}). Update the one that is older`
  if (code === refusedByPooler || message.startsWith('SASL'))
    return `${server} cannot be used as it is asked (${message}). Check ${address}, and the pooler if there is one before the database`
  return null
}

const probeMs = 2_000
/** Postgres's question whether the server speaks TLS. A server answers it with one letter, before anything else. */
const tlsQuestion = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** Whether what listens there is certainly no Postgres server. One that breaks connections, or is silent, may be one. */
export async function isOtherServer({
  host,
  port,
}: {
  readonly host: string
  readonly port: number
}): Promise<boolean> {
  if (host.startsWith('/')) return false
  return await new Promise((resolve) => {
    const socket = connect(port, host)
    const end = (isOther: boolean): void => {
      socket.destroy()
      resolve(isOther)
    }
    socket.setTimeout(probeMs, () => end(false))
    socket.once('error', () => end(false))
    socket.once('close', () => end(false))
    socket.once('connect', () => socket.write(tlsQuestion))
    socket.once('data', (answer) => {
      const isLetter = answer.length === 1 && 'SN'.includes(answer.toString('latin1'))
      // An error of Postgres: its letter, then its length.
      const isError = answer[0] === 'E'.charCodeAt(0) && answer[1] === 0
      end(!isLetter && !isError)
    })
  })
}
