import type { Database } from 'better-sqlite3'
import {
  and,
  type Column,
  desc,
  eq,
  isNotNull,
  lte,
  min,
  or,
  type Placeholder,
  type SQL,
  sql,
} from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core/alias'
import type { Task } from '../../../model/run.ts'
import type { LeaseRequest } from '../../journal.ts'
import { orm, prepared, raw, updateOrFail, type Values } from '../connection/statements.ts'
import { freshValues, understood } from '../fragments.ts'
import { answers, queries, runQueries, runs, tasks } from '../schema.ts'

const [a, own] = [alias(answers, 'a'), alias(runs, 'own')]

export const taskColumns = {
  id: tasks.id,
  runId: tasks.runId,
  queryId: tasks.queryId,
  page: tasks.page,
  credits: tasks.credits,
  tries: tasks.tries,
  round: tasks.round,
  priority: tasks.priority,
  cause: tasks.cause,
  operation: queries.operation,
  text: queries.text,
  params: queries.params,
}

const isReady = and(eq(tasks.state, 'pending'), eq(tasks.ready, 1))
/** Runs or operations that are given as a JSON list. */
export const isIn = (column: Column, list: Placeholder) =>
  sql`${column} IN (SELECT value FROM json_each(${list}))`
const sameGroup = (run: Placeholder) =>
  sql`${runs.groupId} = (SELECT ${own.groupId} FROM ${runs} ${own} WHERE ${own.id} = ${run})`

/** The newest answer to a call that a run of the same group has. */
export const inGroup = prepared(($: Values<{ runId: number; queryId: number; page: number }>) =>
  orm
    .select({ id: a.id })
    .from(a)
    .innerJoin(runs, eq(runs.id, a.runId))
    .where(and(eq(a.queryId, $.queryId), eq(a.page, $.page), sql.raw(understood), sameGroup($.runId)))
    .orderBy(desc(a.fetchedAt))
    .limit(1),
)

/** A task of a run that may be sent. */
export const pending = prepared(($: Values<{ run: number }>) =>
  orm
    .select({ id: tasks.id })
    .from(tasks)
    .where(and(eq(tasks.runId, $.run), isReady))
    .limit(1),
)

export const runQueryOfTask = and(eq(runQueries.runId, tasks.runId), eq(runQueries.queryId, tasks.queryId))

const cheapestTagged = prepared(($: Values<{ runs: string; operations: string; tag: string }>) =>
  orm
    .select({ credits: min(tasks.credits) })
    .from(tasks)
    .innerJoin(queries, eq(queries.id, tasks.queryId))
    .innerJoin(runQueries, runQueryOfTask)
    .where(
      and(
        ...[isIn(tasks.runId, $.runs), isReady, isIn(queries.operation, $.operations)],
        sql`${$.tag} IN (SELECT value FROM json_each(${runQueries.tags}))`,
      ),
    ),
)

const cheapest = prepared(($: Values<{ runs: string; operations: string }>) =>
  orm
    .select({ credits: min(tasks.credits) })
    .from(tasks)
    .innerJoin(queries, eq(queries.id, tasks.queryId))
    .where(and(isIn(tasks.runId, $.runs), isReady, isIn(queries.operation, $.operations))),
)

type Wanted = { run: number; credits: number; operations: string; limit: number }

const nextTasks = ($: Values<Wanted>, reusable: SQL<number | null>) =>
  orm
    .select({ ...taskColumns, reusable })
    .from(tasks)
    .innerJoin(queries, eq(queries.id, tasks.queryId))
    .where(
      and(
        ...[eq(tasks.runId, $.run), isReady, isIn(queries.operation, $.operations)],
        or(lte(tasks.credits, $.credits), isNotNull(reusable)),
      ),
    )
    .orderBy(tasks.round, desc(tasks.priority), tasks.id)
    .limit($.limit)

/** The same without the tasks that the limit of a tag does not cover: they would hide those behind them. */
const nextTagged = ($: Values<Wanted & { tags: string }>, reusable: SQL<number | null>) =>
  orm
    .select({ ...taskColumns, reusable, tags: runQueries.tags })
    .from(tasks)
    .innerJoin(queries, eq(queries.id, tasks.queryId))
    .innerJoin(runQueries, runQueryOfTask)
    .where(
      and(
        ...[eq(tasks.runId, $.run), isReady, isIn(queries.operation, $.operations)],
        or(
          and(
            lte(tasks.credits, $.credits),
            sql`NOT EXISTS (SELECT 1 FROM json_each(${runQueries.tags}) tag JOIN json_each(${$.tags}) l
              ON l.value ->> 0 = tag.value AND l.value ->> 1 < ${tasks.credits})`,
          ),
          isNotNull(reusable),
        ),
      ),
    )
    .orderBy(tasks.round, desc(tasks.priority), tasks.id)
    .limit($.limit)

const nothingReusable = sql<null>`NULL`
const newestAnswer = ($: Values<{ run: number; freshFrom: number; freshUntil: number; shared: 0 | 1 }>) =>
  sql<number | null>`(SELECT ${a.id} FROM ${answers} ${a} JOIN ${runs} ON ${runs.id} = ${a.runId}
      WHERE ${a.queryId} = ${tasks.queryId} AND ${a.page} = ${tasks.page} AND ${sql.raw(understood)}
        AND (${a.fetchedAt} >= ${$.freshFrom} AND ${a.fetchedAt} < ${$.freshUntil} AND ${a.echoMismatch} IS NULL OR (${$.shared} AND ${sameGroup($.run)}))
      ORDER BY ${a.fetchedAt} DESC LIMIT 1)`

type WantedAlso = Wanted & { freshFrom: number; freshUntil: number; shared: 0 | 1 }

const nextBought = prepared(($: Values<Wanted>) => nextTasks($, nothingReusable))
const nextReusable = prepared(($: Values<WantedAlso>) => nextTasks($, newestAnswer($)))
const nextBoughtTagged = prepared(($: Values<Wanted & { tags: string }>) => nextTagged($, nothingReusable))
const nextReusableTagged = prepared(($: Values<WantedAlso & { tags: string }>) =>
  nextTagged($, newestAnswer($)),
)

/** Credits of the cheapest task that may be sent; with a tag, only of queries that have it. */
export function cheapestPending(
  db: Database,
  runIds: readonly number[],
  operations: readonly string[],
  tag?: string,
): number | null {
  const asked = { runs: JSON.stringify(runIds), operations: JSON.stringify(operations) }
  return (tag === undefined ? cheapest.one(db, asked) : cheapestTagged.one(db, { ...asked, tag })).credits
}

/** Lets through what comes first and is covered, over several runs, cheaper tasks where a dearer one is not covered. */
export function leaser(db: Database): (request: LeaseRequest) => readonly Task[] {
  const lease = db.prepare(
    raw`${updateOrFail} ${tasks} SET ${tasks.state} = 'leased' WHERE ${tasks.id} IN (SELECT value FROM json_each(?))`,
  )

  return ({ operations, runs, limits = [], limit, calls, credits, shared, rooms = new Map() }) => {
    const own = new Map(runs.map((run) => [run.runId, { left: run.budget, keep: run.keep }]))
    const pools = limits.map((pool) => ({ ...pool, runIds: new Set(pool.runIds) }))
    const rows = runs.flatMap(({ runId: run, budget, keep, fresh }): readonly LeasedRow[] => {
      const covered = calls > 0 ? Math.min(credits - keep, budget) : 0
      const request = { run, credits: covered, limit, operations: JSON.stringify(operations) }
      const tags = pools.flatMap(({ tag, runIds, left }) =>
        tag !== null && runIds.has(run) ? [[tag, left]] : [],
      )
      const tagged = { ...request, tags: JSON.stringify(tags) }
      if (fresh === null && !shared)
        return tags.length === 0 ? nextBought.all(db, request) : nextBoughtTagged.all(db, tagged)
      const reuse = { ...freshValues(fresh), shared: shared ? 1 : 0 } as const
      return tags.length === 0
        ? nextReusable.all(db, { ...request, ...reuse })
        : nextReusableTagged.all(db, { ...tagged, ...reuse })
    })
    const ordered =
      runs.length > 1 ? [...rows].sort((a, b) => a.round - b.round || b.priority - a.priority) : rows
    const taken: Task[] = []
    let left = credits
    let callsLeft = calls
    const roomLeft = new Map(rooms)
    for (const { round: _, ...row } of ordered) {
      if (taken.length >= limit) break
      const cost = row.reusable === null ? row.credits : 0
      const ofRun = own.get(row.runId) ?? { left: 0, keep: 0 }
      if (cost > 0 && (callsLeft === 0 || cost > ofRun.left || left - cost < ofRun.keep)) continue
      const binding = pools.filter(
        ({ runIds, tag }) => runIds.has(row.runId) && (tag === null || row.tags?.includes(tag) === true),
      )
      if (binding.some((pool) => cost > pool.left)) continue
      if (cost > 0) callsLeft -= 1
      left -= cost
      ofRun.left -= cost
      for (const pool of binding) pool.left -= cost
      const room = roomLeft.get(row.operation)
      if (cost > 0 && room === 0) continue
      if (cost > 0 && room !== undefined) roomLeft.set(row.operation, room - 1)
      taken.push(row)
    }
    if (taken.length > 0) lease.run(JSON.stringify(taken.map(({ id }) => id)))
    return taken
  }
}

type LeasedRow = Task & { readonly round: number }
