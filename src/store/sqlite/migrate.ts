import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { UsageError } from '../../errors.ts'
import {
  applicationId,
  appliedMigration,
  knownMigrations,
  migrationCount,
  newestMigration,
} from './applied.ts'
import { triggers } from './triggers.ts'
import { views } from './views.ts'

/** Whether a copy of the database is kept before it is changed. */
export type Keeping = 'keep-copy' | 'keep-none'

/**
 * Brings a database to this program's schema. Refuses one that a newer rankline has written, and keeps a copy
 * beside the file before it changes one that holds data. Only for the process whose turn it is: another one may be
 * collecting with an older rankline.
 */
export async function migrate(db: Database, path: string, keeping: Keeping = 'keep-copy'): Promise<void> {
  const applied = refuseForeign(db, path)
  if (applied === null || applied < newestMigration) {
    if (applied !== null && keeping === 'keep-copy') keepCopy(db, path)
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
      `${path} was written by a newer rankline: its schema is version ${migrationCount(db)}, this one knows ${knownMigrations}. Update rankline, or name another database with --db.`,
    )
  if (db.pragma('application_id', { simple: true }) !== applicationId && holdsTables(db))
    throw new UsageError(`${path} is the database of another program. Name another file with --db.`)
  return applied
}

function holdsTables(db: Database): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' LIMIT 1").get() !== undefined
}

/** Named after the migration that is to come; one from before, of the same name, stays. */
function keepCopy(db: Database, path: string): void {
  if (path === ':memory:') return
  const name = `${path}.before-migration-${String(knownMigrations - 1).padStart(4, '0')}`
  let copy = name
  for (let number = 2; existsSync(copy); number++) copy = `${name}-${number}`
  // Beside it first: half a copy would be taken for a whole one.
  const beside = `${copy}.partial`
  rmSync(beside, { force: true })
  // Made before, so that nobody may read the copy who may not read the database.
  const file = openSync(beside, 'wx', statSync(path).mode & 0o777)
  try {
    db.prepare('VACUUM INTO ?').run(beside)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(beside, copy)
}

/** Makes views and triggers anew where their text has changed. */
function refresh(db: Database): void {
  const stale = staleMade(db)
  if (stale.length === 0) return
  db.transaction(() => {
    for (const { drop, sql } of stale) {
      db.exec(drop)
      db.exec(sql)
    }
  }).immediate()
}

/** Where a stored view is of another text than ours, lets a connection that only reads see ours instead. */
export function shadowViews(db: Database): void {
  if (staleMade(db).every(({ sql }) => !sql.startsWith('CREATE VIEW'))) return
  for (const [name, body] of Object.entries(views)) db.exec(`CREATE TEMP VIEW ${name} AS${body}`)
}

/** The views and triggers that are missing or of another text. */
export function staleMade(db: Database) {
  const stored = db
    .prepare<[], { sql: string }>("SELECT sql FROM sqlite_schema WHERE type IN ('view', 'trigger')")
    .all()
  const current = new Set(stored.map(({ sql }) => sql))
  return [...madeOf('VIEW', views, ' AS'), ...madeOf('TRIGGER', triggers)].filter(
    ({ sql }) => !current.has(sql),
  )
}

function madeOf(type: 'VIEW' | 'TRIGGER', bodies: Readonly<Record<string, string>>, as = '') {
  return Object.entries(bodies).map(([name, body]) => ({
    drop: `DROP ${type} IF EXISTS ${name}`,
    sql: `CREATE ${type} ${name}${as}${body}`,
  }))
}
