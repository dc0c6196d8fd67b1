import type { CellKind, SheetCell, SheetColumn } from '../../xlsx/sheet.ts'
import type { Sheet } from '../../xlsx/workbook.ts'

/** A column of a sheet, and what it says of a thing. */
export interface SheetField<T> extends SheetColumn {
  readonly of: (thing: T) => SheetCell
}

const widths: Readonly<Record<CellKind, number>> = {
  text: 24,
  number: 12,
  decimal: 12,
  date: 12,
  datetime: 20,
  percent: 12,
}

/** A column that is as wide as what it mostly holds. */
export function field<T>(
  header: string,
  kind: CellKind,
  of: (thing: T) => SheetCell,
  width = widths[kind],
): SheetField<T> {
  return { header, kind, width: Math.max(width, header.length + 3), of }
}

/** Things as rows, one after the other. */
export function sheet<T>(name: string, fields: readonly SheetField<T>[], things: Iterable<T>): Sheet {
  return {
    name,
    columns: fields.map(({ header, kind, width }) => ({ header, kind, width })),
    rows: rows(),
  }

  function* rows(): Generator<readonly SheetCell[]> {
    for (const thing of things) yield fields.map(({ of }) => of(thing))
  }
}
