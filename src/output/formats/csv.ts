import { stringify } from 'csv-stringify/sync'
import { withoutFormula } from '../../model/text.ts'
import { type Cells, type TextOptions, textChunks } from './format.ts'

/** Rows as CSV, with the names of the columns in the first line. */
export function writeCsv(rows: Iterable<Cells>, options: TextOptions): AsyncGenerator<string> {
  return textChunks(lines(rows, options))
}

/** Rows that are written together, because each call of the package has a fixed cost. */
const batchRows = 50

function* lines(rows: Iterable<Cells>, { columns, raw }: TextOptions): Generator<string> {
  const options = raw ? {} : { cast: { string: withoutFormula } }
  yield stringify([columns.map(({ name }) => name)])
  let batch: Cells[] = []
  for (const row of rows) {
    batch.push(row)
    if (batch.length < batchRows) continue
    yield stringify(batch, options)
    batch = []
  }
  yield stringify(batch, options)
}
