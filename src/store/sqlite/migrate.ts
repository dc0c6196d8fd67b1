import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Database } from 'better-sqlite3'
import { count, eq, getTableName, max } from 'drizzle-orm'
import type { MigrationMeta } from 'drizzle-orm/migrator'
import { integer, numeric, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { RanklineError, tryAgainExitCode, UsageError } from '../../model/errors.ts'
import { drizzle } from './connection/statements.ts'
import { freeBytes } from './connection/watch.ts'
import journal from './migrations/meta/_journal.json' with { type: 'json' }
import { triggers, views } from './views.ts'

/** Where drizzle-kit writes the migrations; shipped beside the program. */
export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url))

/** Marks a database file as rankline's: 'rnkl'. */
export const applicationId = 0x726e6b6c

/** Drizzle's table of the migrations that a database has. */
const migrations = sqliteTable('__drizzle_migrations', {
  id: integer().primaryKey(),
  hash: text().notNull(),
  createdAt: numeric('created_at', { mode: 'number' }),
})

/** Whether a database holds a table: that one, or any. */
function hasTable(db: Database, name: string | null = null): boolean {
  const sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = coalesce(?, name) LIMIT 1"
  return db.prepare(sql).get(name) !== undefined
}

/** How many migrations a database has, and the time of the newest one. */
const recorded = (db: Database) =>
  drizzle(db)
    .select({ newest: max(migrations.createdAt), count: count() })
    .from(migrations)
    .get()

/** Time of the newest migration that the database has, or null where it has none. */
export function appliedMigration(db: Database): number | null {
  return hasTable(db, getTableName(migrations)) ? (recorded(db)?.newest ?? null) : null
}

/** How many migrations this program has. */
const knownMigrations = journal.entries.length

/** Time of the newest migration that this program has. */
export const newestMigration: number = Math.max(...journal.entries.map(({ when }) => when))

/** From this migration on a query has one spelling. */
const spellingMigration = journal.entries.find(({ tag }) => tag.endsWith('_one_spelling'))?.when

/** From this migration on results are lists of items; they are moved into them before the next one. */
const itemsMigration = journal.entries.find(({ tag }) => tag.endsWith('_items'))?.when ?? 0

/** Whether a copy is kept beside a database that is migrated. */
export type Keeping = 'keep-copy' | 'keep-none'

/**
 * Brings a database to this program's schema. Refuses one that a newer rankline has written, and keeps a copy
 * beside the file before it changes one that holds data. Only for the process that holds the lock: another one may be
 * collecting with an older rankline.
 */
export async function migrate(db: Database, path: string, keeping: Keeping = 'keep-copy'): Promise<void> {
  const applied = rejectForeignDatabase(db, path)
  if (applied === null || applied < newestMigration) {
    // One that was interrupted as it moved results has its copy.
    const isBegun = applied === itemsMigration
    const isCopied = applied !== null && keeping === 'keep-copy' && !isBegun
    if (applied !== null && applied <= itemsMigration) refuseWithoutRoom(db, path, isCopied)
    if (isCopied) keepCopy(db, path)
    // Loaded only here: most starts find nothing to migrate.
    const { readMigrationFiles } = await import('drizzle-orm/migrator')
    const { joinSpellings, moveResults } = await import('./migration-steps.ts')
    const files = readMigrationFiles({ migrationsFolder })
    if (applied !== null && applied <= itemsMigration) {
      applyMigrations(
        db,
        files.filter(({ folderMillis }) => folderMillis <= itemsMigration),
        joinSpellings,
      )
      moveResults(db)
    }
    applyMigrations(db, files, joinSpellings)
  }
  refresh(db)
}

/**
 * Refuses the database of another program, and one that a newer rankline has written. Answers the time of the newest
 * migration that it has, or null where it has none.
 */
export function rejectForeignDatabase(db: Database, path: string): number | null {
  // Of one moment: another process may be making the database.
  const { applied, isForeign } = db.transaction(() => ({
    applied: appliedMigration(db),
    isForeign: db.pragma('application_id', { simple: true }) !== applicationId && hasTable(db),
  }))()
  if ((applied ?? 0) > newestMigration)
    throw new UsageError(
      `${path} was written by a newer rankline: its schema is version ${recorded(db)?.count}, this one knows ${knownMigrations}. Update rankline, or name another database with --db.`,
    )
  if (isForeign)
    throw new UsageError(`${path} is the database of another program. Name another file with --db.`)
  return applied
}

/** Moving results takes as much as they take, until what they were is dropped; a copy takes as much as the file. */
function refuseWithoutRoom(db: Database, path: string, isCopied: boolean): void {
  if (path === ':memory:') return
  const pages = (name: string): number => Number(db.pragma(name, { simple: true }))
  const bytes = pages('page_count') * pages('page_size')
  const wanted = bytes * (isCopied ? 2 : 1) + logBytes
  const free = freeBytes(dirname(path))
  if (free >= wanted) return
  const megabytes = (amount: number): string => `${Math.ceil(amount / 1_000_000)} MB`
  const parts = isCopied ? ', for a copy of it as it is and for new tables beside the old ones' : ''
  throw new RanklineError(
    `${path} was written by an older rankline, and to bring it up to date takes ${megabytes(wanted)} of room${parts}, but its disk has ${megabytes(free)}: make room, then run the same command again; nothing was changed.`,
    tryAgainExitCode,
  )
}

/** Room for the write-ahead log of large changes. */
const logBytes = 16_000_000

/** Named after the migration that follows. An older copy of that name stays. */
function keepCopy(db: Database, path: string): void {
  if (path === ':memory:') return
  const name = `${path}.before-migration-${String(knownMigrations - 1).padStart(4, '0')}`
  let copy = name
  for (let number = 2; existsSync(copy); number++) copy = `${name}-${number}`
  // Under another name first: an unfinished copy would look finished.
  const partial = `${copy}.partial`
  rmSync(partial, { force: true })
  // Made here for its mode: the copy is as private as the database.
  const file = openSync(partial, 'wx', statSync(path).mode & 0o777)
  try {
    db.prepare('VACUUM INTO ?').run(partial)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(partial, copy)
}

/** Makes views and triggers again where their text has changed. */
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

/** Hides outdated views from a connection that only reads: it gets current ones of its own. */
export function shadowViews(db: Database): void {
  if (staleMade(db).every(({ sql }) => !sql.startsWith('CREATE VIEW'))) return
  for (const [name, body] of Object.entries(views)) db.exec(`CREATE TEMP VIEW ${name} AS${body}`)
}

/** The views and triggers that are missing or outdated. */
export function staleMade(db: Database) {
  const sql = "SELECT sql FROM sqlite_schema WHERE type IN ('view', 'trigger')"
  const current = new Set(db.prepare(sql).pluck().all())
  return [...madeOf('VIEW', views, ' AS'), ...madeOf('TRIGGER', triggers)].filter(
    ({ sql }) => !current.has(sql),
  )
}

/** Drops what keeps numbers of changes for exports. */
export function dropTriggers(db: Database): void {
  for (const name of Object.keys(triggers)) db.exec(`DROP TRIGGER IF EXISTS ${name}`)
}

function madeOf(type: 'VIEW' | 'TRIGGER', bodies: Readonly<Record<string, string>>, as = '') {
  return Object.entries(bodies).map(([name, body]) => ({
    drop: `DROP ${type} IF EXISTS ${name}`,
    sql: `CREATE ${type} ${name}${as}${body}`,
  }))
}

/**
 * Applies what drizzle-kit generated in one transaction, recorded as drizzle does. Drizzle's own migrator reads what is
 * applied before it takes the lock, so that two processes could both apply the same file.
 */
function applyMigrations(
  db: Database,
  files: readonly MigrationMeta[],
  joinSpellings: (db: Database) => void,
): void {
  // A table that is rebuilt with foreign keys on would take its children along.
  db.pragma('foreign_keys = OFF')
  db.transaction(() => {
    const applied = appliedMigration(db) ?? 0
    db.pragma(`application_id = ${applicationId}`)
    // A view on a table that is rebuilt would stop the migration. All are made again afterwards.
    const made = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'").pluck().all()
    for (const name of Object.keys(views)) if (made.includes(name)) db.exec(`DROP VIEW ${name}`)
    // A migration must not mark the rows that it touches as changed.
    dropTriggers(db)
    db.exec(
      'CREATE TABLE IF NOT EXISTS __drizzle_migrations (id INTEGER PRIMARY KEY, hash TEXT NOT NULL, created_at NUMERIC)',
    )
    for (const { sql, hash, folderMillis } of files) {
      if (folderMillis <= applied) continue
      for (const statement of sql) db.exec(statement)
      if (folderMillis === spellingMigration) joinSpellings(db)
      drizzle(db).insert(migrations).values({ hash, createdAt: folderMillis }).run()
    }
    writeStatistics(db)
  }).immediate()
}

/**
 * Statistics for SQLite's planner, as ANALYZE would write them: there are few runs beside all other rows, and a job has
 * hundreds of them. Without them SQLite assumes ten runs a job, and reads all queries of each run to find one. They are constant,
 * so that a statement runs in the same way in every database.
 */
const fewRuns = { tbl: 'runs_', idx: 'runs_job', stat: '10000 300 1' }

const statistics = sqliteTable('sqlite_stat1', (columns) => ({
  tbl: columns.text(),
  idx: columns.text(),
  stat: columns.text(),
}))

/** Stores the statistics unless there are some. Inside a transaction. */
function writeStatistics(db: Database): void {
  // Makes the table of statistics where there is none.
  db.exec('ANALYZE sqlite_schema')
  const orm = drizzle(db)
  const isAnalysed = orm.select().from(statistics).where(eq(statistics.tbl, fewRuns.tbl)).get() !== undefined
  if (!isAnalysed) orm.insert(statistics).values(fewRuns).run()
  // Reads what it says.
  db.exec('ANALYZE sqlite_schema')
}
