import type { Database } from 'better-sqlite3'

/*
 * What the observations of runs come to: how many queries said the same of a target. It follows from `observations` alone
 * and is stored for runs that are over, so that years of days need not be read query by query. Whatever changes
 * observations of such a run makes its counts void in the same change (a trigger does where the run goes on); until they
 * are counted again, the views read the observations themselves.
 */

/** Observations of some runs (rows `r` with an `id`), counted. */
export function countedObservations(runs: string): string {
  return `SELECT o.run_id, o.target_id, o.state, coalesce(o.exactness = 'estimated', 0) AS estimated,
      CASE o.state WHEN 'ranked' THEN o.rank WHEN 'absent' THEN o.depth ELSE 0 END AS place,
      count(*) AS queries, sum(rq.volume) AS volume
    FROM ${runs} r JOIN observations o ON o.run_id = r.id
      JOIN run_queries rq ON rq.run_id = o.run_id AND rq.query_id = o.query_id
    GROUP BY 1, 2, 3, 4, 5`
}

/**
 * Runs `r` of which nothing more is to come. What a closed one still waits for is observed without opening it again; others
 * that have not completed will go on.
 */
const isOver = `(r.finish_reason IN ('completed', 'completed_with_failures') OR r.closed_at IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM counted_runs c WHERE c.run_id = r.id)
  AND NOT EXISTS (SELECT 1 FROM tasks_ t WHERE t.run_id = r.id AND (t.state = 'accepted' OR t.state = 'answered'))`

/** Runs that are over and not counted, the newest first. */
export function uncountedRuns(db: Database): readonly number[] {
  return db.prepare<[], number>(`SELECT r.id FROM runs_ r WHERE ${isOver} ORDER BY r.id DESC`).pluck().all()
}

/** Counts a run, if it is over and not counted. Inside a transaction. */
export function countRun(db: Database, run: number): void {
  if (db.prepare(`SELECT 1 FROM runs_ r WHERE r.id = ? AND ${isOver}`).get(run) === undefined) return
  db.prepare('DELETE FROM rank_counts_ WHERE run_id = ?').run(run)
  db.prepare(
    `INSERT INTO rank_counts_ (run_id, target_id, state, estimated, place, queries, volume)
    ${countedObservations('(SELECT ? AS id)')}`,
  ).run(run)
  db.prepare('INSERT INTO counted_runs (run_id) VALUES (?)').run(run)
}

/** Makes the counts of a run void. Inside a transaction. */
export function countsForgetter(db: Database): (run: number) => void {
  const forget = db.prepare('DELETE FROM counted_runs WHERE run_id = ?')
  return (run) => void forget.run(run)
}

/** Makes the counts of a job's runs void, or of all. Inside a transaction. */
export function forgetCounts(db: Database, job: string | null): void {
  db.prepare(
    'DELETE FROM counted_runs WHERE @job IS NULL OR run_id IN (SELECT id FROM runs_ WHERE job = @job)',
  ).run({ job })
}
