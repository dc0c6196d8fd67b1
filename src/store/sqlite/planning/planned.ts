import type { Database } from 'better-sqlite3'
import { and, asc, desc, eq, getTableName, gt, lt, or, sql } from 'drizzle-orm'
import type { JobQuery, PlannedQuery } from '../../../model/query.ts'
import { drizzle, once } from '../connection/statements.ts'
import { queries, runQueries, runs, runTargets, targets, tasks } from '../schema.ts'
import { restingQueries } from '../unattended/schema.ts'
import type { Staged } from './staging.ts'

type QueryParts = Pick<JobQuery, 'operation' | 'text' | 'params'>

/** Queries that a job never asked, and queries that its newest run asked and that it no longer asks. */
export interface EditedQueries {
  readonly fresh: number
  readonly gone: number
  /**
   * How gone queries may have become fresh ones: each way with the number of pairs that differ in it alone, and the text of one pair; where
   * the text is what differs, each pair is a way of its own. A query may be in several.
   */
  readonly pairs: readonly { readonly queries: number; readonly was: QueryParts; readonly now: QueryParts }[]
}

export interface PlannedRow {
  readonly query: PlannedQuery
  readonly queryId: number
  /** The task of its first page. */
  readonly taskId: number
  /** Pages that are done, failed or left out. */
  readonly settledPages: number
}

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
export function plannedReads(db: Database) {
  const ownTargets = once(() => targetsOf(db))
  const plannedRow = (run: number, row: PlannedPageRow): PlannedRow => {
    const { taskId, queryId, settled, ownTargets: ids, ...query } = row
    const targets = ids.length === 0 ? [] : ownTargets().all({ run, ids: JSON.stringify(ids) })
    return { taskId, queryId, settledPages: settled, query: { ...query, targets } }
  }
  return {
    /** Queries of the newest plan of a run after a task (0 for the first), in the order of the file. */
    plannedQueries: async (run: number, after: number, most: number): Promise<readonly PlannedRow[]> =>
      ofNewestPlan(db)
        .where(and(eq(tasks.runId, run), eq(tasks.page, 1), gt(tasks.id, after)))
        .orderBy(asc(tasks.id))
        .limit(most)
        .all()
        .map((row) => plannedRow(run, row)),
    /** Those of them that lack a page, the most urgent first, after one of them. */
    openQueries: async (
      run: number,
      after: PlannedRow | null,
      most: number,
    ): Promise<readonly PlannedRow[]> =>
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
    /** Keys of queries that the job asks and that the run left out, because they were not due. */
    leftOutKeys: async (run: number): Promise<readonly Buffer[]> =>
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

/*
 * An edit of a job file may make another query of each of its queries, without a word: a new query has no history. Here is told
 * which queries these are, and which of them go on with the history of the query that was asked before.
 */

/** The newest run of a job, but for second looks of earlier versions, which ask a part of it. */
const newestRun = `(SELECT max(r.id) FROM runs_ r WHERE r.job = @job AND r.id NOT IN (SELECT run_id FROM rechecks)
  AND EXISTS (SELECT 1 FROM run_queries q WHERE q.run_id = r.id))`

/**
 * The staged queries that their job never asked, beside those that its newest run asked and that are no longer staged; null where
 * there is nothing to be told. The numbers of the staged queries are assigned anew.
 */
export function editedQueries(db: Database, staged: Staged, job: string): EditedQueries | null {
  const { run } = db
    .prepare<unknown[], { run: number | null }>(`SELECT ${newestRun} AS run`)
    .get({ job }) ?? {
    run: null,
  }
  if (run === null) return null
  staged.assignIds()
  const [table, leftOut] = [getTableName(staged.table), getTableName(staged.leftOut)]
  for (const name of ['fresh', 'gone']) db.exec(`DELETE FROM draft.${name}`)
  const found = db
    .prepare(
      `INSERT INTO draft.fresh (operation, text, params) SELECT s.operation, s.text, s.params FROM ${table} s
        JOIN draft.asked a ON a.id = s.id
        WHERE a.added = 1 OR (
          NOT EXISTS (SELECT 1 FROM run_queries q WHERE q.run_id = @run AND q.query_id = a.query_id)
          AND NOT EXISTS (SELECT 1 FROM runs_ r JOIN run_queries q ON q.run_id = r.id AND q.query_id = a.query_id WHERE r.job = @job))`,
    )
    .run({ job, run })
  if (found.changes === 0) return null
  const lost = db
    .prepare(
      `INSERT INTO draft.gone (operation, text, params) SELECT q.operation, q.text, q.params FROM queries q WHERE q.id IN (
          SELECT rq.query_id FROM run_queries rq JOIN runs_ r ON r.id = rq.run_id AND r.plan_number = rq.plan_number WHERE r.id = @run
          UNION SELECT query_id FROM resting_queries WHERE run_id = @run)
        AND q.id NOT IN (SELECT query_id FROM draft.asked) AND q.key NOT IN (SELECT key FROM draft.${leftOut})`,
    )
    .run({ run })
  return { fresh: found.changes, gone: lost.changes, pairs: lost.changes === 0 ? [] : pairs(db) }
}

/**
 * The one of these jobs of whose newest run the staged queries of a job that never ran have most, and at least half: how many it asked, and
 * how many of them are the same.
 */
export function askedBefore(
  db: Database,
  staged: Staged,
  job: string,
  others: readonly string[],
): { readonly job: string; readonly asked: number; readonly same: number } | null {
  const runOf = db.prepare<unknown[], number | null>(`SELECT ${newestRun}`).pluck()
  if (runOf.get({ job }) != null) return null
  staged.assignIds()
  const asked = db.prepare<unknown[], { readonly asked: number; readonly same: number }>(
    `SELECT count(*) AS asked, coalesce(sum(q.id IN (SELECT query_id FROM draft.asked)
        OR q.key IN (SELECT key FROM draft.${getTableName(staged.leftOut)})), 0) AS same
      FROM queries q WHERE q.id IN (
        SELECT rq.query_id FROM run_queries rq JOIN runs_ r ON r.id = rq.run_id AND r.plan_number = rq.plan_number WHERE r.id = @run
        UNION SELECT query_id FROM resting_queries WHERE run_id = @run)`,
  )
  const found = others.flatMap((other) => {
    const run = runOf.get({ job: other })
    const counts = run == null ? undefined : asked.get({ run })
    return counts === undefined || counts.same === 0 || counts.same * 2 < counts.asked
      ? []
      : [{ job: other, ...counts }]
  })
  return found.sort((a, b) => b.same - a.same)[0] ?? null
}

/** What may have become of what: queries that differ in their params, in their operation, or in the case of their text. */
function pairs(db: Database): EditedQueries['pairs'] {
  const rows = db
    .prepare<
      [],
      Readonly<Record<'was' | 'now' | 'wasText' | 'nowText', string>> & { readonly queries: number }
    >(
      `SELECT json_array(g.operation, json(g.params)) AS was, json_array(f.operation, json(f.params)) AS now,
        count(*) AS queries, g.text AS wasText, min(f.text) AS nowText
      FROM fresh f JOIN gone g ON g.text = f.text COLLATE NOCASE
      WHERE (f.text = g.text) + (f.operation = g.operation) + (f.params = g.params) = 2
      GROUP BY 1, 2, CASE WHEN f.text <> g.text THEN f.text END ORDER BY 1, 2, 5`,
    )
    .all()
  return rows.map(({ was, now, queries, wasText, nowText }) => {
    const [wasOperation, wasParams] = JSON.parse(was)
    const [operation, params] = JSON.parse(now)
    return {
      queries,
      was: { operation: wasOperation, text: wasText, params: wasParams },
      now: { operation, text: nowText, params },
    }
  })
}
