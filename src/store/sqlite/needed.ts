import type { Database } from 'better-sqlite3'

/** The body of an answer: how large it is, and whether it must stay. */
export interface Judged {
  readonly bytes: number
  readonly needed: 0 | 1
}

/** Answers what is to be said of the body of an answer; undefined where it has none. */
export type Judge = (answerId: number) => Judged | undefined

/** Runs that may use stored answers of their age, as pairs of run and the instant from which on. */
const fresh = `SELECT json_group_array(json_array(id, @now - json_extract(settings, '$.freshnessMs'))) FROM runs_
  WHERE json_extract(settings, '$.freshnessMs') IS NOT NULL AND id IN (SELECT max(id) FROM runs_ GROUP BY job)`

const underWay = 'SELECT json_group_array(id) FROM runs_ WHERE finished_at IS NULL AND closed_at IS NULL'

const unsettled = "t.query_id = a.query_id AND t.state NOT IN ('done', 'skipped')"

const judged = `SELECT length(b.body) AS bytes,
    EXISTS (SELECT 1 FROM tasks_ t WHERE t.answer_id = a.id AND t.state = 'answered')
    OR EXISTS (SELECT 1 FROM runs_ g JOIN tasks_ t ON t.run_id = g.id
      WHERE g.group_id = r.group_id AND g.closed_at IS NULL AND ${unsettled})
    OR EXISTS (SELECT 1 FROM json_each(@underWay) u JOIN tasks_ t ON t.run_id = u.value WHERE ${unsettled})
    OR EXISTS (SELECT 1 FROM json_each(@fresh) f
      JOIN run_queries q ON q.run_id = json_extract(f.value, '$[0]') AND q.query_id = a.query_id
      WHERE a.fetched_at >= json_extract(f.value, '$[1]')) AS needed
  FROM raw_answers b JOIN answers_ a ON a.id = b.answer_id LEFT JOIN runs_ r ON r.id = a.run_id
  WHERE b.answer_id = @id`

/**
 * Tells the bodies that must stay: those that nobody has read yet, and those that a task may still take instead of a
 * call: a task that asks the same in the same group or in a run under way, or one of the next run of a job that uses
 * stored answers (`freshness`). What it answers holds for the change, or the moment, that it was asked for in.
 */
export function judgeOf(db: Database, now: number): () => Judge {
  const judge = db.prepare<unknown[], Judged>(judged)
  const runsUnderWay = db.prepare<[], string>(underWay).pluck()
  const freshRuns = db.prepare<unknown[], string>(fresh).pluck()
  return () => {
    const runs = { underWay: runsUnderWay.get(), fresh: freshRuns.get({ now }) }
    return (id) => judge.get({ id, ...runs })
  }
}
