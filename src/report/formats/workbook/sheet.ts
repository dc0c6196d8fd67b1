import type { CellKind, Sheet, SheetCell, SheetColumn } from '../../../output/xlsx.ts'
import type { Keyword } from '../../history/rank-history.ts'

/** A column of a sheet, with the cell that it makes of a thing. */
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

/** A column with a width that fits most of its cells. */
export function field<T>(
  header: string,
  kind: CellKind,
  of: (thing: T) => SheetCell,
  width = widths[kind],
): SheetField<T> {
  return { header, kind, width: Math.max(width, header.length + 3), of }
}

/** A sheet with a row for each thing. */
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

/** The columns that name a keyword; rows of all sheets can be joined by them. */
export function keywordFields<T>(keywordOf: (thing: T) => Keyword): readonly SheetField<T>[] {
  const param = (name: string) =>
    field<T>(name, 'text', (thing) => keywordOf(thing).params[name] ?? null, name === 'location' ? 20 : 6)
  return [
    field('query', 'text', (thing) => keywordOf(thing).query, 36),
    field('operation', 'text', (thing) => keywordOf(thing).operation, 14),
    ...['gl', 'hl', 'location'].map(param),
    field('params', 'text', (thing) => JSON.stringify(keywordOf(thing).params), 20),
  ]
}
