import type { Cell, Row } from '../../model/result.ts'

/**
 * What the cells of a column are, in every format: `integer` has 32 bits, `long` 64, as whatever the service sent may
 * need; an `instant` is ISO 8601 text in UTC where a format has no type of its own for it.
 */
export type ColumnType = 'text' | 'integer' | 'long' | 'instant'

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

/** What text needs to know of rows: it has no types. */
export interface TextOptions {
  readonly columns: readonly Pick<Column, 'name'>[]
  /** CSV for programs: text that a spreadsheet would take for a formula stays as it is. */
  readonly raw: boolean
}

export interface RowOptions extends TextOptions {
  readonly columns: readonly Column[]
  /** What the rows are; the name of a sheet. */
  readonly name: string
}

/** Writes rows in a format, in chunks and in flat memory. */
export type WriteRows = (rows: Iterable<Cells>, options: RowOptions) => AsyncIterable<string | Uint8Array>

export interface RowFormat {
  /** Extensions of the files that are of this format. */
  readonly extensions: readonly string[]
  /** Whether a terminal cannot show it. */
  readonly binary?: true
  readonly load: () => Promise<WriteRows>
}

/** A whole text as the one chunk of a stream. */
export async function* asStream(text: string): AsyncGenerator<string> {
  yield text
}

/** Characters of a chunk, about: enough that writing it costs little for each row. */
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
