import { crc32 } from 'node:zlib'
import { RanklineError, UsageError } from '../../model/errors.ts'
import type { Cell } from '../../model/result.ts'
import { exitCodes } from '../../model/run.ts'
import { JournalUnreachable } from '../journal.ts'
import { openPostgres, placeName, type Statements } from './connection.ts'

/** A table of exported rows. */
interface ExportTable {
  readonly name: string
  /** What a row is; people read it beside the table. */
  readonly meaning: string
  readonly columns: readonly { readonly name: string; readonly type: CellType; readonly meaning: string }[]
  /** Columns of the primary key. */
  readonly key: readonly string[]
}

type ExportedColumn = ExportTable['columns'][number]

/** How far the rows of a kind that a filter takes are exported. */
export interface Position {
  readonly kind: string
  /** As text that is the same for the same filter. */
  readonly filter: string
  readonly cursor: string
}

/** Any number that no other lock has; exports into a schema take turns by it and the name of the schema. */
const exportLock = 7_265_115
/** Where the machine of an export dies without a word, the next one waits no longer. */
const longestSilence = '5min'

/**
 * Does an export in one transaction: all of it counts, or nothing. Exports into a schema take turns. What the database refuses is told in
 * one sentence.
 */
export async function exportInto<T>(
  {
    url,
    schema,
    onWait,
  }: {
    /** Address of the database. */
    readonly url: string
    readonly schema: string
    /** Called where another export into the schema has to end first. */
    readonly onWait: () => void
  },
  work: (schema: ReturnType<typeof exportSchema>) => Promise<T>,
): Promise<T> {
  await using postgres = await openPostgres(url, { address: '--to', grant: null })
  const place = placeName(postgres.place)
  const [connected] = await told(postgres, place).query<{ user: string }>('SELECT current_user AS user')
  try {
    return await postgres.transaction(async (statements) => {
      const ask = told(statements, place)
      await ask.query(`SET LOCAL idle_in_transaction_session_timeout = '${longestSilence}'`)
      const lock = [exportLock, schema]
      const [turn] = await ask.query<{ taken: boolean }>(
        'SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS taken',
        lock,
      )
      if (turn?.taken !== true) {
        onWait()
        await ask.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', lock)
      }
      return await work(exportSchema(ask, schema, { place, user: connected?.user ?? '' }))
    }, 'unhurried')
  } catch (error) {
    throw explained(error, place)
  }
}

/** The schema that exports go into, for as long as one export changes it. */
function exportSchema(
  ask: Statements,
  schema: string,
  { place, user }: { readonly place: string; readonly user: string },
) {
  const positions = `${identifier(schema)}.positions`

  const makeSchema = async (): Promise<void> => {
    if (await isThere(ask, 'SELECT FROM pg_namespace WHERE nspname = $1', [schema])) return
    const create = `CREATE SCHEMA ${identifier(schema)}`
    try {
      await ask.query(create)
    } catch (error) {
      if (codeOf(error) !== notAllowed) throw error
      throw new UsageError(
        `${place} does not let ${user} make the schema ${schema}. Let the owner of the database do it: ${create} AUTHORIZATION ${identifier(user)}`,
        { cause: error },
      )
    }
    await ask.query(`COMMENT ON SCHEMA ${identifier(schema)} IS 'Written by rankline export'`)
  }

  const hasPositions = () => isThere(ask, 'SELECT WHERE to_regclass($1) IS NOT NULL', [positions])

  return {
    /** All positions; none where nothing was exported yet. */
    positions: async (): Promise<readonly Position[]> => {
      if (!(await hasPositions())) return []
      return await ask.query<Position>(`SELECT kind, filter, cursor FROM ${positions}`)
    },

    /** Makes what is missing: schema, table, columns, comments. Throws one sentence where a table of that name is of someone else. */
    prepare: async (table: ExportTable): Promise<void> => {
      await makeSchema()
      if (!(await hasPositions())) await ask.query(positionsTable(positions))
      const there = await columnsOf(ask, schema, table.name)
      if (there.length > 0 && !isSameKey(there, table.key))
        throw new UsageError(
          `${place} has a table ${schema}.${table.name} that is not of rankline. Name another schema at the end of --to`,
        )
      await layOut(ask, schema, table, there)
    },

    /** Removes the rows with these numbers in the first column of the key. */
    clear: async (table: ExportTable, numbers: Iterable<number>): Promise<void> => {
      const [first = ''] = table.key
      const statement = `DELETE FROM ${tableName(schema, table)} WHERE ${identifier(first)} = ANY ($1::bigint[])`
      for (const some of portions(numbers, numbersAtOnce)) await ask.query(statement, [some])
    },

    /** Writes rows in place of those with the same key; how many they are. */
    write: async (table: ExportTable, rows: Iterable<readonly Cell[]>): Promise<number> => {
      const statement = upsert(schema, table)
      let written = 0
      for (const cells of batches(rows, table.columns)) {
        await ask.query(statement, cells)
        written += cells[0]?.length ?? 0
      }
      return written
    },

    keep: async ({ kind, filter, cursor }: Position): Promise<void> => {
      await ask.query(
        `INSERT INTO ${positions} (kind, filter, cursor) VALUES ($1, $2, $3)
        ON CONFLICT (kind, filter) DO UPDATE SET cursor = excluded.cursor, exported_at = excluded.exported_at`,
        [kind, filter, cursor],
      )
    },
  }
}

async function isThere(ask: Statements, statement: string, values: readonly unknown[]): Promise<boolean> {
  return (await ask.query(statement, values)).length > 0
}

function positionsTable(name: string): string {
  return `CREATE TABLE ${name} (
      kind text NOT NULL,
      filter text NOT NULL,
      cursor text NOT NULL,
      exported_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (kind, filter)
    );
    COMMENT ON TABLE ${name} IS 'How far each kind is exported. The next export begins there';
    COMMENT ON COLUMN ${name}.kind IS 'Kind of the export, and name of its table';
    COMMENT ON COLUMN ${name}.filter IS 'The filters of the export as JSON';
    COMMENT ON COLUMN ${name}.cursor IS 'What came after it is not exported yet';
    COMMENT ON COLUMN ${name}.exported_at IS 'When the last export began that came to its end'`
}

type ColumnsThere = Awaited<ReturnType<typeof columnsOf>>

/** The columns of a table, view or the like; none where there is nothing of that name. */
async function columnsOf(ask: Statements, schema: string, table: string) {
  return await ask.query<{
    readonly name: string
    readonly meaning: string | null
    readonly isKey: boolean
    readonly tableMeaning: string | null
  }>(
    `SELECT a.attname AS name, col_description(c.oid, a.attnum) AS meaning,
        coalesce(a.attnum = ANY (i.indkey), false) AS "isKey", obj_description(c.oid, 'pg_class') AS "tableMeaning"
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
      WHERE n.nspname = $1 AND c.relname = $2`,
    [schema, table],
  )
}

function isSameKey(there: ColumnsThere, key: readonly string[]): boolean {
  const found = there.filter(({ isKey }) => isKey).map(({ name }) => name)
  return found.length === key.length && key.every((name) => found.includes(name))
}

/** Makes the table or the columns that it does not have yet, and says of each what it is. */
async function layOut(
  ask: Statements,
  schema: string,
  table: ExportTable,
  there: ColumnsThere,
): Promise<void> {
  const name = tableName(schema, table)
  const definition = ({ name: column, type }: ExportedColumn) => `${columnName(column)} ${columnTypes[type]}`
  const isMissing = (column: ExportedColumn) =>
    !there.some(({ name: known }) => known === cutName(column.name))
  const missing = table.columns.filter(isMissing)
  if (there.length === 0)
    await ask.query(
      `CREATE TABLE ${name} (${[...table.columns.map(definition), `PRIMARY KEY (${table.key.map(identifier).join(', ')})`].join(', ')})`,
    )
  else if (missing.length > 0)
    await ask.query(
      `ALTER TABLE ${name} ${missing.map((column) => `ADD COLUMN ${definition(column)}`).join(', ')}`,
    )
  const comments = table.columns.flatMap((column) => {
    const known = there.find(({ name: of }) => of === cutName(column.name))
    const meaning = storableText(column.meaning)
    return known?.meaning === meaning
      ? []
      : `COMMENT ON COLUMN ${name}.${columnName(column.name)} IS ${literal(meaning)}`
  })
  if (there[0]?.tableMeaning !== table.meaning)
    comments.push(`COMMENT ON TABLE ${name} IS ${literal(table.meaning)}`)
  if (comments.length > 0) await ask.query(comments.join(';\n'))
}

/** Inserts the rows of a batch, which come column by column, or puts them in place of those with the same key. */
function upsert(schema: string, table: ExportTable): string {
  const names = table.columns.map(({ name }) => columnName(name))
  const values = table.columns.map(({ type }, index) => `$${index + 1}::${columnTypes[type]}[]`)
  const changes = table.columns
    .filter(({ name }) => !table.key.includes(name))
    .map(({ name }) => `${columnName(name)} = excluded.${columnName(name)}`)
  return `INSERT INTO ${tableName(schema, table)} (${names.join(', ')}) SELECT * FROM unnest(${values.join(', ')})
    ON CONFLICT (${table.key.map(identifier).join(', ')}) DO UPDATE SET ${changes.join(', ')}`
}

const numbersAtOnce = 10_000
/** A statement ends at the first of these limits, because it is held in memory. */
const rowsAtOnce = 1_000
const charactersAtOnce = 2_000_000

/** The cells of rows, a batch at a time, column by column. */
function* batches(
  rows: Iterable<readonly Cell[]>,
  columns: readonly ExportedColumn[],
): Generator<readonly (readonly Cell[])[]> {
  const empty = (): Cell[][] => columns.map(() => [])
  let [cells, characters] = [empty(), 0]
  for (const row of rows) {
    columns.forEach(({ type }, index) => {
      const cell = storedCell(row[index] ?? null, type)
      cells[index]?.push(cell)
      if (typeof cell === 'string') characters += cell.length
    })
    if ((cells[0]?.length ?? 0) < rowsAtOnce && characters < charactersAtOnce) continue
    yield cells
    ;[cells, characters] = [empty(), 0]
  }
  if ((cells[0]?.length ?? 0) > 0) yield cells
}

function* portions<T>(values: Iterable<T>, most: number): Generator<readonly T[]> {
  let some: T[] = []
  for (const value of values) {
    some.push(value)
    if (some.length < most) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}

function tableName(schema: string, { name }: ExportTable): string {
  return `${identifier(schema)}.${identifier(name)}`
}

function columnName(name: string): string {
  return identifier(cutName(name))
}

/** Bytes of a name at most: Postgres would cut a longer one, and two columns could become one. */
const longestName = 63

/** A name that Postgres keeps as it is: what is cut off goes into a digest. */
function cutName(name: string): string {
  const text = storableText(name)
  if (Buffer.byteLength(text) <= longestName) return text
  const digest = `_${crc32(text).toString(16).padStart(8, '0')}`
  // A character that is cut in two is left out.
  const bytes = Buffer.from(text).subarray(0, longestName - digest.length)
  return `${bytes.toString().replace(/\ufffd+$/, '')}${digest}`
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function literal(text: string): string {
  return `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}

const notAllowed = '42501'

function codeOf(error: unknown): string | undefined {
  const cause = error instanceof RanklineError ? error.cause : error
  return (cause as { readonly code?: string } | undefined)?.code
}

/** Statements whose errors are sentences. */
function told({ query }: Pick<Statements, 'query'>, place: string): Statements {
  return {
    query: async (text, values) => {
      try {
        return await query(text, values)
      } catch (error) {
        throw explained(error, place, 'of a statement')
      }
    },
  }
}

/** What the database said as one sentence; errors of other things stay as they are. */
function explained(error: unknown, place: string, source?: 'of a statement'): unknown {
  if (error instanceof JournalUnreachable)
    return new RanklineError(
      `The database cannot be reached: ${error.message}. An export is written as a whole or not at all: check the address and the network, then run the same command again`,
      exitCodes.unavailable,
      { cause: error },
    )
  if (source === undefined || error instanceof RanklineError) return error
  const advice =
    codeOf(error) === notAllowed
      ? '. Let the owner grant that, or name another schema at the end of --to'
      : ''
  return new UsageError(`${place} refuses the export: ${(error as Error).message}${advice}`, { cause: error })
}

/** The types of the cells of an exported column. An `instant` is ISO 8601 text in UTC, `json` is its text. */
type CellType = 'text' | 'integer' | 'long' | 'decimal' | 'instant' | 'json'

/** The types of columns in Postgres. */
export const columnTypes = {
  text: 'text',
  integer: 'integer',
  long: 'bigint',
  decimal: 'double precision',
  instant: 'timestamptz',
  json: 'jsonb',
} as const satisfies Record<CellType, string>

/** A cell as a column of its type takes it: Postgres has no text with NUL characters, and its JSON has no half of a pair, either. */
function storedCell(cell: Cell, type: CellType): Cell {
  if (cell === null) return null
  if (type === 'json') return storableJson(String(cell))
  return type === 'text' ? storableText(String(cell)) : cell
}

function storableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}

/** What a backslash of JSON can begin: a pair of halves, which is a character, another code, or a single letter. */
const escapes = /\\(?:u[dD][89aAbB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u(?<code>[\da-fA-F]{4})|[^u])/g

function storableJson(text: string): string {
  if (!text.includes('\\u')) return text
  return text.replace(escapes, (written: string, code: string | undefined) =>
    code !== undefined && /^(0000|d[89a-f]..)$/i.test(code) ? '\\ufffd' : written,
  )
}
