import type { Database } from 'better-sqlite3'
import { and, between, eq, gt, inArray, lte, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core/alias'
import type { Target } from '../../../model/target.ts'
import type { BackfillResult, BackfillStep, ScoreQuery } from '../../results.ts'
import { namedTargets, type StoreCache, targetIds } from '../cache.ts'
import { drizzle } from '../connection/statements.ts'
import { forgetCountsOf, recordUnknown, unobserved } from '../rankings/observations.ts'
import { runQueries as rq, runTargets as rt, runs, targets } from '../schema.ts'
import { queryStateReader, queryUpdateWriter } from './query-state.ts'

const [n, w] = [alias(rq, 'n'), alias(rt, 'w')]

/** Runs of a job that do not watch these targets, or not for the queries that have them now. */
export function runsToBackfill(
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
        EXISTS (SELECT 1 FROM json_each(${namedTargets(named)}) wanted WHERE NOT EXISTS (${watched}))
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

/** What is asked of a run: it, targets of the whole job, and the run whose queries may have targets of their own. */
interface Adopted {
  readonly run: number
  readonly ids: readonly number[]
  readonly newest: number | null
}

/** Targets that a query of the run is not watched for yet. Targets of the whole run are watched already. */
const missing = ({ run, ids, newest }: Adopted) => sql`SELECT value FROM json_each(${JSON.stringify(ids)})
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
export function backfiller(
  db: Database,
  memory: StoreCache,
): (adoption: BackfillStep, scoreQuery: ScoreQuery) => BackfillResult {
  const states = queryStateReader(db, memory)
  const follow = queryUpdateWriter(db, memory)
  const orm = drizzle(db)
  return ({ run, targets: wanted, newest, after }, scoreQuery) => {
    const at = orm.select({ at: runs.finishedAt }).from(runs).where(eq(runs.id, run)).get()?.at ?? null
    // Another process has continued the run with a new plan.
    if (at === null) return { looked: 0, next: null }
    const idOf = targetIds(db)
    const ids = wanted.map((target) => {
      const id = idOf(target)
      orm
        .insert(rt)
        .values({ runId: run, targetId: id, label: target.label, own: target.own, everywhere: 0 })
        .onConflictDoNothing()
        .run()
      return id
    })
    memory.targets.forget()
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
    forgetCountsOf(db, run)
    const looked = unobserved(db, run, { from, to })
    for (const queryId of looked) {
      const read = states.one(run, queryId)
      follow([{ read, update: { ...scoreQuery(read.query), paging: null } }])
    }
    recordUnknown(db, run, at, { from, to })
    return { looked: looked.length, next: queries.length < portion ? end : to }
  }
}
