import { closeSync, existsSync, openSync, readSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { RanklineError, tryAgainExitCode, UsageError } from '../../../model/errors.ts'
import { dropTriggers, type Keeping, migrate } from '../migrate.ts'
import { describeError } from './errors.ts'
import { realFile } from './lock.ts'
import { refuseRescued } from './lost-file.ts'

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
export function setPragmas(db: Database.Database): void {
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
export function refuseForeignLog(path: string): void {
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
export function hasLogFormat(file: string): boolean {
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
export function networkName(type: number): string | null {
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
