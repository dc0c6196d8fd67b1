import stringWidth from 'string-width'
import { fitColumns } from '../terminal.ts'

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** Takes what the others leave when the table is wider than the terminal. */
  readonly shrinks?: true
  /** Left out, the last one first, when even that is too wide. */
  readonly dropped?: true
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
  const shown = fitting(columns, widths, width)
  const excess = total(shown.map((index) => widths[index] ?? 0)) - width
  const shrinking = shown.find((index) => columns[index]?.shrinks)
  if (excess > 0 && shrinking !== undefined)
    widths[shrinking] = Math.max(minimum(columns[shrinking]), (widths[shrinking] ?? 0) - excess)
  const line = (cells: readonly string[]): string =>
    shown
      .map((index) => fitColumns(cells[index] ?? '', widths[index] ?? 0, columns[index]?.align))
      .join(gap)
      .trimEnd()
  return [line(columns.map(({ title }) => title)), ...rows.map(line)].join('\n').concat('\n')
}

/** The columns that there is room for, by their index. */
function fitting(columns: readonly Column[], widths: readonly number[], width: number): readonly number[] {
  const least = (index: number): number =>
    columns[index]?.shrinks ? Math.min(widths[index] ?? 0, minimum(columns[index])) : (widths[index] ?? 0)
  let shown = columns.map((_, index) => index)
  while (total(shown.map(least)) > width) {
    const last = shown.findLast((index) => columns[index]?.dropped)
    if (last === undefined) break
    shown = shown.filter((index) => index !== last)
  }
  return shown
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one + gap.length, -gap.length)
}

function minimum(column: Column | undefined): number {
  return Math.max(8, stringWidth(column?.title ?? ''))
}
