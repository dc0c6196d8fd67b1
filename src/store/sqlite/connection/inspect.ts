import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { RanklineError, UsageError } from '../../../model/errors.ts'
import { newestMigration, rejectForeignDatabase, staleMade } from '../migrate.ts'
import { hasLogFormat, refuseFolder, refuseForeignLog } from './database.ts'
import { describeError } from './errors.ts'
import { realFile } from './lock.ts'

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
interface CopyPlace {
  readonly path: string
  remove(): void
}

function newPlace(): CopyPlace {
  const folder = mkdtempSync(join(tmpdir(), 'rankline-copy-'))
  return {
    path: join(folder, 'copy.db'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Copies a database, as it is at one instant, to a place of its own, where it may be changed. */
export function copyToChange(path: string): CopyPlace {
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
    return rejectForeignDatabase(reading.db, path) !== newestMigration || staleMade(reading.db).length > 0
  } catch (error) {
    throw describeError(error, path)
  } finally {
    reading.close()
  }
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
