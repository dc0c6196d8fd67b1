import { readdirSync, readFileSync } from 'node:fs'
import { openPostgres, type Postgres } from '../../src/machines/postgres/connection.ts'
import { testPostgres } from '../../test/support/postgres.ts'

/** A Postgres server that counts what it does. */
export interface CountingPostgres extends AsyncDisposable {
  readonly port: number
  /** Makes an empty database; its name. */
  database(): Promise<string>
  /** What it has done so far for these users. */
  work(): Promise<PostgresWork>
}

export interface PostgresWork {
  /** Statements by user, with those that begin and end transactions. */
  readonly statements: Readonly<Record<User, number>>
  /** Of the log that makes changes durable. */
  readonly logBytes: number
  readonly logSyncs: number
  /** Of all its processes; null where that is not known, beside Linux. */
  readonly cpuSeconds: number | null
}

/** Workers and who coordinates them are told apart by their users. */
export type User = 'worker' | 'coordinator'

export function urlFor(user: User, port: number, database: string): string {
  return `postgres://${user}:secret@127.0.0.1:${port}/${database}`
}

/** Starts a server with the usual settings: what it commits is on the disk. */
export async function countingPostgres(): Promise<CountingPostgres> {
  const server = await testPostgres(['fsync=on', 'shared_preload_libraries=pg_stat_statements'])
  const statistics = await openPostgres(await server.database())
  await statistics.query('CREATE EXTENSION pg_stat_statements')
  for (const user of ['worker', 'coordinator'])
    await statistics.query(`CREATE ROLE ${user} SUPERUSER LOGIN PASSWORD 'secret'`)
  const [first] = await statistics.query<{ pid: string }>(
    `SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1) AS pid`,
  )
  return {
    port: server.port,
    database: async () => new URL(await server.database()).pathname.slice(1),
    work: async () => ({ ...(await counted(statistics)), cpuSeconds: cpuSecondsOf(Number(first?.pid)) }),
    [Symbol.asyncDispose]: async () => {
      await statistics[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

async function counted(statistics: Postgres): Promise<Omit<PostgresWork, 'cpuSeconds'>> {
  const byUser = await statistics.query<{ user: User; statements: number }>(
    `SELECT r.rolname AS user, coalesce(sum(s.calls), 0)::bigint AS statements
    FROM pg_roles r LEFT JOIN pg_stat_statements s ON s.userid = r.oid WHERE r.rolname IN ('worker', 'coordinator') GROUP BY 1`,
  )
  const [log] = await statistics.query<{ bytes: number; syncs: number }>(
    `SELECT (SELECT wal_bytes::bigint FROM pg_stat_wal) AS bytes,
      (SELECT sum(fsyncs)::bigint FROM pg_stat_io WHERE object = 'wal') AS syncs`,
  )
  return {
    statements: Object.fromEntries(byUser.map(({ user, statements }) => [user, statements])) as Record<
      User,
      number
    >,
    logBytes: log?.bytes ?? 0,
    logSyncs: log?.syncs ?? 0,
  }
}

/** Between two looks at a server. */
export function workBetween(before: PostgresWork, after: PostgresWork): PostgresWork {
  const { statements, cpuSeconds } = after
  return {
    statements: {
      worker: statements.worker - before.statements.worker,
      coordinator: statements.coordinator - before.statements.coordinator,
    },
    logBytes: after.logBytes - before.logBytes,
    logSyncs: after.logSyncs - before.logSyncs,
    cpuSeconds: cpuSeconds === null || before.cpuSeconds === null ? null : cpuSeconds - before.cpuSeconds,
  }
}

const ticksPerSecond = 100

/** Of a process, its children, and those of its children that have ended. */
function cpuSecondsOf(parent: number): number | null {
  try {
    const processes = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [statOf(name)] : []))
    const ticks = processes.map((one) => {
      if (one?.pid === parent) return one.own + one.ofEnded
      return one?.parent === parent ? one.own : 0
    })
    return ticks.reduce((sum, one) => sum + one, 0) / ticksPerSecond
  } catch {
    return null
  }
}

/** Null where it has just ended. */
function statOf(name: string) {
  try {
    // The name of the program, in brackets, may hold anything.
    const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ').map(Number) ?? []
    const [parent = 0] = fields.slice(1)
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11)
    return { pid: Number(name), parent, own: user + system, ofEnded: endedUser + endedSystem }
  } catch {
    return null
  }
}
