import { UsageError } from '../../model/errors.ts'
import type { Postgres, Statements } from './connection.ts'
import { placeName, sqlState } from './failures.ts'
import { migrations, roles } from './schema.ts'

/** The version of the journal that this rankline writes. */
export const schemaVersion = migrations.length

/** Any number; processes that lay out the journal at once take turns by it. */
const layoutLock = 7_265_113

/** The oldest Postgres that can number transactions as the journal needs it. */
const oldestServer = 13

/** The version of a journal; null where there is none. */
export async function versionOf(postgres: Statements): Promise<number | null> {
  // Names are remembered within a connection, missing ones as well: only the rows show what another process has just laid out.
  const [table] = await postgres.query<{ exists: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'rankline' AND tablename = 'version') AS exists`,
  )
  if (table?.exists !== true) return null
  const [row] = await postgres.query<{ version: number }>('SELECT version FROM rankline.version')
  return row?.version ?? null
}

/** Why a journal of that version can no longer be used here; null where it can. */
export function whyTooNew(version: number | null): string | null {
  if (version === null || version <= schemaVersion) return null
  return `The queue was laid out by a newer rankline (version ${version}, this one knows ${schemaVersion}). Update rankline here`
}

/**
 * Sees to it that the journal can be used: to collect with it, one that is missing or older is laid out. Throws one sentence where it
 * cannot be used.
 */
export async function makeReady(postgres: Postgres, use: 'collect' | 'operate'): Promise<void> {
  const place = placeName(postgres.place)
  const [server] = await postgres.query<{ version: number; isReplica: boolean }>(
    `SELECT current_setting('server_version_num')::int / 10000 AS version, pg_is_in_recovery() AS "isReplica"`,
  )
  if (server !== undefined && server.version < oldestServer)
    throw new UsageError(
      `The queue at ${place} runs Postgres ${server.version}, and rankline needs ${oldestServer} or later. Use a newer server`,
    )
  const version = await versionOf(postgres)
  const tooNew = whyTooNew(version)
  if (tooNew !== null) throw new UsageError(tooNew)
  if (use === 'operate' && version === null)
    throw new UsageError(
      `There is no queue at ${place} yet. The first run or worker lays it out, or: rankline queue migrate`,
    )
  if (use === 'operate' && version !== schemaVersion)
    throw new UsageError(
      `The queue at ${place} was laid out by an older rankline (version ${version}, this one knows ${schemaVersion}). Bring it up to date: rankline queue migrate`,
    )
  if (use === 'collect' && server?.isReplica === true)
    throw new UsageError(
      `${place} is a copy that takes no changes. Name the server that it copies in the address of the queue`,
    )
  if (version !== schemaVersion) await migrate(postgres)
}

/**
 * Lays out an empty journal, or brings an older one up to date; answers the version before. Several may do so at once.
 *
 * @param steps the statements of each version, the first one first
 */
export async function migrate(postgres: Postgres, steps = migrations): Promise<number | null> {
  try {
    return await postgres.transaction(async (statements) => {
      await statements.query('SELECT pg_advisory_xact_lock($1)', [layoutLock])
      const before = await versionOf(statements)
      const tooNew = steps === migrations ? whyTooNew(before) : null
      if (tooNew !== null) throw new UsageError(tooNew)
      for (const statement of statementsAfter(before ?? 0, steps)) await statements.query(statement)
      return before
    }, 'unhurried')
  } catch (error) {
    if (sqlState(error) !== '42501') throw error
    throw new UsageError(
      `User '${postgres.place.user}' may not lay out the queue at ${placeName(postgres.place)}. Have someone with that right run: rankline queue migrate`,
      { cause: error },
    )
  }
}

/** The statements of each version after that one. */
function statementsAfter(version: number, steps: readonly string[]): readonly string[] {
  return steps.slice(version).map((statements, index) => {
    const now = version + index + 1
    const note =
      now === 1
        ? `INSERT INTO rankline.version (version) VALUES (${now});`
        : `UPDATE rankline.version SET version = ${now};`
    return `${statements.trim()}\n\n${note}\n`
  })
}

/** The statements that lay out an empty journal, and those that give the least rights. */
export function printedLayout(): string {
  const versions = statementsAfter(0, migrations).map((text, index) => `-- Version ${index + 1}\n${text}`)
  return `BEGIN;\n\n${versions.join('\n')}\n${roles}\nCOMMIT;\n`
}
