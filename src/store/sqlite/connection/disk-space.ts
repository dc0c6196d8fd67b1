import { randomFillSync } from 'node:crypto'
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { describeLimit } from '../../../model/errors.ts'
import type { DiskSpace } from '../../journal.ts'

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

/** What the writer does with the reserve. */
interface LogReserve {
  /** Notes that the disk was full. */
  full(): void
  /** Gives the reserve up for what has to be written now; false where there is none. */
  giveUp(): boolean
  /** Whether not even a small file can be written now. */
  lacksRoom(): boolean
}

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
export function watchDiskSpace(path: string, log: Log): DiskSpace & LogReserve {
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
    reserve: async (answers) => {
      if (path === ':memory:') return
      // What a process that died has left there is no part of what is taken.
      rmSync(file, { force: true })
      const logBytes = logFor(answers, freeBytes(dirname(path)))
      const wanted = bytesInAnyCase + answers * bytesForAnswer + Math.max(0, logBytes - usualLogBytes)
      const free = freeBytes(dirname(path))
      held = Math.min(wanted, Math.floor(free * shareOfFree))
      if (held < wanted * leastOfWanted || !fill(file, held)) {
        exhausted = true
        // It takes a part of what is free only.
        lacking = { wanted: (wanted * leastOfWanted) / shareOfFree, free }
        remove()
      } else log.limit(Math.min(logBytes, freeBytes(dirname(path)) * logOfFree))
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
    full: () => {
      exhausted = true
      notify()
    },
    giveUp: () => {
      const released = remove()
      log.shrink()
      return released
    },
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

/** Writes what no file system can store in less; false where there was no room for all of it. */
function fill(file: string, size: number): boolean {
  const fd = openSync(file, 'w')
  const chunk = Buffer.alloc(chunkBytes)
  try {
    for (let written = 0; written < size; written += chunkBytes)
      writeSync(fd, randomFillSync(chunk), 0, Math.min(chunkBytes, size - written))
    fsyncSync(fd)
    return true
  } catch (error) {
    if (full.has((error as NodeJS.ErrnoException).code)) return false
    throw describeLimit(error)
  } finally {
    closeSync(fd)
  }
}
