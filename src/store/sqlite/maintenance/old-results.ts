import type Database from 'better-sqlite3'
import { eq, sql } from 'drizzle-orm'
import { inspect } from '../connection/inspect.ts'
import { orm, prepared, type Values } from '../connection/statements.ts'
import { answers, datedDetails, imageDetails, runs, tasks } from '../schema.ts'
import {
  changing,
  dropBody,
  inSteps,
  mustKeepBody,
  type PruneRequest,
  portion,
  portions,
  type Room,
  roomOf,
} from './prune.ts'

/** What was dropped of old answers, or would be. */
export interface PrunedResults {
  /** Answers that lost their results. */
  readonly answers: number
  readonly results: number
  /** Old answers that keep theirs, because a run may still need them. */
  readonly kept: number
}

type OldResultsTotal = { -readonly [K in keyof PrunedResults]: PrunedResults[K] }

/** What would be dropped; changes nothing. */
export async function countOldResults(path: string, request: PruneRequest): Promise<PrunedResults> {
  return await inspect(path, (db) => {
    const total = { answers: 0, results: 0, kept: 0 }
    const judge = judging(db, request.now)()
    for (const ids of oldAnswers(db, request.before))
      for (const id of ids) {
        const isKept = judge(id)
        note(total, isKept, isKept ? 0 : resultsOf.one(db, { id }).results)
      }
    return total
  })
}

/**
 * Drops the results of old answers with their bodies, from which they could be derived again. Ranks, runs and the ledger stay as
 * they are. In short changes with pauses between them; an interruption undoes nothing.
 */
export async function dropOldResults(path: string, request: PruneRequest): Promise<PrunedResults & Room> {
  return await changing(path, async (db) => {
    const total = { answers: 0, results: 0, kept: 0 }
    const drop = inSteps<number>(db, () => {
      const judge = judging(db, request.now)()
      return (id) => {
        const isKept = judge(id)
        note(total, isKept, isKept ? 0 : dropOne(db, id, request.now))
      }
    })
    for (const ids of oldAnswers(db, request.before)) await drop(ids)
    return { ...total, ...roomOf(db) }
  })
}

function note(total: OldResultsTotal, isKept: boolean, dropped: number): void {
  if (isKept) total.kept += 1
  else {
    total.answers += 1
    total.results += dropped
  }
}

const nextAnswers = prepared(($: Values<{ after: number; before: number }>) =>
  orm
    .select({ id: answers.id })
    .from(answers)
    .where(
      sql`${answers.id} > ${$.after} AND ${answers.fetchedAt} < ${$.before}
        AND ${answers.prunedAt} IS NULL AND ${answers.normaliser} IS NOT NULL`,
    )
    .orderBy(answers.id)
    .limit(portion),
)

/** Ids of old answers that still have their results. */
function oldAnswers(db: Database.Database, before: number): Generator<readonly number[]> {
  return portions((after) => nextAnswers.all(db, { after, before }))
}

const resultsOf = prepared(
  ($: Values<{ id: number }>) => sql<{
    results: number
  }>`SELECT coalesce(sum(json_array_length(of.value)), 0) AS results
    FROM ${answers} CROSS JOIN json_each(${answers.items}) of WHERE ${answers.id} = ${$.id}`,
)

/** A run that is not complete goes on from the results that it has. */
const ofOpenRun = prepared(($: Values<{ id: number }>) =>
  orm
    .select({ run: runs.id })
    .from(tasks)
    .innerJoin(runs, eq(runs.id, tasks.runId))
    .where(
      sql`${tasks.answerId} = ${$.id} AND ${runs.closedAt} IS NULL
        AND coalesce(${runs.finishReason}, '') NOT IN ('completed', 'completed_with_failures')`,
    )
    .limit(1),
)

/** Decides which answers keep their results; a decision holds within its change. */
function judging(db: Database.Database, now: number): () => (id: number) => boolean {
  const ofBodies = mustKeepBody(db, now)
  return () => {
    const judge = ofBodies()
    return (id) => judge(id)?.mustKeep === 1 || ofOpenRun.get(db, { id }) !== undefined
  }
}

const details = [datedDetails, imageDetails].map((table) =>
  prepared(($: Values<{ id: number }>) => orm.delete(table).where(eq(table.answerId, $.id))),
)
const forgetResults = prepared(($: Values<{ id: number; now: number }>) =>
  orm
    .update(answers)
    .set({
      notice: null,
      searchParameters: null,
      knowledgeGraph: null,
      aiMarkdown: null,
      aiBlocks: null,
      malformed: null,
      prunedAt: sql`${$.now}`,
      items: null,
      positions: null,
    })
    .where(eq(answers.id, $.id)),
)

/** Answers how many results it dropped. Inside a transaction. */
function dropOne(db: Database.Database, id: number, now: number): number {
  const dropped = resultsOf.one(db, { id }).results
  for (const statement of details) statement.run(db, { id })
  dropBody.run(db, { id })
  forgetResults.run(db, { id, now })
  return dropped
}
