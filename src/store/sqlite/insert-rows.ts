import type { Database, Statement } from 'better-sqlite3'

type Value = string | number | null
/** Values in the order of the columns. */
export type Row = readonly Value[]

/** Rows that one statement takes at most. */
const together = 10

/**
 * Inserts rows into a table. To bind a value takes as long as to store it: rows that follow each other with values in the
 * same columns share a statement, and what is null is not bound.
 */
export function rowInserter(
  db: Database,
  table: string,
  columns: readonly string[],
): (rows: readonly Row[]) => void {
  const known = new Map<number, Statement>()
  const statementOf = (shape: number, count: number): Statement => {
    const key = shape * (together + 1) + count
    const statement = known.get(key) ?? prepare(shape, count)
    known.set(key, statement)
    return statement
  }
  const prepare = (shape: number, count: number): Statement => {
    const names = columns.filter((_, index) => shape & (1 << index))
    const row = `(${names.map(() => '?').join(', ')})`
    return db.prepare(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES ${Array(count).fill(row).join(', ')}`,
    )
  }

  return (rows) => {
    let values: Value[] = []
    let [shape, count] = [0, 0]
    const write = (): void => {
      if (count > 0) statementOf(shape, count).run(...values)
      values = []
      count = 0
    }
    for (const row of rows) {
      const own = shapeOf(row)
      if (own !== shape || count === together) write()
      for (const value of row) if (value !== null) values.push(value)
      shape = own
      count += 1
    }
    write()
  }
}

/** The columns that have a value, one bit each. */
function shapeOf(row: Row): number {
  let shape = 0
  for (const [index, value] of row.entries()) if (value !== null) shape |= 1 << index
  return shape
}
