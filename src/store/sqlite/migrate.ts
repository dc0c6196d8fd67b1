import { existsSync, renameSync, rmSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { UsageError } from '../../errors.ts'
import { applicationId, appliedMigration, newestMigration } from './applied.ts'
import { views } from './views.ts'

/**
 * Brings a database to this program's schema. Refuses one that a newer rankline has written, and keeps a copy
 * beside the file before it changes one that holds data.
 */
export async function migrate(db: Database, path: string): Promise<void> {
  refuseForeign(db, path)
  const applied = appliedMigration(db)
  if (applied === null || applied < newestMigration()) {
    if (applied !== null) keepCopy(db, path)
    // Loaded only here: most starts find nothing to migrate.
    const { applyMigrations } = await import('./apply-migrations.ts')
    applyMigrations(db)
  }
  refreshViews(db)
}

/** Refuses the database of another program, and one that a newer rankline has written. */
export function refuseForeign(db: Database, path: string): void {
  if ((appliedMigration(db) ?? 0) > newestMigration())
    throw new UsageError(
      `${path} was written by a newer rankline. Update rankline, or name another database with --db.`,
    )
  if (db.pragma('application_id', { simple: true }) !== applicationId && holdsTables(db))
    throw new UsageError(`${path} is the database of another program. Name another file with --db.`)
}

function holdsTables(db: Database): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' LIMIT 1").get() !== undefined
}

function keepCopy(db: Database, path: string): void {
  const copy = `${path}.before-migration`
  if (path === ':memory:' || existsSync(copy)) return
  // Beside it first: half a copy would be taken for a whole one.
  const beside = `${copy}.partial`
  rmSync(beside, { force: true })
  db.prepare('VACUUM INTO ?').run(beside)
  renameSync(beside, copy)
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
