import type { Database } from 'better-sqlite3'
import { and, between, eq, gt, lte, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core/alias'
import type { Target } from '../../../model/target.ts'
import type { BackfillResult, BackfillStep, ScoreQuery } from '../../results.ts'
import { namedTargets, type StoreCache, targetIdOf } from '../cache.ts'
import { orm, prepared, type Values } from '../connection/statements.ts'
import { forgetCountsOf, recordUnknown, unobserved } from '../rankings/observations.ts'
import { runQueries as rq, runTargets as rt, runs, targets } from '../schema.ts'
import { queryStateReader, queryUpdateWriter } from './query-state.ts'

const [n, w] = [alias(rq, 'n'), alias(rt, 'w')]

const oldRuns = prepared(($: Values<{ job: string; named: string; newest: number | null }>) => {
  const watched = sql`SELECT 1 FROM ${rt} JOIN ${targets} ON ${targets.id} = ${rt.targetId}
    WHERE ${rt.runId} = ${runs.id} AND ${rt.everywhere} = 1 AND ${targets.site} = wanted.value ->> 'site'
      AND ${targets.match} = wanted.value ->> 'match' AND ${targets.also} = wanted.value ->> 'also'`
  // Targets of single queries of the newest run for which the same queries of this run are not watched.
  const fewer = sql`EXISTS (SELECT value FROM json_each(${n.targets}) EXCEPT SELECT value FROM json_each(${rq.targets})
    EXCEPT SELECT ${rt.targetId} FROM ${rt} WHERE ${rt.runId} = ${rq.runId} AND ${rt.everywhere} = 1)`
  return (
    orm
      .select({ id: runs.id })
      .from(runs)
      // Finished runs only: a run that continues buys pages for the targets that it was planned with.
      .where(
        sql`${runs.job} = ${$.job} AND ${runs.finishedAt} IS NOT NULL AND (
          EXISTS (SELECT 1 FROM json_each(${$.named}) wanted WHERE NOT EXISTS (${watched}))
          OR EXISTS (SELECT 1 FROM ${rq} ${n} JOIN ${rq} ON ${rq.queryId} = ${n.queryId}
            WHERE ${n.runId} = ${$.newest} AND ${n.targets} <> '[]' AND ${rq.runId} = ${runs.id} AND ${fewer}))`,
      )
      .orderBy(runs.id)
  )
})

const queryTarget = prepared(($: Values<{ run: number }>) =>
  orm
    .select({ id: rt.targetId })
    .from(rt)
    .where(and(eq(rt.runId, $.run), eq(rt.everywhere, 0)))
    .limit(1),
)

/** Runs of a job that do not watch these targets, or not for the queries that have them now. */
export function runsToBackfill(
  db: Database,
  job: string,
  named: readonly Target[],
  newest: number | null,
): readonly number[] {
  // Most jobs have no targets of single queries: this saves reading a million queries.
  const anyOfQueries = newest !== null && queryTarget.get(db, { run: newest }) !== undefined
  return oldRuns
    .all(db, { job, named: namedTargets(named), newest: anyOfQueries ? newest : null })
    .map(({ id }) => id)
}

/** Queries that get their new targets in one change, and queries that are read for it. Others may write between changes. */
const portion = 100
const lookedThrough = 10_000

type Asked = { run: number; named: string; newest: number | null }

/** Targets that a query of the run is not watched for yet. Targets of the whole run are watched already. */
const missing = ($: Values<Asked>) => sql`SELECT value FROM json_each(${$.named})
  UNION SELECT value FROM json_each((SELECT ${n.targets} FROM ${rq} ${n}
    WHERE ${n.runId} = ${$.newest} AND ${n.queryId} = ${rq.queryId}))
  EXCEPT SELECT ${rt.targetId} FROM ${rt} WHERE ${rt.runId} = ${$.run} AND ${rt.everywhere} = 1
  EXCEPT SELECT value FROM json_each(${rq.targets})`

const endOf = prepared(($: Values<{ run: number }>) =>
  orm.select({ at: runs.finishedAt }).from(runs).where(eq(runs.id, $.run)),
)

const know = prepared(($: Values<{ run: number; target: number; label: string; own: boolean }>) =>
  orm
    .insert(rt)
    .values({ runId: $.run, targetId: $.target, label: $.label, own: $.own, everywhere: 0 })
    .onConflictDoNothing(),
)

const knowOfQueries = prepared(($: Values<{ run: number; newest: number | null }>) =>
  orm
    .insert(rt)
    .select(
      sql`SELECT ${$.run}, ${w.targetId}, ${w.label}, ${w.own}, 0 FROM ${rt} ${w}
        WHERE ${w.runId} = ${$.newest} AND ${w.everywhere} = 0`,
    )
    .onConflictDoNothing(),
)

const windowEnd = prepared(($: Values<{ run: number; after: number }>) => {
  const some = orm
    .select({ queryId: rq.queryId })
    .from(rq)
    .where(and(eq(rq.runId, $.run), gt(rq.queryId, $.after)))
    .orderBy(rq.queryId)
    .limit(lookedThrough)
    .as('some')
  return orm.select({ end: sql<number | null>`max(${some.queryId})` }).from(some)
})

const lacking = prepared(($: Values<Asked & { after: number; end: number }>) =>
  orm
    .select({ id: rq.queryId })
    .from(rq)
    .where(
      and(
        ...[eq(rq.runId, $.run), gt(rq.queryId, $.after), lte(rq.queryId, $.end)],
        sql`EXISTS (${missing($)})`,
      ),
    )
    .orderBy(rq.queryId)
    .limit(portion),
)

const watch = prepared(($: Values<Asked & { from: number; to: number }>) =>
  orm
    .update(rq)
    .set({
      plannedTargets: sql`coalesce(${rq.plannedTargets}, ${rq.targets})`,
      targets: sql`(SELECT json_group_array(value) FROM (
        SELECT value FROM json_each(${rq.targets}) UNION SELECT * FROM (${missing($)})))`,
    })
    .where(and(eq(rq.runId, $.run), between(rq.queryId, $.from, $.to), sql`EXISTS (${missing($)})`)),
)

const everywhere = prepared(($: Values<{ run: number; named: string }>) =>
  orm
    .update(rt)
    .set({ everywhere: 1 })
    .where(and(eq(rt.runId, $.run), sql`${rt.targetId} IN (SELECT value FROM json_each(${$.named}))`)),
)

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
  return ({ run, targets: wanted, newest, after }, scoreQuery) => {
    const at = endOf.get(db, { run })?.at ?? null
    // Another process has continued the run with a new plan.
    if (at === null) return { looked: 0, next: null }
    const ids = wanted.map((target) => {
      const id = targetIdOf(db, target)
      know.run(db, { run, target: id, label: target.label, own: target.own })
      return id
    })
    memory.targets.forget()
    const asked = { run, named: JSON.stringify(ids), newest }
    knowOfQueries.run(db, asked)
    const end = windowEnd.one(db, { run, after }).end
    if (end === null) {
      everywhere.run(db, asked)
      return { looked: 0, next: null }
    }
    const queries = lacking.all(db, { ...asked, after, end }).map(({ id }) => id)
    const [from, to] = [queries[0], queries.at(-1)]
    if (from === undefined || to === undefined) return { looked: 0, next: end }
    watch.run(db, { ...asked, from, to })
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
