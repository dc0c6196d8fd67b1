import type { Database, RunResult, Statement } from 'better-sqlite3'
import { Column, getTableName, is, type SQL, Table } from 'drizzle-orm'
import { BetterSQLiteSession } from 'drizzle-orm/better-sqlite3/session'
import { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core/db'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core/dialect'

/*
 * How statements of the store are written:
 *
 * - What a command asks a few times: with drizzle's own session, `drizzle(db).select()…`; a whole statement as sql`…`.
 * - What runs for each task or row: prepared once, as text with names of the schema (`raw`), or by drizzle's `.prepare()`.
 *
 * What a user typed is always a value, never text of a statement.
 */

const dialect = new SQLiteSyncDialect()

const connected = new WeakMap<Database, BaseSQLiteDatabase<'sync', RunResult>>()

/**
 * Drizzle on a connection: a statement is built and prepared each time it runs. The session is imported alone: drizzle's own entry
 * imports better-sqlite3 by name, and our driver is opened otherwise.
 */
export function drizzle(db: Database): BaseSQLiteDatabase<'sync', RunResult> {
  const known = connected.get(db)
  if (known !== undefined) return known
  const session = new BetterSQLiteSession<Record<string, never>, Record<string, never>>(
    db,
    dialect,
    undefined,
  )
  const made = new BaseSQLiteDatabase<'sync', RunResult>('sync', dialect, session, undefined)
  connected.set(db, made)
  return made
}

/** The rows of a whole statement, one by one: drizzle's session reads all of them at once. Nothing is open before the first one is taken. */
export function* each<Row>(db: Database, statement: SQL<Row>): Generator<Row> {
  const { sql: text, params } = dialect.sqlToQuery(statement)
  yield* db.prepare<unknown[], Row>(text).iterate(...params)
}

/** SQL in which tables and columns of the schema stand by their plain names: raw`SELECT t.${tasks.id} FROM ${tasks} t`. */
export function raw(
  strings: TemplateStringsArray,
  ...parts: readonly (Table | Column | string | number)[]
): string {
  const names = parts.map((part) =>
    is(part, Table) ? getTableName(part) : is(part, Column) ? part.name : String(part),
  )
  return String.raw({ raw: strings }, ...names)
}

/** Columns of a table under the names that they have in code: `t.run_id AS runId`. */
export function named(table: string, columns: Readonly<Record<string, Column>>): string {
  return Object.entries(columns)
    .map(([name, column]) => `${table}.${column.name} AS ${name}`)
    .join(', ')
}

/**
 * Begin a statement inside a transaction that is rolled back as a whole where anything in it fails. Told so, SQLite does not
 * copy every page that the statement changes, to be able to take back a part: that would double its time.
 */
export const updateOrFail = 'UPDATE OR FAIL'
export const insertOrFail = 'INSERT OR FAIL'

export type Value = string | number | null
/** Values in the order of the columns. */
type ColumnValues = readonly Value[]

/** Rows that one statement takes at most. Their values are handed over one by one: in a list, each takes 1.4 times as long. */
const together = 10

/**
 * Inserts rows into a table. To bind a value takes as long as to store it: rows that follow each other with values in the
 * same columns share a statement, and what is null is not bound.
 */
export function batchInsert(
  db: Database,
  table: string,
  columns: readonly string[],
): (rows: readonly ColumnValues[]) => void {
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
      `${insertOrFail} INTO ${table} (${names.join(', ')}) VALUES ${Array(count).fill(row).join(', ')}`,
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

/** Rows that it takes in one statement at most. */
const mostRows = 32

/** Inserts rows, many in one statement, given with all their values one after the other; returns the number of the first one: they follow each other. */
export function inserter(db: Database, table: string, columns: number): (values: readonly Value[]) => number {
  const statements = new Map<number, Statement>()
  const statementFor = (rows: number): Statement => {
    const row = `(${Array(columns).fill('?').join(', ')})`
    const statement =
      statements.get(rows) ??
      db.prepare(`${insertOrFail} INTO ${table} VALUES ${Array(rows).fill(row).join(', ')}`)
    statements.set(rows, statement)
    return statement
  }
  return (values) => {
    let last = 0
    for (let from = 0; from < values.length; from += mostRows * columns) {
      const some = values.slice(from, from + mostRows * columns)
      // SQLite numbers new rows in order, after the largest number.
      last = Number(statementFor(some.length / columns).run(...some).lastInsertRowid)
    }
    return last + 1 - values.length / columns
  }
}

/** The columns that have a value, one bit each. */
function shapeOf(row: ColumnValues): number {
  let shape = 0
  for (let index = 0; index < row.length; index++) if (row[index] !== null) shape |= 1 << index
  return shape
}

/** Makes something when it is first called: its statements take time to prepare, and most commands never run them. */
export function lazy<Args extends readonly unknown[], Result>(
  make: () => (...args: Args) => Result,
): (...args: Args) => Result {
  let made: ((...args: Args) => Result) | null = null
  return (...args) => {
    made ??= make()
    return made(...args)
  }
}

/** Makes something when it is first asked for, and keeps it. */
export function once<Made>(make: () => Made): () => Made {
  return lazy(() => {
    const made = make()
    return () => made
  })
}
