import stringWidth from 'string-width'
import { fitColumns } from '../terminal.ts'

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** Takes what the others leave when the table is wider than the terminal. */
  readonly shrinks?: true
}

const gap = '  '

/**
 * A table for the terminal; cells are plain text that was made harmless before.
 *
 * @param columns at most this many columns wide, where one of them may shrink
 */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const widths = columns.map(({ title }, index) =>
    rows.reduce((most, row) => Math.max(most, stringWidth(row[index] ?? '')), stringWidth(title)),
  )
  const excess = widths.reduce((sum, one) => sum + one + gap.length, -gap.length) - width
  const shrinking = columns.findIndex(({ shrinks }) => shrinks)
  if (excess > 0 && shrinking >= 0)
    widths[shrinking] = Math.max(minimum(columns[shrinking]), (widths[shrinking] ?? 0) - excess)
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align }, index) => fitColumns(cells[index] ?? '', widths[index] ?? 0, align))
      .join(gap)
      .trimEnd()
  return [line(columns.map(({ title }) => title)), ...rows.map(line)].join('\n').concat('\n')
}

function minimum(column: Column | undefined): number {
  return Math.max(8, stringWidth(column?.title ?? ''))
}
