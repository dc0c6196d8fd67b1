import type { Database } from 'better-sqlite3'
import { and, between, eq, gt, inArray, lte, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core/alias'
import type { Target } from '../../../model/job.ts'
import type { QueryState, QueryUpdate } from '../../../rank/paging.ts'
import { orNull } from '../../compression.ts'
import type { ReadAnswer } from '../../journal.ts'
import { type StoreCache, storedTargets } from '../cache.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { drizzle, each, lazy, once } from '../connection/statements.ts'
import { markUnusable, type StoredBodyRow, storedBodies } from '../ledger/calls.ts'
import { rankTotals, recordUnknown, unobserved } from '../rankings/observations.ts'
import {
  answers,
  links,
  observations,
  queries,
  rawAnswers,
  runQueries as rq,
  runTargets as rt,
  runs,
  targets,
  tasks,
} from '../schema.ts'
import { queryStateReader, queryUpdateWriter } from './query-state.ts'
import { resultRemover, resultWriter } from './write-results.ts'

/** What the stored pages of a query come to. */
type ScoreQuery = (query: QueryState) => Pick<QueryUpdate, 'ranks' | 'observations'>

export interface DeriveFilter {
  /** Answers that were derived by this version are left alone; null takes all. */
  readonly unless: number | null
  /** Of this job only. */
  readonly job: string | null
}

/** A stored answer that says nothing, and why. */
export interface RejectedAnswer {
  readonly answerId: number
  readonly reason: string
}

type Derive = (
  queryId: number,
  answers: readonly (ReadAnswer | RejectedAnswer)[],
  scoreQuery: ScoreQuery,
) => {
  /** Queries of runs that were scored again. */
  readonly weighed: number
  /** Observations that are another state or rank than before. */
  readonly changed: number
  /** Tasks that had failed and are done now. */
  readonly repaired: number
  /** Tasks that were done and have failed now. */
  readonly failed: number
}

/** Derives the results of a query again, with the ranks and observations of its runs. Inside a transaction. */
function deriver(db: Database, memory: StoreCache): Derive {
  const { keep: keepResults } = resultWriter(db, memory)
  const dropResults = resultRemover(db, memory)
  const totals = rankTotals(db)
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
      totals.drop(runId)
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
export function historyStore(db: Database, writer: GroupCommit, memory: StoreCache) {
  const deriveAgain = lazy(() => deriver(db, memory))
  const backfillTargets = lazy(() => backfiller(db, memory))
  const states = once(() => queryStateReader(db, memory))
  const unpack = storedBodies.reader()
  const orm = drizzle(db)
  return {
    /** Runs of a job that asked for something, query after query, each in the order of its runs. */
    askedQueries: (job: string) =>
      each(
        db,
        sql<{
          readonly runId: number
          /** Epoch milliseconds. */
          readonly startedAt: number
          readonly queryId: number
          readonly operation: string
          readonly text: string
        }>`SELECT ${rq.runId} AS "runId", ${runs.startedAt} AS "startedAt", ${rq.queryId} AS "queryId",
          ${queries.operation} AS operation, ${queries.text} AS text
        FROM ${rq} JOIN ${runs} ON ${runs.id} = ${rq.runId} JOIN ${queries} ON ${queries.id} = ${rq.queryId}
        WHERE ${runs.job} = ${job} AND ${queries.sameAs} IS NULL ORDER BY ${rq.queryId}, ${rq.runId}`,
      ),
    /** A query of a run with its pages as they are stored. */
    storedQuery: (runId: number, queryId: number): QueryState => states().one(runId, queryId).query,
    /** Runs of a job that do not watch all of these targets, or those that single queries of its newest run have. */
    runsToBackfill: (job: string, targets: readonly Target[], newest: number | null): readonly number[] =>
      runsToBackfill(db, job, targets, newest),
    /**
     * Watches targets in a run that is over, also those that single queries of a newer run have, and stores what its pages
     * say of them: for some of its queries, in one short change. It is to be asked for again until none follows; until
     * then the run is one of those that are still to adopt them.
     */
    backfill: (...step: Parameters<ReturnType<typeof backfiller>>) =>
      writer.write(() => backfillTargets(...step)),
    /** Gives each stored link the page that it leads to by the rules of this version. */
    mendLinks: async (): Promise<void> => {
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
    /** The next queries after one (0 for the first) with stored bodies whose results an older normaliser derived, or any. */
    queriesToDerive: (which: DeriveFilter, after: number, limit: number) =>
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
    /** Runs whose tasks have this answer. */
    runsOfAnswer: (answerId: number): readonly number[] =>
      orm
        .selectDistinct({ runId: tasks.runId })
        .from(tasks)
        .where(eq(tasks.answerId, answerId))
        .all()
        .map(({ runId }) => runId),
    /** Stored bodies of the answers to a query, in the order of the runs. */
    *bodiesOf(
      query: number,
      which: DeriveFilter,
    ): Iterable<{
      readonly answerId: number
      readonly page: number
      readonly fetchedAt: number
      /** Null where it was damaged since it was stored. */
      readonly body: Buffer | null
    }> {
      const bodies = each(
        db,
        sql<StoredBodyRow & { page: number; fetchedAt: number }>`SELECT ${answers.page} AS page,
          ${answers.fetchedAt} AS "fetchedAt", ${sql.raw(storedBodies.columns)}
        FROM ${answers} JOIN ${rawAnswers} ON ${rawAnswers.answerId} = ${answers.id}
        WHERE ${answers.queryId} = ${query} AND ${isToDerive(which)} ORDER BY ${answers.id}`,
      )
      for (const { page, fetchedAt, ...stored } of bodies)
        yield { answerId: stored.answerId, page, fetchedAt, body: orNull(() => unpack(stored)) }
    },
    /**
     * Stores what its answers say in place of what was derived before, and what follows for each run that asked for the
     * query, in one change: tasks that had failed because their answer could not be parsed are done, and tasks that were done with
     * what is no answer have failed.
     */
    rederive: (queryId: number, answers: readonly (ReadAnswer | RejectedAnswer)[], scoreQuery: ScoreQuery) =>
      writer.write(() => deriveAgain(queryId, answers, scoreQuery)),
  }
}

const [n, w] = [alias(rq, 'n'), alias(rt, 'w')]

/** Runs of a job that do not watch these targets, or not for the queries that have them now. */
function runsToBackfill(
  db: Database,
  job: string,
  named: readonly Target[],
  newest: number | null,
): readonly number[] {
  const orm = drizzle(db)
  const ofQueries = (run: number) =>
    orm
      .select({ id: rt.targetId })
      .from(rt)
      .where(and(eq(rt.runId, run), eq(rt.everywhere, 0)))
      .limit(1)
      .get()
  // Most jobs have no targets of single queries: this saves reading a million queries.
  const withTargets = newest !== null && ofQueries(newest) !== undefined ? newest : null
  const watched = sql`SELECT 1 FROM ${rt} JOIN ${targets} ON ${targets.id} = ${rt.targetId}
    WHERE ${rt.runId} = ${runs.id} AND ${rt.everywhere} = 1 AND ${targets.site} = wanted.value ->> 'site'
      AND ${targets.match} = wanted.value ->> 'match' AND ${targets.also} = wanted.value ->> 'also'`
  // Targets of single queries of the newest run for which the same queries of this run are not watched.
  const fewer = sql`EXISTS (SELECT value FROM json_each(${n.targets}) EXCEPT SELECT value FROM json_each(${rq.targets})
    EXCEPT SELECT ${rt.targetId} FROM ${rt} WHERE ${rt.runId} = ${rq.runId} AND ${rt.everywhere} = 1)`
  // Finished runs only: a run that continues buys pages for the targets that it was planned with.
  return orm
    .select({ id: runs.id })
    .from(runs)
    .where(
      sql`${runs.job} = ${job} AND ${runs.finishedAt} IS NOT NULL AND (
        EXISTS (SELECT 1 FROM json_each(${storedTargets.named(named)}) wanted WHERE NOT EXISTS (${watched}))
        OR EXISTS (SELECT 1 FROM ${rq} ${n} JOIN ${rq} ON ${rq.queryId} = ${n.queryId}
          WHERE ${n.runId} = ${withTargets} AND ${n.targets} <> '[]' AND ${rq.runId} = ${runs.id} AND ${fewer}))`,
    )
    .orderBy(runs.id)
    .all()
    .map(({ id }) => id)
}

/** Queries that get their new targets in one change, and queries that are read for it. Others may write between changes. */
const portion = 100
const lookedThrough = 10_000

/** Targets that a query of the run is not watched for yet. Targets of the whole run are watched already. */
const missing = ({
  run,
  ids,
  newest,
}: {
  readonly run: number
  readonly ids: readonly number[]
  readonly newest: number | null
}) => sql`SELECT value FROM json_each(${JSON.stringify(ids)})
  UNION SELECT value FROM json_each((SELECT ${n.targets} FROM ${rq} ${n}
    WHERE ${n.runId} = ${newest} AND ${n.queryId} = ${rq.queryId}))
  EXCEPT SELECT ${rt.targetId} FROM ${rt} WHERE ${rt.runId} = ${run} AND ${rt.everywhere} = 1
  EXCEPT SELECT value FROM json_each(${rq.targets})`

/** The last of the queries after one that are looked through together. */
function windowEnd(db: Database, run: number, after: number): number | null {
  const some = drizzle(db)
    .select({ queryId: rq.queryId })
    .from(rq)
    .where(and(eq(rq.runId, run), gt(rq.queryId, after)))
    .orderBy(rq.queryId)
    .limit(lookedThrough)
    .as('some')
  return (
    drizzle(db)
      .select({ end: sql<number | null>`max(${some.queryId})` })
      .from(some)
      .get()?.end ?? null
  )
}

/**
 * Adds targets to a finished run and looks for them in its stored answers: for some queries after the given one, in one
 * change. A target is in the list of each query that is done. It becomes a target of the whole run when all queries are done,
 * so after a crash the next process continues. Inside a transaction.
 */
function backfiller(
  db: Database,
  memory: StoreCache,
): (
  step: {
    readonly run: number
    /** Of the whole job. */
    readonly targets: readonly Target[]
    /** A run whose queries may have targets of their own. */
    readonly newest: number | null
    /** Queries up to this one are done; 0 at first. */
    readonly after: number
  },
  scoreQuery: ScoreQuery,
) => {
  /** Queries that were looked at again. */
  readonly looked: number
  /** The query after which to go on; null where the run is done. */
  readonly next: number | null
} {
  const states = queryStateReader(db, memory)
  const follow = queryUpdateWriter(db, memory)
  const totals = rankTotals(db)
  const orm = drizzle(db)
  return ({ run, targets: wanted, newest, after }, scoreQuery) => {
    const at = orm.select({ at: runs.finishedAt }).from(runs).where(eq(runs.id, run)).get()?.at ?? null
    // Another process has continued the run with a new plan.
    if (at === null) return { looked: 0, next: null }
    const idOf = storedTargets.ids(db)
    const ids = wanted.map((target) => {
      const id = idOf(target)
      orm
        .insert(rt)
        .values({ runId: run, targetId: id, label: target.label, own: target.own, everywhere: 0 })
        .onConflictDoNothing()
        .run()
      return id
    })
    const adopted = { run, ids, newest }
    orm
      .insert(rt)
      .select(
        sql`SELECT ${run}, ${w.targetId}, ${w.label}, ${w.own}, 0 FROM ${rt} ${w}
          WHERE ${w.runId} = ${newest} AND ${w.everywhere} = 0`,
      )
      .onConflictDoNothing()
      .run()
    const end = windowEnd(db, run, after)
    if (end === null) {
      orm
        .update(rt)
        .set({ everywhere: 1 })
        .where(and(eq(rt.runId, run), inArray(rt.targetId, ids)))
        .run()
      return { looked: 0, next: null }
    }
    const lacks = sql`EXISTS (${missing(adopted)})`
    const queries = orm
      .select({ id: rq.queryId })
      .from(rq)
      .where(and(eq(rq.runId, run), gt(rq.queryId, after), lte(rq.queryId, end), lacks))
      .orderBy(rq.queryId)
      .limit(portion)
      .all()
      .map(({ id }) => id)
    const [from, to] = [queries[0], queries.at(-1)]
    if (from === undefined || to === undefined) return { looked: 0, next: end }
    orm
      .update(rq)
      .set({
        plannedTargets: sql`coalesce(${rq.plannedTargets}, ${rq.targets})`,
        targets: sql`(SELECT json_group_array(value) FROM (
          SELECT value FROM json_each(${rq.targets}) UNION SELECT * FROM (${missing(adopted)})))`,
      })
      .where(and(eq(rq.runId, run), between(rq.queryId, from, to), lacks))
      .run()
    totals.drop(run)
    const looked = unobserved(db, run, { from, to })
    for (const queryId of looked) {
      const read = states.one(run, queryId)
      follow([{ read, update: { ...scoreQuery(read.query), paging: null } }])
    }
    recordUnknown(db, run, at, { from, to })
    return { looked: looked.length, next: queries.length < portion ? end : to }
  }
}
