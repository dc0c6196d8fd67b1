import type { Cell, Row } from '../../model/result.ts'

/**
 * The type of the cells of a column, in every format. `integer` has 32 bits; `long` has 64, for numbers of the service; a `decimal` has a part below one. An
 * `instant` is ISO 8601 text in UTC, and `json` is its text, if a format has no type for it. In JSON, `json` is a value.
 */
export type ColumnType = 'text' | 'integer' | 'long' | 'decimal' | 'instant' | 'json'

export interface Column {
  readonly name: string
  readonly type: ColumnType
}

/** The cells of a row, in the order of its columns. */
export type Cells = readonly Cell[]

/** Rows by name, as their cells in the order of the columns. */
export function* cellsOf(rows: Iterable<Row>, columns: TextOptions['columns']): Generator<Cells> {
  for (const row of rows) yield columns.map(({ name }) => row[name] ?? null)
}

/**
 * How CSV is written. `guarded` keeps spreadsheets from running text as formulas; `excel` is that in the form that Excel opens by a double
 * click where decimals follow a comma; `raw` is text as it is, for programs.
 */
export type CsvStyle = 'guarded' | 'excel' | 'raw'

/** The options of text formats. Only `json` is written in another way than as text, and only as JSON. */
export interface TextOptions {
  readonly columns: readonly (Pick<Column, 'name'> & Partial<Pick<Column, 'type'>>)[]
  readonly csv: CsvStyle
}

export interface RowOptions extends TextOptions {
  readonly columns: readonly Column[]
  /** The name of the rows, for instance of their sheet. */
  readonly name: string
}

/** Writes rows in a format, in chunks and in constant memory. */
export type WriteRows = (rows: Iterable<Cells>, options: RowOptions) => AsyncIterable<string | Uint8Array>

/** A whole text as the one chunk of a stream. */
export async function* asStream(text: string): AsyncGenerator<string> {
  yield text
}

/** Characters of a chunk, about; large, so that writing costs little per row. */
const chunkLength = 32_768

/** Lines of text, joined to chunks. */
export async function* textChunks(lines: Iterable<string>): AsyncGenerator<string> {
  let chunk = ''
  for (const line of lines) {
    chunk += line
    if (chunk.length < chunkLength) continue
    yield chunk
    chunk = ''
  }
  if (chunk !== '') yield chunk
}

/** Rows as one JSON list of objects. */
export function writeJson(rows: Iterable<Cells>, { columns }: TextOptions): AsyncGenerator<string> {
  return textChunks(list(rows, columns))
}

/** Rows as JSON objects, one on each line. */
export function writeJsonLines(rows: Iterable<Cells>, { columns }: TextOptions): AsyncGenerator<string> {
  return textChunks(lines(rows, columns))
}

function* list(rows: Iterable<Cells>, columns: TextOptions['columns']): Generator<string> {
  const object = objectWriter(columns)
  let before = '[\n'
  for (const row of rows) {
    yield `${before}  ${object(row)}`
    before = ',\n'
  }
  yield before === '[\n' ? '[]\n' : '\n]\n'
}

function* lines(rows: Iterable<Cells>, columns: TextOptions['columns']): Generator<string> {
  const object = objectWriter(columns)
  for (const row of rows) yield `${object(row)}\n`
}

/** Writes rows as JSON objects; names are encoded only once. */
function objectWriter(columns: TextOptions['columns']): (cells: Cells) => string {
  const fields = columns.map(({ name, type }, index) => ({
    key: `${index === 0 ? '' : ','}${JSON.stringify(name)}:`,
    write: type === 'json' ? jsonText : JSON.stringify,
  }))
  return (cells) => {
    let text = '{'
    for (const [index, { key, write }] of fields.entries()) text += key + write(cells[index] ?? null)
    return `${text}}`
  }
}

/** The value that a JSON text says, in one line; text that is no JSON stays text. */
function jsonText(cell: Cells[number]): string {
  if (typeof cell !== 'string') return JSON.stringify(cell)
  try {
    return JSON.stringify(JSON.parse(cell))
  } catch {
    return JSON.stringify(cell)
  }
}
