import type { Database } from 'better-sqlite3'
import type { PlanSummary } from '../../model/plan.ts'
import { type FitMeans, type FitQuery, fitter } from '../../plan/fit.ts'
import type { FitRest } from '../calls.ts'
import type { PlannedJob } from '../store.ts'
import { finalKinds } from './ends.ts'
import { leftOutCause } from './fit.ts'
import { understood } from './reusable.ts'

interface FitRow extends FitQuery {
  readonly run: string
  readonly priority: number
  readonly stale: number
}

/** Conditions on a task of the run that goes on: it is taken in again when its run is planned; it waits; its page is over. */
const leftOut = `(t.state = 'skipped' AND t.cause = '${leftOutCause}')`
const waits = `(t.state IN ('pending', 'leased', 'sent', 'accepted') OR ${leftOut})`
const settles = "(t.state IN ('answered', 'done', 'failed'))"
/** Whether the paging of a query is over for good, as far as it is planned. */
const ended = `(rq.paging_end IS NOT NULL AND (rq.paging_kind IN ${finalKinds} OR (s.pages <= rq.pages
  AND coalesce(s.depth, 0) <= coalesce(rq.depth, 0))))`

/** What of the staged queries does not fit, in the order in which a run would leave it out. */
export function restOf(
  db: Database,
  jobs: readonly PlannedJob[],
  means: FitMeans,
): ReadonlyMap<string, FitRest> {
  const ofJob = db.prepare<unknown[], FitRow>(
    `SELECT run, key AS query, priority, stale, calls, calls * credits AS credits FROM (
      SELECT o.*, coalesce((SELECT max(a.fetched_at) FROM answers_ a WHERE a.query_id = o.query), 0) AS stale,
        CASE WHEN follows THEN pages - settled ELSE waiting END
          - (SELECT count(DISTINCT a.page) FROM answers_ a WHERE a.query_id = o.query AND a.page <= o.pages
            AND a.fetched_at >= @fresh AND ${understood}
            AND coalesce((SELECT CASE WHEN o.follows THEN NOT ${settles} ELSE ${waits} END FROM tasks_ t
              WHERE t.run_id = @run AND t.query_id = a.query_id AND t.page = a.page), o.follows)) AS calls
      FROM (
        SELECT s.id, hex(s.key) AS key, s.job AS run, s.priority, s.credits, s.pages, q.id AS query, min(t.id) AS first,
          coalesce(sum(${waits} AND t.page <= s.pages), 0) AS waiting,
          coalesce(sum(${settles} AND t.page <= s.pages), 0) AS settled,
          NOT coalesce(${ended}, 0) OR max(t.page * (${waits} AND t.page <= s.pages)) > max(t.page * ${settles})
            AS follows,
          -- Where nothing waits, something may only follow behind pages that are all settled.
          max(t.page) >= s.pages OR sum(NOT ${settles}) > 0 AS whole
        FROM temp.staged s LEFT JOIN queries q ON q.key = s.key
          LEFT JOIN run_queries rq ON rq.run_id = @run AND rq.query_id = q.id
          LEFT JOIN tasks_ t ON t.run_id = @run AND t.query_id = q.id
        WHERE s.job = @job GROUP BY s.id HAVING waiting > 0 OR NOT coalesce(whole, 0)) o)
    ORDER BY priority DESC, stale, first IS NULL, first, id`,
  )
  const takes = fitter(means)
  const rest = new Map<string, FitRest>()
  const queries = jobs.flatMap(({ settings, continues, freshSince }) =>
    ofJob.all({ job: settings.name, run: continues, fresh: freshSince ?? Number.MAX_SAFE_INTEGER }),
  )
  if (jobs.length > 1) queries.sort((a, b) => b.priority - a.priority || a.stale - b.stale)
  for (const query of queries) {
    if (takes(query)) continue
    const { queries: n, credits } = rest.get(query.run) ?? { queries: 0, credits: 0 }
    rest.set(query.run, { queries: n + 1, credits: credits + query.credits })
  }
  return rest
}

interface SummaryRow {
  readonly queries: number
  readonly tasks: number
  readonly settled: number
  readonly fresh: number
  readonly min: number
  readonly max: number
}

/** For each query: pages already settled in the continued run, and pages that a stored answer covers. */
export function summarise(db: Database, job: PlannedJob, duplicates: number): PlanSummary {
  const row = db
    .prepare<unknown[], SummaryRow>(
      `WITH RECURSIVE numbers (page) AS (
        SELECT 1 UNION ALL SELECT page + 1 FROM numbers
        WHERE page < (SELECT max(pages) FROM temp.staged WHERE job = @job))
      SELECT count(*) AS queries, coalesce(sum(max(pages, settled)), 0) AS tasks,
        coalesce(sum(settled), 0) AS settled, coalesce(sum(fresh), 0) AS fresh,
        coalesce(sum(CASE WHEN settled = 0 AND fresh = 0 THEN credits ELSE 0 END), 0) AS min,
        coalesce(sum(CASE WHEN ended THEN 0 ELSE max(pages - settled - fresh, 0) * credits END), 0) AS max
      FROM (
        SELECT s.pages, s.credits,
          (SELECT count(*) FROM tasks_ t WHERE t.run_id = @run AND t.query_id = q.id
            AND t.state IN ('answered', 'done', 'failed', 'skipped') AND NOT ${leftOut}) AS settled,
          -- Page by page: so of all the answers that a query ever had only the fresh ones are looked at.
          (SELECT count(*) FROM numbers n WHERE n.page <= s.pages
            AND EXISTS (SELECT 1 FROM answers_ a WHERE a.query_id = q.id AND a.page = n.page
              AND a.fetched_at >= @fresh AND ${understood})
            AND NOT EXISTS (SELECT 1 FROM tasks_ t WHERE t.run_id = @run
              AND t.query_id = q.id AND t.page = n.page AND t.state <> 'pending' AND NOT ${leftOut})) AS fresh,
          coalesce((SELECT ${ended} FROM run_queries rq WHERE rq.run_id = @run AND rq.query_id = q.id), 0) AS ended
        FROM temp.staged s LEFT JOIN queries q ON q.key = s.key WHERE s.job = @job)`,
    )
    .get({
      job: job.settings.name,
      run: job.continues,
      // Later than any answer: without freshness none counts.
      fresh: job.freshSince ?? Number.MAX_SAFE_INTEGER,
    }) as SummaryRow
  return {
    job: job.settings.name,
    continues: job.continues,
    queries: row.queries,
    duplicates,
    tasks: row.tasks,
    done: row.settled,
    reused: row.fresh,
    credits: { min: row.min, expected: expected(row, usedShare(db, job)), max: row.max },
  }
}

function expected({ min, max }: SummaryRow, share: number | null): number {
  return share === null ? max : Math.min(max, Math.max(min, Math.round(max * share)))
}

/** Runs that the past of a job is taken from: with deep looks now and then, one alone may say little. */
const pastRuns = 7

/** The part of what they could have cost that the job's last finished runs did cost, answers from the store included. */
function usedShare(db: Database, { settings }: PlannedJob): number | null {
  const past = db
    .prepare<unknown[], { share: number | null }>(
      `SELECT sum(used) * 1.0 / nullif(sum(planned), 0) AS share FROM (
        SELECT r.planned_max AS planned, (SELECT sum(t.credits) FROM tasks_ t
          WHERE t.run_id = r.id AND t.state IN ('done', 'failed')) AS used
        FROM runs_ r WHERE r.job = @job AND r.finish_reason IN ('completed', 'completed_with_failures')
          AND json_extract(r.settings, '$.paging') = @paging
        ORDER BY r.id DESC LIMIT ${pastRuns})`,
    )
    .get({ job: settings.name, paging: settings.paging })
  return past?.share ?? null
}
