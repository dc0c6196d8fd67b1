import { type CsvError, type InfoRecord, Parser } from 'csv-parse'
import { type InvalidValue, quoted } from '../model/values.ts'
import { type ByteSource, delimiterOf, notText, readLines } from './files.ts'

/** One row with the line it begins on, or a mistake; the line is null for the whole file. */
export type CsvItem =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number | null; readonly mistake: InvalidValue }

const maxRecord = 1024 * 1024

const form = {
  bom: true,
  record_delimiter: '\n',
  max_record_size: maxRecord,
  relax_column_count: true,
  skip_empty_lines: true,
  skip_records_with_error: true,
}

const doubled = 'write "15"" desk" for 15" desk'
const strayQuote: InvalidValue = { message: 'a cell without quotes contains a quote', fix: doubled }

/**
 * The rows of a CSV file, the header first, some at a time; lines without any text are left out.
 * Reading ends after a row whose end is unclear. Rejects where the file cannot be read.
 */
export async function* readCsv(
  source: ByteSource,
  seen: (chunk: Buffer) => void,
): AsyncGenerator<readonly CsvItem[]> {
  const chunks = readLines(source, seen)
  const { head, done } = await readHead(chunks)
  const wrong = notText(head)
  if (wrong !== null) {
    yield [{ line: null, mistake: wrong }]
    return
  }
  const first = head.toString('utf8', 0, endOfLine(head))
  // What Excel writes and reads above the header.
  const sign = first.match(/^\ufeff?"?sep=(.)"?$/i)?.[1]
  if (sign !== undefined && !/[,;\t]/.test(sign)) {
    yield [
      {
        line: 1,
        mistake: { message: `the separator cannot be ${quoted(sign)}`, fix: 'write sep=; or sep=,' },
      },
    ]
    return
  }
  const delimiter = sign ?? delimiterOf(first)
  const { write, end, lastLine } = startParser(delimiter, sign !== undefined)
  let { items, error } = await write(head)
  if (items.length > 0) yield items
  if (!done && error === null)
    for await (const chunk of chunks) {
      ;({ items, error } = await write(chunk))
      if (items.length > 0) yield items
      if (error !== null) break
    }
  if (error === null) {
    ;({ items, error } = await end())
    if (items.length > 0) yield items
  }
  if (error !== null) yield [await structural(source, error, lastLine(), delimiter)]
}

async function readHead(chunks: AsyncGenerator<Buffer>): Promise<{ head: Buffer; done: boolean }> {
  const parts: Buffer[] = []
  let length = 0
  while (length <= maxRecord) {
    const next = await chunks.next()
    if (next.done) return { head: Buffer.concat(parts), done: true }
    parts.push(next.value)
    length += next.value.length
    if (next.value.includes(10)) break
  }
  return { head: Buffer.concat(parts), done: false }
}

function endOfLine(bytes: Buffer): number {
  const end = bytes.indexOf(10)
  return end === -1 ? Math.min(bytes.length, maxRecord) : end
}

interface Written {
  readonly items: readonly CsvItem[]
  readonly error: CsvError | null
}

function startParser(delimiter: string, signAbove: boolean) {
  let items: CsvItem[] = []
  let last = 0
  const parser = new Parser({
    ...form,
    delimiter,
    on_record: (cells: string[], { lines }: InfoRecord) => {
      if (!signAbove || lines > 1) items.push({ line: lines - lineFeeds(cells), cells })
      last = lines
      return null
    },
    on_skip: (error) => {
      // Every other mistake leaves open where the next row begins.
      if (error?.code !== 'INVALID_OPENING_QUOTE') throw error
      const line = Number(error.lines)
      if (items.at(-1)?.line !== line) items.push({ line, mistake: strayQuote })
      return undefined
    },
  })
  const taken = (error: Error | null | undefined): Written => {
    const written = { items, error: (error ?? null) as CsvError | null }
    items = []
    return written
  }
  parser.on('error', () => {})
  parser.resume()
  return {
    write: (chunk: Buffer) =>
      new Promise<Written>((done) => parser.write(chunk, (error) => done(taken(error)))),
    end: () =>
      new Promise<Written>((done) =>
        parser.on('error', (error) => done(taken(error))).end(() => done(taken(null))),
      ),
    /** Line of the end of the last whole row. */
    lastLine: () => last,
  }
}

function lineFeeds(cells: readonly string[]): number {
  let count = 0
  for (const cell of cells)
    for (let at = cell.indexOf('\n'); at !== -1; at = cell.indexOf('\n', at + 1)) count++
  return count
}

async function structural(
  source: ByteSource,
  error: CsvError,
  last: number,
  delimiter: string,
): Promise<CsvItem> {
  const lastLine = Number(error.lines)
  const line = await openQuote(source, { firstLine: last + 1, lastLine, delimiter })
  if (error.code === 'CSV_INVALID_CLOSING_QUOTE')
    return {
      line: line ?? lastLine,
      mistake: {
        message: 'the quote that opens here closes before the end of its cell',
        fix: doubled,
      },
    }
  if (line !== null)
    return { line, mistake: { message: 'the quote that opens here is not closed', fix: 'close it with "' } }
  if (error.code === 'CSV_MAX_RECORD_SIZE')
    return {
      line: last + 1,
      mistake: { message: 'the row is longer than 1 MB', fix: 'write one query per line' },
    }
  return {
    line: lastLine,
    mistake: { message: `the row cannot be read (${quoted(error.message)})`, fix: 'check its quotes' },
  }
}

const lineFeed = 10
const quote = 34
const byteOrderMark: readonly number[] = [0xef, 0xbb, 0xbf]

/**
 * The line on which the first quote opens that is not closed as it should be, looking at the rows from
 * `firstLine` (where a row begins) up to `lastLine`; null where all are.
 */
export async function openQuote(
  source: ByteSource,
  { firstLine, lastLine, delimiter }: { firstLine: number; lastLine: number; delimiter: string },
): Promise<number | null> {
  const separator = delimiter.charCodeAt(0)
  let line = 1
  let opened = 1
  let state: 'start' | 'bare' | 'quoted' | 'closing' = 'start'
  for await (const chunk of readLines(source, () => {}))
    for (const byte of chunk) {
      if (line > lastLine) return state === 'quoted' ? opened : null
      if (line >= firstLine) {
        const ends = byte === separator || byte === lineFeed
        if (state === 'quoted') {
          if (byte === quote) state = 'closing'
        } else if (state === 'closing') {
          if (byte !== quote && !ends) return opened
          state = ends ? 'start' : 'quoted'
        } else if (state === 'start' && byte === quote) {
          state = 'quoted'
          opened = line
        } else if (line > 1 || !byteOrderMark.includes(byte)) state = ends ? 'start' : 'bare'
      }
      if (byte === lineFeed) line++
    }
  return state === 'quoted' ? opened : null
}
