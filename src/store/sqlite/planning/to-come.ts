import type { Database } from 'better-sqlite3'

/**
 * Credits that a run may still cost at most; failed tasks are bought again where `retried`. Where pages may follow, all that are not
 * settled may be bought; else only those that wait.
 */
export function creditsToCome(db: Database, run: number, retried: boolean): number {
  const open = `'pending', 'leased', 'sent'${retried ? ", 'failed'" : ''}`
  return db
    .prepare<[run: number], number>(
      `SELECT coalesce(sum(price * CASE WHEN follows THEN max(pages - settled, waiting) ELSE waiting END), 0)
      FROM (SELECT pages, max(credits) AS price, sum(open) AS waiting,
          sum(NOT open AND NOT skipped AND page <= pages) AS settled,
          ends IS NULL OR max(page * open) > max(page * (NOT open AND NOT skipped)) AS follows
        FROM (SELECT t.query_id AS query, t.page, t.credits, t.state IN (${open}) AS open, t.state = 'skipped' AS skipped,
            q.pages, q.paging_end AS ends
          FROM tasks_ t JOIN run_queries q ON q.run_id = t.run_id AND q.query_id = t.query_id WHERE t.run_id = ?)
        GROUP BY query HAVING waiting > 0)`,
    )
    .pluck()
    .get(run) as number
}
