import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import { and, type Column, eq, gt, isNull, lt, type SQL, sql } from 'drizzle-orm'
import { alias, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { changing, inspect } from '../connection/database.ts'
import { drizzle, raw } from '../connection/statements.ts'
import { storedBodies } from '../ledger/calls.ts'
import { textIndex } from '../rankings/text-index.ts'
import {
  answers,
  datedDetails,
  hashed,
  imageDetails,
  itemHashes,
  items,
  linkHashes,
  links,
  observations,
  rawAnswers,
  runQueries,
  runs,
  tasks,
  texts,
} from '../schema.ts'

interface PruneRequest {
  /** Bodies of answers fetched before this instant are dropped. */
  readonly before: number
  readonly now: number
}

/** What was dropped, or would be: bodies with their bytes. Those that are kept stay because a task may still use them. */
const noBodies = () => ({ bodies: 0, bytes: 0, kept: 0 })

/** The same of answers that lose their results. Those that are kept have theirs because a run may still need them. */
const noResults = () => ({ answers: 0, results: 0, kept: 0 })

/** Answers that are read at once. */
const portion = 256
/** How long one change may hold other writers up. */
const longestChangeMs = 20
const shortestPauseMs = 50

/** What would be dropped; changes nothing. */
export async function countOld(path: string, { before, now }: PruneRequest) {
  return await inspect(path, (db) => {
    const total = noBodies()
    const judge = mustKeepBody(db, now)()
    for (const ids of oldAnswers(db, before, hasBody)) for (const id of ids) note(total, judge, id)
    return total
  })
}

/**
 * Drops the stored bodies of old answers, in short changes with pauses between them, so that a process which collects does not
 * wait for long. An interruption undoes nothing.
 */
export async function dropOld(path: string, { before, now }: PruneRequest) {
  return await changing(path, async (db) => {
    const total = noBodies()
    const drop = dropper(db, mustKeepBody(db, now), total)
    for (const ids of oldAnswers(db, before, hasBody)) await drop(ids)
    return { ...total, ...roomOf(db) }
  })
}

/**
 * Gives empty space back to the disk. That writes the whole file again, needs the space of a copy, and blocks every other
 * writer: not to be done while another process collects.
 */
export async function shrink(path: string): Promise<Room> {
  return await changing(path, (db) => {
    textIndex(db).merge()
    db.exec('VACUUM')
    // The file itself shrinks when the write-ahead log is written back.
    db.pragma('wal_checkpoint(TRUNCATE)')
    return roomOf(db)
  })
}

const hasBody = sql`EXISTS (SELECT 1 FROM ${rawAnswers} WHERE ${rawAnswers.answerId} = ${answers.id})`
/** An answer of which nothing was dropped, and that was understood. */
const hasResults = sql`${answers.prunedAt} IS NULL AND ${answers.normaliser} IS NOT NULL`

/** Ids of the answers before an instant that something is stored of. */
function oldAnswers(db: Database, before: number, stored: SQL): Generator<readonly number[]> {
  return portions((after) =>
    drizzle(db)
      .select({ id: answers.id })
      .from(answers)
      .where(and(gt(answers.id, after), lt(answers.fetchedAt, before), stored))
      .orderBy(answers.id)
      .limit(portion)
      .all(),
  )
}

/** Ids in ascending order, a portion at a time: each is read after the one before it was dealt with. */
function* portions(
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
function note(total: ReturnType<typeof noBodies>, judge: MustKeep, id: number): boolean {
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

const dropBody = raw`DELETE FROM ${rawAnswers} WHERE ${rawAnswers.answerId} = ?`

/** Drops what may be dropped of these bodies, in as many changes as that takes. */
function dropper(db: Database, judging: () => MustKeep, total: ReturnType<typeof noBodies>) {
  const drop = db.prepare(dropBody)
  // Decided inside the change: a task may take an answer at any time.
  return inSteps<number>(db, () => {
    const judge = judging()
    return (id) => {
      if (note(total, judge, id)) drop.run(id)
    }
  })
}

/**
 * Does something for each of a list, in as many short changes as that takes, with pauses between them in which others write.
 *
 * @param begin called in each change, for what holds only there
 */
function inSteps<T>(db: Database, begin: () => (one: T) => void): (list: readonly T[]) => Promise<void> {
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

/** The size of the file afterwards. */
export type Room = ReturnType<typeof roomOf>

function roomOf(db: Database) {
  const number = (name: string): number => Number(db.pragma(name, { simple: true }))
  const page = number('page_size')
  return {
    fileBytes: number('page_count') * page,
    /** Bytes that are empty and will be reused. */
    freeBytes: number('freelist_count') * page,
  }
}

/** `bytes` is null where the answer has no body. */
type MustKeep = (answerId: number) => { readonly bytes: number | null; readonly mustKeep: 0 | 1 } | undefined

/**
 * Decides which bodies must stay: those that are not parsed yet, and those that a task may still take instead of a call: a task
 * with the same query in the same group or in a run under way, or one of the next run of a job with `freshness`. A decision
 * holds within its change.
 */
function mustKeepBody(db: Database, now: number): () => MustKeep {
  const orm = drizzle(db)
  // The newest runs of jobs with `freshness`, as pairs of run and the oldest instant of an answer that it may use.
  const freshness = sql`${runs.settings} ->> '$.freshnessMs'`
  const freshRuns = orm
    .select({ list: sql<string>`json_group_array(json_array(${runs.id}, ${now} - ${freshness}))` })
    .from(runs)
    .where(
      sql`${freshness} IS NOT NULL AND ${runs.id} IN (SELECT max(${runs.id}) FROM ${runs} GROUP BY ${runs.job})`,
    )
    .prepare()
  const runsUnderWay = orm
    .select({ list: sql<string>`json_group_array(${runs.id})` })
    .from(runs)
    .where(and(isNull(runs.finishedAt), isNull(runs.closedAt)))
    .prepare()
  const ofGroup = alias(runs, 'of_group')
  const unsettled = sql`${tasks.queryId} = ${answers.queryId} AND ${tasks.state} NOT IN ('done', 'skipped')`
  const judged = orm
    .select({
      bytes: sql<number | null>`${sql.raw(storedBodies.bytes)}`,
      mustKeep: sql<0 | 1>`EXISTS (SELECT 1 FROM ${tasks}
          WHERE ${tasks.answerId} = ${answers.id} AND ${tasks.state} = 'answered')
        OR EXISTS (SELECT 1 FROM ${runs} ${ofGroup} JOIN ${tasks} ON ${tasks.runId} = ${ofGroup.id}
          WHERE ${ofGroup.groupId} = ${runs.groupId} AND ${ofGroup.closedAt} IS NULL AND ${unsettled})
        OR EXISTS (SELECT 1 FROM json_each(${sql.placeholder('underWay')}) u JOIN ${tasks} ON ${tasks.runId} = u.value
          WHERE ${unsettled})
        OR EXISTS (SELECT 1 FROM json_each(${sql.placeholder('fresh')}) f
          JOIN ${runQueries} ON ${runQueries.runId} = f.value ->> 0 AND ${runQueries.queryId} = ${answers.queryId}
          WHERE ${answers.fetchedAt} >= f.value ->> 1)`,
    })
    .from(answers)
    .leftJoin(rawAnswers, eq(rawAnswers.answerId, answers.id))
    .leftJoin(runs, eq(runs.id, answers.runId))
    .where(eq(answers.id, sql.placeholder('id')))
    .prepare()
  return () => {
    const listed = { underWay: runsUnderWay.get()?.list, fresh: freshRuns.get()?.list }
    return (id) => judged.get({ id, ...listed })
  }
}

/** What would be dropped; changes nothing. */
export async function countOldResults(path: string, { before, now }: PruneRequest) {
  return await inspect(path, (db) => {
    const total = noResults()
    const judge = judgingResults(db, now)()
    const resultsOf = resultCounter(db)
    for (const ids of oldAnswers(db, before, hasResults))
      for (const id of ids) {
        const isKept = judge(id)
        noteResults(total, isKept, isKept ? 0 : resultsOf(id))
      }
    return total
  })
}

/**
 * Drops the results of old answers with their bodies, from which they could be derived again. Ranks, runs and the ledger stay as
 * they are. In short changes with pauses between them; an interruption undoes nothing.
 */
export async function dropOldResults(path: string, { before, now }: PruneRequest) {
  return await changing(path, async (db) => {
    const total = noResults()
    const judging = judgingResults(db, now)
    const dropOne = resultDropper(db, now)
    const drop = inSteps<number>(db, () => {
      const judge = judging()
      return (id) => {
        const isKept = judge(id)
        noteResults(total, isKept, isKept ? 0 : dropOne(id))
      }
    })
    for (const ids of oldAnswers(db, before, hasResults)) await drop(ids)
    return { ...total, ...roomOf(db) }
  })
}

function noteResults(total: ReturnType<typeof noResults>, isKept: boolean, dropped: number): void {
  if (isKept) total.kept += 1
  else {
    total.answers += 1
    total.results += dropped
  }
}

function resultCounter(db: Database): (answer: number) => number {
  const count = db
    .prepare<[answer: number], number>(
      raw`SELECT coalesce(sum(json_array_length(of.value)), 0)
      FROM ${answers} a CROSS JOIN json_each(a.${answers.items}) of WHERE a.${answers.id} = ?`,
    )
    .pluck()
  return (answer) => count.get(answer) as number
}

/** Decides which answers keep their results; a decision holds within its change. */
function judgingResults(db: Database, now: number): () => (id: number) => boolean {
  const ofBodies = mustKeepBody(db, now)
  // A run that is not complete goes on from the results that it has.
  const ofOpenRun = db.prepare(
    raw`SELECT 1 FROM ${tasks} t JOIN ${runs} r ON r.${runs.id} = t.${tasks.runId}
      WHERE t.${tasks.answerId} = ? AND r.${runs.closedAt} IS NULL
        AND coalesce(r.${runs.finishReason}, '') NOT IN ('completed', 'completed_with_failures') LIMIT 1`,
  )
  return () => {
    const judge = ofBodies()
    return (id) => judge(id)?.mustKeep === 1 || ofOpenRun.get(id) !== undefined
  }
}

const forgotten = [
  answers.notice,
  answers.searchParameters,
  answers.knowledgeGraph,
  answers.aiMarkdown,
  answers.aiBlocks,
  answers.malformed,
  answers.items,
  answers.positions,
]

/** Drops the results of an answer, and answers how many they were. Inside a transaction. */
function resultDropper(db: Database, now: number): (answer: number) => number {
  const resultsOf = resultCounter(db)
  const drops = [
    ...[datedDetails, imageDetails].map((table) => raw`DELETE FROM ${table} WHERE ${table.answerId} = ?`),
    dropBody,
  ].map((text) => db.prepare(text))
  const forget = db.prepare(
    raw`UPDATE ${answers} SET ${forgotten.map(({ name }) => `${name} = NULL`).join(', ')}, ${answers.prunedAt} = ?
      WHERE ${answers.id} = ?`,
  )
  return (answer) => {
    const dropped = resultsOf(answer)
    for (const drop of drops) drop.run(answer)
    forget.run(now, answer)
    return dropped
  }
}

const dictionaries = { items, texts, links }
type Swepts = keyof typeof dictionaries

/** Where the dictionaries are used: all columns that name a text or a link. */
const uses: Readonly<Record<'texts' | 'links', readonly (readonly [SQLiteTable, readonly Column[]])[]>> = {
  texts: [
    [datedDetails, [datedDetails.dateId, datedDetails.channelId, datedDetails.durationId]],
    [imageDetails, [imageDetails.thumbnailId]],
    [
      answers,
      [
        answers.notice,
        answers.searchParameters,
        answers.knowledgeGraph,
        answers.aiMarkdown,
        answers.aiBlocks,
      ],
    ],
    [observations, [observations.titleId]],
  ],
  links: [
    [items, [items.linkId]],
    [imageDetails, [imageDetails.imageLinkId]],
    [observations, [observations.linkId]],
  ],
}

/** Where else they are used. */
const otherUses: Readonly<Record<Swepts, readonly string[]>> = {
  items: [
    raw`SELECT named.value FROM ${answers}, json_each(${answers.items}) of_kind, json_each(of_kind.value) named`,
  ],
  texts: [],
  links: [
    raw`SELECT place.value ->> 1 FROM ${observations}, json_each(${observations.places}) place
      WHERE ${observations.places} IS NOT NULL AND place.value ->> 1 IS NOT NULL`,
    // Links that are equal to a used one, under the number that they share.
    raw`SELECT ${links.sameAs} FROM ${links}
      WHERE ${links.sameAs} IS NOT NULL AND ${links.id} IN (SELECT id FROM temp.used_links)`,
  ],
}

/**
 * Drops what results said, texts and links that nothing names any more. What is in use is noted in a temporary table first, which
 * locks no one out; then the rest goes in short changes. Only for a process that holds the collector lock: one that collects remembers
 * the numbers.
 */
export async function sweep(path: string) {
  return await changing(path, async (db) => {
    // What is dropped of one names nothing of those after it.
    const said = await dropUnused(db, 'items')
    const texts = said + (await dropUnused(db, 'texts'))
    const links = await dropUnused(db, 'links')
    return { texts, links, ...roomOf(db) }
  })
}

function noteUses(db: Database, name: Swepts): void {
  db.exec(`CREATE TEMP TABLE used_${name} (id INTEGER PRIMARY KEY)`)
  const columns =
    name === 'items' ? [] : uses[name].flatMap(([table, all]) => all.map((one) => ({ table, one })))
  const named = columns.map(({ table, one }) => raw`SELECT ${one} FROM ${table} WHERE ${one} IS NOT NULL`)
  for (const use of [...named, ...otherUses[name]]) db.exec(`INSERT OR IGNORE INTO temp.used_${name} ${use}`)
}

/** With the hashes by which they are found. */
const drops: Readonly<Record<Swepts, readonly string[]>> = {
  items: [
    raw`DELETE FROM ${itemHashes} WHERE ${itemHashes.id} = @id
      AND ${itemHashes.hash} = (SELECT i.${items.hash} FROM ${items} i WHERE i.${items.id} = @id)`,
    raw`DELETE FROM ${items} WHERE ${items.id} = @id`,
  ],
  texts: [raw`DELETE FROM ${texts} WHERE ${texts.id} = @id`],
  links: [
    raw`DELETE FROM ${linkHashes} WHERE ${linkHashes.id} = @id
      AND ${linkHashes.hash} = (SELECT l.${links.hash} FROM ${links} l WHERE l.${links.id} = @id)`,
    raw`DELETE FROM ${links} WHERE ${links.id} = @id`,
  ],
}

async function dropUnused(db: Database, name: Swepts): Promise<number> {
  noteUses(db, name)
  const index = textIndex(db)
  const words = index.exists() ? [index.forget(name)] : []
  const statements = [...words, ...drops[name]].map((text) => db.prepare(text))
  const free = name === 'texts' ? null : db.prepare(numbersFree[name])
  const dropAll = inSteps<number>(db, () => (id) => {
    for (const statement of statements) statement.run({ id })
    free?.run()
  })
  const unused = db.prepare<[after: number], { readonly id: number }>(
    raw`SELECT ${dictionaries[name].id} FROM ${dictionaries[name]} WHERE ${dictionaries[name].id} > ?
      AND ${dictionaries[name].id} NOT IN (SELECT id FROM temp.used_${name}) ORDER BY ${dictionaries[name].id} LIMIT ${portion}`,
  )
  let dropped = 0
  for (const ids of portions((after) => unused.all(after))) {
    await dropAll(ids)
    dropped += ids.length
  }
  return dropped
}

/**
 * The numbers of the last rows are given again: then those rows are among the newest. In the change that drops them, for new rows after
 * one that was killed in between would be found by nobody.
 */
const numbersFree = {
  items: lowered('items', items),
  links: lowered('links', links),
}

function lowered(name: string, table: typeof items | typeof links): string {
  return raw`UPDATE ${hashed} SET ${hashed.upTo} = (SELECT coalesce(max(${table.id}), 0) FROM ${table})
    WHERE ${hashed.name} = '${name}' AND ${hashed.upTo} > (SELECT coalesce(max(${table.id}), 0) FROM ${table})`
}
