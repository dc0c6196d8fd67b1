import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Database } from 'better-sqlite3'
import { UsageError } from '../../errors.ts'
import { views } from './views.ts'

/** Where drizzle-kit writes the migrations; shipped beside the program. */
export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url))

/**
 * Brings a database to this program's schema. Refuses one that a newer rankline has written, and keeps a copy
 * beside the file before it changes one that holds data.
 */
export async function migrate(db: Database, path: string): Promise<void> {
  const newest = newestMigration()
  const applied = appliedMigration(db)
  if (applied !== null && applied > newest)
    throw new UsageError(
      `${path} was written by a newer rankline. Update rankline, or name another database with --db.`,
    )
  if (applied === null || applied < newest) {
    if (applied !== null) keepCopy(db, path)
    // Loaded only here: most starts find nothing to migrate.
    const { applyMigrations } = await import('./apply-migrations.ts')
    applyMigrations(db)
  }
  refreshViews(db)
}

/** Time of the newest migration that the database has, or null where it has none. */
export function appliedMigration(db: Database): number | null {
  const book = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'").get()
  if (book === undefined) return null
  const newest = db.prepare<[], { at: number | null }>(
    'SELECT max(created_at) AS at FROM __drizzle_migrations',
  )
  return newest.get()?.at ?? null
}

function newestMigration(): number {
  const journal = JSON.parse(readFileSync(join(migrationsFolder, 'meta/_journal.json'), 'utf8'))
  return Math.max(...journal.entries.map((entry: { when: number }) => entry.when))
}

function keepCopy(db: Database, path: string): void {
  const copy = `${path}.before-migration`
  if (path !== ':memory:' && !existsSync(copy)) db.prepare('VACUUM INTO ?').run(copy)
}

/** Makes the public views anew where their text has changed. */
function refreshViews(db: Database): void {
  const stored = db.prepare<[], { sql: string }>("SELECT sql FROM sqlite_schema WHERE type = 'view'").all()
  const current = new Set(stored.map(({ sql }) => sql))
  const stale = Object.entries(views).filter(([name, body]) => !current.has(viewSql(name, body)))
  if (stale.length === 0) return
  db.transaction(() => {
    for (const [name, body] of stale) {
      db.exec(`DROP VIEW IF EXISTS ${name}`)
      db.exec(viewSql(name, body))
    }
  }).immediate()
}

function viewSql(name: string, body: string): string {
  return `CREATE VIEW ${name} AS${body}`
}
