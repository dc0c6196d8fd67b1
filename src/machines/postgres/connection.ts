import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { UsageError } from '../../model/errors.ts'
import { JournalAbandoned, JournalUnreachable } from '../../store/shared/journal.ts'
import { type DatabasePlace, failureOf, isConflict, type Purpose, sqlState } from './failures.ts'

/** What runs statements: the database, or a transaction in it. */
export interface Statements {
  /** Runs one statement; its rows with the names of their columns. */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
}

/**
 * A Postgres database. Statements are rejected with `JournalUnreachable` where its server cannot be reached, and with one sentence where
 * it does not let this process do what it asks. What stood in the way of others is done again at once.
 */
export interface Postgres extends Statements, AsyncDisposable {
  /**
   * Runs work in one transaction. Where its commit was lost on the way, whether it counts is not known: work must bear to be done again.
   *
   * @param pace statements that are `unhurried` may take as long as they want
   */
  transaction<T>(work: (statements: Statements) => Promise<T>, pace?: 'unhurried'): Promise<T>
  /** Ends every connection at once. What is under way, and what is asked later, is rejected with `JournalAbandoned`. */
  breakOff(): void
  readonly place: DatabasePlace
  readonly host: string
  readonly port: number
}

/** Connections at most; a pooler before the server may share them among processes. */
const connections = 6
const connectTimeoutMs = 5_000
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

const ofQueue: Purpose = {
  address: 'the address of the queue',
  grant: 'Have someone grant the rights that rankline queue migrate --print shows at its end',
}

/** Opens a pool of connections; none is made before the first statement. */
export async function openPostgres(url: string, purpose = ofQueue): Promise<Postgres> {
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
    query: (text, values) => unlessBroken(() => untilNoConflict(() => run(pool, text, values))),
    transaction: (work, pace) =>
      unlessBroken(() => untilNoConflict(() => transact(work, pace === 'unhurried'))),
    breakOff: () => {
      brokenOff.abort(new JournalAbandoned())
      for (const client of clients) socketOf(client).destroy()
    },
    [Symbol.asyncDispose]: async () => {
      // Who still waits for a connection that was ended is told so, and not waited for.
      if (brokenOff.signal.aborted) void pool.end().catch(ignore)
      else await pool.end()
    },
  }
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
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
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

/** Where an address leads. The driver knows what the environment adds to it. */
function addressOf(connectionString: string, purpose: Purpose, Client: typeof pg.Client) {
  try {
    const { host, port, database = '', user = '', password } = new Client({ connectionString })
    const server = `${host.includes(':') ? `[${host}]` : host}:${port}`
    return { place: { server, database, user, hasPassword: Boolean(password), purpose }, host, port }
  } catch (error) {
    throw new UsageError(
      `What ${purpose.address} says after the ? cannot be used (${(error as Error).message}). Correct it`,
      { cause: error },
    )
  }
}
