import { UsageError } from '../../model/errors.ts'
import { type DelimitedRow, tableRows } from './delimited.ts'
import { type ForeignFile, separatorOf } from './source.ts'

/** A table with a header, below whatever stands above it. */
export interface ForeignTable {
  /** The names of its columns, as they are written. */
  readonly header: readonly string[]
  /** The place of the column of one of these names, whatever their case; -1 where there is none. */
  readonly column: (...names: readonly string[]) => number
  readonly rows: () => AsyncGenerator<readonly DelimitedRow[]>
}

/** The table of a file whose header is the first row that this says of; null where there is none in its first lines. */
export function tableIn(
  file: ForeignFile,
  isHeader: (names: ReadonlySet<string>) => boolean,
): ForeignTable | null {
  const header = file.headRows.find((cells) => isHeader(new Set(cells.map(nameOf))))
  if (header === undefined) return null
  const names = header.map(nameOf)
  const separator = separatorOf(file.head)
  return {
    header,
    column: (...wanted) => {
      const found = wanted.map((name) => names.indexOf(name)).filter((index) => index >= 0)
      return found[0] ?? -1
    },
    rows: async function* () {
      let isBelow = false
      for await (const rows of tableRows(file.path, file.text(), separator)) {
        if (isBelow) yield rows
        else {
          const at = rows.findIndex(({ cells }) => isHeader(new Set(cells.map(nameOf))))
          if (at < 0) continue
          isBelow = true
          yield rows.slice(at + 1)
        }
      }
    },
  }
}

function nameOf(cell: string): string {
  return cell.trim().toLowerCase()
}

/** A cell that every row must have. */
export function neededCell({ cells, line }: DelimitedRow, column: number, { path }: ForeignFile): string {
  const cell = cells[column]
  if (cell !== undefined) return cell.trim()
  throw new UsageError(
    `${path}, line ${line}: the row ends after ${cells.length} cells, before its column ${column + 1}. The file is cut off or broken: export it again`,
  )
}

/** A cell that may be missing; undefined for a column that the table does not have. */
export function cellOf({ cells }: DelimitedRow, column: number): string | undefined {
  return column < 0 ? undefined : cells[column]?.trim()
}
