import { Readable } from 'node:stream'
import { stringify } from 'csv-stringify'
import type { Row } from './rank-rows.ts'

export type RowFormat = 'csv' | 'json' | 'jsonl'

export interface RowsOut {
  readonly columns: readonly string[]
  readonly format: RowFormat
  /** CSV for programs: text that a spreadsheet would take for a formula stays as it is. */
  readonly raw: boolean
}

/** Rows as pieces of text in the format, in flat memory. */
export async function* rowsOut(
  rows: Iterable<Row>,
  { columns, format, raw }: RowsOut,
): AsyncGenerator<string> {
  if (format === 'csv') yield* csv(rows, columns, raw)
  else if (format === 'jsonl') for (const row of rows) yield `${JSON.stringify(picked(row, columns))}\n`
  else yield* json(rows, columns)
}

async function* json(rows: Iterable<Row>, columns: readonly string[]): AsyncGenerator<string> {
  let before = '[\n'
  for (const row of rows) {
    yield `${before}  ${JSON.stringify(picked(row, columns))}`
    before = ',\n'
  }
  yield before === '[\n' ? '[]\n' : '\n]\n'
}

async function* csv(rows: Iterable<Row>, columns: readonly string[], raw: boolean): AsyncGenerator<string> {
  const stringifier = stringify({ header: true, columns: [...columns], escape_formulas: !raw })
  const source = Readable.from(rows)
  source.on('error', (error) => stringifier.destroy(error))
  try {
    for await (const text of source.pipe(stringifier)) yield String(text)
  } finally {
    // Whoever stops reading early must not leave the rows open.
    source.destroy()
  }
}

function picked(row: Row, columns: readonly string[]): Row {
  return Object.fromEntries(columns.map((name) => [name, row[name] ?? null]))
}
