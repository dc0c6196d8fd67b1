import type { Database } from 'better-sqlite3'

/** Queries by their numbers, both ends included. */
export interface QueryRange {
  readonly from: number
  readonly to: number
}

const allQueries: QueryRange = { from: 0, to: Number.MAX_SAFE_INTEGER }

/** Targets of the queries of a run of which nothing was observed are unknown from then on. Inside a transaction. */
export function fillUnknown(db: Database, run: number, at: number, queries = allQueries): void {
  db.prepare(
    `INSERT OR IGNORE INTO observations (run_id, query_id, target_id, observed_at, state, depth)
    SELECT rq.run_id, rq.query_id, rt.target_id, @at, 'unknown', 0
    FROM run_queries rq JOIN run_targets rt ON rt.run_id = rq.run_id
    WHERE rq.run_id = @run AND rq.query_id BETWEEN @from AND @to AND (rt.everywhere = 1 OR rt.target_id IN (SELECT value FROM json_each(rq.targets)))`,
  ).run({ run, at, ...queries })
}

/** Queries of these runs that have answers, but no observation of some target that is watched for them. */
export function unobserved(
  db: Database,
  runIds: readonly number[],
  queries = allQueries,
): readonly { readonly runId: number; readonly queryId: number }[] {
  return db
    .prepare<unknown[], { runId: number; queryId: number }>(
      `SELECT DISTINCT rq.run_id AS runId, rq.query_id AS queryId
      FROM run_queries rq JOIN run_targets rt ON rt.run_id = rq.run_id
      WHERE rq.run_id IN (SELECT value FROM json_each(@runs)) AND rq.query_id BETWEEN @from AND @to
        AND (rt.everywhere = 1 OR rt.target_id IN (SELECT value FROM json_each(rq.targets)))
        AND EXISTS (SELECT 1 FROM tasks_ t WHERE t.run_id = rq.run_id AND t.query_id = rq.query_id AND t.state = 'done')
        AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.run_id = rq.run_id AND o.query_id = rq.query_id
          AND o.target_id = rt.target_id AND (o.state <> 'unknown' OR o.depth > 0))`,
    )
    .all({ runs: JSON.stringify(runIds), ...queries })
}
