import type { Database } from 'better-sqlite3'
import type { Task } from '../../../model/run.ts'
import type { LeaseRequest } from '../../journal.ts'
import { named, once, raw, updateOrFail } from '../connection/statements.ts'
import { freshValues, isFresh, understood } from '../planning/staging.ts'
import { answers, queries, runQueries, runs, tasks } from '../schema.ts'

/** Of `tasks_ t` and `queries q`. */
export const taskColumns = `${named('t', {
  id: tasks.id,
  runId: tasks.runId,
  queryId: tasks.queryId,
  page: tasks.page,
  credits: tasks.credits,
  tries: tasks.tries,
  round: tasks.round,
  priority: tasks.priority,
  cause: tasks.cause,
})}, ${named('q', { operation: queries.operation, text: queries.text, params: queries.params })}`

/** A task as it is stored, with the tags of its query where they are read. */
export type TaskRow = Omit<Task, 'params' | 'tags'> & {
  readonly round: number
  readonly params: string
  readonly tags?: string
}

export function taskFromRow(row: Omit<TaskRow, 'reusable'>, reusable: Task['reusable']): Task {
  const { id, runId, queryId, page, credits, tries, priority, cause, operation, text, tags } = row
  const params = JSON.parse(row.params) as Task['params']
  // One literal: what is put together of parts takes several times as long.
  const task = {
    id,
    runId,
    queryId,
    page,
    credits,
    tries,
    priority,
    cause,
    operation,
    text,
    params,
    reusable,
  }
  return tags === undefined ? task : { ...task, tags: JSON.parse(tags) as readonly string[] }
}

const isReady = raw`t.${tasks.state} = 'pending' AND t.${tasks.ready} = 1`
/** Runs or operations that are given as a JSON list. */
const isIn = (column: string, list: string) => `${column} IN (SELECT value FROM json_each(${list}))`
const sameGroup = raw`r.${runs.groupId} = (SELECT own.${runs.groupId} FROM ${runs} own WHERE own.${runs.id} = @run)`

const withQuery = raw`JOIN ${queries} q ON q.${queries.id} = t.${tasks.queryId}`
const withTags = raw`JOIN ${runQueries} rq ON rq.${runQueries.runId} = t.${tasks.runId} AND rq.${runQueries.queryId} = t.${tasks.queryId}`

const isWanted = raw`t.${tasks.runId} = @run AND ${isReady} AND ${isIn(raw`q.${queries.operation}`, '@operations')}`
const inOrder = raw`ORDER BY t.${tasks.round}, t.${tasks.priority} DESC, t.${tasks.id} LIMIT @limit`

const nextTasks = (reusable: string): string =>
  raw`SELECT ${taskColumns}, ${reusable} AS reusable FROM ${tasks} t ${withQuery}
    WHERE ${isWanted} AND (t.${tasks.credits} <= @credits OR ${reusable} IS NOT NULL) ${inOrder}`

/** The same without the tasks that the limit of a tag does not cover: they would hide those behind them. */
const nextTagged = (reusable: string): string =>
  raw`SELECT ${taskColumns}, ${reusable} AS reusable, rq.${runQueries.tags} FROM ${tasks} t ${withQuery} ${withTags}
    WHERE ${isWanted} AND ((t.${tasks.credits} <= @credits
      AND NOT EXISTS (SELECT 1 FROM json_each(rq.${runQueries.tags}) tag JOIN json_each(@tags) l
        ON l.value ->> 0 = tag.value AND l.value ->> 1 < t.${tasks.credits})) OR ${reusable} IS NOT NULL) ${inOrder}`

const newestAnswer = raw`(SELECT a.${answers.id} FROM ${answers} a JOIN ${runs} r ON r.${runs.id} = a.${answers.runId}
  WHERE a.${answers.queryId} = t.${tasks.queryId} AND a.${answers.page} = t.${tasks.page} AND ${understood}
    AND (${isFresh()} AND a.${answers.echoMismatch} IS NULL OR (@shared AND ${sameGroup}))
  ORDER BY a.${answers.fetchedAt} DESC LIMIT 1)`

/** Looks for what tasks may be sent, and for stored answers that they may use. */
export function taskFinder(db: Database) {
  const cheapest = once(() =>
    db
      .prepare<unknown[], number | null>(
        raw`SELECT min(t.${tasks.credits}) FROM ${tasks} t ${withQuery}
        WHERE ${isIn(raw`t.${tasks.runId}`, '@runs')} AND ${isReady} AND ${isIn(raw`q.${queries.operation}`, '@operations')}`,
      )
      .pluck(),
  )
  const cheapestTagged = once(() =>
    db
      .prepare<unknown[], number | null>(
        raw`SELECT min(t.${tasks.credits}) FROM ${tasks} t ${withQuery} ${withTags}
        WHERE ${isIn(raw`t.${tasks.runId}`, '@runs')} AND ${isReady} AND ${isIn(raw`q.${queries.operation}`, '@operations')}
          AND @tag IN (SELECT value FROM json_each(rq.${runQueries.tags}))`,
      )
      .pluck(),
  )
  const pending = once(() =>
    db.prepare(raw`SELECT 1 FROM ${tasks} t WHERE t.${tasks.runId} = ? AND ${isReady} LIMIT 1`),
  )
  const inGroup = once(() =>
    db
      .prepare<unknown[], number>(
        raw`SELECT a.${answers.id} FROM ${answers} a JOIN ${runs} r ON r.${runs.id} = a.${answers.runId}
        WHERE a.${answers.queryId} = @query AND a.${answers.page} = @page AND ${understood} AND ${sameGroup}
        ORDER BY a.${answers.fetchedAt} DESC LIMIT 1`,
      )
      .pluck(),
  )
  return {
    /** Credits of the cheapest task that may be sent; with a tag, only of queries that have it. */
    cheapest: (runIds: readonly number[], operations: readonly string[], tag?: string): number | null => {
      const asked = { runs: JSON.stringify(runIds), operations: JSON.stringify(operations) }
      const found = tag === undefined ? cheapest().get(asked) : cheapestTagged().get({ ...asked, tag })
      return found ?? null
    },
    /** Whether a task of a run may be sent. */
    hasPending: (run: number): boolean => pending().get(run) !== undefined,
    /** The newest answer to a call that a run of the same group has. */
    inGroup: ({ runId, queryId, page }: Pick<Task, 'runId' | 'queryId' | 'page'>): number | null =>
      inGroup().get({ run: runId, query: queryId, page }) ?? null,
  }
}

/** Lets through what comes first and is covered, over several runs, cheaper tasks where a dearer one is not covered. */
export function leaser(db: Database): (request: LeaseRequest) => readonly Task[] {
  const prepared = (text: string) => once(() => db.prepare<unknown[], TaskRow>(text))
  const nextBought = prepared(nextTasks('NULL'))
  const nextReusable = prepared(nextTasks(newestAnswer))
  const nextBoughtTagged = prepared(nextTagged('NULL'))
  const nextReusableTagged = prepared(nextTagged(newestAnswer))
  const lease = db.prepare(
    raw`${updateOrFail} ${tasks} SET ${tasks.state} = 'leased' WHERE ${tasks.id} IN (SELECT value FROM json_each(?))`,
  )

  return ({ operations, runs, limits = [], limit, calls, credits, shared, rooms = new Map() }) => {
    const own = new Map(runs.map((run) => [run.runId, { left: run.budget, keep: run.keep }]))
    const pools = limits.map((pool) => ({ ...pool, runIds: new Set(pool.runIds) }))
    const rows = runs.flatMap(({ runId: run, budget, keep, fresh }): readonly TaskRow[] => {
      const covered = calls > 0 ? Math.min(credits - keep, budget) : 0
      const request = { run, credits: covered, limit, operations: JSON.stringify(operations) }
      const tags = pools.flatMap(({ tag, runIds, left }) =>
        tag !== null && runIds.has(run) ? [[tag, left]] : [],
      )
      const tagged = { ...request, tags: JSON.stringify(tags) }
      if (fresh === null && !shared)
        return tags.length === 0 ? nextBought().all(request) : nextBoughtTagged().all(tagged)
      const reuse = { ...freshValues(fresh), shared: shared ? 1 : 0 } as const
      return tags.length === 0
        ? nextReusable().all({ ...request, ...reuse })
        : nextReusableTagged().all({ ...tagged, ...reuse })
    })
    const ordered =
      runs.length > 1 ? [...rows].sort((a, b) => a.round - b.round || b.priority - a.priority) : rows
    const taken: Task[] = []
    let left = credits
    let callsLeft = calls
    const roomLeft = new Map(rooms)
    for (const stored of ordered) {
      if (taken.length >= limit) break
      const row = taskFromRow(stored, stored.reusable)
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
