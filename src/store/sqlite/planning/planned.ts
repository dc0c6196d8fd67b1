import type { Database } from 'better-sqlite3'
import { and, asc, desc, eq, gt, lt, or, sql } from 'drizzle-orm'
import type { Target } from '../../../model/target.ts'
import type { PlannedReads, PlannedRow } from '../../runs.ts'
import { orm, prepared, type Values } from '../connection/statements.ts'
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

const ofNewestPlan = () =>
  orm
    .select(columns)
    .from(tasks)
    .innerJoin(queries, eq(queries.id, tasks.queryId))
    .innerJoin(runs, eq(runs.id, tasks.runId))
    .innerJoin(
      runQueries,
      sql`${runQueries.runId} = ${tasks.runId} AND ${runQueries.queryId} = ${tasks.queryId}
        AND ${runQueries.planNumber} = ${runs.planNumber}`,
    )
    .$dynamic()

const plannedPage = prepared(($: Values<{ run: number; after: number; most: number }>) =>
  ofNewestPlan()
    .where(and(eq(tasks.runId, $.run), eq(tasks.page, 1), gt(tasks.id, $.after)))
    .orderBy(asc(tasks.id))
    .limit($.most),
)

const isOpen = sql`EXISTS (SELECT 1 FROM ${tasks} one WHERE one.run_id = ${tasks.runId} AND one.query_id = ${tasks.queryId}
  AND one.state IN ('pending', 'leased', 'sent', 'accepted'))`

const openPage = prepared(($: Values<{ run: number; priority: number; after: number; most: number }>) =>
  ofNewestPlan()
    .where(
      and(
        ...[eq(tasks.runId, $.run), eq(tasks.page, 1), isOpen],
        or(lt(tasks.priority, $.priority), and(eq(tasks.priority, $.priority), gt(tasks.id, $.after))),
      ),
    )
    .orderBy(desc(tasks.priority), asc(tasks.id))
    .limit($.most),
)

const targetsOf = prepared(($: Values<{ run: number; ids: string }>) =>
  orm
    .select({
      site: targets.site,
      match: targets.match,
      also: targets.also,
      label: runTargets.label,
      own: runTargets.own,
    })
    .from(runTargets)
    .innerJoin(targets, eq(targets.id, runTargets.targetId))
    .where(and(eq(runTargets.runId, $.run), sql`${targets.id} IN (SELECT value FROM json_each(${$.ids}))`))
    .orderBy(asc(targets.id)),
)

const leftOut = prepared(($: Values<{ run: number }>) =>
  orm
    .select({ key: queries.key })
    .from(restingQueries)
    .innerJoin(queries, eq(queries.id, restingQueries.queryId))
    .where(eq(restingQueries.runId, $.run))
    .orderBy(asc(queries.id)),
)

/** What runs plan, read query by query. */
export function plannedReads(db: Database): PlannedReads {
  return {
    plannedQueries: async (run, after, most) =>
      plannedPage.all(db, { run, after, most }).map((row) => plannedRow(db, run, row)),
    openQueries: async (run, after, most) => {
      const from = { priority: after?.query.priority ?? Number.MAX_SAFE_INTEGER, after: after?.taskId ?? 0 }
      return openPage.all(db, { run, ...from, most }).map((row) => plannedRow(db, run, row))
    },
    leftOutKeys: async (run) => leftOut.all(db, { run }).map(({ key }) => key),
  }
}

type PlannedPageRow = ReturnType<typeof plannedPage.all>[number]

function plannedRow(db: Database, run: number, row: PlannedPageRow): PlannedRow {
  const { taskId, queryId, settled, ownTargets, ...query } = row
  const targets = ownTargets.length === 0 ? [] : ownTargetsOf(db, run, ownTargets)
  return { taskId, queryId, settledPages: settled, query: { ...query, targets } }
}

function ownTargetsOf(db: Database, run: number, ids: readonly number[]): readonly Target[] {
  return targetsOf.all(db, { run, ids: JSON.stringify(ids) })
}
