import { open } from 'node:fs/promises'
import * as zlib from 'node:zlib'
import { gunzipSync } from 'node:zlib'
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
import { type ClickLayout, isComparison, layoutOf, type RowReader, type UiTable, uiTable } from './rows.ts'

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
  if (head.subarray(0, 4).toString('latin1') === 'PAR1') return await recogniseParquet(file)
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

function decimal(text: string): number {
  return /^\d+(?:[.,]\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text.replace(',', '.')) : -1
}

type JsonRow = Readonly<Record<string, unknown>>

/** What the keys of a row of the API are, by their form: they have no names. */
function keyField(key: string): 'date' | 'page' | 'country' | 'device' | 'query' {
  if (/^\d{4}-\d{2}-\d{2}$/.test(key)) return 'date'
  if (/^https?:\/\//.test(key)) return 'page'
  if (/^(DESKTOP|MOBILE|TABLET)$/.test(key)) return 'device'
  return /^[a-z]{3}$/.test(key) ? 'country' : 'query'
}

/** The names of the keys of rows of the API: a word of three letters is a country only where all rows have one there. */
function keyNames(rows: readonly JsonRow[]): readonly string[] {
  const [first] = rows
  const keys = Array.isArray(first?.keys) ? (first.keys as readonly unknown[]) : []
  return keys.map((_, place) => {
    const fields = new Set(
      rows.map(({ keys: all }) => keyField(String((all as readonly unknown[])[place] ?? ''))),
    )
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
    return (row.keys as readonly unknown[] | undefined)?.[place]
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

async function recogniseParquet(file: InputFile): Promise<RecognisedFile> {
  const { path } = file
  if (path === null)
    throw new UsageError(`${file.name} is Parquet inside an archive. Unpack the archive, and name the folder`)
  const { parquetMetadataAsync } = await import('hyparquet')
  const damaged = (cause: unknown) =>
    cause instanceof UsageError
      ? cause
      : new UsageError(
          `${file.name} is cut or damaged: it is no whole Parquet file. Export it again; nothing was stored`,
          { cause },
        )
  const metadata = await withFile(path, (source) => parquetMetadataAsync(source)).catch((error: unknown) => {
    throw damaged(error)
  })
  const columns = metadata.schema
    .slice(1)
    .flatMap(({ name, num_children }) => (num_children === undefined ? name : []))
  const layout = layoutOf(columns)
  if (layout === null) return { kind: 'other', file }
  return {
    kind: 'rows',
    file,
    layout,
    read: (draft, take) =>
      withFile(path, async (source) => {
        const { parquetRead } = await import('hyparquet')
        const wanted = Object.values(layout).flatMap((place) =>
          place === -1 ? [] : (columns[place] as string),
        )
        let first = 0
        for (const group of metadata.row_groups) {
          const rows = Number(group.num_rows)
          const data: ArrayLike<unknown>[] = []
          // One column after the other: while it is read, a column takes several times the room.
          for (const name of wanted) {
            const column = Array<unknown>(rows).fill(null)
            await parquetRead({
              file: source,
              metadata,
              compressors,
              columns: [name],
              rowStart: first,
              rowEnd: first + rows,
              onChunk: ({ columnData, rowStart }) => {
                for (let index = 0; index < columnData.length; index++)
                  column[rowStart - first + index] = columnData[index]
              },
            }).catch((error: unknown) => {
              throw damaged(error)
            })
            data[columns.indexOf(name)] =
              typeof column[0] === 'bigint'
                ? Float64Array.from(column, (value) => Number(value ?? -1))
                : column
          }
          const reader = parquetReader(file, draft, data)
          for (let index = 0; index < rows; index++) {
            reader.set(index, first + index + 1)
            take(reader)
          }
          first += rows
        }
      }),
  }
}

/** Those of Parquet that hyparquet does not have itself. */
const compressors = {
  GZIP: (input: Uint8Array) => gunzipSync(input),
  ZSTD: (input: Uint8Array) => {
    const unpack = (zlib as { zstdDecompressSync?: (input: Uint8Array) => Buffer }).zstdDecompressSync
    if (unpack === undefined)
      throw new UsageError(
        'This Node cannot read ZSTD. Export Parquet with SNAPPY or GZIP, or use Node 22.15 or later',
      )
    return unpack(input)
  },
}

async function withFile<T>(
  path: string,
  work: (source: {
    byteLength: number
    slice: (start: number, end?: number) => Promise<ArrayBuffer>
  }) => Promise<T>,
): Promise<T> {
  await using file = await open(path)
  const { size } = await file.stat()
  return await work({
    byteLength: size,
    slice: async (start, end = size) => {
      const bytes = new Uint8Array(end - start)
      await file.read(bytes, 0, bytes.length, start)
      return bytes.buffer
    },
  })
}

/** Texts of a column that are known by themselves: those of a dictionary are the same string again and again. */
const mostKnown = 20_000

function parquetReader(file: InputFile, draft: ClickDraft, data: readonly ArrayLike<unknown>[]) {
  let index = 0
  let number = 0
  const days = new Map<number, string>()
  const known = { query: new Map<unknown, number>(), page: new Map<unknown, number>() }
  const word = (place: number): string => {
    const value = data[place]?.[index]
    if (value instanceof Date) {
      const at = value.getTime()
      const day = days.get(at) ?? value.toISOString().slice(0, 10)
      days.set(at, day)
      return day
    }
    return value === null || value === undefined ? '' : typeof value === 'string' ? value : String(value)
  }
  return {
    set: (next: number, row: number): void => {
      index = next
      number = row
    },
    text: (place: number, kind: 'query' | 'page'): number => {
      const value = data[place]?.[index]
      if (value === null || value === undefined) return 0
      let text = known[kind].get(value)
      if (text === undefined) {
        text = draft.textOf(String(value), kind)
        if (known[kind].size >= mostKnown) known[kind].clear()
        known[kind].set(value, text)
      }
      return text
    },
    word,
    number: (place: number): number => {
      const value = data[place]?.[index]
      if (typeof value === 'number') return value
      return typeof value === 'bigint' ? Number(value) : decimal(word(place))
    },
    where: () => `${file.name}: row ${number}`,
  }
}
