import { styleText } from 'node:util'
import { fitColumns, textWidth } from './terminal.ts'

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

/** Text over as many lines as it takes, broken between words, and within those that are wider than a line. */
export function wrap(text: string, width: number, indent = ''): readonly string[] {
  const room = Math.max(1, width - textWidth(indent))
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((one) => broken(one, room))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (textWidth(longer) <= room) line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line].map((one) => indent + one)
}

function broken(word: string, room: number): readonly string[] {
  if (textWidth(word) <= room) return [word]
  const parts = ['']
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    const longer = parts.at(-1) + segment
    if (textWidth(longer) <= room || parts.at(-1) === '') parts[parts.length - 1] = longer
    else parts.push(segment)
  }
  return parts
}

/** Signs that reports draw with, and what stands for each where a terminal has none of them: as wide, so that columns stay. */
const signs: Readonly<Record<string, string>> = {
  '▲': '+',
  '▼': '-',
  '…': '.',
  '·': 'x',
  '█': '#',
  '▇': '%',
  '▆': '*',
  '▅': '+',
  '▄': '=',
  '▃': '-',
  '▂': ',',
  '▁': '_',
}

const drawn = new RegExp(`[${Object.keys(signs).join('')}]`, 'g')

/** The text with its drawing signs in ASCII; words of other scripts stay as they are. */
export function asciiSigns(text: string): string {
  return text.replace(drawn, (sign) => signs[sign] as string)
}

/** The table with a bold head, gains green and losses red. */
export function colored(table: string): string {
  return table
    .replace(/^.*$/m, (head) => styleText('bold', head, { validateStream: false }))
    .replace(/▲ [\d.]+/g, (up) => styleText('green', up, { validateStream: false }))
    .replace(/▼ [\d.]+/g, (down) => styleText('red', down, { validateStream: false }))
}
