import type pg from 'pg'
import { RanklineError, UsageError } from '../../model/errors.ts'
import { JournalUnreachable } from '../shared/journal.ts'

/** What runs statements: the database, or a transaction in it. */
export interface Statements {
  /** Runs one statement; its rows with the names of their columns. */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
}

/** A Postgres database. Statements are rejected with `JournalUnreachable` where its server cannot be reached. */
export interface Postgres extends Statements, AsyncDisposable {
  /** Runs work in one transaction. Where its commit was lost on the way, whether it counts is not known: work must bear to be done again. */
  transaction<T>(work: (statements: Statements) => Promise<T>): Promise<T>
  /** For people: without user and password. */
  readonly place: string
}

/** Connections at most; a pooler before the server may share them among processes. */
const connections = 6
const connectTimeoutMs = 5_000

/** Opens a pool of connections; none is made before the first statement. */
export async function openPostgres(url: string): Promise<Postgres> {
  const { Pool, types } = await loadDriver()
  const place = placeOf(url)
  const pool = new Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'rankline',
    keepAlive: true,
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
  ): Promise<readonly Row[]> => {
    try {
      return (await on.query<Row & pg.QueryResultRow>(text, [...values])).rows
    } catch (error) {
      throw explained(error, place)
    }
  }

  return {
    place,
    query: (text, values) => run(pool, text, values),
    transaction: async (work) => {
      const client = await pool.connect().catch((error: unknown) => {
        throw explained(error, place)
      })
      let broken: Error | undefined
      client.on('error', ignore)
      try {
        await run(client, 'BEGIN')
        const result = await work({ query: (text, values) => run(client, text, values) })
        await run(client, 'COMMIT')
        return result
      } catch (error) {
        await client.query('ROLLBACK').catch((lost: Error) => {
          broken = lost
        })
        throw error
      } finally {
        client.off('error', ignore)
        client.release(broken)
      }
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

function ignore(): void {}

const int8 = 20

async function loadDriver(): Promise<typeof pg> {
  try {
    return (await import('pg')).default
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new UsageError('Postgres needs one more package. Add it: npm install pg', {
      cause: error,
    })
  }
}

function placeOf(url: string): string {
  try {
    const { host, pathname } = new URL(url)
    return `${host}${pathname}`
  } catch {
    return 'the queue'
  }
}

/** Errors of the connection and of a server that starts or stops; all others are ours or the database's. */
function explained(error: unknown, place: string): unknown {
  const { code = '', message } = error as { readonly code?: string; readonly message: string }
  if (isOfConnection(code, message))
    return new JournalUnreachable(`${place} cannot be reached: ${message}`, { cause: error })
  // The driver says so itself, without a code.
  if (/client password must be/.test(message))
    return new RanklineError(`${place} wants a password. Put it into PGPASSWORD or into ~/.pgpass`, 2, {
      cause: error,
    })
  if (code.startsWith('28'))
    return new RanklineError(`${place} refuses the user or the password: ${message}`, 2, { cause: error })
  return error
}

function isOfConnection(code: string, message: string): boolean {
  // Classes 08 (connection), 57P (shutdown, starting up), 53 (too many connections); 40 (deadlock, serialisation) may be tried again, too.
  if (/^(08|57P|53|40)/.test(code)) return true
  if (/^E[A-Z]+$/.test(code)) return true
  return /terminated|timeout|Connection ended|not queryable/i.test(message)
}
