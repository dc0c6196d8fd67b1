import { UsageError } from '../../model/errors.ts'
import type { ClickDraft } from '../../store/sqlite/clicks/draft.ts'
import {
  type CsvRecord,
  cellText,
  digitsIn,
  firstRows,
  readCsv,
  separatorOf,
  type TextRow,
  textRow,
} from '../csv.ts'
import { type InputFile, linesOf, startOf, textOfStart, utf8Chunks } from '../input-files.ts'
import { openParquet } from './parquet.ts'
import {
  type ClickLayout,
  decimal,
  isComparison,
  layoutOf,
  type RowReader,
  type UiTable,
  uiTable,
} from './rows.ts'

/** What a file is. */
export type RecognisedFile =
  | { readonly kind: 'rows'; readonly file: InputFile; readonly layout: ClickLayout; readonly read: ReadRows }
  | { readonly kind: 'ui'; readonly file: InputFile; readonly table: UiTable }
  | { readonly kind: 'other'; readonly file: InputFile }

type ReadRows = (draft: ClickDraft, take: (reader: RowReader) => void) => Promise<void>

const headBytes = 1 << 16
/** Tables of the UI export have 1,000 rows at most. */
const mostUiRows = 5_000
const mostJsonBytes = 400_000_000

/** Recognises a file by its content. Throws a sentence for one that looks like rows of Search Console and cannot be read. */
export async function recognise(file: InputFile): Promise<RecognisedFile> {
  const head = await startOf(file, headBytes)
  if (head.length === 0) return { kind: 'other', file }
  if (head.subarray(0, 4).toString('latin1') === 'PAR1') {
    const parquet = await openParquet(file)
    return parquet === null ? { kind: 'other', file } : { kind: 'rows', file, ...parquet }
  }
  const text = textOfStart(head)
  const first = text.trimStart()[0]
  if (first === '{' || first === '[') return await recogniseJson(file, text)
  return await recogniseCsv(file, text)
}

async function recogniseCsv(file: InputFile, head: string): Promise<RecognisedFile> {
  const separator = separatorOf(head)
  const [header, first] = firstRows(head)
  if (header === undefined) return { kind: 'other', file }
  if (isComparison(header.cells, first?.cells))
    throw new UsageError(
      `${file.name} compares two periods. Export one period alone from Search Console, without Compare`,
    )
  // In English it has the names of the API: the form of its rates tells them apart.
  const table = header.cells.length === 5 ? await readUiTable(file, separator) : null
  if (table !== null) return { kind: 'ui', file, table }
  const layout = layoutOf(header.cells)
  if (layout === null) return { kind: 'other', file }
  return {
    kind: 'rows',
    file,
    layout,
    read: (draft, take) => readCsvRows(file, { separator, columns: header.cells.length }, draft, take),
  }
}

/** A table of the UI export as a whole; null where it is none. */
async function readUiTable(file: InputFile, separator: number): Promise<UiTable | null> {
  const rows: TextRow[] = []
  await readCsv(file, separator, (record) => rows.push(textRow(record)) <= mostUiRows)
  const table = rows.length > mostUiRows ? null : uiTable(rows.slice(1))
  if (table !== null && 'mistake' in table)
    throw new UsageError(`${file.name}:${table.line}: ${table.mistake}; nothing was stored`)
  return table
}

async function readCsvRows(
  file: InputFile,
  { separator, columns }: { readonly separator: number; readonly columns: number },
  draft: ClickDraft,
  take: (reader: RowReader) => void,
): Promise<void> {
  let record = null as CsvRecord | null
  const at = (): CsvRecord => record as CsvRecord
  const reader: RowReader = {
    text: (place, kind) => {
      const one = at()
      if (one.doubled[place] === 1) return draft.textOf(cellText(one, place), kind)
      return draft.textIn(one.bytes, one.starts[place] as number, one.ends[place] as number, kind)
    },
    word: (place) => at().bytes.toString('utf8', at().starts[place], at().ends[place]),
    number: (place) => {
      const one = at()
      const whole = digitsIn(one.bytes, one.starts[place] as number, one.ends[place] as number)
      return whole >= 0 ? whole : decimal(cellText(one, place))
    },
    where: () => `${file.name}:${at().line}`,
  }
  let isHeader = true
  await readCsv(file, separator, (one) => {
    record = one
    if (isHeader) {
      isHeader = false
      return
    }
    if (one.cells !== columns)
      throw new UsageError(
        `${file.name}:${one.line}: the row has ${one.cells} cells, not ${columns}: the file may be cut. Export it again; nothing was stored`,
      )
    take(reader)
  })
}

type JsonRow = Readonly<Record<string, unknown>>

/** What the keys of a row of the API are, by their form: they have no names. */
function keyField(key: string): 'date' | 'page' | 'country' | 'device' | 'query' {
  if (/^\d{4}-\d{2}-\d{2}$/.test(key)) return 'date'
  if (/^https?:\/\//.test(key)) return 'page'
  if (/^(DESKTOP|MOBILE|TABLET)$/.test(key)) return 'device'
  return /^[a-z]{3}$/.test(key) ? 'country' : 'query'
}

const keysOf = (row: JsonRow | undefined): readonly unknown[] => (Array.isArray(row?.keys) ? row.keys : [])

/** The names of the keys of rows of the API: a word of three letters is a country only where all rows have one there. */
function keyNames(rows: readonly JsonRow[]): readonly string[] {
  const [first] = rows
  return keysOf(first).map((_, place) => {
    const keyed = rows.filter((row) => keysOf(row).length > 0)
    const fields = new Set(keyed.map((row) => keyField(String(keysOf(row)[place] ?? ''))))
    const [field = 'query'] = fields
    return fields.size === 1 ? field : 'query'
  })
}

async function recogniseJson(file: InputFile, head: string): Promise<RecognisedFile> {
  const lines = head.split(/\r?\n/)
  const firstLine = parsed(lines[0] ?? '')
  const isLines = isRow(firstLine) && !('rows' in firstLine)
  if (isLines) {
    const sample = lines.slice(0, -1).map(parsed).filter(isRow)
    const rows = sample.length === 0 ? [firstLine] : sample
    const layoutAndNames = jsonLayout(rows)
    if (layoutAndNames === null) return { kind: 'other', file }
    const { layout, names, keyed } = layoutAndNames
    return {
      kind: 'rows',
      file,
      layout,
      read: async (draft, take) => {
        const reader = jsonReader(file, draft, names, keyed)
        let line = 0
        for await (const bytes of linesOf(file.name, utf8Chunks(file))) {
          line++
          const text = bytes.toString()
          if (text.trim() === '') continue
          const row = parsed(text)
          if (!isRow(row))
            throw new UsageError(
              `${file.name}:${line}: the line is no JSON: the file may be cut. Export it again; nothing was stored`,
            )
          reader.set(row, line)
          take(reader)
        }
      },
    }
  }
  const parts: Buffer[] = []
  let size = 0
  for await (const chunk of utf8Chunks(file)) {
    size += chunk.length
    if (size > mostJsonBytes)
      throw new UsageError(
        `${file.name} is larger than 400 MB. Write its rows as JSONL, one a line, or as CSV`,
      )
    parts.push(chunk)
  }
  const whole = parsed(Buffer.concat(parts).toString())
  if (whole === undefined)
    throw new UsageError(`${file.name} is no whole JSON: it may be cut. Export it again; nothing was stored`)
  const rows = [whole]
    .flat()
    .flatMap((one: unknown) => (isRow(one) && Array.isArray(one.rows) ? (one.rows as unknown[]) : [one]))
    .filter(isRow)
  const found = rows.length === 0 ? null : jsonLayout(rows)
  if (found === null) return { kind: 'other', file }
  return {
    kind: 'rows',
    file,
    layout: found.layout,
    read: async (draft, take) => {
      const reader = jsonReader(file, draft, found.names, found.keyed)
      for (const [index, row] of rows.entries()) {
        reader.set(row, index + 1)
        take(reader)
      }
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isRow(value: unknown): value is JsonRow {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The layout of rows: their own names, or those of their keys and then their own. */
function jsonLayout(rows: readonly JsonRow[]) {
  const keyed = keyNames(rows)
  const own = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== 'keys')
  const layout = layoutOf([...keyed, ...own])
  return layout === null ? null : { layout, names: own, keyed: keyed.length }
}

function jsonReader(file: InputFile, draft: ClickDraft, names: readonly string[], keyed: number) {
  let row: JsonRow = {}
  let line = 0
  const cell = (place: number): unknown => {
    if (place >= keyed) return row[names[place - keyed] as string]
    return keysOf(row)[place]
  }
  const word = (place: number): string => {
    const value = cell(place)
    return value === null || value === undefined ? '' : String(value)
  }
  return {
    set: (next: JsonRow, at: number): void => {
      row = next
      line = at
    },
    text: (place: number, kind: 'query' | 'page') => draft.textOf(word(place), kind),
    word,
    number: (place: number) => {
      const value = cell(place)
      return typeof value === 'number' && value >= 0 ? value : decimal(word(place))
    },
    where: () => `${file.name}:${line}`,
  }
}
