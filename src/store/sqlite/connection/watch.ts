import { randomFillSync } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, parse, resolve } from 'node:path'
import type { Database } from 'better-sqlite3'
import { describeLimit, UsageError } from '../../../model/errors.ts'
import type { DatabaseFile, DiskSpace } from '../../journal.ts'

/** What one answer in the air may want, with its share of a log of the usual size. */
const bytesForAnswer = 128_000
const bytesInAnyCase = 1_000_000
/** The log is written back whenever it has this size: at more, for many answers at once, that costs each of them less. */
const usualLogBytes = 4_000_000
const logBytesForAnswer = 250_000
const largestLogBytes = 16_000_000
/** The reserve takes no more than this part of what is free, and is of no use below a part of what is wanted. */
const shareOfFree = 0.5
const leastOfWanted = 0.25
/** With less than this free, or than this part of the reserve of a tiny disk, nothing new is let through. */
const leastFreeBytes = 2_000_000
const leastOfReserve = 0.25
/** In any case, the log is written back before it takes more than this part of what is free beside the reserve. */
const logOfFree = 0.25
const chunkBytes = 1_000_000
const probeBytes = 100_000

/** The database's log, which repeats pages that every commit changes. */
export interface Log {
  /** Writes it back and gives its room back to the disk, where it can: that may need room itself. */
  shrink(): void
  /** Lets it grow no further than that, as far as commits are small. */
  limit(bytes: number): void
}

/**
 * Keeps watch over the room that the database has. While runs are collected, a file beside it holds some in
 * reserve: when the disk is full it makes way for the answers that are paid for already.
 */
export function watchDiskSpace(path: string, log: Log) {
  const file = `${path}.reserve`
  let held = 0
  let exhausted = false
  let lacking: ReturnType<DiskSpace['lacking']> = null
  let notify: () => void = () => {}
  const isFull = new Promise<void>((resolve) => {
    notify = resolve
  })

  const remove = (): boolean => {
    if (held === 0) return false
    held = 0
    rmSync(file, { force: true })
    return true
  }
  const tooLittle = (): boolean => freeBytes(dirname(path)) < Math.min(leastFreeBytes, held * leastOfReserve)

  return {
    reserve: async (answers: number) => {
      if (path === ':memory:') return true
      const before = held
      // What a process that died has left there is no part of what is taken.
      if (before === 0) rmSync(file, { force: true })
      const kept = existing(file)
      const free = freeBytes(dirname(path)) + kept
      const logBytes = logFor(answers, free)
      const wanted = bytesInAnyCase + answers * bytesForAnswer + Math.max(0, logBytes - usualLogBytes)
      held = Math.min(wanted, Math.floor(free * shareOfFree))
      if (held >= wanted * leastOfWanted && fill(file, held, kept)) {
        log.limit(Math.min(logBytes, freeBytes(dirname(path)) * logOfFree))
        return true
      }
      held = before
      if (before > 0 && fill(file, before, existing(file))) return false
      exhausted = true
      // It takes a part of what is free only.
      lacking = { wanted: (wanted * leastOfWanted) / shareOfFree, free }
      rmSync(file, { force: true })
      held = 0
      return false
    },
    release: async () => void remove(),
    isLow: async () => {
      if (exhausted || held === 0 || !tooLittle()) return exhausted
      log.shrink()
      return tooLittle()
    },
    lacking: () => lacking,
    isExhausted: () => exhausted,
    whenFull: () => isFull,
    /** Notes that the disk was full. */
    full: () => {
      exhausted = true
      notify()
    },
    /** Gives the reserve up for what has to be written now; false where there is none. */
    giveUp: () => {
      const released = remove()
      log.shrink()
      return released
    },
    /** Whether not even a small file can be written now. */
    lacksRoom: () => {
      const probe = `${path}.probe`
      try {
        return !fill(probe, probeBytes)
      } catch {
        // It is not room that is missing.
        return false
      } finally {
        rmSync(probe, { force: true })
      }
    },
  }
}

/** A larger log wants more room for being written back, which the reserve then holds, too. */
function logFor(answers: number, free: number): number {
  return Math.min(largestLogBytes, Math.max(usualLogBytes, answers * logBytesForAnswer), free * logOfFree)
}

/** Bytes that this user may still write into a folder. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

const full: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT'])

function existing(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/** Makes a file so large, of what no file system can store in less; `kept` bytes stand there already. False where there was no room for all of it. */
function fill(file: string, size: number, kept = 0): boolean {
  const fd = openSync(file, kept === 0 ? 'w' : 'r+')
  const chunk = Buffer.alloc(chunkBytes)
  try {
    ftruncateSync(fd, Math.min(kept, size))
    for (let written = kept; written < size; written += chunkBytes)
      writeSync(fd, randomFillSync(chunk), 0, Math.min(chunkBytes, size - written), written)
    fsyncSync(fd)
    return true
  } catch (error) {
    if (full.has((error as NodeJS.ErrnoException).code)) return false
    throw describeLimit(error)
  } finally {
    closeSync(fd)
  }
}

/** What a file was when it was looked at. */
type Seen = NonNullable<ReturnType<typeof look>>

function look(path: string) {
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
