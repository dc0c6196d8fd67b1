import type { Database } from 'better-sqlite3'
import { and, eq, inArray, isNull, max, or, sql } from 'drizzle-orm'
import type { JobSettings } from '../../../model/job.ts'
import type { Run } from '../../../model/run.ts'
import type { NewRecheck, QueryToRecheck, RecheckStore } from '../../rechecks.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { insertFrom, orm, prepared, type Values } from '../connection/statements.ts'
import { loadRun } from '../runs.ts'
import { runQueries as rq, runs, runTargets, tasks } from '../schema.ts'
import { rechecks, restingQueries as resting } from './schema.ts'

/** Every query that the plan of a run asks has a first page. */
const asked = sql`${runs} JOIN ${rq} ON ${rq.runId} = ${runs.id} AND ${rq.planNumber} = ${runs.planNumber}
  JOIN ${tasks} ON ${tasks.runId} = ${rq.runId} AND ${tasks.queryId} = ${rq.queryId} AND ${tasks.page} = 1`

const queriesOf = prepared(
  ($: Values<{ run: number }>) => sql<Omit<QueryToRecheck, 'tags'> & { tags: string }>`
    SELECT ${rq.queryId} AS id, ${tasks.priority} AS priority, ${rq.volume} AS volume,
      ${tasks.credits} * ${rq.pages} AS credits, ${rq.tags} AS tags
    FROM ${asked} WHERE ${runs.id} = ${$.run} ORDER BY ${rq.queryId}`,
)

const pricesOf = prepared(
  ($: Values<{ run: number }>) => sql<{ queries: number; credits: number; tags: string }>`
    SELECT count(*) AS queries, ${tasks.credits} * ${rq.pages} AS credits, ${rq.tags} AS tags
    FROM ${asked} WHERE ${runs.id} = ${$.run} GROUP BY 2, 3`,
)

const ofRun = prepared(($: Values<{ run: number }>) =>
  orm
    .select({ id: rechecks.runId })
    .from(rechecks)
    .where(or(eq(rechecks.runId, $.run), eq(rechecks.ofRun, $.run)))
    .limit(1),
)

const againOf = prepared(($: Values<{ run: number }>) =>
  orm
    .select({ query: rq.queryId })
    .from(rechecks)
    .innerJoin(rq, eq(rq.runId, rechecks.runId))
    .where(eq(rechecks.ofRun, $.run)),
)

/** Queries of a run that another run looks at again. */
export function lookedAtAgain(db: Database, run: number): readonly number[] {
  return againOf.all(db, { run }).map(({ query }) => query)
}

const openOf = prepared(($: Values<{ jobs: string }>) =>
  orm
    .select({ id: runs.id })
    .from(rechecks)
    .innerJoin(runs, eq(runs.id, rechecks.runId))
    .where(
      and(
        inArray(runs.job, sql`(SELECT value FROM json_each(${$.jobs}))`),
        isNull(runs.closedAt),
        sql`coalesce(${runs.finishReason}, '') NOT IN ('completed', 'completed_with_failures')`,
      ),
    ),
)

const newestGroup = prepared(() => orm.select({ id: max(runs.groupId) }).from(runs))

const addRun = prepared(
  ($: Values<{ job: string; groupId: number; settings: JobSettings; date: string; now: number }>) =>
    orm.insert(runs).values({
      ...{ job: $.job, groupId: $.groupId, settings: $.settings, date: $.date, startedAt: $.now },
      ...{ planNumber: 1, plannedMin: 0, plannedMax: 0 },
    }),
)

type Copy = { run: number; of: number; queries: string }

const note = prepared(($: Values<Omit<Copy, 'queries'>>) =>
  orm.insert(rechecks).values({ runId: $.run, ofRun: $.of }),
)

const copyTargets = prepared(($: Values<Omit<Copy, 'queries'>>) => {
  const { targetId, label, own, everywhere } = runTargets
  return insertFrom(
    runTargets,
    { runId: sql`${$.run}`, targetId, label, own, everywhere },
    sql`FROM ${runTargets} WHERE ${runTargets.runId} = ${$.of}`,
  )
})

const isChosen = ($: Values<Copy>) => sql`IN (SELECT value FROM json_each(${$.queries}))`

const copyQueries = prepared(($: Values<Copy>) => {
  const { queryId, depth, pages, pageSize, volume, url, tags, labels, targets, plannedTargets } = rq
  return insertFrom(
    rq,
    {
      ...{ runId: sql`${$.run}`, queryId, depth, pages, pageSize, volume, url, tags, labels, targets },
      ...{ plannedTargets, planNumber: sql`1` },
    },
    sql`FROM ${rq} WHERE ${rq.runId} = ${$.of} AND ${queryId} ${isChosen($)}`,
  )
})

/** As a plan does: pages that are needed in any case at once, others when the page before them is parsed. */
const copyTasks = prepared(($: Values<Copy & { all: 0 | 1 }>) => {
  const { queryId, priority, credits } = tasks
  return insertFrom(
    tasks,
    {
      runId: sql`${$.run}`,
      queryId,
      page: sql`n.page`,
      state: 'pending',
      ready: sql`n.page = 1`,
      priority,
      credits,
    },
    sql`FROM ${tasks} JOIN ${rq} ON ${rq.runId} = ${$.run} AND ${rq.queryId} = ${queryId}
      JOIN (WITH RECURSIVE numbers(page) AS (SELECT 1 UNION ALL SELECT page + 1 FROM numbers
          WHERE page < (SELECT max(${rq.pages}) FROM ${rq} WHERE ${rq.runId} = ${$.run}))
        SELECT page FROM numbers) n
        ON n.page <= CASE WHEN ${$.all} AND ${rq.depth} IS NULL THEN ${rq.pages} ELSE 1 END
      WHERE ${tasks.runId} = ${$.of} AND ${tasks.page} = 1 AND ${queryId} ${isChosen($)}
      ORDER BY ${tasks.id}, n.page`,
  )
})

/** What the run asked beside them, and what rested while it ran. */
const restOthers = prepared(($: Values<Copy>) =>
  insertFrom(
    resting,
    { runId: sql`${$.run}`, queryId: sql`query_id`, lastRun: sql`last_run` },
    sql`FROM (
        SELECT ${rq.queryId} AS query_id, ${rq.runId} AS last_run FROM ${rq}
          JOIN ${runs} ON ${runs.id} = ${rq.runId} AND ${runs.planNumber} = ${rq.planNumber} WHERE ${rq.runId} = ${$.of}
        UNION ALL
        SELECT ${resting.queryId}, ${resting.lastRun} FROM ${resting} WHERE ${resting.runId} = ${$.of})
      WHERE query_id NOT ${isChosen($)}`,
  ),
)

const price = prepared(($: Values<{ run: number }>) => {
  const first = sql`FROM ${tasks} JOIN ${rq} ON ${rq.runId} = ${tasks.runId} AND ${rq.queryId} = ${tasks.queryId}
    WHERE ${tasks.runId} = ${$.run} AND ${tasks.page} = 1`
  return orm
    .update(runs)
    .set({
      plannedMin: sql`(SELECT coalesce(sum(${tasks.credits}), 0) ${first})`,
      plannedMax: sql`(SELECT coalesce(sum(${tasks.credits} * ${rq.pages}), 0) ${first})`,
    })
    .where(eq(runs.id, $.run))
})

function begin(db: Database, { of, settings, queries }: NewRecheck, groupId: number, now: number): number {
  const added = addRun.run(db, { job: of.job, groupId, settings, date: of.date, now })
  const copy = { run: Number(added.lastInsertRowid), of: of.id, queries: JSON.stringify(queries) }
  note.run(db, copy)
  copyTargets.run(db, copy)
  copyQueries.run(db, copy)
  copyTasks.run(db, { ...copy, all: settings.paging === 'all' ? 1 : 0 })
  restOthers.run(db, copy)
  price.run(db, copy)
  return copy.run
}

export function recheckStore(db: Database, writer: GroupCommit): RecheckStore {
  return {
    isRechecked: async (run) => ofRun.get(db, { run }) !== undefined,
    queriesToRecheck: async (run) =>
      queriesOf.all(db, { run }).map(({ tags, ...query }) => ({ ...query, tags: JSON.parse(tags) })),
    pricesOfRun: async (run) =>
      pricesOf.all(db, { run }).map(({ tags, ...priced }) => ({ ...priced, tags: JSON.parse(tags) })),
    beginRechecks: async (wanted, now) => {
      const ids = await writer.write(() => {
        const groupId = (newestGroup.one(db).id ?? 0) + 1
        return wanted.map((one) => begin(db, one, groupId, now))
      })
      return ids.map((id) => loadRun(db, id) as Run)
    },
    openRechecks: async (jobs) => openOf.all(db, { jobs: JSON.stringify(jobs) }).map(({ id }) => id),
  }
}
