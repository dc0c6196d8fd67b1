import type { Database } from 'better-sqlite3'

/** Queries by their numbers, both ends included. */
export interface QueryRange {
  readonly from: number
  readonly to: number
}

const allQueries: QueryRange = { from: 0, to: Number.MAX_SAFE_INTEGER }

/**
 * Targets of the queries of a run of which nothing was observed are unknown from then on. Inside a transaction. Those of
 * the whole job, and those of single queries by their lists: a run may watch as many targets as it has queries.
 */
export function fillUnknown(db: Database, run: number, at: number, queries = allQueries): void {
  const fill = (pairs: string): void => {
    db.prepare(
      `INSERT OR IGNORE INTO observations (run_id, query_id, target_id, observed_at, state, depth)
      SELECT rq.run_id, rq.query_id, rt.target_id, @at, 'unknown', 0
      FROM ${pairs} AND rq.query_id BETWEEN @from AND @to`,
    ).run({ run, at, ...queries })
  }
  fill(`run_targets rt CROSS JOIN run_queries rq ON rq.run_id = rt.run_id
      WHERE rt.run_id = @run AND rt.everywhere = 1`)
  fill(`run_queries rq CROSS JOIN run_targets rt ON rt.run_id = rq.run_id AND rt.everywhere = 0
        AND rt.target_id IN (SELECT value FROM json_each(rq.targets))
      WHERE rq.run_id = @run AND rq.targets <> '[]'`)
}

/**
 * Queries of a run that have answers, but no observation of some target that is watched for them: so many at most, in the
 * order of their numbers.
 */
export function unobserved(
  db: Database,
  run: number,
  queries = allQueries,
  most = Number.MAX_SAFE_INTEGER,
): readonly number[] {
  // Most runs have none, and need not look through a million queries for them.
  if (db.prepare('SELECT 1 FROM run_targets WHERE run_id = ? LIMIT 1').get(run) === undefined) return []
  return db
    .prepare<unknown[], number>(
      // The `+` keeps SQLite from looking for the one query among all tasks that are done.
      `WITH everywhere AS MATERIALIZED (SELECT target_id FROM run_targets WHERE run_id = @run AND everywhere = 1)
      SELECT rq.query_id FROM run_queries rq
      WHERE rq.run_id = @run AND rq.query_id BETWEEN @from AND @to
        AND EXISTS (SELECT 1 FROM (
          SELECT target_id FROM everywhere
          UNION ALL SELECT rt.target_id FROM run_targets rt WHERE rt.run_id = @run AND rt.everywhere = 0
            AND rt.target_id IN (SELECT value FROM json_each(rq.targets))) w
          WHERE NOT EXISTS (SELECT 1 FROM observations o WHERE o.run_id = @run AND o.query_id = rq.query_id
            AND o.target_id = w.target_id AND (o.state <> 'unknown' OR o.depth > 0)))
        AND EXISTS (SELECT 1 FROM tasks_ t WHERE t.run_id = @run AND t.query_id = rq.query_id AND +t.state = 'done')
      ORDER BY rq.query_id LIMIT @most`,
    )
    .pluck()
    .all({ run, most, ...queries })
}
