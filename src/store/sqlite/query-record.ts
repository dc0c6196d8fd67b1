import type { Database } from 'better-sqlite3'
import { kindCodes, type ResultKind } from '../../model/result.ts'
import type { PageRecord, QueryLook, QueryRecord, ResultRecord, TargetRecord } from '../rows.ts'
import { type TargetRow, toTarget } from './targets.ts'
import { asPlanned } from './views.ts'

interface QueryRow extends Omit<QueryRecord, 'params' | 'end' | 'pages' | 'targets'> {
  readonly queryId: number
  readonly params: string
  readonly because: string | null
  readonly kind: string | null
}

type PageRow = Omit<PageRecord, 'state' | 'results' | 'mismatched'> & {
  readonly state: string
  readonly mismatched: number
}
type ResultRow = Omit<ResultRecord, 'kind'> & { readonly kind: number }

const settled: readonly string[] = ['done', 'failed', 'skipped']
const kinds = new Map<number, ResultKind>(
  Object.entries(kindCodes).map(([kind, code]) => [code, kind as ResultKind]),
)

/** Reads what a run left of the queries of one text. */
export function queryRecorder(db: Database): (look: QueryLook) => readonly QueryRecord[] {
  // A run that stopped before the query has noted that nothing is known; one that has only begun says nothing yet.
  const queries = db.prepare<unknown[], QueryRow>(
    `WITH looked AS (
      SELECT max(r.id) AS run FROM queries q CROSS JOIN runs_ r JOIN run_queries rq ON rq.run_id = r.id AND rq.query_id = q.id
      WHERE q.text = @text AND r.job = @job AND (@until IS NULL OR r.date < @until) AND (
        EXISTS (SELECT 1 FROM observations o WHERE o.run_id = rq.run_id AND o.query_id = q.id)
        OR EXISTS (SELECT 1 FROM tasks_ t WHERE t.run_id = rq.run_id AND t.query_id = q.id AND t.state IN ('done', 'failed'))))
    SELECT r.id AS run, r.job, r.date, q.id AS queryId, q.operation, q.text, q.params, rq.pages AS maxPages,
      rq.page_size AS pageSize, rq.paging_end AS because, rq.paging_kind AS kind
    FROM looked JOIN runs_ r ON r.id = looked.run JOIN run_queries rq ON rq.run_id = r.id
      JOIN queries q ON q.id = rq.query_id AND q.text = @text ORDER BY q.operation, q.params`,
  )
  const pagesOf = pageReader(db)
  const targetsOf = targetReader(db)
  return ({ job, text, until }) =>
    queries.all({ job, text, until: until ?? null }).map(({ queryId, params, because, kind, ...asked }) => ({
      ...asked,
      params: JSON.parse(params) as QueryRecord['params'],
      end: because === null || kind === null ? null : { because, kind },
      pages: pagesOf(asked.run, queryId),
      targets: targetsOf(asked.run, queryId),
    }))
}

/** Reads the pages of a query as a run left them. */
export function pageReader(db: Database): (run: number, query: number) => readonly PageRecord[] {
  const pages = db.prepare<[number, number], PageRow>(
    `SELECT t.page, t.state, t.cause, strftime('%Y-%m-%dT%H:%M:%fZ', a.fetched_at / 1000.0, 'unixepoch') AS fetchedAt,
      a.echo_mismatch IS NOT NULL AS mismatched
    FROM tasks_ t LEFT JOIN answers_ a ON a.id = t.answer_id WHERE t.run_id = ? AND t.query_id = ? ORDER BY t.page`,
  )
  // Related searches come along with web results and have no rank over pages.
  const results = db.prepare<unknown[], ResultRow>(
    `SELECT x.kind, coalesce(json_extract(t.ranks, '$[' || x.place || ']'), t.rank_base + x.place + 1) AS rank,
      x.position, (SELECT text FROM texts WHERE id = x.title_id) AS title,
      (SELECT text FROM texts WHERE id = x.snippet_id) AS snippet, l.link, coalesce(l.same_as, l.id) AS sameAs
    FROM tasks_ t JOIN results x ON x.answer_id = t.answer_id AND x.kind <> ${kindCodes.related}
      LEFT JOIN links l ON l.id = x.link_id
    WHERE t.run_id = ? AND t.query_id = ? AND t.page = ? AND t.state = 'done' ORDER BY x.kind, x.place`,
  )
  return (run, query) =>
    pages.all(run, query).map(({ state, mismatched, ...page }) => ({
      ...page,
      ...(mismatched === 1 ? { mismatched: true as const } : {}),
      state: settled.includes(state) ? (state as PageRecord['state']) : 'open',
      results: results
        .all(run, query, page.page)
        .map(({ kind, ...result }) => ({ ...result, kind: kinds.get(kind) as ResultKind })),
    }))
}

function targetReader(db: Database): (run: number, query: number) => readonly TargetRecord[] {
  const targets = db.prepare<[number, number], TargetRow<TargetRecord>>(
    `SELECT tg.site, tg.match, tg.also, rt.label, rt.own, o.state, o.rank, o.exactness, o.depth, o.page,
      coalesce(o.unbroken_depth, o.depth) AS unbrokenDepth
    FROM observations o JOIN targets tg ON tg.id = o.target_id
      JOIN run_targets rt ON rt.run_id = o.run_id AND rt.target_id = o.target_id
      JOIN runs_ r ON r.id = o.run_id
    WHERE o.run_id = ? AND o.query_id = ? ORDER BY ${asPlanned}`,
  )
  return (run, query) => targets.all(run, query).map(toTarget)
}
