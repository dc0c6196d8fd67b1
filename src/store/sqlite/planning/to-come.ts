import type { Database } from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import { prepared, type Values } from '../connection/statements.ts'
import { runQueries, tasks } from '../schema.ts'

/** Where pages may follow, all that are not settled may be bought; else only those that wait. */
const toCome = prepared(
  ($: Values<{ run: number; open: string }>) => sql<{ credits: number }>`
    SELECT coalesce(sum(price * CASE WHEN follows THEN max(pages - settled, waiting) ELSE waiting END), 0) AS credits
    FROM (SELECT pages, max(credits) AS price, sum(open) AS waiting,
        sum(NOT open AND NOT skipped AND page <= pages) AS settled,
        ends IS NULL OR max(page * open) > max(page * (NOT open AND NOT skipped)) AS follows
      FROM (SELECT ${tasks.queryId} AS query, ${tasks.page} AS page, ${tasks.credits} AS credits,
          ${tasks.state} IN (SELECT value FROM json_each(${$.open})) AS open, ${tasks.state} = 'skipped' AS skipped,
          ${runQueries.pages} AS pages, ${runQueries.pagingEnd} AS ends
        FROM ${tasks} JOIN ${runQueries} ON ${runQueries.runId} = ${tasks.runId} AND ${runQueries.queryId} = ${tasks.queryId}
        WHERE ${tasks.runId} = ${$.run})
      GROUP BY query HAVING waiting > 0)`,
)

/** Credits that a run may still cost at most; failed tasks are bought again where `retried`. */
export function creditsToCome(db: Database, run: number, retried: boolean): number {
  const open = ['pending', 'leased', 'sent', ...(retried ? ['failed'] : [])]
  return toCome.one(db, { run, open: JSON.stringify(open) }).credits
}
