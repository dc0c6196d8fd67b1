import { dayMs } from '../../model/time.ts'
import type { Postgres } from './connection.ts'
import { sql } from './rows.ts'

/** Rows that are dropped with one statement: none holds its locks for long. */
const rowsAtOnce = 5_000
/** What was bought in the current month counts for quotas call by call: it stays for so long, whatever else is said. */
const countedMs = 40 * dayMs

/**
 * Drops what all readers have, and what is old: bodies of answers, and of runs that ended everything but their sums. Chunks keep their credits,
 * tags and spending, so that limits of days and months, of runs and of tags stand as before; calls are counted for quotas. Rows are deleted in
 * blocks, by the transaction that wrote them: tables in parts by month would have to be written anew, and a run may lie in two of them.
 * Answers how many bodies and rows there were.
 */
export async function dropRead(postgres: Postgres, keepMs: number, forgetAfterMs: number): Promise<number> {
  const bodies = await postgres.query<object>(dropBodies, [forgetAfterMs, keepMs])
  const oldMs = Math.max(keepMs, countedMs)
  const [bound] = await postgres.query<{ until: string }>(droppedUntil, [forgetAfterMs, oldMs])
  const until = bound?.until ?? null
  if (until === null) return bodies.length
  let dropped = bodies.length
  for (const statement of [dropRows('answers'), dropRows('task_ends'), dropCalls])
    for (let more = true; more; ) {
      const [block] = await postgres.query<{ rows: number }>(statement, [until, oldMs, rowsAtOnce])
      const rows = block?.rows ?? 0
      dropped += rows
      more = rows === rowsAtOnce
    }
  await postgres.query(dropPlans, [until, oldMs])
  return dropped
}

/** Without any reader, nothing is dropped. */
const oldestReader = `(SELECT position FROM rankline.readers
  WHERE seen_at > clock_timestamp() - $1::double precision * interval '1 millisecond' ORDER BY 1 LIMIT 1)`

const dropBodies = `
UPDATE rankline.answers SET body = NULL
WHERE body IS NOT NULL AND fetched_at < ${sql.epochMs('clock_timestamp()')} - $2::double precision AND changed < ${oldestReader}
RETURNING call_id`

const oldEnough = `(${sql.epochMs('clock_timestamp()')} - $2::double precision)::bigint`

/** What all readers have, and at most what lies before the end of the newest run that is old; null where nothing does. */
const droppedUntil = `
SELECT least(${oldestReader}, (e.changed::text::numeric + 1)::text::xid8) AS until FROM rankline.run_events e
WHERE e.at < ${oldEnough} AND ${oldestReader} IS NOT NULL ORDER BY e.changed DESC LIMIT 1`

/** A run that ended long ago, and that nobody polls for. */
const isOld = `(r.finish_reason IS NOT NULL OR r.closed_at IS NOT NULL) AND coalesce(r.closed_at, r.finished_at) < ${oldEnough}
  AND NOT EXISTS (SELECT 1 FROM rankline.chunks c WHERE c.run_id = r.id AND c.state IN ('planned', 'released', 'leased'))`

const dropRows = (table: 'answers' | 'task_ends'): string => `
WITH old AS (
  SELECT t.ctid FROM rankline.${table} t JOIN rankline.runs r ON r.id = t.run_id
  WHERE t.changed < $1::xid8 AND ${isOld} ORDER BY t.changed LIMIT $3
), gone AS (
  DELETE FROM rankline.${table} t USING old WHERE t.ctid = old.ctid RETURNING 1
)
SELECT count(*)::int AS rows FROM gone`

/** Free lookups of no run go by their own age. */
const dropCalls = `
WITH old AS (
  SELECT t.ctid FROM rankline.calls t LEFT JOIN rankline.runs r ON r.id = t.run_id
  WHERE t.changed < $1::xid8 AND t.outcome IS NOT NULL AND t.job_over IS NOT FALSE
    AND (${isOld} OR (t.run_id IS NULL AND t.sent_at < ${oldEnough}))
  ORDER BY t.changed LIMIT $3
), gone AS (
  DELETE FROM rankline.calls t USING old WHERE t.ctid = old.ctid RETURNING t.key_hash, t.credits, t.billed
), counted AS (
  INSERT INTO rankline.dropped AS d (key_hash, until, charged)
  SELECT key_hash, $1::xid8, count(*) FILTER (WHERE credits > 0 AND billed IS DISTINCT FROM 0) FROM gone GROUP BY 1
  ON CONFLICT (key_hash) DO UPDATE SET until = greatest(d.until, excluded.until), charged = d.charged + excluded.charged
)
SELECT count(*)::int AS rows FROM gone`

/** Its plan, and what happened to it: a database that comes later does not hear of it. */
const dropPlans = `
WITH gone AS (
  UPDATE rankline.runs r SET dropped_at = clock_timestamp()
  WHERE r.dropped_at IS NULL AND ${isOld}
    AND NOT EXISTS (SELECT 1 FROM rankline.run_events e WHERE e.run_id = r.id AND e.changed >= $1::xid8)
  RETURNING r.id
), parts AS (
  DELETE FROM rankline.plan_parts p USING gone WHERE p.run_id = gone.id
), events AS (
  DELETE FROM rankline.run_events e USING gone WHERE e.run_id = gone.id
)
UPDATE rankline.chunks c SET encoding = '', body = '', queries = '{}' FROM gone WHERE c.run_id = gone.id AND c.state <> 'dead'`
