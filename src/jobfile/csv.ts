import { closeSync, openSync, readSync } from 'node:fs'
import { type CsvError, Parser } from 'csv-parse'
import { encodingOf } from '../model/text.ts'
import { type InvalidValue, quoted } from '../model/values.ts'
import { yamlTexts } from './files.ts'

/** What can part the cells of a table. */
const separators = [',', ';', '\t'] as const

type Separator = (typeof separators)[number]

function isSeparator(sign: string): sign is Separator {
  return (separators as readonly string[]).includes(sign)
}

/** The separator that a line holds most often outside quotes. */
function delimiterOf(line: string): Separator {
  const bare = line.replace(/"(?:[^"]|"")*"?/g, '')
  const counted = separators.map((sign) => ({ sign, times: bare.split(sign).length }))
  return counted.reduce((best, other) => (other.times > best.times ? other : best)).sign
}

/** The header of a table. */
export interface TableHead {
  readonly line: number
  readonly cells: readonly string[]
  /** What parts the cells; null in a list of texts, which has none. */
  readonly separator: Separator | null
  /** The rows above it, such as a title. */
  readonly titleRows: readonly (readonly string[])[]
}

/** The header, one row with the line it begins on, or a mistake; the line is null for the whole file. */
type CsvItem =
  | { readonly head: TableHead }
  | Pick<TableHead, 'line' | 'cells'>
  | { readonly line: number | null; readonly mistake: InvalidValue }

/** How likely a row is the header. */
export interface HeaderScore {
  /** Whether the column of the texts is among its cells. */
  readonly isHeader: boolean
  /** The greater, the more certain that its cells are names of columns; 0 where no name is known. */
  readonly weight: number
}

/** How many lines may hold the header. */
const headLines = 10
/** The parser gives a row only once it sees what follows. */
const readAhead = headLines + 1

const maxRecord = 1024 * 1024
const lineFeed = 10

const parserOptions = {
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
  opening: {
    readonly score: (cells: readonly string[]) => HeaderScore
    /** Whether a file without a header is a list, one text a line. */
    readonly mayBeList: boolean
    /** Whether the user named the header of the texts. */
    readonly textsAreMapped: boolean
  },
): AsyncGenerator<readonly CsvItem[]> {
  const chunks = readLines(source, seen)
  const { head, done } = await readHead(chunks)
  const wrong = yamlTexts.notText(head)
  if (wrong !== null) {
    yield [{ line: null, mistake: wrong }]
    return
  }
  const first = head.toString('utf8', 0, endOfLines(head, 1))
  // What Excel writes and reads above the header.
  const sign = first.match(/^\ufeff?"?sep=(.)"?$/i)?.[1]
  if (sign !== undefined && !isSeparator(sign)) {
    yield [
      {
        line: 1,
        mistake: { message: `the separator cannot be ${quoted(sign)}`, fix: 'write sep=; or sep=,' },
      },
    ]
    return
  }
  const start = head.subarray(0, endOfLines(head, readAhead) + 1)
  const candidates = await candidatesIn(start, done && start.length === head.length, sign, opening.score)
  const table = headOf(candidates, opening, !start.includes(9))
  const separator = table === null ? (sign ?? delimiterOf(first)) : table.separator
  const { write, end, lastLine } = startParser(separator, sign !== undefined)
  let { items, error } = await write(head)
  if (table !== null && !table.isHeader) {
    const above = items.filter((item) => 'mistake' in item && (item.line ?? 0) < table.line)
    yield [...above, { head: table }]
    return
  }
  /** What stands above the header is no row, whatever is wrong with it. */
  const below = (all: readonly CsvItem[]): readonly CsvItem[] =>
    table === null ? all : all.filter((item) => 'line' in item && (item.line ?? 0) > table.line)
  yield [...(table === null ? [] : [{ head: table }]), ...below(items)]
  if (!done && error === null)
    for await (const chunk of chunks) {
      ;({ items, error } = await write(chunk))
      if (items.length > 0) yield items
      if (error !== null) break
    }
  if (error === null) {
    ;({ items, error } = await end())
    yield below(items)
  }
  if (error !== null) yield [await structural(source, error, lastLine(), separator ?? '')]
}

async function readHead(chunks: AsyncGenerator<Buffer>): Promise<{ head: Buffer; done: boolean }> {
  const parts: Buffer[] = []
  let [length, lines] = [0, 0]
  while (length <= maxRecord && lines < readAhead) {
    const next = await chunks.next()
    if (next.done) return { head: Buffer.concat(parts), done: true }
    parts.push(next.value)
    length += next.value.length
    for (let at = next.value.indexOf(lineFeed); at !== -1; at = next.value.indexOf(lineFeed, at + 1)) lines++
  }
  return { head: Buffer.concat(parts), done: false }
}

/** The offset at which this many lines end. */
function endOfLines(bytes: Buffer, lines: number): number {
  let end = -1
  for (let line = 0; line < lines; line++) {
    end = bytes.indexOf(lineFeed, end + 1)
    if (end === -1) return Math.min(bytes.length, maxRecord)
  }
  return end
}

/** A row that may be the header, under one separator. */
type HeaderCandidate = TableHead & HeaderScore

async function candidatesIn(
  start: Buffer,
  isWhole: boolean,
  sign: Separator | undefined,
  score: (cells: readonly string[]) => HeaderScore,
): Promise<readonly HeaderCandidate[]> {
  const candidates: HeaderCandidate[] = []
  for (const separator of sign === undefined ? separators : [sign]) {
    const { write, end } = startParser(separator, sign !== undefined)
    // The end may be in the middle of a row.
    const written = [await write(start), ...(isWhole ? [await end()] : [])]
    const rows = written
      .flatMap(({ items }) => items.filter((item) => 'cells' in item))
      .filter(({ line }) => line <= headLines)
    for (const [place, { line, cells }] of rows.entries()) {
      const titleRows = rows.slice(0, place).map((row) => row.cells)
      candidates.push({ line, cells, separator, titleRows, ...score(cells) })
    }
  }
  return candidates
}

/**
 * The header: the first row with the column of the texts, under the separator by which most of its cells are names. Where
 * no row has it, the one that says most about what is missing. Null where there is no row at all.
 */
function headOf(
  candidates: readonly HeaderCandidate[],
  { mayBeList, textsAreMapped }: { readonly mayBeList: boolean; readonly textsAreMapped: boolean },
  isWithoutTabs: boolean,
): HeaderCandidate | null {
  const better = (a: HeaderCandidate, b: HeaderCandidate): number =>
    a.line - b.line || b.weight - a.weight || b.cells.length - a.cells.length
  const [header] = candidates
    .filter((one) => one.isHeader && (textsAreMapped || isBelowTitles(one)))
    .sort(better)
  if (header !== undefined) return header
  const [first] = candidates.toSorted(better)
  if (mayBeList && isWithoutTabs && (first === undefined || first.weight === 0))
    return { line: 0, cells: ['query'], separator: null, titleRows: [], isHeader: true, weight: 1 }
  const [likely] = candidates
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight || better(a, b))
  return likely ?? first ?? null
}

/** A title has fewer cells than the header below it: rows as wide as that may be texts, one of which is `query`. */
function isBelowTitles({ cells, titleRows }: HeaderCandidate): boolean {
  const width = filled(cells)
  return width === 1 || titleRows.every((row) => filled(row) < width)
}

function filled(cells: readonly string[]): number {
  return cells.filter((cell) => cell.trim() !== '').length
}

function startParser(separator: Separator | null, signAbove: boolean) {
  let items: Exclude<CsvItem, { head: TableHead }>[] = []
  let last = 0
  const parser = new Parser({
    ...parserOptions,
    // A list has no cells and no quotes: no line has the sign that no text may have.
    ...(separator === null ? { delimiter: '\0', quote: null } : { delimiter: separator }),
    on_skip: (error) => {
      // Every other mistake leaves open where the next row begins.
      if (error?.code !== 'INVALID_OPENING_QUOTE') throw error
      const line = Number(error.lines)
      if (items.at(-1)?.line !== line) items.push({ line, mistake: strayQuote })
      return undefined
    },
  })
  const { push } = parser
  // Taken where the parser hands rows on: it would make all that it knows of each into an object for `on_record`.
  parser.push = (cells: string[] | null) => {
    if (cells === null) return push.call(parser, null)
    const { lines } = parser.info
    if (!signAbove || lines > 1) items.push({ line: lines - lineFeeds(cells), cells })
    last = lines
    return true
  }
  const taken = (error: Error | null | undefined) => {
    const written = { items, error: (error ?? null) as CsvError | null }
    items = []
    return written
  }
  parser.on('error', () => {})
  parser.resume()
  return {
    write: (chunk: Buffer) =>
      new Promise<ReturnType<typeof taken>>((done) => parser.write(chunk, (error) => done(taken(error)))),
    end: () =>
      new Promise<ReturnType<typeof taken>>((done) =>
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
): Promise<{ readonly line: number; readonly mistake: InvalidValue }> {
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

/** Where bytes are read from: the path of a file, or the bytes themselves. */
export type ByteSource = string | Buffer

// The rows of a chunk are all there at once: the larger it is, the more memory they take before they are dropped.
const chunkSize = 16 * 1024

/** The text of a file in UTF-8, with every line end made a line feed; `seen` sees each byte as it stands on disk. */
async function* readLines(source: ByteSource, seen: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  let afterReturn = false
  for await (const chunk of inUtf8(chunksOf(source), seen)) {
    if (chunk.length === 0) continue
    if (!afterReturn && !chunk.includes(13)) {
      yield chunk
      continue
    }
    const { bytes, endsInReturn } = toLineFeeds(chunk, afterReturn)
    afterReturn = endsInReturn
    if (bytes.length > 0) yield bytes
  }
}

/** UTF-16 with its byte order mark becomes UTF-8; all else stays as it is. */
async function* inUtf8(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  seen: (chunk: Buffer) => void,
): AsyncGenerator<Buffer> {
  let decode: ((chunk?: Buffer) => Buffer) | undefined
  for await (const chunk of chunks) {
    seen(chunk)
    decode ??= decoderOf(chunk)
    yield decode(chunk)
  }
  if (decode !== undefined) yield decode()
}

/** Decodes the chunks of a text one after the other, and ends without one. */
function decoderOf(first: Buffer): (chunk?: Buffer) => Buffer {
  const encoding = encodingOf(first)
  if (encoding === 'utf-8') return (chunk = Buffer.alloc(0)) => chunk
  const decoder = new TextDecoder(encoding)
  return (chunk) => Buffer.from(decoder.decode(chunk, { stream: chunk !== undefined }))
}

function chunksOf(source: ByteSource): AsyncIterable<Buffer> | Iterable<Buffer> {
  return typeof source === 'string' ? pieces(source) : slices(source)
}

/**
 * The chunks of a file; after each, what else waits has its turn. A stream would load more of Node than most commands need, and hand each
 * chunk to another thread.
 */
async function* pieces(file: string): AsyncGenerator<Buffer> {
  const opened = openSync(file, 'r')
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafeSlow(chunkSize)
      const length = readSync(opened, chunk)
      if (length === 0) return
      yield chunk.subarray(0, length)
      await new Promise(setImmediate)
    }
  } finally {
    closeSync(opened)
  }
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize)
}

function toLineFeeds(chunk: Buffer, afterReturn: boolean): { bytes: Buffer; endsInReturn: boolean } {
  const bytes = Buffer.allocUnsafe(chunk.length)
  let length = 0
  let last = afterReturn ? 13 : 0
  for (const byte of chunk) {
    if (byte !== 10 || last !== 13) bytes[length++] = byte === 13 ? 10 : byte
    last = byte
  }
  return { bytes: bytes.subarray(0, length), endsInReturn: last === 13 }
}

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
