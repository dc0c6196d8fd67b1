import type { Database } from 'better-sqlite3'
import type { PlannedQuery, PlanSummary } from '../../model/plan.ts'
import type { Run } from '../../model/run.ts'
import type { Target } from '../../model/target.ts'
import { mergeQueries } from '../../plan/plan.ts'
import type { PlanDraft, PlannedJob } from '../store.ts'
import { commitPlan } from './plan-commit.ts'
import { runById } from './runs.ts'
import type { Writer } from './writer.ts'

/** A staged query as a row: everything but the key as SQLite holds it. */
interface StagedRow {
  readonly key: Buffer
  readonly operation: string
  readonly text: string
  readonly params: string
  readonly credits: number
  readonly pages: number
  readonly page_size: number | null
  readonly depth: number | null
  readonly priority: number
  readonly volume: number | null
  readonly url: string | null
  readonly tags: string
  readonly labels: string
  readonly targets: string
}

/**
 * Plans are staged in temporary tables: nobody else sees them, they take no lock on the database, and a million
 * queries need no memory.
 */
export function openDraft(db: Database, writer: Writer): PlanDraft {
  db.exec(`DROP TABLE IF EXISTS temp.staged; CREATE TEMP TABLE staged (
    id INTEGER PRIMARY KEY, job TEXT NOT NULL, key BLOB NOT NULL, operation TEXT NOT NULL, text TEXT NOT NULL,
    params TEXT NOT NULL, credits INTEGER NOT NULL, pages INTEGER NOT NULL, page_size INTEGER, depth INTEGER,
    priority INTEGER NOT NULL, volume REAL, url TEXT, tags TEXT NOT NULL, labels TEXT NOT NULL,
    targets TEXT NOT NULL, UNIQUE (job, key))`)
  const columns =
    'key, operation, text, params, credits, pages, page_size, depth, priority, volume, url, tags, labels, targets'
  const values = columns.replaceAll(/\w+/g, '@$&')
  const insert = db.prepare(
    `INSERT INTO temp.staged (job, ${columns}) VALUES (@job, ${values}) ON CONFLICT DO NOTHING`,
  )
  const find = db.prepare<[string, Buffer], StagedRow>(
    `SELECT ${columns} FROM temp.staged WHERE job = ? AND key = ?`,
  )
  const join = db.prepare(
    `UPDATE temp.staged SET pages = @pages, depth = @depth, priority = @priority, volume = @volume, url = @url,
      tags = @tags, labels = @labels, targets = @targets WHERE job = @job AND key = @key`,
  )
  const duplicates = new Map<string, number>()

  const addOne = (job: string, query: PlannedQuery): void => {
    if (insert.run({ job, ...toRow(query) }).changes > 0) return
    duplicates.set(job, (duplicates.get(job) ?? 0) + 1)
    const first = find.get(job, query.key)
    if (first !== undefined) join.run({ job, ...toRow(mergeQueries(fromRow(first), query)) })
  }
  const addAll = db.transaction((job: string, queries: readonly PlannedQuery[]) => {
    for (const query of queries) addOne(job, query)
  })

  return {
    add: async (job, queries) => addAll(job, queries),
    summary: async (job) => summarise(db, job, duplicates.get(job.settings.name) ?? 0),
    commit: async (jobs, now) => {
      const ids = await writer.write(() => commitPlan(db, jobs, now))
      return ids.map((id) => runById(db, id) as Run)
    },
    [Symbol.asyncDispose]: async () => {
      db.exec('DROP TABLE IF EXISTS temp.staged')
    },
  }
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
function summarise(db: Database, job: PlannedJob, duplicates: number): PlanSummary {
  const row = db
    .prepare<unknown[], SummaryRow>(
      `SELECT count(*) AS queries, coalesce(sum(max(pages, settled)), 0) AS tasks,
        coalesce(sum(settled), 0) AS settled, coalesce(sum(fresh), 0) AS fresh,
        coalesce(sum(CASE WHEN settled = 0 AND fresh = 0 THEN credits ELSE 0 END), 0) AS min,
        coalesce(sum(CASE WHEN ended THEN 0 ELSE max(pages - settled - fresh, 0) * credits END), 0) AS max
      FROM (
        SELECT s.pages, s.credits,
          (SELECT count(*) FROM tasks_ t WHERE t.run_id = @run AND t.query_id = q.id
            AND t.state IN ('answered', 'done', 'failed', 'skipped')) AS settled,
          (SELECT count(DISTINCT a.page) FROM answers_ a WHERE a.query_id = q.id AND a.page <= s.pages
            AND a.fetched_at >= @fresh AND NOT EXISTS (SELECT 1 FROM tasks_ t WHERE t.run_id = @run
            AND t.query_id = q.id AND t.page = a.page AND t.state <> 'pending')) AS fresh,
          coalesce((SELECT rq.paging_end IS NOT NULL AND (rq.paging_final OR (s.pages <= rq.pages
              AND coalesce(s.depth, 0) <= coalesce(rq.depth, 0))) FROM run_queries rq
            WHERE rq.run_id = @run AND rq.query_id = q.id), 0) AS ended
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
    credits: { min: row.min, expected: expected(row, usedShare(db, job.settings.name)), max: row.max },
  }
}

function expected({ min, max }: SummaryRow, share: number | null): number {
  return share === null ? max : Math.min(max, Math.max(min, Math.round(max * share)))
}

/** The part of what it could have cost that the job's last finished run did cost, answers from the store included. */
function usedShare(db: Database, job: string): number | null {
  const last = db
    .prepare<[string], { share: number | null }>(
      `SELECT (SELECT sum(t.credits) FROM tasks_ t WHERE t.run_id = r.id AND t.state IN ('done', 'failed'))
        * 1.0 / nullif(r.planned_max, 0) AS share
      FROM runs_ r WHERE r.job = ? AND r.finish_reason IN ('completed', 'completed_with_failures')
      ORDER BY r.id DESC LIMIT 1`,
    )
    .get(job)
  return last?.share ?? null
}

function toRow(query: PlannedQuery): StagedRow {
  const { pageSize, tags, labels, targets, ...same } = query
  return {
    ...same,
    page_size: pageSize,
    tags: JSON.stringify(tags),
    labels: JSON.stringify(labels),
    targets: JSON.stringify(targets),
  }
}

function fromRow({ page_size, tags, labels, targets, ...same }: StagedRow): PlannedQuery {
  return {
    ...same,
    pageSize: page_size,
    tags: JSON.parse(tags) as string[],
    labels: JSON.parse(labels) as Record<string, string>,
    targets: JSON.parse(targets) as Target[],
  }
}
