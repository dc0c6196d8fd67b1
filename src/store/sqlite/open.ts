import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { UsageError } from '../../errors.ts'
import type { Store } from '../store.ts'
import { answerStore } from './answers.ts'
import { callStore } from './calls.ts'
import { dictionary } from './dictionary.ts'
import { ledgerStore } from './ledger.ts'
import { migrate } from './migrate.ts'
import { openDraft } from './plan-draft.ts'
import { reportStore } from './rows.ts'
import { runStore } from './runs.ts'
import { groupWriter } from './writer.ts'

/** Opens the database at that path, making or migrating it where needed. `:memory:` is one that nobody else sees. */
export async function openStore(path: string): Promise<Store> {
  const db = openFile(path)
  try {
    setPragmas(db)
    await migrate(db, path)
  } catch (error) {
    db.close()
    throw explained(error, path)
  }
  const words = dictionary(db)
  const writer = groupWriter(db, words.forget)
  return {
    ...runStore(db, writer),
    ...callStore(db, writer),
    ...ledgerStore(db, writer),
    ...answerStore(db, writer, words),
    ...reportStore(db),
    draft: async () => openDraft(db, writer),
    [Symbol.asyncDispose]: async () => {
      await writer.flush()
      db.close()
    },
  }
}

function openFile(path: string): Database.Database {
  const folder = dirname(path)
  if (path !== ':memory:' && !existsSync(folder))
    throw new UsageError(
      `The folder ${folder} for the database does not exist. Create it with: mkdir -p ${folder} (or name another database with --db)`,
    )
  if (existsSync(path) && statSync(path).isDirectory())
    throw new UsageError(
      `${path} is a folder. Name a database file with --db, for instance ${path}/rankline.db`,
    )
  try {
    return new Database(path, { timeout: 10_000 })
  } catch (error) {
    throw explained(error, path)
  }
}

/** To be set on every open: a reopened WAL file would otherwise be synced less than a new one. */
function setPragmas(db: Database.Database): void {
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.pragma('journal_size_limit = 67108864')
  db.pragma('cache_size = -32000')
}

const explanations: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: 'is no SQLite database. Name another file with --db',
  SQLITE_CORRUPT: 'is damaged. Restore it from a backup, or name another file with --db',
  SQLITE_CANTOPEN: 'cannot be opened. Check that the file and its folder may be read and written',
  SQLITE_READONLY: 'cannot be written. Check the permissions of the file and its folder',
}

function explained(error: unknown, path: string): unknown {
  const code = error instanceof Database.SqliteError ? error.code : ''
  const known = Object.entries(explanations).find(([start]) => code.startsWith(start))
  return known === undefined ? error : new UsageError(`${path} ${known[1]}.`, { cause: error })
}
