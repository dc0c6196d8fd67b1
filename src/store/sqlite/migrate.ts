import { existsSync, renameSync, rmSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { UsageError } from '../../errors.ts'
import { applicationId, appliedMigration, newestMigration } from './applied.ts'
import { triggers } from './triggers.ts'
import { views } from './views.ts'

/**
 * Brings a database to this program's schema. Refuses one that a newer rankline has written, and keeps a copy
 * beside the file before it changes one that holds data.
 */
export async function migrate(db: Database, path: string): Promise<void> {
  const applied = refuseForeign(db, path)
  if (applied === null || applied < newestMigration) {
    if (applied !== null) keepCopy(db, path)
    // Loaded only here: most starts find nothing to migrate.
    const { applyMigrations } = await import('./apply-migrations.ts')
    applyMigrations(db)
  }
  refresh(db)
}

/**
 * Refuses the database of another program, and one that a newer rankline has written. Answers the time of the newest
 * migration that it has, or null where it has none.
 */
export function refuseForeign(db: Database, path: string): number | null {
  const applied = appliedMigration(db)
  if ((applied ?? 0) > newestMigration)
    throw new UsageError(
      `${path} was written by a newer rankline. Update rankline, or name another database with --db.`,
    )
  if (db.pragma('application_id', { simple: true }) !== applicationId && holdsTables(db))
    throw new UsageError(`${path} is the database of another program. Name another file with --db.`)
  return applied
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

/** Makes views and triggers anew where their text has changed. */
function refresh(db: Database): void {
  const stored = db
    .prepare<[], { sql: string }>("SELECT sql FROM sqlite_schema WHERE type IN ('view', 'trigger')")
    .all()
  const current = new Set(stored.map(({ sql }) => sql))
  const stale = [...madeOf('VIEW', views, ' AS'), ...madeOf('TRIGGER', triggers)].filter(
    ({ sql }) => !current.has(sql),
  )
  if (stale.length === 0) return
  db.transaction(() => {
    for (const { drop, sql } of stale) {
      db.exec(drop)
      db.exec(sql)
    }
  }).immediate()
}

function madeOf(type: 'VIEW' | 'TRIGGER', bodies: Readonly<Record<string, string>>, as = '') {
  return Object.entries(bodies).map(([name, body]) => ({
    drop: `DROP ${type} IF EXISTS ${name}`,
    sql: `CREATE ${type} ${name}${as}${body}`,
  }))
}
