import type { Database } from 'better-sqlite3'
import type { ReportStore, SerpAt, SerpQuery, SerpRecord } from '../rows.ts'
import { pageReader } from './query-record.ts'
import { type TargetRow, toTarget } from './targets.ts'
import { asPlanned } from './views.ts'

interface AskedRow extends Omit<SerpQuery, 'params'> {
  readonly params: string
}

interface RunRow extends SerpAt {
  readonly because: string | null
  readonly kind: string | null
}

/** Reads the results of queries, run by run. */
export function serpReader(
  db: Database,
): Pick<ReportStore, 'serpQueries' | 'serpLooks' | 'serpRecord' | 'queryTargets'> {
  return {
    serpQueries: queryLister(db),
    serpLooks: lookLister(db),
    serpRecord: recordReader(db),
    queryTargets: targetReader(db),
  }
}

function queryLister(db: Database): ReportStore['serpQueries'] {
  const asked = db.prepare<unknown[], AskedRow>(
    `WITH wanted AS MATERIALIZED (SELECT id FROM queries WHERE text = @text),
    newest AS MATERIALIZED (
      SELECT max(r.id) AS run FROM runs_ r WHERE r.job = @job AND (@until IS NULL OR r.date < @until)
        AND (@text IS NULL OR EXISTS (SELECT 1 FROM wanted w JOIN run_queries rq ON rq.run_id = r.id
          AND rq.query_id = w.id AND rq.plan_number = r.plan_number)))
    SELECT q.id AS queryId, q.operation, q.text, q.params
    FROM newest JOIN runs_ r ON r.id = newest.run
      JOIN run_queries rq ON rq.run_id = r.id AND rq.plan_number = r.plan_number
      JOIN queries q ON q.id = rq.query_id
    WHERE @text IS NULL OR q.id IN (SELECT id FROM wanted) ORDER BY q.text, q.operation, q.params`,
  )
  return ({ job, text, until = null }) =>
    asked
      .all({ job, text, until })
      .map(({ params, ...query }) => ({ ...query, params: JSON.parse(params) as SerpQuery['params'] }))
}

function lookLister(db: Database): ReportStore['serpLooks'] {
  const looks = db.prepare<unknown[], SerpAt>(
    // An answer may be that of several runs, to which it cost nothing.
    `SELECT r.id AS run, r.date FROM answers_ a JOIN tasks_ t ON t.answer_id = a.id AND t.state = 'done'
      JOIN runs_ r ON r.id = t.run_id
    WHERE a.query_id = @queryId AND a.page = 1 AND r.job = @job AND (@until IS NULL OR r.date < @until)
    ORDER BY r.date, r.id`,
  )
  return ({ job, until = null }, queryId) => looks.all({ job, until, queryId })
}

function recordReader(db: Database): ReportStore['serpRecord'] {
  const pagesOf = pageReader(db)
  const runs = db.prepare<[number, number], RunRow>(
    `SELECT r.id AS run, r.date, rq.paging_end AS because, rq.paging_kind AS kind
    FROM runs_ r LEFT JOIN run_queries rq ON rq.run_id = r.id AND rq.query_id = ? WHERE r.id = ?`,
  )
  return (run, queryId): SerpRecord => {
    const { because, kind, ...at } = runs.get(queryId, run) as RunRow
    const end = because === null || kind === null ? null : { because, kind }
    return { ...at, end, pages: pagesOf(run, queryId) }
  }
}

function targetReader(db: Database): ReportStore['queryTargets'] {
  // Those that it was planned with: what was looked for afterwards is of the whole job.
  const targets = db.prepare<[number, number], TargetRow>(
    `SELECT tg.site, tg.match, tg.also, rt.label, rt.own FROM run_queries rq
      JOIN run_targets rt ON rt.run_id = rq.run_id
        AND rt.target_id IN (SELECT value FROM json_each(coalesce(rq.planned_targets, rq.targets)))
      JOIN targets tg ON tg.id = rt.target_id
      JOIN runs_ r ON r.id = rq.run_id
    WHERE rq.run_id = ? AND rq.query_id = ? ORDER BY ${asPlanned}`,
  )
  return (run, queryId) => targets.all(run, queryId).map(toTarget)
}
