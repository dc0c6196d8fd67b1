import { styleText } from 'node:util'
import { fitColumns, textWidth } from './terminal.ts'

export interface TableColumn {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** Becomes narrower if the table is wider than the terminal; of several columns, the last one first. */
  readonly shrinks?: true
  /** The least readable width; by default eight, or the width of the title. */
  readonly least?: number
  /** Left out if the table is still too wide; the last such column first. */
  readonly dropped?: boolean
  /** Cells that are too wide lose their beginning, without a mark. */
  readonly keepsEnd?: true
}

/** A column with what it says of a thing. */
export interface CellColumn<T> extends TableColumn {
  /** False leaves the column out, whatever the width. */
  readonly when?: boolean
  readonly cell: (thing: T, place: number) => string
}

const gap = '  '
/** They would turn the cells behind them, too. */
const turns = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * A table for the terminal. Cells are plain text without control characters; signs that turn the direction of writing become spaces.
 *
 * @param width the width of the terminal; columns that may shrink or be dropped make the table fit
 */
export function formatTable(
  columns: readonly TableColumn[],
  given: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const rows = given.map((cells) => cells.map((cell) => cell.replace(turns, ' ')))
  const natural = naturalWidths(columns, rows)
  const shown = fitting(columns, natural, width)
  const widths = narrowed(columns, natural, { shown, width })
  const line = (cells: readonly string[]): string =>
    shown
      .map((index) => cellText(cells[index] ?? '', widths[index] ?? 0, columns[index] as TableColumn))
      .join(gap)
      .trimEnd()
  return [line(columns.map(({ title }) => title)), ...rows.map(line)].join('\n').concat('\n')
}

/** A table of things, a line for each; and the titles of the columns that fit. */
export function tableOf<T>(things: readonly T[], all: readonly CellColumn<NoInfer<T>>[], width?: number) {
  const columns = all.filter(({ when }) => when !== false)
  const rows = things.map((thing, place) => columns.map(({ cell }) => cell(thing, place)))
  const shown = shownColumns(columns, rows, width)
  return { table: formatTable(columns, rows, width), shown: shown.map(({ title }) => title) }
}

/** The columns that the table has on a terminal of that width. */
function shownColumns<C extends TableColumn>(
  columns: readonly C[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): readonly C[] {
  return fitting(columns, naturalWidths(columns, rows), width).map((index) => columns[index] as C)
}

function naturalWidths(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
): readonly number[] {
  return columns.map(({ title }, index) =>
    rows.reduce((most, row) => Math.max(most, textWidth(row[index] ?? '')), textWidth(title)),
  )
}

function cellText(cell: string, width: number, { align, keepsEnd }: TableColumn): string {
  const text = keepsEnd === true ? endOf(cell, width) : cell
  return fitColumns(text, width, align)
}

function endOf(text: string, width: number): string {
  const letters = Array.from(text)
  return letters.slice(Math.max(0, letters.length - width)).join('')
}

/** The columns that fit, by their index. */
function fitting(
  columns: readonly TableColumn[],
  widths: readonly number[],
  width: number,
): readonly number[] {
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

/** The widths after shrinking: first down to the least readable width, then down to the minimum. */
function narrowed(
  columns: readonly TableColumn[],
  natural: readonly number[],
  {
    shown,
    width,
  }: {
    readonly shown: readonly number[]
    readonly width: number
  },
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

function leastOf(column: TableColumn | undefined): number {
  return column?.least ?? minimum(column)
}

function minimum(column: TableColumn | undefined): number {
  return Math.max(8, textWidth(column?.title ?? ''))
}

/** Text in lines, broken between words, and within words that are wider than a line. */
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

/**
 * Text whose lines fit a screen of that width: a longer line is broken between words, and goes on as far in as it began. A word that is
 * wider than the screen stays whole.
 */
export function wrapLines(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => {
      if (textWidth(line) <= width) return [line]
      const [indent = ''] = line.match(/^ */) ?? []
      const lines: string[] = []
      for (const word of line.slice(indent.length).split(' ')) {
        const longer = `${lines.at(-1)} ${word}`
        if (lines.length > 0 && textWidth(longer) <= width) lines[lines.length - 1] = longer
        else lines.push(indent + word)
      }
      return lines
    })
    .join('\n')
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

/** Signs of reports with their replacement on ASCII terminals; of the same width, so that columns stay aligned. */
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
  '→': '>',
  '▂': ',',
  '▁': '_',
  '“': '"',
  '”': '"',
  '−': '-',
}

const drawn = new RegExp(`[${Object.keys(signs).join('')}]`, 'g')

/** The text with its signs in ASCII; words in other scripts stay as they are. */
export function asciiSigns(text: string): string {
  return text.replace(drawn, (sign) => signs[sign] as string)
}

/** The table with a bold head, green gains and red losses. */
export function colored(table: string): string {
  return boldHead(table)
    .replace(/▲ [\d.,]*\d/g, (up) => styleText('green', up, { validateStream: false }))
    .replace(/▼ [\d.,]*\d/g, (down) => styleText('red', down, { validateStream: false }))
}

/** A table of which only the head stands out: where changes are within what is usual, or it is not known what is. */
export function boldHead(table: string): string {
  return table.replace(/^.*$/m, (head) => styleText('bold', head, { validateStream: false }))
}
