import type { Database } from 'better-sqlite3'

/** Targets of the queries of a run of which nothing was observed are unknown from then on. Inside a transaction. */
export function fillUnknown(db: Database, run: number, at: number): void {
  db.prepare(
    `INSERT OR IGNORE INTO observations (run_id, query_id, target_id, observed_at, state, depth)
    SELECT rq.run_id, rq.query_id, rt.target_id, @at, 'unknown', 0
    FROM run_queries rq JOIN run_targets rt ON rt.run_id = rq.run_id
    WHERE rq.run_id = @run AND (rt.everywhere = 1 OR rt.target_id IN (SELECT value FROM json_each(rq.targets)))`,
  ).run({ run, at })
}
