import type { Database } from 'better-sqlite3'
import type { Staged } from './plan-staged.ts'
import { sorting } from './sorting.ts'

/** Numbers of queries by their places in the file, and of pages: filled for one job after the other. */
export const numberTables = `
  CREATE TABLE draft.asked (id INTEGER PRIMARY KEY, query_id INTEGER NOT NULL, added INTEGER NOT NULL);
  CREATE TABLE draft.numbers (page INTEGER PRIMARY KEY);`

/**
 * Finds the numbers of the staged queries; those that nobody asked before get the next ones, in the order of the file.
 * Keys are compared in their own order, from the first to the last: found one by one in the order of the file, they would
 * be all over a large database.
 */
export function numberQueries(db: Database, { table, index }: Staged): void {
  db.exec('DELETE FROM draft.asked; DELETE FROM draft.numbers')
  const newest = db.prepare('SELECT coalesce(max(id), 0) FROM queries').pluck().get()
  sorting(db, () =>
    db
      .prepare(
        `INSERT INTO draft.asked (id, query_id, added)
        SELECT id, coalesce(known, @newest + sum(known IS NULL) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING)), known IS NULL
        FROM (SELECT s.id, q.id AS known FROM ${table} s INDEXED BY ${index} LEFT JOIN queries q ON q.key = s.key)`,
      )
      .run({ newest }),
  )
  db.prepare(
    `INSERT INTO draft.numbers WITH RECURSIVE pages (page) AS (
      SELECT 1 UNION ALL SELECT page + 1 FROM pages WHERE page < (SELECT max(pages) FROM ${table}))
    SELECT page FROM pages`,
  ).run()
}
