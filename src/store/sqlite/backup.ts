import { existsSync, lstatSync, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { RanklineError, UsageError } from '../../errors.ts'
import { inspect } from './inspect.ts'

export interface Backup {
  readonly bytes: number
  readonly runs: number
}

/**
 * Copies a database as it is at one instant into a new file, also while another process collects into it.
 *
 * VACUUM INTO reads one snapshot and keeps no writer waiting. SQLite's backup interface copies page by page and
 * begins anew whenever somebody else has written in between: beside a run it would never come to its end. What
 * VACUUM writes is a plain file, too: it is in no need of a write-ahead log, and can be read where nothing may be written.
 */
export async function backUp(path: string, to: string): Promise<Backup> {
  refusePlace(to)
  const beside = `${to}.${process.pid}.partial`
  try {
    await inspect(path, (db) => copyInto(db, beside, statSync(path).mode))
    const copied = { bytes: statSync(beside).size, runs: await inspect(beside, countRuns) }
    // Somebody may have made it in the meantime.
    refusePlace(to)
    await rename(beside, to)
    return copied
  } catch (error) {
    throw unwritten(error, to)
  } finally {
    await rm(beside, { force: true })
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

/** Into a file that is made before, so that nobody may read the copy who may not read the database. */
async function copyInto(db: Database.Database, beside: string, mode: number): Promise<void> {
  const file = await open(beside, 'wx', mode & 0o777)
  try {
    db.prepare('VACUUM INTO ?').run(beside)
    await file.sync()
  } finally {
    await file.close()
  }
}

function countRuns(db: Database.Database): number {
  return db.prepare<[], { n: number }>('SELECT count(*) AS n FROM runs_').get()?.n ?? 0
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
