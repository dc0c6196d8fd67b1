import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { busyExitCode, RanklineError, UsageError } from '../../errors.ts'
import { openFile, setPragmas } from './database.ts'
import { inspect } from './inspect.ts'
import { migrate } from './migrate.ts'
import { type Judge, judgeOf } from './needed.ts'
import { explained } from './troubles.ts'

export interface PruneRequest {
  /** Bodies of answers fetched before this instant are dropped. */
  readonly before: number
  readonly now: number
}

/** What was dropped, or would be. */
export interface Pruned {
  readonly bodies: number
  readonly bytes: number
  /** Bodies as old as that which are still needed, and stay. */
  readonly kept: number
}

/** The file after that. */
export interface Room {
  readonly fileBytes: number
  /** Bytes of it that hold nothing, and are filled with what comes. */
  readonly freeBytes: number
}

type Total = { -readonly [K in keyof Pruned]: Pruned[K] }

/** Answers looked at in one go. */
const portion = 256
/** How long bodies are dropped before others may write. */
const longestChangeMs = 20
const shortestPauseMs = 50

/** What would be dropped; changes nothing. */
export async function countOld(path: string, request: PruneRequest): Promise<Pruned> {
  return await inspect(path, (db) => {
    const total = { bodies: 0, bytes: 0, kept: 0 }
    const judge = judgeOf(db, request.now)()
    for (const ids of oldAnswers(db, request)) for (const id of ids) note(total, judge, id)
    return total
  })
}

/**
 * Drops the stored bodies of old answers, in changes so short, and with pauses between them, that a process which
 * collects is never kept waiting for long. What was dropped before an interruption stays dropped.
 */
export async function dropOld(path: string, request: PruneRequest): Promise<Pruned & Room> {
  return await changing(path, async (db) => {
    const total = { bodies: 0, bytes: 0, kept: 0 }
    const drop = dropper(db, judgeOf(db, request.now), total)
    for (const ids of oldAnswers(db, request)) await drop(ids)
    return { ...total, ...roomOf(db) }
  })
}

/**
 * Gives the space that holds nothing back to the disk. That writes the whole file anew, needs the room of a copy
 * beside it, and lets nobody else write: not to be done while another process collects.
 */
export async function shrink(path: string): Promise<Room> {
  return await changing(path, (db) => {
    db.exec('VACUUM')
    // The file itself becomes smaller when the write-ahead log is taken over into it.
    db.pragma('wal_checkpoint(TRUNCATE)')
    return roomOf(db)
  })
}

async function changing<T>(path: string, change: (db: Database.Database) => T | Promise<T>): Promise<T> {
  // Refuses what is no database of rankline before anything is written.
  await inspect(path, () => {})
  const db = openFile(path)
  try {
    setPragmas(db)
    await migrate(db, path)
    return await change(db)
  } catch (error) {
    throw explained(unchanged(error, path), path)
  } finally {
    db.close()
  }
}

/** Ids of the old answers that have a body, a portion at a time. */
function* oldAnswers(db: Database.Database, { before }: PruneRequest): Generator<readonly number[]> {
  const next = db
    .prepare<unknown[], number>(
      `SELECT a.id FROM answers_ a WHERE a.id > @after AND a.fetched_at < @before
        AND EXISTS (SELECT 1 FROM raw_answers b WHERE b.answer_id = a.id) ORDER BY a.id LIMIT @portion`,
    )
    .pluck()
  for (let after = 0; ; ) {
    const ids = next.all({ after, before, portion })
    const last = ids.at(-1)
    if (last === undefined) return
    yield ids
    after = last
  }
}

/** Whether a body may be dropped, counted either way. */
function note(total: Total, judge: Judge, id: number): boolean {
  const judged = judge(id)
  if (judged === undefined) return false
  if (judged.needed === 1) {
    total.kept += 1
    return false
  }
  total.bodies += 1
  total.bytes += judged.bytes
  return true
}

/** Drops what may be dropped of these bodies, in as many changes as that takes. */
function dropper(db: Database.Database, judging: () => Judge, total: Total) {
  const drop = db.prepare('DELETE FROM raw_answers WHERE answer_id = ?')
  /** Answers how many of them it came to look at. Judged inside the change: a task may take an answer at any time. */
  const dropSome = db.transaction((ids: readonly number[], until: number): number => {
    const judge = judging()
    for (const [index, id] of ids.entries()) {
      if (note(total, judge, id)) drop.run(id)
      if (performance.now() >= until) return index + 1
    }
    return ids.length
  })
  return async (ids: readonly number[]): Promise<void> => {
    for (let done = 0; done < ids.length; ) {
      const began = performance.now()
      done += dropSome.immediate(ids.slice(done), began + longestChangeMs)
      await sleep(Math.max(shortestPauseMs, performance.now() - began))
    }
  }
}

function roomOf(db: Database.Database): Room {
  const number = (name: string): number => Number(db.pragma(name, { simple: true }))
  const page = number('page_size')
  return { fileBytes: number('page_count') * page, freeBytes: number('freelist_count') * page }
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
