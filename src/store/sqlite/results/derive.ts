import type { Database } from 'better-sqlite3'
import { and, eq, gt, inArray, isNull, sql } from 'drizzle-orm'
import { orNull } from '../../compression.ts'
import type { DeriveFilter, HistoryStore } from '../../results.ts'
import type { StoreCache } from '../cache.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { lazy, once, orm, prepared, type Values } from '../connection/statements.ts'
import { bodyReader, storedBody } from '../ledger/bodies.ts'
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

const mend = prepared(($: Values<{ answer: number }>) =>
  orm
    .update(tasks)
    .set({ state: 'done', cause: null })
    .where(and(eq(tasks.answerId, $.answer), eq(tasks.state, 'failed'))),
)

const failTasks = prepared(($: Values<{ answer: number; cause: string }>) =>
  orm
    .update(tasks)
    .set({ state: 'failed', cause: sql`${$.cause}` })
    .where(and(eq(tasks.answerId, $.answer), eq(tasks.state, 'done'))),
)

/** A finished run says whether all of its tasks are done. */
const setReason = prepared(($: Values<{ run: number }>) =>
  orm
    .update(runs)
    .set({
      finishReason: sql`CASE WHEN EXISTS (SELECT 1 FROM ${tasks} WHERE ${tasks.runId} = ${$.run} AND ${tasks.state} = 'failed')
        THEN 'completed_with_failures' ELSE 'completed' END`,
    })
    .where(and(eq(runs.id, $.run), inArray(runs.finishReason, ['completed', 'completed_with_failures']))),
)

/** Found by the answers: the tasks of a query are spread over those of all queries. */
const runsOf = prepared(($: Values<{ query: number }>) =>
  orm
    .selectDistinct({ runId: tasks.runId })
    .from(answers)
    .innerJoin(tasks, and(eq(tasks.answerId, answers.id), inArray(tasks.state, ['done', 'failed'])))
    .where(eq(answers.queryId, $.query))
    .orderBy(tasks.runId),
)

const observed = prepared(($: Values<{ run: number; query: number }>) =>
  orm
    .select({ targetId: observations.targetId, state: observations.state, rank: observations.rank })
    .from(observations)
    .where(and(eq(observations.runId, $.run), eq(observations.queryId, $.query))),
)

/** Derives the results of a query again, with the ranks and observations of its runs. Inside a transaction. */
export function deriver(db: Database, memory: StoreCache): Derive {
  const { keep: keepResults } = resultWriter(db, memory)
  const dropResults = resultRemover(db, memory)
  const states = queryStateReader(db, memory)
  const follow = queryUpdateWriter(db, memory)
  const stored = (run: number, query: number) =>
    new Map(observed.all(db, { run, query }).map(({ targetId, ...what }) => [targetId, JSON.stringify(what)]))

  return (queryId, derived, scoreQuery) => {
    let [repaired, failed, changed] = [0, 0, 0]
    for (const answer of derived) {
      if ('reason' in answer) {
        dropResults(answer.answerId)
        markUnusable.run(db, { answer: answer.answerId })
        failed += failTasks.run(db, { answer: answer.answerId, cause: answer.reason }).changes
        continue
      }
      keepResults(answer, 'anew')
      repaired += mend.run(db, { answer: answer.answerId }).changes
    }
    const runs = runsOf.all(db, { query: queryId })
    for (const { runId } of runs) {
      const before = stored(runId, queryId)
      forgetCountsOf(db, runId)
      if (repaired + failed > 0) setReason.run(db, { run: runId })
      const read = states.one(runId, queryId)
      follow([{ read, update: { ...scoreQuery(read.query), paging: null } }])
      for (const [target, what] of stored(runId, queryId)) if (before.get(target) !== what) changed += 1
    }
    return { weighed: runs.length, changed, repaired, failed }
  }
}

const askedQueries = prepared(($: Values<{ job: string }>) =>
  orm
    .select({
      runId: rq.runId,
      startedAt: runs.startedAt,
      queryId: rq.queryId,
      operation: queries.operation,
      text: queries.text,
    })
    .from(rq)
    .innerJoin(runs, eq(runs.id, rq.runId))
    .innerJoin(queries, eq(queries.id, rq.queryId))
    .where(and(eq(runs.job, $.job), isNull(queries.sameAs)))
    .orderBy(rq.queryId, rq.runId),
)

/** Answers that still have their body. Answers that are not parsed yet are left to the next command that continues their run. */
const isToDerive = (
  $: Values<DeriveFilter>,
) => sql`(${$.unless} IS NULL OR ${answers.normaliser} IS NOT ${$.unless})
  AND NOT EXISTS (SELECT 1 FROM ${tasks} WHERE ${tasks.answerId} = ${answers.id} AND ${tasks.state} = 'answered')
  AND (${$.job} IS NULL OR EXISTS (SELECT 1 FROM ${tasks} JOIN ${runs} ON ${runs.id} = ${tasks.runId}
    WHERE ${tasks.answerId} = ${answers.id} AND ${runs.job} = ${$.job}))
  AND EXISTS (SELECT 1 FROM ${rawAnswers} WHERE ${rawAnswers.answerId} = ${answers.id})`

const queriesToDerive = prepared(($: Values<DeriveFilter & { after: number; limit: number }>) =>
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
        gt(queries.id, $.after),
        sql`EXISTS (SELECT 1 FROM ${answers} WHERE ${answers.queryId} = ${queries.id} AND ${isToDerive($)})`,
      ),
    )
    .orderBy(queries.id)
    .limit($.limit),
)

const bodiesOf = prepared(($: Values<DeriveFilter & { query: number }>) =>
  orm
    .select({
      page: answers.page,
      fetchedAt: answers.fetchedAt,
      ...storedBody,
    })
    .from(answers)
    .innerJoin(rawAnswers, eq(rawAnswers.answerId, answers.id))
    .where(and(eq(answers.queryId, $.query), isToDerive($)))
    .orderBy(answers.id),
)

/** Other links lead to one page by every version. */
const linksWithQuery = prepared(($: Values<{ after: number; limit: number }>) =>
  orm
    .select({ id: links.id, link: links.link })
    .from(links)
    .where(and(gt(links.id, $.after), sql`instr(${links.link}, '?') > 0`))
    .orderBy(links.id)
    .limit($.limit),
)

/** Links that share a commit. */
const linksTogether = 5_000

/** Derives results and targets again from stored answers. */
export function historyStore(db: Database, writer: GroupCommit, memory: StoreCache): HistoryStore {
  const deriveAgain = lazy(() => deriver(db, memory))
  const backfillTargets = lazy(() => backfiller(db, memory))
  const states = once(() => queryStateReader(db, memory))
  const unpack = bodyReader()
  return {
    *askedQueries(job) {
      yield* askedQueries.each(db, { job })
    },
    storedQuery: (runId, queryId) => states().one(runId, queryId).query,
    runsToBackfill: (job, targets, newest) => runsToBackfill(db, job, targets, newest),
    backfill: (step, scoreQuery) => writer.write(() => backfillTargets(step, scoreQuery)),
    mendLinks: async () => {
      let after = 0
      for (;;) {
        const some = linksWithQuery.all(db, { after, limit: linksTogether })
        const last = some.at(-1)
        if (last === undefined) return
        // To look a link up mends it.
        await writer.write(() => void memory.dictionary.links(some.map(({ link }) => link)))
        after = last.id
      }
    },
    queriesToDerive: (which, after, limit) => queriesToDerive.all(db, { ...which, after, limit }),
    *bodiesOf(query, which) {
      for (const { page, fetchedAt, ...stored } of bodiesOf.each(db, { ...which, query }))
        yield { answerId: stored.answerId, page, fetchedAt, body: orNull(() => unpack(stored)) }
    },
    rederive: (queryId, answers, scoreQuery) => writer.write(() => deriveAgain(queryId, answers, scoreQuery)),
  }
}
