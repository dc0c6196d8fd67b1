import type { Database } from 'better-sqlite3'
import { getTableName } from 'drizzle-orm'
import { type FitFunds, type FitQuery, fitToBalance, type SkippedTotal } from '../../../ledger/fit.ts'
import type { PlanSummary } from '../../../model/run.ts'
import type { PlannedJob } from '../../runs.ts'
import { withSortMemory } from '../connection/statements.ts'
import { finalKinds, freshValues, isFresh, reusable } from '../fragments.ts'
import { needs, skippedForBalance } from './fit.ts'
import { assignQueryIds, type Staged } from './staging.ts'

interface WantedRow extends FitQuery {
  readonly run: string
}

/** Conditions on a task of the continued run: the next plan restores it; it waits; its page is settled. */
const leftOut = `(t.state = 'skipped' AND t.cause = '${skippedForBalance}')`
const waits = `(t.state IN ('pending', 'leased', 'sent', 'accepted') OR ${leftOut})`
const settles = "(t.state IN ('answered', 'done', 'failed'))"
/** Whether the paging of a query has ended within the plan. */
const ended = `(rq.paging_end IS NOT NULL AND (rq.paging_kind IN ${finalKinds} OR (s.pages <= rq.pages
  AND coalesce(s.depth, 0) <= coalesce(rq.depth, 0))))`

/** The staged queries that a run would leave out because the balance does not cover them. */
export function unaffordable(
  db: Database,
  staged: (job: string) => Staged,
  jobs: readonly PlannedJob[],
  funds: FitFunds,
): ReadonlyMap<string, SkippedTotal> {
  db.exec(`DROP TABLE IF EXISTS draft.wanted; CREATE TABLE draft.wanted (job INTEGER, run TEXT, key BLOB, priority INTEGER,
    stale INTEGER, first INTEGER, id INTEGER, calls INTEGER, credits INTEGER)`)
  for (const [number, job] of jobs.entries()) addWanted(db, staged(job.settings.name), number, job)
  const takes = fitToBalance(funds)
  const rest = new Map<string, SkippedTotal>()
  withSortMemory(db, () => {
    for (const query of wanted(db, jobs.length)) {
      if (takes(query)) continue
      const { queries, credits } = rest.get(query.run) ?? { queries: 0, credits: 0 }
      rest.set(query.run, { queries: queries + 1, credits: credits + query.credits })
    }
  })
  return rest
}

/** The most valuable first. Only queries of several jobs are named, so that they are paid once. */
function wanted(db: Database, jobs: number): Iterable<WantedRow> {
  const shared = jobs > 1 ? 'CASE WHEN count(*) OVER (PARTITION BY key) > 1 THEN hex(key) END' : 'NULL'
  return db
    .prepare<[], WantedRow>(
      `SELECT run, ${shared} AS query, calls, credits FROM draft.wanted
      ORDER BY priority DESC, stale, job, first IS NULL, first, id`,
    )
    .iterate()
}

function addWanted(
  db: Database,
  staged: Staged,
  number: number,
  { settings, continues, fresh }: PlannedJob,
): void {
  assignQueryIds(db, staged)
  db.prepare(
    `INSERT INTO draft.wanted SELECT @job, @name, key, priority, stale, first, id, calls, calls * credits FROM (
      SELECT o.*, ${needs('@run', isFresh(), `CASE WHEN o.follows THEN NOT ${settles} ELSE ${waits} END`)}
      FROM (
        SELECT s.id, s.key, s.priority, s.credits, s.pages, known.query_id AS query, min(t.id) AS first,
          coalesce(sum(${waits} AND t.page <= s.pages), 0) AS waiting,
          coalesce(sum(${settles} AND t.page <= s.pages), 0) AS settled,
          NOT coalesce(${ended}, 0) OR max(t.page * (${waits} AND t.page <= s.pages)) > max(t.page * ${settles})
            AS follows,
          -- Where nothing waits, something may only follow behind pages that are all settled.
          max(t.page) >= s.pages OR sum(NOT ${settles}) > 0 AS whole
        FROM ${getTableName(staged.table)} s LEFT JOIN draft.asked known ON known.id = s.id AND known.added = 0
          LEFT JOIN run_queries rq ON rq.run_id = @run AND rq.query_id = known.query_id
          LEFT JOIN tasks_ t ON t.run_id = @run AND t.query_id = known.query_id
        GROUP BY s.id HAVING waiting > 0 OR NOT coalesce(whole, 0)) o)`,
  ).run({ job: number, name: settings.name, run: continues, ...freshValues(fresh) })
}

type SummaryRow = Readonly<Record<'queries' | 'tasks' | 'settled' | 'fresh' | 'min' | 'max', number>>

/** For each query: pages already settled in the continued run, and pages that a stored answer covers. */
export function summarise(db: Database, staged: Staged, job: PlannedJob, duplicates: number): PlanSummary {
  assignQueryIds(db, staged)
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
              AND ${isFresh()} AND ${reusable})
            AND NOT EXISTS (SELECT 1 FROM tasks_ t WHERE t.run_id = @run AND t.query_id = known.query_id
              AND t.page = n.page AND t.state <> 'pending' AND NOT ${leftOut})) AS fresh,
          coalesce((SELECT ${ended} FROM run_queries rq WHERE rq.run_id = @run AND rq.query_id = known.query_id), 0) AS ended
        FROM ${getTableName(staged.table)} s LEFT JOIN draft.asked known ON known.id = s.id AND known.added = 0)`,
    )
    .get({ run: job.continues, ...freshValues(job.fresh) }) as SummaryRow
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

/** Several runs, because a single one may be untypical: some are deeper than others. */
const pastRuns = 7

/** The cost of the last finished runs of the job as a share of their greatest possible cost, with reused answers. */
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
