import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import type { Cells, ColumnType, RowOptions } from './formats/format.ts'
import { textWidth } from './terminal.ts'

/** A sheet; its rows are read one by one. */
export interface Sheet {
  readonly name: string
  readonly columns: readonly SheetColumn[]
  readonly rows: Iterable<readonly SheetCell[]> | AsyncIterable<readonly SheetCell[]>
  /** Whether it is read from top to bottom: then no row is a head, and nothing is filtered. */
  readonly isText?: true
}

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packages = 'http://schemas.openxmlformats.org/package/2006'
const format = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/**
 * An XLSX file in chunks, in constant memory; the same sheets give the same bytes. Rows beyond the limit of a sheet go to the
 * next one, `name (2)`.
 *
 * @param limit rows of a sheet, with its header
 */
export async function* workbook(sheets: Iterable<Sheet>, limit = maxRows): AsyncGenerator<Buffer> {
  yield* zip(sheetEntries(sheets, limit))
}

/** The first day that an archive can store, in local time as archives have it, so that the same input gives the same bytes. */
const zipOptions = { mtime: new Date(1980, 0, 1), forceDosTimestamp: true, compressionLevel: 4 }

/** A zip archive. An entry is read when the one before is written, and the next chunk is made while one is packed. */
async function* zip(entries: ReturnType<typeof sheetEntries>): AsyncGenerator<Buffer> {
  const archive = new ZipFile()
  const output = archive.outputStream as Readable
  let source: Readable | null = null
  const write = async (): Promise<void> => {
    for await (const { name, chunks } of entries) {
      source = Readable.from(chunks, { highWaterMark: 1 })
      archive.addReadStream(source, name, zipOptions)
      await finished(source)
    }
    archive.end()
  }
  const written = write().catch((error) => output.destroy(error))
  try {
    yield* output
  } finally {
    // The reader may have stopped early: then the rows are closed as well.
    ;(source as Readable | null)?.destroy()
    await written
  }
}

/** The sheets come first, because their number is known only when they are written. */
async function* sheetEntries(
  sheets: Iterable<Sheet>,
  limit: number,
): AsyncGenerator<{
  readonly name: string
  readonly chunks: Iterable<string> | AsyncIterable<string>
}> {
  /** The names of the sheets, and the cells of each as a range in a formula; null where none is filtered. */
  const written: { readonly name: string; readonly area: string | null }[] = []
  for (const { name, columns, rows, isText } of sheets) {
    const ahead = aheadOf(rows)
    try {
      for (let part = 1; part === 1 || !(await ahead.atEnd()); part++) {
        const own = uniqueName(part === 1 ? name : `${name} (${part})`, written)
        let count = 0
        const chunks = async function* (): AsyncGenerator<string> {
          yield head
          count = yield* sheetXml(columns, ahead, { limit, isText: isText === true })
        }
        yield { name: `xl/worksheets/sheet${written.length + 1}.xml`, chunks: chunks() }
        const area = isText === true ? null : `$A$1:$${columnName(columns.length - 1)}$${count}`
        written.push({ name: own, area })
      }
    } finally {
      await ahead.close()
    }
  }
  for (const [name, text] of parts(written)) yield { name, chunks: [head, text] }
}

/** An iterator of rows that can look ahead. */
function aheadOf<T>(rows: Iterable<T> | AsyncIterable<T>) {
  const source = Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]()
  let peeked: IteratorResult<T> | null = null
  return {
    next: (): Promise<IteratorResult<T>> | IteratorResult<T> => {
      const next = peeked ?? source.next()
      peeked = null
      return next
    },
    atEnd: async (): Promise<boolean> => {
      peeked ??= await source.next()
      return peeked.done === true
    },
    close: async (): Promise<void> => {
      await source.return?.()
    },
  }
}

const longestName = 31

/** A name that Excel accepts and no other sheet has. */
function uniqueName(wanted: string, others: readonly { readonly name: string }[]): string {
  const taken = new Set(others.map(({ name }) => name.toLowerCase()))
  for (let number = 1; ; number++) {
    const own = cleanName(wanted, number === 1 ? '' : ` ${number}`)
    if (!taken.has(own.toLowerCase())) return own
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const unfit = /[[\]:*?/\\\u0000-\u001f\ufffe\uffff]|\p{Surrogate}/gu

/** Without characters that Excel refuses in names, cut so that the part number and `end` remain. */
function cleanName(wanted: string, end: string): string {
  const [, name = '', part = ''] = wanted.replace(unfit, '_').match(/^(.*?)( \(\d+\))?$/s) ?? []
  const bare = name.replace(/^['\s]+|['\s]+$/g, '')
  // Excel reserves one name.
  const own = bare === '' || bare.toLowerCase() === 'history' ? 'Sheet' : bare
  return cutTo(longestName - part.length - end.length, own) + part + end
}

/** Cut between characters, without a quote at the end, which Excel refuses. */
function cutTo(length: number, text: string): string {
  let cut = ''
  for (const letter of text) {
    if (cut.length + letter.length > length) break
    cut += letter
  }
  return cut.replace(/'+$/, '')
}

/** The files around the sheets. */
function parts(
  sheets: readonly { readonly name: string; readonly area: string | null }[],
): readonly (readonly [name: string, text: string])[] {
  const numbered = sheets.map((sheet, index) => ({
    ...sheet,
    name: attribute(sheet.name),
    number: index + 1,
  }))
  const list = <T>(of: (sheet: (typeof numbered)[number]) => T): string => numbered.map(of).join('')
  const styled = sheets.length + 1
  const filtered = list(({ name, area, number }) =>
    area === null
      ? ''
      : `<definedName name="_xlnm._FilterDatabase" localSheetId="${number - 1}" hidden="1">'${name.replaceAll("'", "''")}'!${area}</definedName>`,
  )
  return [
    ['xl/styles.xml', styles],
    [
      'xl/workbook.xml',
      `<workbook xmlns="${main}" xmlns:r="${relations}"><sheets>${list(({ name, number }) => `<sheet name="${name}" sheetId="${number}" r:id="rId${number}"/>`)}</sheets>${filtered === '' ? '' : `<definedNames>${filtered}</definedNames>`}</workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `<Relationships xmlns="${packages}/relationships">${list(({ number }) => `<Relationship Id="rId${number}" Type="${relations}/worksheet" Target="worksheets/sheet${number}.xml"/>`)}<Relationship Id="rId${styled}" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
    ],
    [
      '_rels/.rels',
      `<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ],
    [
      '[Content_Types].xml',
      `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${format}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${format}.styles+xml"/>${list(({ number }) => `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="${format}.worksheet+xml"/>`)}</Types>`,
    ],
  ]
}

function attribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

/**
 * The type of the cells of a column. Instants and days are ISO 8601 text, percentages are fractions. `decimal` has two places, `prose` is text
 * in as many lines as it needs.
 */
export type CellKind = 'text' | 'prose' | 'number' | 'decimal' | 'date' | 'datetime' | 'percent'

export interface SheetColumn {
  readonly header: string
  /** In characters. */
  readonly width: number
  readonly kind: CellKind
}

/** A number in a text column stays a number, and text in a number column stays text. A cell may have a style that is not its column's. */
export type SheetCell =
  | string
  | number
  | null
  | { readonly value: string | number; readonly style: keyof typeof ownStyles }

type SheetCells = readonly SheetCell[]

/** The limits of Excel: rows of a sheet, and characters in a cell. */
const maxRows = 1_048_576
const maxCharacters = 32_767

/** The style of each kind, by its number in `styles`. */
const styleOf: Readonly<Record<CellKind, number>> = {
  text: 0,
  prose: 8,
  number: 0,
  date: 2,
  datetime: 3,
  percent: 4,
  decimal: 5,
}
const headerStyle = 1
/** `paragraph` is prose over the whole row, `grouped` a number such as 1,234, `signed` one such as +1,234. */
const ownStyles = {
  title: 6,
  heading: 7,
  paragraph: 8,
  'heading of numbers': 9,
  figure: 10,
  grouped: 11,
  signed: 12,
} as const

/**
 * The styles of every workbook: plain, bold, day, instant, percent, two decimals, title, heading, prose, heading on the right, text on the
 * right, whole numbers, whole numbers with their sign.
 */
const styles = `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="3"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/><numFmt numFmtId="166" formatCode="&quot;+&quot;#,##0__;&quot;−&quot;#,##0__;0__"/></numFmts><fonts count="4"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="18"/><name val="Calibri"/></font><font><b/><sz val="13"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="13"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="10" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="4" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="0" fontId="2" fillId="0" borderId="0" xfId="0" applyFont="1"/><xf numFmtId="0" fontId="3" fillId="0" borderId="0" xfId="0" applyFont="1"/><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" applyAlignment="1"><alignment vertical="top" wrapText="1"/></xf><xf numFmtId="0" fontId="3" fillId="0" borderId="0" xfId="0" applyFont="1" applyAlignment="1"><alignment horizontal="right" indent="1"/></xf><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" applyAlignment="1"><alignment horizontal="right" vertical="top" indent="1"/></xf><xf numFmtId="3" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyAlignment="1"><alignment horizontal="right" vertical="top" indent="1"/></xf><xf numFmtId="166" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyAlignment="1"><alignment horizontal="right" vertical="top"/></xf></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`

/** Characters of a chunk, about. */
const chunkLength = 32_768

/** A sheet as XML, of at most `limit` rows with its header if it has one; returns the number of its rows. */
async function* sheetXml(
  columns: readonly SheetColumn[],
  rows: { next(): IteratorResult<SheetCells> | Promise<IteratorResult<SheetCells>> },
  { limit, isText }: { readonly limit: number; readonly isText: boolean },
): AsyncGenerator<string, number> {
  const names = columns.map((_, index) => columnName(index))
  const head = columns.map(({ header }, index) => textCell(`${names[index]}1`, header, headerStyle))
  let text = `${opening(columns, isText)}${isText ? '' : `<row r="1">${head.join('')}</row>`}`
  /** The rows that are one cell, as ranges. */
  const merged: string[] = []
  let number = isText ? 0 : 1
  while (number < limit) {
    const coming = rows.next()
    // To wait for each row that is there would take longer than to write it.
    const next = coming instanceof Promise ? await coming : coming
    if (next.done === true) break
    number += 1
    if (isText && isParagraph(next.value)) merged.push(`A${number}:${names.at(-1)}${number}`)
    const lines = isText ? linesOf(next.value, columns) : 1
    text += rowXml(number, next.value, { columns, names, lines })
    if (text.length < chunkLength) continue
    yield text
    text = ''
  }
  const filter = isText ? '' : `<autoFilter ref="A1:${names.at(-1)}${number}"/>`
  const merges = merged.map((area) => `<mergeCell ref="${area}"/>`).join('')
  yield `${text}</sheetData>${filter}${merges === '' ? '' : `<mergeCells count="${merged.length}">${merges}</mergeCells>`}${onPaper}</worksheet>`
  return number
}

/** A printed sheet is as wide as the paper and as long as it needs to be. */
const fitsPaper = '<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>'
const onPaper = '<pageSetup orientation="landscape" fitToWidth="1" fitToHeight="0"/>'

function opening(columns: readonly SheetColumn[], isText: boolean): string {
  const widths = columns.map(
    ({ width }, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`,
  )
  return `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">${fitsPaper}<sheetViews>${isText ? '<sheetView showGridLines="0" workbookViewId="0"/>' : '<sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView>'}</sheetViews><cols>${widths.join('')}</cols><sheetData>`
}

function rowXml(
  number: number,
  cells: SheetCells,
  {
    columns,
    names,
    lines,
  }: { readonly columns: readonly SheetColumn[]; readonly names: readonly string[]; readonly lines: number },
): string {
  let row = `<row r="${number}"${lines === 1 ? '' : ` ht="${lines * lineHeight}" customHeight="1"`}>`
  for (let index = 0; index < columns.length; index++)
    row += cellXml(`${names[index]}${number}`, cells[index] ?? null, (columns[index] as SheetColumn).kind)
  return `${row}</row>`
}

function isParagraph([first]: SheetCells): boolean {
  return typeof first === 'object' && first?.style === 'paragraph'
}

/** In points. */
const lineHeight = 15

/** The lines of the longest prose in a row. Not all programs find the height of a row by themselves, and none where it is one cell. */
function linesOf(cells: SheetCells, columns: readonly SheetColumn[]): number {
  const whole = columns.reduce((sum, { width }) => sum + width, 0)
  const lines = cells.map((cell, index) => {
    if (typeof cell === 'string') return textWidth(cell) / (columns[index]?.width ?? whole)
    return typeof cell === 'object' && cell?.style === 'paragraph' ? textWidth(String(cell.value)) / whole : 1
  })
  return Math.ceil(Math.max(1, ...lines))
}

/** One cell; it is never a formula. */
function cellXml(place: string, cell: SheetCell, kind: CellKind): string {
  if (cell === null || cell === '') return ''
  if (typeof cell === 'object') return styledCell(place, cell.value, ownStyles[cell.style])
  const value = typeof cell === 'string' && (kind === 'date' || kind === 'datetime') ? serial(cell) : cell
  return styledCell(place, value, typeof value === 'string' && kind !== 'prose' ? 0 : styleOf[kind])
}

function styledCell(place: string, value: string | number, style: number): string {
  if (typeof value === 'string') return textCell(place, value, style)
  if (!Number.isFinite(value)) return ''
  return `<c r="${place}"${style === 0 ? '' : ` s="${style}"`}><v>${value}</v></c>`
}

const dayMs = 86_400_000
/** Days from day 0 of spreadsheets to 1970. */
const daysTo1970 = 25_569

/** An instant as days, in UTC; text without an instant, or with one before 1900, stays text. */
function serial(text: string): number | string {
  if (text === latest.text) return latest.value
  const days = Date.parse(text) / dayMs + daysTo1970
  // Day 60 of spreadsheets is the 29th of February 1900, which did not exist.
  latest = { text, value: days >= 61 ? days : text }
  return latest.value
}

/** Rows of one day follow each other. */
let latest: { readonly text: string; readonly value: number | string } = { text: '', value: '' }

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
  // A parser would read it as a line feed.
  '\r': '&#13;',
  // Excel reads _x0041_ as an escaped character.
  _: '_x005F_',
}

/** Most texts have no sign that the two others look for, which takes them longer. */
const plain = /^[ -%'-;=?-^`-~]*$/

function escaped(text: string): string {
  const short = text.length > maxCharacters ? text.slice(0, maxCharacters) : text
  if (plain.test(short)) return short
  return short.replace(forbidden, '').replace(special, (found) => names[found] ?? found)
}

/** The name of a column, from 0: `A` to `Z`, `AA` and so on. */
function columnName(index: number): string {
  const last = String.fromCharCode(65 + (index % 26))
  return index < 26 ? last : columnName(Math.floor(index / 26) - 1) + last
}

const cellKinds = {
  text: { kind: 'text', width: 30 },
  integer: { kind: 'number', width: 10 },
  long: { kind: 'number', width: 10 },
  decimal: { kind: 'number', width: 10 },
  instant: { kind: 'datetime', width: 20 },
  json: { kind: 'text', width: 30 },
} as const satisfies Record<ColumnType, unknown>

/** Rows as a workbook of one sheet. */
export function writeXlsx(rows: Iterable<Cells>, { name, columns }: RowOptions): AsyncIterable<Uint8Array> {
  const sheetColumns = columns.map((column) => ({ header: column.name, ...cellKinds[column.type] }))
  return workbook([{ name, columns: sheetColumns, rows }])
}
