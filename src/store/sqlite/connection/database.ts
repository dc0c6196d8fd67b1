import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { busyExitCode, RanklineError, tryAgainExitCode, UsageError } from '../../../model/errors.ts'
import {
  dropTriggers,
  type Keeping,
  migrate,
  newestMigration,
  rejectForeignDatabase,
  staleMade,
} from '../migrate.ts'
import { describeError } from './errors.ts'
import { realFile } from './lock.ts'
import { refuseRescued } from './watch.ts'

const busyMs = 250

/** Opens the database at that path, making or migrating it where needed. `:memory:` is visible to this process only. */
export async function openDatabase(path: string, keeping?: Keeping): Promise<Database.Database> {
  const db = openFile(path)
  try {
    setPragmas(db)
    await migrate(db, path, keeping)
    // From here on, waiting for a lock does not block the event loop.
    db.pragma(`busy_timeout = ${busyMs}`)
    return db
  } catch (error) {
    db.close()
    throw describeError(error, path)
  }
}

/** An empty database of this program's schema; null before the first one was made. */
let empty: Buffer | null = null

/**
 * Opens an empty database that is private to the caller and gone when it is closed. Only the first one is laid out; the others are copies.
 * Nothing is exported from it, so it has no triggers.
 */
export async function openScratch(): Promise<Database.Database> {
  if (empty === null) {
    const db = await openDatabase(':memory:')
    dropTriggers(db)
    empty = db.serialize()
    db.close()
  }
  const db = new Database(empty)
  db.pragma('journal_mode = MEMORY')
  return db
}

export function openFile(path: string): Database.Database {
  refuseFolder(path)
  refuseRescued(path)
  try {
    if (path !== ':memory:') refuseNetworkFolder(dirname(path))
    refuseSecondName(path)
    refuseForeignLog(path)
    return new Database(path, { timeout: 10_000 })
  } catch (error) {
    throw describeError(error, path)
  }
}

/** Refuses a path that no database can have: one in a folder that does not exist, or of a folder. */
export function refuseFolder(path: string): void {
  const folder = dirname(path)
  if (path !== ':memory:' && !existsSync(folder))
    throw new UsageError(
      `The folder ${folder} for the database does not exist. Create it with: mkdir -p ${folder} (or name another database with --db)`,
    )
  if (existsSync(path) && statSync(path).isDirectory())
    throw new UsageError(
      `${path} is a folder. Name a database file with --db, for instance ${path}/rankline.db`,
    )
}

/** To be set on every open: a reopened WAL file would otherwise be synced less than a new one. */
function setPragmas(db: Database.Database): void {
  // Of a file that is made anew. With SQLite's own 4,096 bytes, twice as many pages are read and written one by one while rankline collects.
  if (!db.memory) db.pragma('page_size = 8192')
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.pragma('journal_size_limit = 67108864')
  // Of a large database no cache of ours holds much: it is the system that keeps its pages at hand.
  db.pragma('cache_size = -8000')
}

/** Refuses a database with a second name on the disk: each name would have a log of its own, and both would be damaged. */
function refuseSecondName(path: string): void {
  const names = statSync(path, { throwIfNoEntry: false })?.nlink ?? 1
  if (names > 1)
    throw new UsageError(
      `${path} has a second name on this disk (a hard link), and written by both names it would be damaged. Remove the other name, or go on with a copy: rankline db backup <file>`,
    )
}

/**
 * Refuses a backup that was put in the place of a database whose log still lies there: SQLite would write the one into the other. A
 * backup is a single file, and a database that has a log never is.
 */
function refuseForeignLog(path: string): void {
  if (path === ':memory:') return
  const log = `${realFile(path)}-wal`
  const sizes = [path, log].map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  if (sizes.includes(0) || hasLogFormat(path)) return
  throw new RanklineError(
    `${path} is a backup in the place of another database, whose log still lies beside it: ${log}. Move that log away, then run the same command again. rankline db restore <file> puts a backup back with all that belongs to it`,
    tryAgainExitCode,
  )
}

/** Bytes 18 and 19 of the head of an SQLite file are 2 where it is written by way of a log. */
function hasLogFormat(file: string): boolean {
  const opened = openSync(file, 'r')
  try {
    const head = Buffer.alloc(20)
    readSync(opened, head, 0, head.length, 0)
    return head[18] === 2
  } finally {
    closeSync(opened)
  }
}

/** File systems of other machines, by the numbers with which Linux names them (linux/magic.h). */
const networks: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4266872130: 'SMB',
  4283649346: 'SMB',
  1397113167: 'AFS',
  1937076805: 'Coda',
  12805120: 'Ceph',
}

/** The name of a file system on which SQLite's locks and its log cannot be trusted; null where they can. */
function networkName(type: number): string | null {
  // Kernels give the number with or without a sign.
  return networks[type >>> 0] ?? null
}

/** Refuses a database in a folder of another machine. */
export function refuseNetworkFolder(folder: string): void {
  if (process.platform !== 'linux') return
  const name = networkName(Number(statfsSync(folder).type))
  if (name === null) return
  throw new UsageError(
    `${folder} is on a network file system (${name}), where a database may be damaged. Name one on a local disk with --db`,
  )
}

/** A database that is open to be read: nothing is made, migrated or changed. */
export interface ReadConnection {
  readonly db: Database.Database
  close(): void
}

/** Opens a database of rankline to read it, for as long as `use` lasts. */
export async function inspect<T>(path: string, use: (db: Database.Database) => T | Promise<T>): Promise<T> {
  const reading = openToRead(path)
  try {
    refuseEmpty(reading.db, path)
    return await use(reading.db)
  } catch (error) {
    throw describeError(error, path)
  } finally {
    reading.close()
  }
}

/**
 * Whether a database has to be changed before this program can write it, and the first damage in it, null for none. Changes nothing.
 *
 * @param isWhole whether SQLite looks at all of it; else damage is not looked for
 */
export async function databaseCondition(
  path: string,
  isWhole: boolean,
): Promise<{ readonly isOlder: boolean; readonly damage: string | null }> {
  return await inspect(path, (db) => ({
    isOlder: isOutdated(db, path),
    damage: isWhole ? firstDamage(db) : null,
  }))
}

/** What SQLite's quick check sees first. */
function firstDamage(db: Database.Database): string | null {
  const first = unlessDamaged(() => String(db.pragma('quick_check(1)', { simple: true })))
  return first === 'ok' ? null : (first ?? 'it cannot be read')
}

/**
 * Opens a database to read it, also a file of another user or on a disk that may not be written, where SQLite cannot make
 * the files that it needs beside the database: then a copy of it is read.
 */
export function openToRead(path: string): ReadConnection {
  requireDatabase(path)
  try {
    const file = realFile(path)
    refuseForeignLog(path)
    const canWrite = mayWrite(file)
    if (!canWrite && needsSideFiles(file)) return openCopied(file, path)
    if (canWrite) rollBack(file)
    const db = new Database(path, { readonly: true, timeout: readingTimeoutMs })
    return {
      db,
      close: () => {
        db.close()
        if (canWrite) removeEmptyLog(file)
      },
    }
  } catch (error) {
    throw describeError(error, path)
  }
}

/**
 * Opens the database of another program to read it, and leaves nothing beside it: where SQLite would have to, a copy is read.
 */
export function openForeign(file: string): ReadConnection {
  try {
    if (hasLogFormat(file) || sizeOf(`${file}-journal`) > 0) return openCopied(file, file)
    const db = new Database(file, { readonly: true, timeout: readingTimeoutMs })
    return { db, close: () => db.close() }
  } catch (error) {
    throw describeError(error, file)
  }
}

const readingTimeoutMs = 10_000

/** Whether this process may write a file and into its folder. */
export function mayWrite(file: string): boolean {
  try {
    for (const one of [file, dirname(file)]) accessSync(one, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Undoes the change that a process was at when it was killed while it made the database, before that had a log: a
 * connection that may only read refuses to.
 */
function rollBack(file: string): void {
  if (sizeOf(`${file}-journal`) === 0) return
  const db = new Database(file, { timeout: readingTimeoutMs })
  try {
    db.pragma('schema_version')
  } finally {
    db.close()
  }
}

/**
 * A database with a log needs both of its files, to be read as well, and an unfinished change has to be undone first; any
 * other is a single file.
 */
function needsSideFiles(file: string): boolean {
  if (sizeOf(`${file}-journal`) > 0) return true
  if (!hasLogFormat(file)) return false
  return !(sizeOf(`${file}-wal`) > 0 && existsSync(`${file}-shm`))
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/** The last reader leaves an empty log behind; a connection that may write takes it away, and changes nothing. */
function removeEmptyLog(file: string): void {
  if (!existsSync(`${file}-wal`) || sizeOf(`${file}-wal`) > 0) return
  try {
    const db = new Database(file, { timeout: 0 })
    db.pragma('schema_version')
    db.close()
  } catch {
    // Another process has it now.
  }
}

const copyTries = 5

function openCopied(file: string, path: string): ReadConnection {
  const place = newPlace()
  try {
    for (let tries = 1; !copyWhole(file, place.path); tries++)
      if (tries === copyTries)
        throw new RanklineError(
          `${path} is being written, and cannot be read beside that by a user who may not write it. Run the same command again later`,
          6,
        )
    const db = new Database(place.path, { timeout: readingTimeoutMs })
    return {
      db,
      close: () => {
        db.close()
        place.remove()
      },
    }
  } catch (error) {
    place.remove()
    throw error
  }
}

/** Copies a database with its log or journal; false where it was written meanwhile. */
function copyWhole(file: string, to: string): boolean {
  const before = stamp(file)
  copyFileSync(file, to)
  chmodSync(to, 0o600)
  for (const side of sideFiles) {
    rmSync(to + side, { force: true })
    if (!existsSync(file + side)) continue
    copyFileSync(file + side, to + side)
    chmodSync(to + side, 0o600)
  }
  return stamp(file) === before
}

/** What holds changes that are not in the database's own file. */
const sideFiles = ['-wal', '-journal']

function stamp(file: string): string {
  return ['', ...sideFiles]
    .map((side) => file + side)
    .map((one) => {
      const { size, mtimeMs } = statSync(one, { throwIfNoEntry: false }) ?? { size: 0, mtimeMs: 0 }
      return `${size} ${mtimeMs}`
    })
    .join()
}

/** A place for a copy that other users may not read. */
function newPlace() {
  const folder = mkdtempSync(join(tmpdir(), 'rankline-copy-'))
  return {
    path: join(folder, 'copy.db'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Copies a database, as it is at one instant, to a place of its own, where it may be changed. */
export function copyToChange(path: string) {
  const reading = openToRead(path)
  const place = newPlace()
  try {
    refuseEmpty(reading.db, path)
    reading.db.prepare('VACUUM INTO ?').run(place.path)
    return place
  } catch (error) {
    place.remove()
    throw describeError(error, path)
  } finally {
    reading.close()
  }
}

/** Whether a database has to be made or changed before this program can write it. */
export function needsMigration(path: string): boolean {
  if (sizeOf(path) === 0) {
    refuseFolder(path)
    return true
  }
  const reading = openToRead(path)
  try {
    return isOutdated(reading.db, path)
  } catch (error) {
    throw describeError(error, path)
  } finally {
    reading.close()
  }
}

function isOutdated(db: Database.Database, path: string): boolean {
  return rejectForeignDatabase(db, path) !== newestMigration || staleMade(db).length > 0
}

/** Refuses a file in which nothing is stored; answers the time of its newest migration. */
export function refuseEmpty(db: Database.Database, path: string): number {
  const applied = rejectForeignDatabase(db, path)
  if (applied === null)
    throw new UsageError(`${path} is empty: rankline has stored nothing in it. Name another file with --db.`)
  return applied
}

/** Throws a sentence where there is no such database: a command that only reads does not create one. */
export function requireDatabase(path: string): void {
  if (!existsSync(path))
    throw new UsageError(
      `There is no database ${path}. Name the file with --db, or make one with: rankline run <job file>${demoHint(path)}`,
    )
  if (statSync(path).isDirectory())
    throw new UsageError(
      `${path} is a folder. Name a database file with --db, for instance ${path}/rankline.db`,
    )
}

/** Where the data of `rankline demo` lies, which a new user looks for in the default database. */
export function demoHint(path: string): string {
  const demo = join(dirname(path), 'demo.db')
  return path !== demo && existsSync(demo) ? `. What the demo collected is in ${demo}: add --db ${demo}` : ''
}

/** Whether SQLite says that the file, or the disk that it is on, is damaged. */
export function isDamage(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|IOERR)/.test(error.code)
}

/** Null if the damage keeps it from being read. */
export function unlessDamaged<T>(look: () => T): T | null {
  try {
    return look()
  } catch (error) {
    if (isDamage(error)) return null
    throw error
  }
}

/** Opens a database to change what keeps it in order. */
export async function changing<T>(
  path: string,
  change: (db: Database.Database) => T | Promise<T>,
): Promise<T> {
  // Refuses a file that is not a database of rankline before anything is written.
  await inspect(path, () => {})
  const db = openFile(path)
  try {
    setPragmas(db)
    await migrate(db, path)
    return await change(db)
  } catch (error) {
    throw describeError(unchanged(error, path), path)
  } finally {
    db.close()
  }
}

function unchanged(error: unknown, path: string): unknown {
  const code = error instanceof Database.SqliteError ? error.code : ''
  if (code === 'SQLITE_FULL')
    return new UsageError(
      `The disk of ${path} is full. Make room first; --vacuum needs as much as a copy of the database`,
      { cause: error },
    )
  if (code.startsWith('SQLITE_BUSY'))
    return new RanklineError(
      `Another process writes into ${path} and does not stop. Let it finish, then run this again`,
      busyExitCode,
      { cause: error },
    )
  return error
}
