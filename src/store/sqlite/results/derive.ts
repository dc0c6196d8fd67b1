import type { Database } from 'better-sqlite3'
import { and, eq, gt, inArray, sql } from 'drizzle-orm'
import { orNull } from '../../compression.ts'
import type { AskedQuery, DeriveFilter, HistoryStore } from '../../results.ts'
import type { StoreCache } from '../cache.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { drizzle, each, lazy, once } from '../connection/statements.ts'
import { bodyReader, type StoredBodyRow, storedBody } from '../ledger/bodies.ts'
import { markUnusable } from '../ledger/calls.ts'
import { forgetCountsOf } from '../rankings/observations.ts'
import {
  answers,
  links,
  observations,
  queries,
  rawAnswers,
  runQueries as rq,
  runs,
  tasks,
} from '../schema.ts'
import { backfiller, runsToBackfill } from './backfill.ts'
import { queryStateReader, queryUpdateWriter } from './query-state.ts'
import { resultRemover, resultWriter } from './write-results.ts'

type Derive = HistoryStore['rederive'] extends (...args: infer A) => Promise<infer D>
  ? (...args: A) => D
  : never

/** Derives the results of a query again, with the ranks and observations of its runs. Inside a transaction. */
export function deriver(db: Database, memory: StoreCache): Derive {
  const { keep: keepResults } = resultWriter(db, memory)
  const dropResults = resultRemover(db, memory)
  const states = queryStateReader(db, memory)
  const follow = queryUpdateWriter(db, memory)
  const orm = drizzle(db)
  const [run, query, answer] = [sql.placeholder('run'), sql.placeholder('query'), sql.placeholder('answer')]
  const mend = orm
    .update(tasks)
    .set({ state: 'done', cause: null })
    .where(and(eq(tasks.answerId, answer), eq(tasks.state, 'failed')))
    .prepare()
  const failTasks = orm
    .update(tasks)
    .set({ state: 'failed', cause: sql`${sql.placeholder('cause')}` })
    .where(and(eq(tasks.answerId, answer), eq(tasks.state, 'done')))
    .prepare()
  // A finished run says whether all of its tasks are done.
  const setReason = orm
    .update(runs)
    .set({
      finishReason: sql`CASE WHEN EXISTS (SELECT 1 FROM ${tasks} WHERE ${tasks.runId} = ${run} AND ${tasks.state} = 'failed')
        THEN 'completed_with_failures' ELSE 'completed' END`,
    })
    .where(and(eq(runs.id, run), inArray(runs.finishReason, ['completed', 'completed_with_failures'])))
    .prepare()
  // Found by the answers: the tasks of a query are spread over those of all queries.
  const runsOf = orm
    .selectDistinct({ runId: tasks.runId })
    .from(answers)
    .innerJoin(tasks, and(eq(tasks.answerId, answers.id), inArray(tasks.state, ['done', 'failed'])))
    .where(eq(answers.queryId, query))
    .orderBy(tasks.runId)
    .prepare()
  const observed = orm
    .select({ targetId: observations.targetId, state: observations.state, rank: observations.rank })
    .from(observations)
    .where(and(eq(observations.runId, run), eq(observations.queryId, query)))
    .prepare()
  const stored = (runId: number, queryId: number) =>
    new Map(
      observed
        .all({ run: runId, query: queryId })
        .map(({ targetId, ...what }) => [targetId, JSON.stringify(what)]),
    )

  return (queryId, derived, scoreQuery) => {
    let [repaired, failed, changed] = [0, 0, 0]
    for (const answer of derived) {
      if ('reason' in answer) {
        dropResults(answer.answerId)
        markUnusable(db, answer.answerId)
        failed += failTasks.run({ answer: answer.answerId, cause: answer.reason }).changes
        continue
      }
      keepResults(answer, 'anew')
      repaired += mend.run({ answer: answer.answerId }).changes
    }
    const runs = runsOf.all({ query: queryId })
    for (const { runId } of runs) {
      const before = stored(runId, queryId)
      forgetCountsOf(db, runId)
      if (repaired + failed > 0) setReason.run({ run: runId })
      const read = states.one(runId, queryId)
      follow([{ read, update: { ...scoreQuery(read.query), paging: null } }])
      for (const [target, what] of stored(runId, queryId)) if (before.get(target) !== what) changed += 1
    }
    return { weighed: runs.length, changed, repaired, failed }
  }
}

/** Answers that still have their body. Answers that are not parsed yet are left to the next command that continues their run. */
const isToDerive = ({
  job,
  unless,
}: DeriveFilter) => sql`(${unless} IS NULL OR ${answers.normaliser} IS NOT ${unless})
  AND NOT EXISTS (SELECT 1 FROM ${tasks} WHERE ${tasks.answerId} = ${answers.id} AND ${tasks.state} = 'answered')
  AND (${job} IS NULL OR EXISTS (SELECT 1 FROM ${tasks} JOIN ${runs} ON ${runs.id} = ${tasks.runId}
    WHERE ${tasks.answerId} = ${answers.id} AND ${runs.job} = ${job}))
  AND EXISTS (SELECT 1 FROM ${rawAnswers} WHERE ${rawAnswers.answerId} = ${answers.id})`

/** Links that share a commit. */
const linksTogether = 5_000

/** Derives results and targets again from stored answers. */
export function historyStore(db: Database, writer: GroupCommit, memory: StoreCache): HistoryStore {
  const deriveAgain = lazy(() => deriver(db, memory))
  const backfillTargets = lazy(() => backfiller(db, memory))
  const states = once(() => queryStateReader(db, memory))
  const unpack = bodyReader()
  const orm = drizzle(db)
  return {
    askedQueries: (job) =>
      each(
        db,
        sql<AskedQuery>`SELECT ${rq.runId} AS "runId", ${runs.startedAt} AS "startedAt", ${rq.queryId} AS "queryId",
          ${queries.operation} AS operation, ${queries.text} AS text
        FROM ${rq} JOIN ${runs} ON ${runs.id} = ${rq.runId} JOIN ${queries} ON ${queries.id} = ${rq.queryId}
        WHERE ${runs.job} = ${job} AND ${queries.sameAs} IS NULL ORDER BY ${rq.queryId}, ${rq.runId}`,
      ),
    storedQuery: (runId, queryId) => states().one(runId, queryId).query,
    runsToBackfill: (job, targets, newest) => runsToBackfill(db, job, targets, newest),
    backfill: (step, scoreQuery) => writer.write(() => backfillTargets(step, scoreQuery)),
    mendLinks: async () => {
      let after = 0
      for (;;) {
        // Other links lead to one page by every version.
        const some = orm
          .select({ id: links.id, link: links.link })
          .from(links)
          .where(and(gt(links.id, after), sql`instr(${links.link}, '?') > 0`))
          .orderBy(links.id)
          .limit(linksTogether)
          .all()
        const last = some.at(-1)
        if (last === undefined) return
        // To look a link up mends it.
        await writer.write(() => void memory.dictionary.links(some.map(({ link }) => link)))
        after = last.id
      }
    },
    queriesToDerive: (which, after, limit) =>
      orm
        .select({
          queryId: queries.id,
          operation: queries.operation,
          text: queries.text,
          params: sql<string>`${queries.params}`,
        })
        .from(queries)
        .where(
          and(
            gt(queries.id, after),
            sql`EXISTS (SELECT 1 FROM ${answers} WHERE ${answers.queryId} = ${queries.id} AND ${isToDerive(which)})`,
          ),
        )
        .orderBy(queries.id)
        .limit(limit)
        .all(),
    *bodiesOf(query, which) {
      const bodies = each(
        db,
        sql<StoredBodyRow & { page: number; fetchedAt: number }>`SELECT ${answers.page} AS page,
          ${answers.fetchedAt} AS "fetchedAt", ${sql.raw(storedBody)}
        FROM ${answers} JOIN ${rawAnswers} ON ${rawAnswers.answerId} = ${answers.id}
        WHERE ${answers.queryId} = ${query} AND ${isToDerive(which)} ORDER BY ${answers.id}`,
      )
      for (const { page, fetchedAt, ...stored } of bodies)
        yield { answerId: stored.answerId, page, fetchedAt, body: orNull(() => unpack(stored)) }
    },
    rederive: (queryId, answers, scoreQuery) => writer.write(() => deriveAgain(queryId, answers, scoreQuery)),
  }
}
