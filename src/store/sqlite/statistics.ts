import type { Database } from 'better-sqlite3'

/**
 * What SQLite is told of the data, in the form of its own ANALYZE: runs are few beside everything else, and a job has
 * hundreds of them. Without that it takes all tables for equally large and a job for ten runs, and looks for a query of a
 * job in everything that each of its runs asked. Not measured: so the same statement is run in the same way in every database.
 */
const shapes = [['runs_', 'runs_job', '10000 300 1']] as const

/** Notes the shapes, unless somebody had the tables analysed. Inside a transaction. */
export function noteShapes(db: Database): void {
  // Makes the table of statistics where there is none.
  db.exec('ANALYZE sqlite_schema')
  const note = db.prepare(
    `INSERT INTO sqlite_stat1 (tbl, idx, stat) SELECT @table, @index, @stat
    WHERE NOT EXISTS (SELECT 1 FROM sqlite_stat1 WHERE tbl = @table)`,
  )
  for (const [table, index, stat] of shapes) note.run({ table, index, stat })
  // Reads what it says.
  db.exec('ANALYZE sqlite_schema')
}
