import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { busyExitCode, RanklineError, UsageError } from '../../../model/errors.ts'
import { openFile, setPragmas } from '../connection/database.ts'
import { describeError } from '../connection/errors.ts'
import { inspect } from '../connection/inspect.ts'
import { orm, prepared, type Values } from '../connection/statements.ts'
import { bodyBytes } from '../ledger/bodies.ts'
import { migrate } from '../migrate.ts'
import { answers, rawAnswers, runQueries, runs, tasks } from '../schema.ts'

export interface PruneRequest {
  /** Bodies of answers fetched before this instant are dropped. */
  readonly before: number
  readonly now: number
}

/** What was dropped, or would be. */
export interface Pruned {
  readonly bodies: number
  readonly bytes: number
  /** Old bodies that stay, because a task may still use them. */
  readonly kept: number
}

/** The size of the file afterwards. */
export interface Room {
  readonly fileBytes: number
  /** Bytes that are empty and will be reused. */
  readonly freeBytes: number
}

type PrunedTotal = { -readonly [K in keyof Pruned]: Pruned[K] }

/** Answers that are read at once. */
export const portion = 256
/** How long one change may hold other writers up. */
const longestChangeMs = 20
const shortestPauseMs = 50

/** What would be dropped; changes nothing. */
export async function countOld(path: string, request: PruneRequest): Promise<Pruned> {
  return await inspect(path, (db) => {
    const total = { bodies: 0, bytes: 0, kept: 0 }
    const judge = mustKeepBody(db, request.now)()
    for (const ids of oldAnswers(db, request)) for (const id of ids) note(total, judge, id)
    return total
  })
}

/**
 * Drops the stored bodies of old answers, in short changes with pauses between them, so that a process which collects does not
 * wait for long. An interruption undoes nothing.
 */
export async function dropOld(path: string, request: PruneRequest): Promise<Pruned & Room> {
  return await changing(path, async (db) => {
    const total = { bodies: 0, bytes: 0, kept: 0 }
    const drop = dropper(db, mustKeepBody(db, request.now), total)
    for (const ids of oldAnswers(db, request)) await drop(ids)
    return { ...total, ...roomOf(db) }
  })
}

/**
 * Gives empty space back to the disk. That writes the whole file again, needs the space of a copy, and blocks every other
 * writer: not to be done while another process collects.
 */
export async function shrink(path: string): Promise<Room> {
  return await changing(path, (db) => {
    db.exec('VACUUM')
    // The file itself shrinks when the write-ahead log is written back.
    db.pragma('wal_checkpoint(TRUNCATE)')
    return roomOf(db)
  })
}

/** Opens a database to change what retention may. */
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

const nextAnswers = prepared(($: Values<{ after: number; before: number }>) =>
  orm
    .select({ id: answers.id })
    .from(answers)
    .where(
      sql`${answers.id} > ${$.after} AND ${answers.fetchedAt} < ${$.before}
        AND EXISTS (SELECT 1 FROM ${rawAnswers} WHERE ${rawAnswers.answerId} = ${answers.id})`,
    )
    .orderBy(answers.id)
    .limit(portion),
)

/** Ids of the old answers that have a body. */
function oldAnswers(db: Database.Database, { before }: PruneRequest): Generator<readonly number[]> {
  return portions((after) => nextAnswers.all(db, { after, before }))
}

/** Ids in ascending order, a portion at a time: each is read after the one before it was dealt with. */
export function* portions(
  read: (after: number) => readonly { readonly id: number }[],
): Generator<readonly number[]> {
  for (let after = 0; ; ) {
    const ids = read(after).map(({ id }) => id)
    const last = ids.at(-1)
    if (last === undefined) return
    yield ids
    after = last
  }
}

/** Whether a body may be dropped, counted either way. */
function note(total: PrunedTotal, judge: MustKeep, id: number): boolean {
  const judged = judge(id)
  if (judged === undefined || judged.bytes === null) return false
  if (judged.mustKeep === 1) {
    total.kept += 1
    return false
  }
  total.bodies += 1
  total.bytes += judged.bytes
  return true
}

export const dropBody = prepared(($: Values<{ id: number }>) =>
  orm.delete(rawAnswers).where(eq(rawAnswers.answerId, $.id)),
)

/** Drops what may be dropped of these bodies, in as many changes as that takes. */
function dropper(db: Database.Database, judging: () => MustKeep, total: PrunedTotal) {
  // Decided inside the change: a task may take an answer at any time.
  return inSteps<number>(db, () => {
    const judge = judging()
    return (id) => {
      if (note(total, judge, id)) dropBody.run(db, { id })
    }
  })
}

/**
 * Does something for each of a list, in as many short changes as that takes, with pauses between them in which others write.
 *
 * @param begin called in each change, for what holds only there
 */
export function inSteps<T>(
  db: Database.Database,
  begin: () => (one: T) => void,
): (list: readonly T[]) => Promise<void> {
  /** Answers how many it processed. */
  const doSome = db.transaction((list: readonly T[], until: number): number => {
    const one = begin()
    for (const [index, each] of list.entries()) {
      one(each)
      if (performance.now() >= until) return index + 1
    }
    return list.length
  })
  return async (list) => {
    for (let done = 0; done < list.length; ) {
      const began = performance.now()
      done += doSome.immediate(list.slice(done), began + longestChangeMs)
      await sleep(Math.max(shortestPauseMs, performance.now() - began))
    }
  }
}

export function roomOf(db: Database.Database): Room {
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

/** `bytes` is null where the answer has no body. */
export type MustKeep = (
  answerId: number,
) => { readonly bytes: number | null; readonly mustKeep: 0 | 1 } | undefined

/** The newest runs of jobs with `freshness`, as pairs of run and the oldest instant of an answer that it may use. */
const freshRuns = prepared(($: Values<{ now: number }>) => {
  const freshness = sql`${runs.settings} ->> '$.freshnessMs'`
  return orm
    .select({ list: sql<string>`json_group_array(json_array(${runs.id}, ${$.now} - ${freshness}))` })
    .from(runs)
    .where(
      sql`${freshness} IS NOT NULL AND ${runs.id} IN (SELECT max(${runs.id}) FROM ${runs} GROUP BY ${runs.job})`,
    )
})

const runsUnderWay = prepared(() =>
  orm
    .select({ list: sql<string>`json_group_array(${runs.id})` })
    .from(runs)
    .where(and(isNull(runs.finishedAt), isNull(runs.closedAt))),
)

const judged = prepared(($: Values<{ id: number; underWay: string; fresh: string }>) => {
  const ofGroup = alias(runs, 'of_group')
  const unsettled = sql`${tasks.queryId} = ${answers.queryId} AND ${tasks.state} NOT IN ('done', 'skipped')`
  return orm
    .select({
      bytes: bodyBytes,
      mustKeep: sql<0 | 1>`EXISTS (SELECT 1 FROM ${tasks}
          WHERE ${tasks.answerId} = ${answers.id} AND ${tasks.state} = 'answered')
        OR EXISTS (SELECT 1 FROM ${runs} ${ofGroup} JOIN ${tasks} ON ${tasks.runId} = ${ofGroup.id}
          WHERE ${ofGroup.groupId} = ${runs.groupId} AND ${ofGroup.closedAt} IS NULL AND ${unsettled})
        OR EXISTS (SELECT 1 FROM json_each(${$.underWay}) u JOIN ${tasks} ON ${tasks.runId} = u.value WHERE ${unsettled})
        OR EXISTS (SELECT 1 FROM json_each(${$.fresh}) f
          JOIN ${runQueries} ON ${runQueries.runId} = f.value ->> 0 AND ${runQueries.queryId} = ${answers.queryId}
          WHERE ${answers.fetchedAt} >= f.value ->> 1)`,
    })
    .from(answers)
    .leftJoin(rawAnswers, eq(rawAnswers.answerId, answers.id))
    .leftJoin(runs, eq(runs.id, answers.runId))
    .where(eq(answers.id, $.id))
})

/**
 * Decides which bodies must stay: those that are not parsed yet, and those that a task may still take instead of a call: a task
 * with the same query in the same group or in a run under way, or one of the next run of a job with `freshness`. A decision
 * holds within its change.
 */
export function mustKeepBody(db: Database.Database, now: number): () => MustKeep {
  return () => {
    const listed = { underWay: runsUnderWay.one(db).list, fresh: freshRuns.one(db, { now }).list }
    return (id) => judged.get(db, { id, ...listed })
  }
}
