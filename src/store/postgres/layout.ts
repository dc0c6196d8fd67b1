import type { Postgres } from './connection.ts'
import { migrations } from './schema.ts'

/** The version of the journal that this rankline writes. */
export const schemaVersion = migrations.length

/** Any number; processes that lay out the journal at once take turns by it. */
const layoutLock = 7_265_113

/** The version of a journal; null where there is none. */
export async function versionOf(postgres: Pick<Postgres, 'query'>): Promise<number | null> {
  // Names are remembered within a connection, missing ones as well: only the rows show what another process has just laid out.
  const [table] = await postgres.query<{ exists: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'rankline' AND tablename = 'version') AS exists`,
  )
  if (table?.exists !== true) return null
  const [row] = await postgres.query<{ version: number }>('SELECT version FROM rankline.version')
  return row?.version ?? null
}

/** Lays out an empty journal, or brings an older one up to date; answers the version before. */
export async function migrate(postgres: Postgres): Promise<number | null> {
  return await postgres.transaction(async (statements) => {
    await statements.query('SELECT pg_advisory_xact_lock($1)', [layoutLock])
    const before = await versionOf(statements)
    for (const migration of migrations.slice(before ?? 0)) await statements.query(migration)
    if (before === null) await statements.query('INSERT INTO rankline.version VALUES ($1)', [schemaVersion])
    else
      await statements.query('UPDATE rankline.version SET version = greatest(version, $1)', [schemaVersion])
    return before
  })
}
