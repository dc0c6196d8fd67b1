import { fileURLToPath } from 'node:url'
import type { Database } from 'better-sqlite3'
import journal from './migrations/meta/_journal.json' with { type: 'json' }

/** Where drizzle-kit writes the migrations; shipped beside the program. */
export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url))

/** Marks a database file as rankline's: 'rnkl'. */
export const applicationId = 0x726e6b6c

/** Time of the newest migration that the database has, or null where it has none. */
export function appliedMigration(db: Database): number | null {
  const book = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'").get()
  if (book === undefined) return null
  const newest = db.prepare<[], { at: number | null }>(
    'SELECT max(created_at) AS at FROM __drizzle_migrations',
  )
  return newest.get()?.at ?? null
}

/** How many migrations the database has. */
export function migrationCount(db: Database): number {
  return db.prepare<[], number>('SELECT count(*) FROM __drizzle_migrations').pluck().get() ?? 0
}

/** How many migrations this program has. */
export const knownMigrations = journal.entries.length

/** Time of the newest migration that this program has. */
export const newestMigration: number = Math.max(...journal.entries.map(({ when }) => when))
