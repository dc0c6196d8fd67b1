import { existsSync, lstatSync, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { count } from 'drizzle-orm'
import { RanklineError, UsageError } from '../../../model/errors.ts'
import { inspect, openFile, requireDatabase } from '../connection/database.ts'
import { realFile } from '../connection/lock.ts'
import { drizzle } from '../connection/statements.ts'
import { runs } from '../schema.ts'
import { checkDatabase } from './check.ts'

type Backup = Awaited<ReturnType<typeof backUp>>

/**
 * Copies a database as it is at one instant into a new file, also while another process collects into it.
 *
 * VACUUM INTO reads one snapshot and blocks no writer. SQLite's backup interface copies page by page and starts again
 * whenever another process has written: beside a run it would never finish. The copy needs no write-ahead log either, so that it
 * can be read from a read-only place.
 */
export async function backUp(path: string, to: string) {
  refusePlace(to)
  const partial = `${to}.${process.pid}.partial`
  try {
    await inspect(path, (db) => copyInto(db, partial, statSync(path).mode))
    const copied = {
      bytes: statSync(partial).size,
      runs: await inspect(partial, runCount),
    }
    // Another process may have made it in the meantime.
    refusePlace(to)
    await rename(partial, to)
    return copied
  } catch (error) {
    throw unwritten(error, to)
  } finally {
    await rm(partial, { force: true })
  }
}

/** Files that belong to a database, its own first. The reserve is made anew by the next run. */
const parts = ['', '-wal', '-shm', '-journal']

/**
 * Puts a backup in the place of a database. What was there is moved aside with all its files, and nothing of it is lost; a backup that is
 * not a sound database of rankline changes nothing. The caller holds the lock of the database.
 *
 * @param stamp ends the name of what is moved aside
 */
export async function restore(
  from: string,
  path: string,
  stamp: string,
): Promise<
  Backup & {
    /** Where the database lies now whose place the backup took; null where there was none. */
    readonly before: string | null
  }
> {
  if (!existsSync(from)) throw new UsageError(`There is no backup ${from}. Check the path`)
  requireDatabase(from)
  const file = realFile(path)
  if (realFile(from) === file)
    throw new UsageError(
      `${from} is the database itself. Name the file of a backup: rankline db restore <file>`,
    )
  const { findings } = await checkDatabase(from)
  if (findings.length > 0)
    throw new UsageError(
      `${from} is not whole, and nothing was changed. What is wrong with it: rankline db check --db ${from}`,
    )
  const partial = `${file}.${process.pid}.partial`
  try {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? statSync(from).mode
    await inspect(from, (db) => copyInto(db, partial, mode))
    const restored = {
      bytes: statSync(partial).size,
      runs: await inspect(partial, runCount),
    }
    const before = `${file}.before-restore-${stamp}`
    writeBack(file)
    const moved = parts.filter((part) => existsSync(file + part))
    for (const part of moved) await rename(file + part, before + part)
    await rename(partial, file)
    return { ...restored, before: moved.includes('') ? before : null }
  } catch (error) {
    throw unwritten(error, path)
  } finally {
    await rm(partial, { force: true })
  }
}

/** Writes the log of a database back into it, so that one file is moved and not two; one that is damaged is moved as it is. */
function writeBack(file: string): void {
  if (!existsSync(file)) return
  try {
    const db = openFile(file)
    db.pragma('wal_checkpoint(TRUNCATE)')
    db.close()
  } catch {
    // All its files are moved.
  }
}

function refusePlace(to: string): void {
  if (to.trim() === '') throw new UsageError('The name of the copy is empty. Give it the name of a file')
  const folder = dirname(to)
  if (!existsSync(folder))
    throw new UsageError(
      `The folder ${folder} for the copy does not exist. Create it with: mkdir -p ${folder}`,
    )
  const there = lstatSync(to, { throwIfNoEntry: false })
  if (there?.isDirectory() === true)
    throw new UsageError(`${to} is a folder. Name a file in it, for instance ${to}/rankline.db`)
  if (there !== undefined)
    throw new UsageError(
      `${to} exists already, and a backup never takes the place of a file. Name another file, or remove this one first`,
    )
}

function runCount(db: Database.Database): number {
  return drizzle(db).select({ runs: count() }).from(runs).get()?.runs ?? 0
}

/** The file is made first for its mode: the copy is as private as the database. */
async function copyInto(db: Database.Database, partial: string, mode: number): Promise<void> {
  const file = await open(partial, 'wx', mode & 0o777)
  try {
    db.prepare('VACUUM INTO ?').run(partial)
    await file.sync()
  } finally {
    await file.close()
  }
}

const reasons: readonly (readonly [code: RegExp, reason: string])[] = [
  [/^(SQLITE_FULL|ENOSPC|EDQUOT)$/, 'the disk is full. Make room, or name a file on another disk'],
  [/^(EACCES|EPERM|EROFS)$/, 'its folder may not be written. Check the permissions, or name another folder'],
  [/^(SQLITE_IOERR|EIO)/, 'the disk reports an error. Check it, or name a file on another disk'],
]

function unwritten(error: unknown, to: string): unknown {
  if (error instanceof RanklineError) return error
  const { code = '' } = error as { readonly code?: string }
  const known = reasons.find(([codes]) => codes.test(code))
  return known === undefined
    ? error
    : new UsageError(`The copy ${to} cannot be written: ${known[1]}.`, { cause: error })
}
