import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { UsageError } from '../../../model/errors.ts'
import { describeError, errorIs } from './errors.ts'

/** Whether a lock is held alone, or with others that share it. */
export type LockUse = 'alone' | 'shared'

/**
 * Takes the lock that a file stands for; null where another process holds it. The file is made where it is missing. The operating system takes
 * it back when its owner dies, however it dies.
 */
export function tryLock(
  path: string,
  use: LockUse = 'alone',
): {
  release(): void
} | null {
  const db = openLock(path)
  try {
    // Nothing is ever written under it, so that no journal has to find room either.
    db.pragma('journal_mode = MEMORY')
    // SQLite's locks are those of the operating system on the file: an exclusive one to write, a shared one to read.
    if (use === 'alone') db.exec('BEGIN EXCLUSIVE')
    else db.exec('BEGIN; SELECT count(*) FROM sqlite_schema')
    return { release: () => db.close() }
  } catch (error) {
    db.close()
    if (errorIs.locked(error)) return null
    throw describeError(error, path)
  }
}

function openLock(path: string): Database.Database {
  try {
    makeForAll(path)
    // A file that may only be read SQLite opens all the same, and then says that it is locked when it is not.
    accessSync(path, constants.W_OK)
    return new Database(path, { timeout: 0, fileMustExist: true })
  } catch (error) {
    const isReadOnly = (error as NodeJS.ErrnoException).code === 'EROFS'
    throw new UsageError(
      isReadOnly
        ? `The lock file ${path} cannot be written, for its file system is read-only. Let the program write to ${dirname(path)} (a systemd service: ReadWritePaths=${dirname(path)}; a container: --tmpfs ${dirname(path)})`
        : `The lock file ${path} cannot be made or opened. Check that its folder exists and may be written`,
      { cause: error },
    )
  }
}

/**
 * Makes an empty file that every user may write, where there is none. An existing one is never opened with O_CREAT: in a
 * folder like /tmp the system forbids that for the file of another user (fs.protected_regular).
 */
export function makeForAll(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return
  // Changed afterwards, the permissions would come too late for a second user who opens it at once.
  const before = process.umask(0)
  try {
    closeSync(openSync(path, 'wx', 0o666))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    process.umask(before)
  }
}

/** Whether a process holds the lock that a file stands for; nothing is made or changed, and who may not look sees none. */
export function isHeld(path: string): boolean {
  if (!existsSync(path)) return false
  try {
    const db = new Database(path, { readonly: true, timeout: 0 })
    try {
      db.pragma('schema_version')
    } finally {
      db.close()
    }
    return false
  } catch (error) {
    return errorIs.locked(error)
  }
}

/** The lock file of a database: beside the file itself, by whatever name or symbolic link it was reached. */
export function databaseLock(path: string): string {
  return `${realFile(path)}.lock`
}

/** The lock file of a key, by its hash: the same for all users and services of this machine. */
export function keyLock(hash: string): string {
  return join(sharedFolder(), `rankline-${hash}.lock`)
}

/** Not the folder that TMPDIR names, nor one that systemd gives each service of its own, as it does with /tmp. */
function sharedFolder(): string {
  if (process.platform === 'win32') return tmpdir()
  const locks = '/run/lock'
  const mode = statSync(locks, { throwIfNoEntry: false })?.mode ?? 0
  const everyUserMayWrite = (mode & 0o002) !== 0
  return process.platform === 'linux' && everyUserMayWrite ? locks : '/tmp'
}

/** Path of a file without symbolic links, also of one that does not exist yet. */
export function realFile(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const linked = linkTarget(path)
  if (linked !== null) return realFile(resolve(dirname(path), linked))
  const folder = dirname(resolve(path))
  return statSync(folder, { throwIfNoEntry: false }) === undefined
    ? resolve(path)
    : join(realpathSync(folder), basename(path))
}

function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}
