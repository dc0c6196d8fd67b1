import type { Database } from 'better-sqlite3'
import type { PlanSummary } from '../../model/plan.ts'
import { type FitMeans, type FitQuery, fitter } from '../../plan/fit.ts'
import type { FitRest } from '../calls.ts'
import type { PlannedJob } from '../store.ts'
import { finalKinds } from './ends.ts'
import { leftOutCause } from './fit.ts'
import { numberQueries } from './plan-numbers.ts'
import type { Staged } from './plan-staged.ts'
import { reusable } from './reusable.ts'
import { sorting } from './sorting.ts'

interface WantedRow extends FitQuery {
  readonly run: string
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
  staged: (job: string) => Staged,
  jobs: readonly PlannedJob[],
  means: FitMeans,
): ReadonlyMap<string, FitRest> {
  db.exec(`DROP TABLE IF EXISTS draft.wanted; CREATE TABLE draft.wanted (job INTEGER, run TEXT, key BLOB, priority INTEGER,
    stale INTEGER, first INTEGER, id INTEGER, calls INTEGER, credits INTEGER)`)
  for (const [number, job] of jobs.entries()) noteWanted(db, staged(job.settings.name), number, job)
  const takes = fitter(means)
  const rest = new Map<string, FitRest>()
  sorting(db, () => {
    for (const query of wanted(db, jobs.length)) {
      if (takes(query)) continue
      const { queries, credits } = rest.get(query.run) ?? { queries: 0, credits: 0 }
      rest.set(query.run, { queries: queries + 1, credits: credits + query.credits })
    }
  })
  return rest
}

/** What is noted, the most valuable first; only what several jobs want has to be known by its name. */
function wanted(db: Database, jobs: number): Iterable<WantedRow> {
  const shared = jobs > 1 ? 'CASE WHEN count(*) OVER (PARTITION BY key) > 1 THEN hex(key) END' : 'NULL'
  return db
    .prepare<[], WantedRow>(
      `SELECT run, ${shared} AS query, calls, credits FROM draft.wanted
      ORDER BY priority DESC, stale, job, first IS NULL, first, id`,
    )
    .iterate()
}

function noteWanted(
  db: Database,
  staged: Staged,
  number: number,
  { settings, continues, freshSince }: PlannedJob,
): void {
  numberQueries(db, staged)
  db.prepare(
    `INSERT INTO draft.wanted SELECT @job, @name, key, priority, stale, first, id, calls, calls * credits FROM (
      SELECT o.*, coalesce((SELECT max(a.fetched_at) FROM answers_ a WHERE a.query_id = o.query), 0) AS stale,
        CASE WHEN follows THEN pages - settled ELSE waiting END
          - (SELECT count(DISTINCT a.page) FROM answers_ a WHERE a.query_id = o.query AND a.page <= o.pages
            AND a.fetched_at >= @fresh AND ${reusable}
            AND coalesce((SELECT CASE WHEN o.follows THEN NOT ${settles} ELSE ${waits} END FROM tasks_ t
              WHERE t.run_id = @run AND t.query_id = a.query_id AND t.page = a.page), o.follows)) AS calls
      FROM (
        SELECT s.id, s.key, s.priority, s.credits, s.pages, known.query_id AS query, min(t.id) AS first,
          coalesce(sum(${waits} AND t.page <= s.pages), 0) AS waiting,
          coalesce(sum(${settles} AND t.page <= s.pages), 0) AS settled,
          NOT coalesce(${ended}, 0) OR max(t.page * (${waits} AND t.page <= s.pages)) > max(t.page * ${settles})
            AS follows,
          -- Where nothing waits, something may only follow behind pages that are all settled.
          max(t.page) >= s.pages OR sum(NOT ${settles}) > 0 AS whole
        FROM ${staged.table} s LEFT JOIN draft.asked known ON known.id = s.id AND known.added = 0
          LEFT JOIN run_queries rq ON rq.run_id = @run AND rq.query_id = known.query_id
          LEFT JOIN tasks_ t ON t.run_id = @run AND t.query_id = known.query_id
        GROUP BY s.id HAVING waiting > 0 OR NOT coalesce(whole, 0)) o)`,
  ).run({ job: number, name: settings.name, run: continues, fresh: freshSince ?? Number.MAX_SAFE_INTEGER })
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
export function summarise(db: Database, staged: Staged, job: PlannedJob, duplicates: number): PlanSummary {
  numberQueries(db, staged)
  const row = db
    .prepare<unknown[], SummaryRow>(
      `SELECT count(*) AS queries, coalesce(sum(max(pages, settled)), 0) AS tasks,
        coalesce(sum(settled), 0) AS settled, coalesce(sum(fresh), 0) AS fresh,
        coalesce(sum(CASE WHEN settled = 0 AND fresh = 0 THEN credits ELSE 0 END), 0) AS min,
        coalesce(sum(CASE WHEN ended THEN 0 ELSE max(pages - settled - fresh, 0) * credits END), 0) AS max
      FROM (
        SELECT s.pages, s.credits,
          (SELECT count(*) FROM tasks_ t WHERE t.run_id = @run AND t.query_id = known.query_id
            AND t.state IN ('answered', 'done', 'failed', 'skipped') AND NOT ${leftOut}) AS settled,
          -- Page by page: so of all the answers that a query ever had only the fresh ones are looked at.
          (SELECT count(*) FROM draft.numbers n WHERE n.page <= s.pages
            AND EXISTS (SELECT 1 FROM answers_ a WHERE a.query_id = known.query_id AND a.page = n.page
              AND a.fetched_at >= @fresh AND ${reusable})
            AND NOT EXISTS (SELECT 1 FROM tasks_ t WHERE t.run_id = @run AND t.query_id = known.query_id
              AND t.page = n.page AND t.state <> 'pending' AND NOT ${leftOut})) AS fresh,
          coalesce((SELECT ${ended} FROM run_queries rq WHERE rq.run_id = @run AND rq.query_id = known.query_id), 0) AS ended
        FROM ${staged.table} s LEFT JOIN draft.asked known ON known.id = s.id AND known.added = 0)`,
    )
    .get({
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
