/** A column of a table; numbers stand to the right. */
export interface MdColumn<T> {
  readonly title: string
  readonly align?: 'right'
  /** Markdown. */
  readonly cell: (row: T, place: number) => string
}

/** A table; its cells are Markdown. */
export function mdTable<T>(columns: readonly MdColumn<T>[], rows: readonly T[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    line(columns.map(({ title }) => title)),
    line(columns.map(({ align }) => (align === 'right' ? '---:' : '---'))),
    ...rows.map((row, place) => line(columns.map(({ cell }) => cell(row, place)))),
  ].join('\n')
}
