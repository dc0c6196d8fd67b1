/** What the cells of a column are; instants and days are given as ISO 8601 text, shares of one as numbers. `decimal`: shown to two places. */
export type CellKind = 'text' | 'number' | 'decimal' | 'date' | 'datetime' | 'percent'

export interface SheetColumn {
  readonly header: string
  /** In characters. */
  readonly width: number
  readonly kind: CellKind
}

/** A number in a column of text stays a number, and text in one of numbers is text. */
export type SheetCell = string | number | null

type Cells = readonly SheetCell[]

/** Rows that Excel takes on one sheet, and characters in one cell. */
export const maxRows = 1_048_576
const maxCharacters = 32_767

/** Style of each kind, by its place in `styles`. */
const styleOf: Readonly<Record<CellKind, number>> = {
  text: 0,
  number: 0,
  date: 2,
  datetime: 3,
  percent: 4,
  decimal: 5,
}
const headerStyle = 1

/** The styles of every workbook: plain, bold, day, instant, percent, two places. */
export const styles = `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="6"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="10" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="4" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`

/** Characters that a piece of text has, about. */
const pieceLength = 32_768

/** A sheet as XML, of at most `limit` rows with its header. Answers how many rows it has. */
export async function* sheetXml(
  columns: readonly SheetColumn[],
  rows: { next(): IteratorResult<Cells> | Promise<IteratorResult<Cells>> },
  limit: number,
): AsyncGenerator<string, number> {
  const names = columns.map((_, index) => columnName(index))
  const head = columns.map(({ header }, index) => textCell(`${names[index]}1`, header, headerStyle))
  let text = `${opening(columns)}<row r="1">${head.join('')}</row>`
  let number = 1
  while (number < limit) {
    const next = await rows.next()
    if (next.done === true) break
    number += 1
    text += rowXml(number, next.value, columns, names)
    if (text.length < pieceLength) continue
    yield text
    text = ''
  }
  yield `${text}</sheetData><autoFilter ref="A1:${names.at(-1)}${number}"/></worksheet>`
  return number
}

function opening(columns: readonly SheetColumn[]): string {
  const widths = columns.map(
    ({ width }, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`,
  )
  return `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>${widths.join('')}</cols><sheetData>`
}

function rowXml(
  number: number,
  cells: Cells,
  columns: readonly SheetColumn[],
  names: readonly string[],
): string {
  let row = `<row r="${number}">`
  for (const [index, { kind }] of columns.entries())
    row += cellXml(`${names[index]}${number}`, cells[index] ?? null, kind)
  return `${row}</row>`
}

/** One cell; nothing is a formula. */
function cellXml(place: string, cell: SheetCell, kind: CellKind): string {
  if (cell === null || cell === '') return ''
  const value = typeof cell === 'string' && (kind === 'date' || kind === 'datetime') ? serial(cell) : cell
  if (typeof value === 'string') return textCell(place, value, 0)
  if (!Number.isFinite(value)) return ''
  const style = styleOf[kind]
  return `<c r="${place}"${style === 0 ? '' : ` s="${style}"`}><v>${value}</v></c>`
}

const dayMs = 86_400_000
/** Days from the day 0 of spreadsheets to 1970. */
const daysTo1970 = 25_569

/** An instant as days, in UTC; text that names none, or one of before 1900, stays text. */
function serial(text: string): number | string {
  const days = Date.parse(text) / dayMs + daysTo1970
  // Spreadsheets have a 29th of February 1900.
  return days >= 61 ? days : text
}

function textCell(place: string, text: string, style: number): string {
  const styled = style === 0 ? '' : ` s="${style}"`
  return `<c r="${place}"${styled} t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML has no place for them
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu
const special = /[&<>\r]|_(?=x[0-9a-f]{4}_)/gi
const names: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  // A parser would take it for a line feed.
  '\r': '&#13;',
  // Excel reads _x0041_ as a character.
  _: '_x005F_',
}

function escaped(text: string): string {
  const short = text.length > maxCharacters ? text.slice(0, maxCharacters) : text
  return short.replace(forbidden, '').replace(special, (found) => names[found] ?? found)
}

/** `A` to `Z`, `AA` and so on, from 0. */
export function columnName(index: number): string {
  const last = String.fromCharCode(65 + (index % 26))
  return index < 26 ? last : columnName(Math.floor(index / 26) - 1) + last
}
