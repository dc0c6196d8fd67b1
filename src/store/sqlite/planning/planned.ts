import type { Database } from 'better-sqlite3'
import { and, asc, desc, eq, gt, lt, or, sql } from 'drizzle-orm'
import type { PlannedReads, PlannedRow } from '../../runs.ts'
import { drizzle, once } from '../connection/statements.ts'
import { queries, runQueries, runs, runTargets, targets, tasks } from '../schema.ts'
import { restingQueries } from '../unattended/schema.ts'

/** Every query has a task for its first page, in the order of the file. */
const columns = {
  taskId: tasks.id,
  queryId: tasks.queryId,
  priority: tasks.priority,
  credits: tasks.credits,
  key: queries.key,
  operation: queries.operation,
  text: queries.text,
  params: sql<string>`${queries.params}`,
  pages: runQueries.pages,
  pageSize: runQueries.pageSize,
  depth: runQueries.depth,
  volume: runQueries.volume,
  url: runQueries.url,
  tags: runQueries.tags,
  labels: runQueries.labels,
  ownTargets: runQueries.targets,
  settled: sql<number>`(SELECT count(*) FROM ${tasks} one WHERE one.run_id = ${tasks.runId} AND one.query_id = ${tasks.queryId}
    AND one.state IN ('done', 'failed', 'skipped'))`,
}

const ofNewestPlan = (db: Database) =>
  drizzle(db)
    .select(columns)
    .from(tasks)
    .innerJoin(queries, eq(queries.id, tasks.queryId))
    .innerJoin(runs, eq(runs.id, tasks.runId))
    .innerJoin(
      runQueries,
      and(
        eq(runQueries.runId, tasks.runId),
        eq(runQueries.queryId, tasks.queryId),
        eq(runQueries.planNumber, runs.planNumber),
      ),
    )
    .$dynamic()

type PlannedPageRow = ReturnType<ReturnType<typeof ofNewestPlan>['all']>[number]

const isOpen = sql`EXISTS (SELECT 1 FROM ${tasks} one WHERE one.run_id = ${tasks.runId} AND one.query_id = ${tasks.queryId}
  AND one.state IN ('pending', 'leased', 'sent', 'accepted'))`

/** What runs plan, read query by query. */
export function plannedReads(db: Database): PlannedReads {
  const ownTargets = once(() => targetsOf(db))
  const plannedRow = (run: number, row: PlannedPageRow): PlannedRow => {
    const { taskId, queryId, settled, ownTargets: ids, ...query } = row
    const targets = ids.length === 0 ? [] : ownTargets().all({ run, ids: JSON.stringify(ids) })
    return { taskId, queryId, settledPages: settled, query: { ...query, targets } }
  }
  return {
    plannedQueries: async (run, after, most) =>
      ofNewestPlan(db)
        .where(and(eq(tasks.runId, run), eq(tasks.page, 1), gt(tasks.id, after)))
        .orderBy(asc(tasks.id))
        .limit(most)
        .all()
        .map((row) => plannedRow(run, row)),
    openQueries: async (run, after, most) =>
      ofNewestPlan(db)
        .where(
          and(
            eq(tasks.runId, run),
            eq(tasks.page, 1),
            isOpen,
            after === null
              ? undefined
              : or(
                  lt(tasks.priority, after.query.priority),
                  and(eq(tasks.priority, after.query.priority), gt(tasks.id, after.taskId)),
                ),
          ),
        )
        .orderBy(desc(tasks.priority), asc(tasks.id))
        .limit(most)
        .all()
        .map((row) => plannedRow(run, row)),
    leftOutKeys: async (run) =>
      drizzle(db)
        .select({ key: queries.key })
        .from(restingQueries)
        .innerJoin(queries, eq(queries.id, restingQueries.queryId))
        .where(eq(restingQueries.runId, run))
        .orderBy(asc(queries.id))
        .all()
        .map(({ key }) => key),
  }
}

/** Targets of single queries of a run, by their numbers as JSON; asked for each query that has its own. */
const targetsOf = (db: Database) =>
  drizzle(db)
    .select({
      site: targets.site,
      match: targets.match,
      also: targets.also,
      label: runTargets.label,
      own: runTargets.own,
    })
    .from(runTargets)
    .innerJoin(targets, eq(targets.id, runTargets.targetId))
    .where(
      and(
        eq(runTargets.runId, sql.placeholder('run')),
        sql`${targets.id} IN (SELECT value FROM json_each(${sql.placeholder('ids')}))`,
      ),
    )
    .orderBy(asc(targets.id))
    .prepare()
