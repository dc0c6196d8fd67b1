import { type Sheet, workbook } from '../xlsx/workbook.ts'
import type { Column, ColumnType } from './columns.ts'
import { parquetOut } from './parquet.ts'
import { type Cells, cellsOut } from './rows-out.ts'

export const exportFormats = ['csv', 'jsonl', 'json', 'parquet', 'xlsx'] as const

export type ExportFormat = (typeof exportFormats)[number]

export interface ExportOut {
  /** What is exported; the name of a sheet. */
  readonly kind: string
  readonly columns: readonly Column[]
  readonly format: ExportFormat
  /** CSV for programs: text that a spreadsheet would take for a formula stays as it is. */
  readonly raw: boolean
}

/** Rows in a format, piece by piece, in flat memory. */
export function exportOut(
  rows: Iterable<Cells>,
  { kind, columns, format, raw }: ExportOut,
): AsyncIterable<string | Uint8Array> {
  if (format === 'parquet') return parquetOut(rows, columns)
  if (format === 'xlsx') return workbook([sheetOf(rows, kind, columns)])
  return cellsOut(rows, { columns: columns.map(({ name }) => name), format, raw })
}

/** Whether a terminal cannot show it. */
export function isBinary(format: ExportFormat): boolean {
  return format === 'parquet' || format === 'xlsx'
}

const sheetKinds = {
  text: { kind: 'text', width: 30 },
  integer: { kind: 'number', width: 10 },
  long: { kind: 'number', width: 10 },
  instant: { kind: 'datetime', width: 20 },
} as const satisfies Record<ColumnType, unknown>

function sheetOf(rows: Iterable<Cells>, name: string, columns: readonly Column[]): Sheet {
  return { name, columns: columns.map(({ name, type }) => ({ header: name, ...sheetKinds[type] })), rows }
}
