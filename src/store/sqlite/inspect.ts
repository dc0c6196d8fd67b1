import { existsSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { UsageError } from '../../errors.ts'
import { refuseForeign } from './migrate.ts'
import { explained } from './troubles.ts'

/** Opens a database of rankline to read it, for as long as `use` lasts: nothing is made, migrated or changed. */
export async function inspect<T>(path: string, use: (db: Database.Database) => T | Promise<T>): Promise<T> {
  refuseMissing(path)
  let db: Database.Database | null = null
  try {
    db = new Database(path, { readonly: true, timeout: 10_000 })
    if (refuseForeign(db, path) === null)
      throw new UsageError(
        `${path} is empty: rankline has stored nothing in it. Name another file with --db.`,
      )
    return await use(db)
  } catch (error) {
    throw explained(error, path)
  } finally {
    db?.close()
  }
}

/** Throws a sentence where there is no such database: whoever only reads makes no new one. */
export function refuseMissing(path: string): void {
  if (!existsSync(path))
    throw new UsageError(
      `There is no database ${path}. Name the file with --db, or make one with: rankline run <job file>`,
    )
  if (statSync(path).isDirectory())
    throw new UsageError(
      `${path} is a folder. Name a database file with --db, for instance ${path}/rankline.db`,
    )
}

/** Whether SQLite says that the file, or the disk that it is on, is damaged. */
export function isDamage(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|IOERR)/.test(error.code)
}
