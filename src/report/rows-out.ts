import { stringify } from 'csv-stringify/sync'
import type { Row } from './rank-rows.ts'

export type RowFormat = 'csv' | 'json' | 'jsonl'

export interface RowsOut {
  readonly columns: readonly string[]
  readonly format: RowFormat
  /** CSV for programs: text that a spreadsheet would take for a formula stays as it is. */
  readonly raw: boolean
}

/** Characters that a piece has, about: enough that writing it costs little, for each row. */
const pieceLength = 32_768

/** Rows as pieces of text in the format, in flat memory. */
export async function* rowsOut(
  rows: Iterable<Row>,
  { columns, format, raw }: RowsOut,
): AsyncGenerator<string> {
  const lines = {
    csv: () => csv(rows, columns, raw),
    json: () => json(rows, columns),
    jsonl: () => jsonl(rows, columns),
  }
  let piece = ''
  for (const line of lines[format]()) {
    piece += line
    if (piece.length < pieceLength) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

function* json(rows: Iterable<Row>, columns: readonly string[]): Generator<string> {
  let before = '[\n'
  for (const row of rows) {
    yield `${before}  ${JSON.stringify(picked(row, columns))}`
    before = ',\n'
  }
  yield before === '[\n' ? '[]\n' : '\n]\n'
}

function* jsonl(rows: Iterable<Row>, columns: readonly string[]): Generator<string> {
  for (const row of rows) yield `${JSON.stringify(picked(row, columns))}\n`
}

/** Rows that are written together: one by one, each would be set up anew. */
const batchRows = 50

function* csv(rows: Iterable<Row>, columns: readonly string[], raw: boolean): Generator<string> {
  const options = { escape_formulas: !raw }
  yield stringify([columns])
  let batch: Row[string][][] = []
  for (const row of rows) {
    batch.push(columns.map((name) => row[name] ?? null))
    if (batch.length < batchRows) continue
    yield stringify(batch, options)
    batch = []
  }
  yield stringify(batch, options)
}

function picked(row: Row, columns: readonly string[]): Row {
  const cells: Record<string, Row[string]> = {}
  for (const name of columns) cells[name] = row[name] ?? null
  return cells
}
