import { fitColumns } from '../terminal.ts'
import { textWidth } from '../text-width.ts'

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** Takes what the others leave when the table is wider than the terminal; of several, the last one first. */
  readonly shrinks?: true
  /** As narrow as it is readable; eight columns, or its title, where nothing is said. */
  readonly least?: number
  /** Left out, the last one first, when even that is too wide. */
  readonly dropped?: true
  /** What is too wide loses its beginning, without a mark. */
  readonly keepsEnd?: true
}

const gap = '  '

/**
 * A table for the terminal; cells are plain text that was made harmless before.
 *
 * @param columns at most `width` columns wide together, where some may shrink
 */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const natural = columns.map(({ title }, index) =>
    rows.reduce((most, row) => Math.max(most, textWidth(row[index] ?? '')), textWidth(title)),
  )
  const shown = fitting(columns, natural, width)
  const widths = narrowed(columns, natural, { shown, width })
  const line = (cells: readonly string[]): string =>
    shown
      .map((index) => cellText(cells[index] ?? '', widths[index] ?? 0, columns[index] as Column))
      .join(gap)
      .trimEnd()
  return [line(columns.map(({ title }) => title)), ...rows.map(line)].join('\n').concat('\n')
}

function cellText(cell: string, width: number, { align, keepsEnd }: Column): string {
  const text = keepsEnd === true ? endOf(cell, width) : cell
  return fitColumns(text, width, align)
}

function endOf(text: string, width: number): string {
  const letters = Array.from(text)
  return letters.slice(Math.max(0, letters.length - width)).join('')
}

/** The columns that there is room for, by their index. */
function fitting(columns: readonly Column[], widths: readonly number[], width: number): readonly number[] {
  const least = (index: number): number =>
    columns[index]?.shrinks ? Math.min(widths[index] ?? 0, leastOf(columns[index])) : (widths[index] ?? 0)
  let shown = columns.map((_, index) => index)
  while (total(shown.map(least)) > width) {
    const last = shown.findLast((index) => columns[index]?.dropped)
    if (last === undefined) break
    shown = shown.filter((index) => index !== last)
  }
  return shown
}

interface Room {
  readonly shown: readonly number[]
  readonly width: number
}

/** Widths of which those that shrink have given what is too much: down to what is readable, then to what there must be. */
function narrowed(
  columns: readonly Column[],
  natural: readonly number[],
  { shown, width }: Room,
): readonly number[] {
  const widths = [...natural]
  const shrinking = shown.filter((index) => columns[index]?.shrinks).reverse()
  for (const least of [leastOf, minimum])
    for (const index of shrinking) {
      const own = widths[index] ?? 0
      const excess = total(shown.map((one) => widths[one] ?? 0)) - width
      if (excess > 0) widths[index] = Math.max(Math.min(own, least(columns[index])), own - excess)
    }
  return widths
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one + gap.length, -gap.length)
}

function leastOf(column: Column | undefined): number {
  return column?.least ?? minimum(column)
}

function minimum(column: Column | undefined): number {
  return Math.max(8, textWidth(column?.title ?? ''))
}
