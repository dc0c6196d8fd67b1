import type { Database } from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { applicationId, appliedMigration, migrationsFolder } from './applied.ts'
import { noteShapes } from './statistics.ts'
import { triggers } from './triggers.ts'
import { views } from './views.ts'

/**
 * Applies what drizzle-kit generated, in one transaction and in drizzle's own book. Drizzle's migrator reads
 * what is applied before it takes the lock; two starters could then both apply the same file.
 */
export function applyMigrations(db: Database): void {
  // A table that is rebuilt with foreign keys on would take its children along.
  db.pragma('foreign_keys = OFF')
  const orm = drizzle(db)
  db.transaction(() => {
    const applied = appliedMigration(db) ?? 0
    db.pragma(`application_id = ${applicationId}`)
    // A view on a table that is rebuilt would stop the migration; they are made anew afterwards.
    for (const name of Object.keys(views)) db.exec(`DROP VIEW IF EXISTS ${name}`)
    // Nor does a migration deliver what it touches.
    for (const name of Object.keys(triggers)) db.exec(`DROP TRIGGER IF EXISTS ${name}`)
    db.exec(
      'CREATE TABLE IF NOT EXISTS __drizzle_migrations (id INTEGER PRIMARY KEY, hash TEXT NOT NULL, created_at NUMERIC)',
    )
    const record = db.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)')
    for (const { sql, hash, folderMillis } of readMigrationFiles({ migrationsFolder })) {
      if (folderMillis <= applied) continue
      for (const statement of sql) orm.run(statement)
      record.run(hash, folderMillis)
    }
    noteShapes(db)
  }).immediate()
}
