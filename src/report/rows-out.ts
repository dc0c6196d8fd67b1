import { stringify } from 'csv-stringify/sync'
import type { Row } from './rank-rows.ts'

export type RowFormat = 'csv' | 'json' | 'jsonl'

/** The cells of a row, in the order of its columns. */
export type Cells = readonly Row[string][]

export interface RowsOut {
  readonly columns: readonly string[]
  readonly format: RowFormat
  /** CSV for programs: text that a spreadsheet would take for a formula stays as it is. */
  readonly raw: boolean
}

/** Characters that a piece has, about: enough that writing it costs little, for each row. */
const pieceLength = 32_768

/** Rows as pieces of text in the format, in flat memory. */
export function rowsOut(rows: Iterable<Row>, out: RowsOut): AsyncGenerator<string> {
  return cellsOut(cellsOf(rows, out.columns), out)
}

function* cellsOf(rows: Iterable<Row>, columns: readonly string[]): Generator<Cells> {
  for (const row of rows) yield columns.map((name) => row[name] ?? null)
}

/** The same for rows whose cells stand in the order of the columns. */
export async function* cellsOut(
  rows: Iterable<Cells>,
  { columns, format, raw }: RowsOut,
): AsyncGenerator<string> {
  const lines = format === 'csv' ? csv(rows, columns, raw) : { json, jsonl }[format](rows, columns)
  let piece = ''
  for (const line of lines) {
    piece += line
    if (piece.length < pieceLength) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

function* json(rows: Iterable<Cells>, columns: readonly string[]): Generator<string> {
  const object = objectWriter(columns)
  let before = '[\n'
  for (const row of rows) {
    yield `${before}  ${object(row)}`
    before = ',\n'
  }
  yield before === '[\n' ? '[]\n' : '\n]\n'
}

function* jsonl(rows: Iterable<Cells>, columns: readonly string[]): Generator<string> {
  const object = objectWriter(columns)
  for (const row of rows) yield `${object(row)}\n`
}

/** Writes rows as JSON objects; the names are made into JSON once. */
function objectWriter(columns: readonly string[]): (cells: Cells) => string {
  const keys = columns.map((name, index) => `${index === 0 ? '' : ','}${JSON.stringify(name)}:`)
  return (cells) => {
    let text = '{'
    for (let index = 0; index < keys.length; index++) text += keys[index] + JSON.stringify(cells[index])
    return `${text}}`
  }
}

/** Rows that are written together: one by one, each would be set up anew. */
const batchRows = 50

function* csv(rows: Iterable<Cells>, columns: readonly string[], raw: boolean): Generator<string> {
  const options = { escape_formulas: !raw }
  yield stringify([columns])
  let batch: Cells[] = []
  for (const row of rows) {
    batch.push(row)
    if (batch.length < batchRows) continue
    yield stringify(batch, options)
    batch = []
  }
  yield stringify(batch, options)
}
