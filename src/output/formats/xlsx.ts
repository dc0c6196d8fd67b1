import { workbook } from '../xlsx.ts'
import type { Cells, ColumnType, RowOptions } from './format.ts'

const cellKinds = {
  text: { kind: 'text', width: 30 },
  integer: { kind: 'number', width: 10 },
  long: { kind: 'number', width: 10 },
  instant: { kind: 'datetime', width: 20 },
  json: { kind: 'text', width: 30 },
} as const satisfies Record<ColumnType, unknown>

/** Rows as a workbook of one sheet. */
export function writeXlsx(rows: Iterable<Cells>, { name, columns }: RowOptions): AsyncIterable<Uint8Array> {
  const sheetColumns = columns.map((column) => ({ header: column.name, ...cellKinds[column.type] }))
  return workbook([{ name, columns: sheetColumns, rows }])
}
