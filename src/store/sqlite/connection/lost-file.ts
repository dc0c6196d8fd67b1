import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, parse, resolve } from 'node:path'
import type { Database } from 'better-sqlite3'
import { UsageError } from '../../../model/errors.ts'
import type { DatabaseFile } from '../../journal.ts'

/** What a file was when it was looked at. */
interface Seen {
  readonly device: number
  readonly inode: number
  readonly size: number
}

function look(path: string): Seen | null {
  try {
    const { dev, ino, size } = statSync(path)
    return { device: dev, inode: ino, size }
  } catch {
    // What hides it from this process hides it from the next one, too.
    return null
  }
}

/** What became of a file since; null where it is the same. */
function whatBecameOf(file: string, before: Seen, now: Seen | null): string | null {
  if (now === null) return 'was removed or moved'
  if (now.inode !== before.inode || now.device !== before.device) return 'was replaced by another file'
  return now.size < before.size && !isWhole(file, now.size) ? 'was cut short' : null
}

const headerBytes = 100

/** Whether a file that became shorter holds all that its header says: a log does, and a database after a VACUUM. */
function isWhole(file: string, size: number): boolean {
  if (file.endsWith('-wal')) return true
  const header = Buffer.alloc(headerBytes)
  const descriptor = openSync(file, 'r')
  try {
    if (readSync(descriptor, header, 0, headerBytes, 0) < headerBytes) return false
  } finally {
    closeSync(descriptor)
  }
  // As the file format of SQLite has it: 1 stands for 65,536, which two bytes cannot hold.
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  return header.readUInt32BE(28) * pageSize <= size
}

/** Where the content of a database is saved whose file is gone. */
function rescueName(path: string): string {
  const { dir, name, ext } = parse(path)
  return resolve(dir, `${name}.rescued${ext === '' ? '.db' : ext}`)
}

/** The file of a database that is in memory, or only read: nothing is kept in it that could be lost. */
export const unwatchedFile: DatabaseFile = {
  isLost: () => false,
  whenLost: () => new Promise(() => {}),
  loss: () => null,
  rescue: async () => {},
}

/**
 * Watches whether the file of a database is still the one that is open: what is written into one that was removed, moved or
 * replaced is gone when it is closed.
 */
export function watchFile(db: Database): DatabaseFile {
  if (db.memory) return unwatchedFile
  // As it was opened: the working folder may be another one later.
  const path = resolve(db.name)
  const files = [
    { file: path, name: path, seen: look(path) },
    {
      file: `${path}-wal`,
      name: `The log of ${path} (${path}-wal)`,
      seen: look(`${path}-wal`),
    },
  ]
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0o600
  let found: string | null = null
  let saved: string | null = null
  let notify: () => void = () => {}
  const lost = new Promise<void>((fulfil) => {
    notify = fulfil
  })

  const isLost = (): boolean => {
    if (found !== null) return true
    for (const one of files) {
      const now = look(one.file)
      const change = one.seen === null ? null : whatBecameOf(one.file, one.seen, now)
      one.seen = now ?? one.seen
      if (change !== null) found ??= `${one.name} ${change} while rankline was using it`
    }
    if (found !== null) notify()
    return found !== null
  }

  /** The copy is whole under its name, or not there. */
  const save = (): string => {
    const to = freeName(rescueName(path))
    mkdirSync(dirname(to), { recursive: true })
    const partial = `${to}.${process.pid}.partial`
    try {
      db.prepare('VACUUM INTO ?').run(partial)
      chmodSync(partial, mode & 0o777)
      const descriptor = openSync(partial, 'r')
      fsyncSync(descriptor)
      closeSync(descriptor)
      renameSync(partial, to)
    } finally {
      rmSync(partial, { force: true })
    }
    return to
  }

  /** The log that is left would be taken for that of the file which is put back; where the database was moved, it becomes whole. */
  const removeLog = (): void => {
    db.pragma('wal_checkpoint(TRUNCATE)')
    const [, log] = files
    const now = log === undefined ? null : look(log.file)
    if (now === null || now.inode !== log?.seen?.inode) return
    rmSync(`${path}-wal`, { force: true })
    rmSync(`${path}-shm`, { force: true })
  }

  return {
    isLost,
    whenLost: () => lost,
    loss: () => {
      if (found === null) return null
      const nowWhat =
        saved === null
          ? 'What it held could not be saved beside it: restore it from a backup, or name another file with --db'
          : `What it held is saved in ${saved}. Put that file back as ${path}, then run the same command again`
      return `Stopped: ${found}. ${nowWhat}.`
    },
    rescue: async () => {
      if (found === null || saved !== null) return
      try {
        saved = save()
        removeLog()
      } catch {
        // What is cut short or on a full disk cannot be saved; the message says so.
      }
    },
  }
}

/** Refuses to begin an empty database where what one held waits to be put back. */
export function refuseRescued(path: string): void {
  if (path === ':memory:' || existsSync(path)) return
  const rescued = rescueName(path)
  if (existsSync(rescued))
    throw new UsageError(
      `${path} is missing, and ${rescued} holds what was saved of it. Put that file back as ${path}, or move it elsewhere to begin anew`,
    )
}

/** What was saved before is never overwritten. */
function freeName(path: string): string {
  const { dir, name, ext } = parse(path)
  let free = path
  for (let number = 2; existsSync(free); number++) free = resolve(dir, `${name}-${number}${ext}`)
  return free
}
