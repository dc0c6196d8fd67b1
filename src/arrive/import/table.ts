import { UsageError } from '../../model/errors.ts'
import { type CsvRecord, cellText, readCsv, textRow } from '../csv.ts'
import type { ForeignFile } from './source.ts'

/** A table with a header, below whatever stands above it. */
export interface ForeignTable {
  /** The names of its columns, as they are written. */
  readonly header: readonly string[]
  /** The place of the column of one of these names, whatever their case; -1 where there is none. */
  readonly column: (...names: readonly string[]) => number
  /** Gives each row below the header to a function. It is one object, of each row in turn. */
  readonly eachRow: (take: (row: ForeignRow) => void) => Promise<void>
}

/** A row of a table. Cells are trimmed. */
export interface ForeignRow {
  /** `file.csv:12`. */
  readonly where: () => string
  readonly cells: () => readonly string[]
  /** A cell that may be missing; empty also for a column that the table does not have. */
  readonly cell: (column: number) => string
  /** A cell that every row must have. */
  readonly needed: (column: number) => string
}

/** The table of a file whose header is the first row that this says of; null where there is none in its first lines. */
export function tableIn(
  file: ForeignFile,
  isHeader: (names: ReadonlySet<string>) => boolean,
): ForeignTable | null {
  const header = file.headRows.find(({ cells }) => isHeader(new Set(cells.map(nameOf))))
  if (header === undefined) return null
  const names = header.cells.map(nameOf)
  return {
    header: header.cells,
    column: (...wanted) => {
      const found = wanted.map((name) => names.indexOf(name)).filter((index) => index >= 0)
      return found[0] ?? -1
    },
    eachRow: async (take) => {
      const reader = rowReader(file)
      await readCsv(file, file.separator, (record) => {
        if (record.line <= header.line) return
        take(reader(record))
      })
    },
  }
}

function nameOf(cell: string): string {
  return cell.trim().toLowerCase()
}

/** What a cell held when it was last read. */
interface LastCell {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Reads records as rows. Most cells hold what the row above holds there: they stay the same string. */
function rowReader({ name }: ForeignFile): (record: CsvRecord) => ForeignRow {
  let record = null as CsvRecord | null
  const at = (): CsvRecord => record as CsvRecord
  const last: (LastCell | undefined)[] = []
  const cell = (column: number): string => {
    const { bytes, starts, ends, doubled, cells } = at()
    if (column < 0 || column >= cells) return ''
    if (doubled[column] === 1) return cellText(at(), column).trim()
    const [start, end] = [starts[column] as number, ends[column] as number]
    const above = last[column]
    if (above !== undefined && isSame(above, bytes, start, end)) return above.text
    const text = cellText(at(), column).trim()
    last[column] = { bytes, start, end, text }
    return text
  }
  const row: ForeignRow = {
    where: () => `${name}:${at().line}`,
    cells: () => textRow(at()).cells,
    cell,
    needed: (column) => {
      if (column < at().cells) return cell(column)
      throw new UsageError(
        `${name}:${at().line}: the row ends after ${at().cells} cells, before its column ${column + 1}. The file is cut off or broken: export it again`,
      )
    },
  }
  return (next) => {
    record = next
    return row
  }
}

function isSame(above: LastCell, bytes: Buffer, start: number, end: number): boolean {
  if (end - start !== above.end - above.start) return false
  for (let at = start, before = above.start; at < end; at++, before++)
    if (bytes[at] !== above.bytes[before]) return false
  return true
}
