import { stringify } from 'csv-stringify/sync'
import { withoutFormula } from '../../model/text.ts'
import { type Cells, type CsvStyle, type TextOptions, textChunks } from './format.ts'

/** Rows as CSV, with the names of the columns in the first line. */
export function writeCsv(rows: Iterable<Cells>, options: TextOptions): AsyncGenerator<string> {
  return textChunks(csvLines(rows, options))
}

/** Rows that are written together, because each call of the package has a fixed cost. */
const csvBatchRows = 50

/** Cells with what parts cells or lines anywhere are quoted, so that a reader with another separator keeps the columns. */
const quotedMatch = /[,;\t\r\n]/

const csvForms: Readonly<Record<CsvStyle, Parameters<typeof stringify>[1]>> = {
  raw: { quoted_match: quotedMatch },
  guarded: { quoted_match: quotedMatch, cast: { string: withoutFormula } },
  excel: {
    quoted_match: quotedMatch,
    delimiter: ';',
    // Where columns end with a semicolon, decimals follow a comma.
    cast: { string: withoutFormula, number: (value) => String(value).replace('.', ',') },
  },
}

function* csvLines(rows: Iterable<Cells>, { columns, csv }: TextOptions): Generator<string> {
  const options = csvForms[csv]
  const head = stringify([columns.map(({ name }) => name)], options)
  yield csv === 'excel' ? `\ufeff${head}` : head
  let batch: Cells[] = []
  for (const row of rows) {
    batch.push(row)
    if (batch.length < csvBatchRows) continue
    yield stringify(batch, options)
    batch = []
  }
  yield stringify(batch, options)
}
