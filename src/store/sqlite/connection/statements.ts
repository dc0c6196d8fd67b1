import type { Database, RunResult, Statement } from 'better-sqlite3'
import {
  Column,
  getTableColumns,
  getTableName,
  is,
  Param,
  type Placeholder,
  SQL,
  type SQLWrapper,
  sql,
  Table,
} from 'drizzle-orm'
import { BetterSQLiteSession } from 'drizzle-orm/better-sqlite3/session'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core/db'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core/dialect'
import type { SQLiteSession } from 'drizzle-orm/sqlite-core/session'

/*
 * How statements of the store are written:
 *
 * - What a command asks a few times: with drizzle's own session, `drizzle(db).select()…`; a whole statement as sql`…`.
 * - What runs for each task or row: prepared once, as text with names of the schema (`raw`), or by drizzle's `.prepare()`.
 * - `prepared(($: Values<{ run: number }>) => orm.select()…)`, a constant of a module, is built once and prepared once per connection.
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

/** Builds statements. It has no connection: `prepared` runs them. */
export const orm = new BaseSQLiteDatabase<'sync', RunResult>(
  'sync',
  dialect,
  undefined as unknown as SQLiteSession<'sync', RunResult, Record<string, never>, Record<string, never>>,
  undefined,
)

/** What a statement is given each time, by name. */
export type Values<V> = { readonly [Name in keyof V & string]: Placeholder<Name, V[Name]> }

/** A row of a query: inferred, or what a whole `sql` statement says of itself. */
type RowOf<Query> =
  Query extends SQL<infer Row>
    ? Row
    : Query extends { readonly _: { readonly result: infer Result } }
      ? Result extends readonly (infer Row)[]
        ? Row
        : never
      : never

type Given<V> = keyof V extends never ? [] : [values: V]

export interface Prepared<V, Row> {
  get(db: Database, ...values: Given<V>): Row | undefined
  /** The row that a query always has. */
  one(db: Database, ...values: Given<V>): Row
  all(db: Database, ...values: Given<V>): Row[]
  /** Reads row by row. Nothing is open before the first one is taken. */
  each(db: Database, ...values: Given<V>): Iterable<Row>
  run(db: Database, ...values: Given<V>): RunResult
}

type Decode = ((value: unknown) => unknown) | null

/** A statement as text, the names of its values in order, and what becomes of its columns: null where they come named. */
interface Built {
  readonly text: string
  readonly values: readonly { readonly name: string; readonly encode: Decode }[]
  readonly fields: readonly Field[] | null
}

interface Field {
  readonly name: string
  readonly decode: Decode
}

export function prepared<V extends object, Query extends SQLWrapper>(
  build: ($: Values<V>) => Query,
): Prepared<V, RowOf<Query>> {
  type QueryRow = RowOf<Query>
  let built: Built | null = null
  const known = new WeakMap<Database, Statement>()
  const textOf = (): Built => {
    built ??= buildQuery(build(placeholders as Values<V>))
    return built
  }
  const prepare = (db: Database): Statement => {
    const { text, fields } = textOf()
    const statement = db.prepare(text)
    return fields === null ? statement : statement.raw()
  }
  const statementOf = (db: Database): Statement => {
    const ready = known.get(db)
    if (ready !== undefined) return ready
    const statement = prepare(db)
    known.set(db, statement)
    return statement
  }
  const bound = (values: object = {}): readonly unknown[] =>
    textOf().values.map(({ name, encode }) => {
      const value = (values as Record<string, unknown>)[name]
      return encode === null || value === null ? value : encode(value)
    })
  const named = (row: unknown): QueryRow => {
    const { fields } = textOf()
    return (fields === null ? row : rowOf(fields, row as readonly unknown[])) as QueryRow
  }
  const get = (db: Database, values?: object): QueryRow | undefined => {
    const row = statementOf(db).get(...bound(values))
    return row === undefined ? undefined : named(row)
  }
  return {
    get: (db, ...[values]) => get(db, values),
    one: (db, ...[values]) => get(db, values) as QueryRow,
    all: (db, ...[values]) => {
      const rows = statementOf(db).all(...bound(values))
      return textOf().fields === null ? (rows as QueryRow[]) : rows.map(named)
    },
    *each(db, ...[values]) {
      const own = statementOf(db)
      const statement = own.busy ? prepare(db) : own
      for (const row of statement.iterate(...bound(values))) yield named(row)
    },
    run: (db, ...[values]) => statementOf(db).run(...bound(values)),
  }
}

/** Answers a placeholder for any name. */
const placeholders: unknown = new Proxy({}, { get: (_, name) => sql.placeholder(String(name)) })

function buildQuery(query: SQLWrapper): Built {
  const { sql: text, params } = dialect.sqlToQuery(query.getSQL().inlineParams())
  const { config } = query as { config?: { fields?: Record<string, unknown> } }
  const fields = config?.fields === undefined ? null : Object.entries(config.fields)
  return {
    text,
    values: params.map((param) => boundValue(param as Param | Placeholder)),
    fields: fields?.map(([name, field]) => ({ name, decode: decoderOf(field) })) ?? null,
  }
}

function boundValue(param: Param | Placeholder): Built['values'][number] {
  if (!is(param, Param)) return { name: param.name, encode: null }
  const { name } = param.value as Placeholder
  const { encoder } = param
  const same = is(encoder, Column) && encoder.mapToDriverValue === Column.prototype.mapToDriverValue
  return { name, encode: same ? null : (value) => encoder.mapToDriverValue(value) }
}

/** Null where a column comes as it is stored. */
function decoderOf(field: unknown): Decode {
  if (is(field, Column))
    return field.mapFromDriverValue === Column.prototype.mapFromDriverValue
      ? null
      : (value) => field.mapFromDriverValue(value)
  const { decoder } = (is(field, SQL) ? field : (field as SQL.Aliased).sql) as unknown as { decoder: Decoder }
  return decoder === plain ? null : (value) => decoder.mapFromDriverValue(value)
}

interface Decoder {
  mapFromDriverValue(value: unknown): unknown
}

const plain = (sql`` as unknown as { decoder: Decoder }).decoder

function rowOf(fields: readonly Field[], values: readonly unknown[]): unknown {
  const row: Record<string, unknown> = {}
  for (let place = 0; place < fields.length; place++) {
    const { name, decode } = fields[place] as Field
    const value = values[place]
    row[name] = decode === null || value === null ? value : decode(value)
  }
  return row
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

/**
 * Begin a statement inside a transaction that is rolled back as a whole where anything in it fails. Told so, SQLite does not
 * copy every page that the statement changes, to be able to take back a part: that would double its time.
 */
export const updateOrFail = 'UPDATE OR FAIL'
export const insertOrFail = 'INSERT OR FAIL'

export type Value = string | number | null
/** Values in the order of the columns. */
export type ColumnValues = readonly Value[]

/** Rows that one statement takes at most. */
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
      if (count > 0) statementOf(shape, count).run(values)
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
      last = Number(statementFor(some.length / columns).run(some).lastInsertRowid)
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

/** Kilobytes that a large sort may take; the rest goes through a temporary file. */
const sortSize = 8_000

/** Does what sorts very many rows. SQLite sorts in as much memory as its cache may have, beside the cache. */
export function withSortMemory<T>(db: Database, work: () => T): T {
  const cacheSize = Number(db.pragma('cache_size', { simple: true }))
  db.pragma(`cache_size = -${sortSize}`)
  try {
    return work()
  } finally {
    db.pragma(`cache_size = ${cacheSize}`)
  }
}
/** A value of a column: of another table, an expression, or a literal. */
type ColumnSource = SQLWrapper | string | number | null
type Sources<T extends SQLiteTable> = {
  readonly [Column in keyof T['$inferInsert']]?: ColumnSource | undefined
}

/**
 * Inserts what `from` yields (`FROM` and all after it) into columns of a table. Where such a row is there already, what
 * `update` names is set instead; `from` then needs a WHERE.
 */
export function insertFrom<T extends SQLiteTable>(
  table: T,
  values: Sources<T>,
  from: SQL,
  update?: Sources<T>,
): SQL {
  const columns = getTableColumns(table)
  const nameOf = (name: string): SQL => sql`${sql.identifier((columns[name] as Column).name)}`
  const list = (parts: readonly SQL[]): SQL => sql.join([...parts], sql`, `)
  const changes = Object.entries(update ?? {}).map(([name, value]) => sql`${nameOf(name)} = ${value}`)
  return sql`INSERT INTO ${table} (${list(Object.keys(values).map(nameOf))})
    SELECT ${list(Object.values(values).map((value) => sql`${value}`))} ${from}
    ${changes.length === 0 ? sql`` : sql`ON CONFLICT DO UPDATE SET ${list(changes)}`}`
}
