import { UsageError } from '../model/errors.ts'
import { memoized } from '../model/text.ts'
import { dayNumber, latestDay } from '../model/time.ts'
import { type DecimalMark, quoted, readVolume } from '../model/values.ts'
import type { InputFile } from './input-files.ts'

/** A record as places in a buffer: nothing becomes a string that is not asked for. */
export interface CsvRecord {
  bytes: Buffer
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** 1 where quotes in the cell are doubled. */
  readonly doubled: Uint8Array
  cells: number
  line: number
  /** Of the last one: no line end stands behind it, so that the file may be cut there. */
  isOpen: boolean
}

/** A record as text. */
export type TextRow = ReturnType<typeof textRow>

const [quote, feed, back] = [34, 10, 13]
const mostCells = 16_384
/** A longer record is no record of these files: a quote was opened and never closed. */
const longest = 4_000_000

/** Text of a cell. */
export function cellText({ bytes, starts, ends, doubled }: CsvRecord, cell: number): string {
  const text = bytes.toString('utf8', starts[cell], ends[cell])
  return doubled[cell] === 1 ? text.replaceAll('""', '"') : text
}

/** Reads cells of record after record. Most hold what the row above holds there: they stay the same string. */
export function repeatedCells(
  record: () => CsvRecord,
  read: (record: CsvRecord, cell: number) => string,
): (cell: number) => string {
  /** What each cell held when it was last read. */
  const last: {
    readonly bytes: Buffer
    readonly start: number
    readonly end: number
    readonly isDoubled: boolean
    readonly text: string
  }[] = []
  return (cell) => {
    const { bytes, starts, ends, doubled } = record()
    const isDoubled = doubled[cell] === 1
    const [start, end] = [starts[cell] as number, ends[cell] as number]
    const above = last[cell]
    if (above !== undefined && above.isDoubled === isDoubled && isSame(above, bytes, start, end))
      return above.text
    const text = read(record(), cell)
    last[cell] = { bytes, start, end, isDoubled, text }
    return text
  }
}

function isSame(
  above: { readonly bytes: Buffer; readonly start: number; readonly end: number },
  bytes: Buffer,
  start: number,
  end: number,
): boolean {
  if (end - start !== above.end - above.start) return false
  for (let at = start, before = above.start; at < end; at++, before++)
    if (bytes[at] !== above.bytes[before]) return false
  return true
}

/** All cells of a record. */
export function textRow(record: CsvRecord) {
  return {
    cells: Array.from({ length: record.cells }, (_, cell) => cellText(record, cell)),
    line: record.line,
  }
}

/**
 * Takes records of CSV from pieces of bytes and gives each to a function, which must take what it needs of it at once: the record is used
 * again. Empty lines are left out. csv-parse makes a string of every cell, which takes minutes where a table has 45 columns and ten million
 * rows.
 *
 * @param take ends the reading where it answers false
 */
export function csvParser(file: string, separator: number, take: (record: CsvRecord) => unknown) {
  const record: CsvRecord = {
    bytes: Buffer.alloc(0),
    starts: new Int32Array(mostCells),
    ends: new Int32Array(mostCells),
    doubled: new Uint8Array(mostCells),
    cells: 0,
    line: 1,
    isOpen: false,
  }
  const { starts, ends, doubled } = record
  let lines = 1
  let isEnough = false
  let rest: Buffer = Buffer.alloc(0)

  /** Takes whole records and answers where the rest begins. */
  const parse = (bytes: Buffer, isLast: boolean): number => {
    const size = bytes.length
    record.bytes = bytes
    let at = 0
    while (at < size && !isEnough) {
      const begin = at
      const firstLine = lines
      let cell = 0
      for (;;) {
        if (cell === mostCells)
          throw new UsageError(
            `${file}:${firstLine}: the row has more than ${mostCells} cells. Check the file`,
          )
        doubled[cell] = 0
        if (bytes[at] === quote) {
          let close = bytes.indexOf(quote, at + 1)
          while (close !== -1 && bytes[close + 1] === quote) {
            doubled[cell] = 1
            close = bytes.indexOf(quote, close + 2)
          }
          if (close === -1 || (close + 1 === size && !isLast))
            return unfinished(begin, firstLine, size, isLast)
          starts[cell] = at + 1
          ends[cell] = close
          for (
            let feedAt = bytes.indexOf(feed, at);
            feedAt !== -1 && feedAt < close;
            feedAt = bytes.indexOf(feed, feedAt + 1)
          )
            lines++
          at = close + 1
          if (bytes[at] === back) at++
        } else {
          starts[cell] = at
          while (at < size) {
            const byte = bytes[at]
            if (byte === separator || byte === feed) break
            at++
          }
          if (at === size && !isLast) return unfinished(begin, firstLine, size, false)
          ends[cell] =
            bytes[at - 1] === back && bytes[at] !== separator && at > (starts[cell] as number) ? at - 1 : at
        }
        cell++
        if (at >= size) {
          if (!isLast) return unfinished(begin, firstLine, size, false)
          break
        }
        if (bytes[at] === separator) {
          at++
          continue
        }
        if (bytes[at] === feed) {
          at++
          lines++
          break
        }
        throw new UsageError(`${file}:${firstLine}: text follows a closed quote. Check the quotes of the row`)
      }
      record.cells = cell
      record.line = firstLine
      record.isOpen = at === size && bytes[at - 1] !== feed && bytes[at - 1] !== back
      if (hasText(record) && !namesSeparator(record)) isEnough = take(record) === false
    }
    return at
  }

  const unfinished = (begin: number, line: number, size: number, isLast: boolean): number => {
    if (!isLast && size - begin > longest)
      throw new UsageError(
        `${file}:${line}: the row has more than ${longest / 1e6} MB. Check the quotes and the line ends of the file`,
      )
    if (isLast)
      throw new UsageError(
        `${file}:${line}: a quote is opened and never closed. The file may be cut off; export it again`,
      )
    lines = line
    return begin
  }

  return {
    /** Answers whether more is wanted. */
    push(piece: Buffer): boolean {
      const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      rest = bytes.subarray(parse(bytes, false))
      return !isEnough
    },
    /** The last record, which need not have an end. */
    end(): void {
      if (rest.length > 0) parse(rest, true)
    },
  }
}

/** Reads the records of a file, one after the other, as `csvParser` says. */
export async function readCsv(
  file: InputFile,
  separator: number,
  take: (record: CsvRecord) => unknown,
): Promise<void> {
  const parser = csvParser(file.name, separator, take)
  for await (const bytes of file.utf8()) if (!parser.push(bytes)) return
  parser.end()
}

/** The whole records at the start of a text, up to one that is none, and so many. */
export function firstRows(head: string, most = headLines): readonly TextRow[] {
  const rows: TextRow[] = []
  try {
    csvParser('', separatorOf(head), (record) => rows.push(textRow(record)) < most).push(
      Buffer.from(`${head.replace(/^\ufeff/, '')}\n`),
    )
  } catch (error) {
    // Who reads the whole file says where it is broken.
    if (!(error instanceof UsageError)) throw error
  }
  return rows
}

const headLines = 20

/** Whether any cell has text: Excel writes rows of separators alone below a table. */
function hasText({ starts, ends, cells }: CsvRecord): boolean {
  for (let cell = 0; cell < cells; cell++) if (starts[cell] !== ends[cell]) return true
  return false
}

/** What Excel writes and reads above the header. */
function namesSeparator(record: CsvRecord): boolean {
  return record.line === 1 && record.cells <= 2 && /^sep=[,;|\t]?$/i.test(textRow(record).cells.join(''))
}

/** What parts the cells of a table: the sign that its first line names, as Excel does, else the one that its first lines have most often. */
export function separatorOf(head: string): number {
  const named = head.match(/^\ufeff?"?sep=([,;|\t])"?\s*[\r\n]/i)?.[1]
  if (named !== undefined) return named.charCodeAt(0)
  const lines = head
    .split('\n', headLines)
    .join('\n')
    .replace(/"(?:[^"]|"")*"/g, '')
  const times = [',', '\t', ';'].map((sign) => ({ sign, times: lines.split(sign).length }))
  return times.reduce((best, one) => (one.times > best.times ? one : best)).sign.charCodeAt(0)
}

/** A number of the digits between two places; -1 where anything else stands there. */
export function digitsIn(bytes: Uint8Array, start: number, end: number): number {
  if (start === end) return -1
  let value = 0
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] as number) - 48
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}

/**
 * A number of digits with a point among them, between two places: what most positions are. -1 where anything else stands there, and where a
 * digit would be lost.
 */
export function decimalIn(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > mostExactDigits) return -1
  let value = 0
  let scale = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    const digit = byte - 48
    if (digit >= 0 && digit <= 9) {
      value = value * 10 + digit
      scale *= 10
    } else if (byte === point && scale === 0 && at > start && at < end - 1) scale = 1
    else return -1
  }
  return start === end ? -1 : scale === 0 ? value : value / scale
}

const point = 46
/** Numbers of so many digits, and powers of ten, are exact. */
const mostExactDigits = 15

/** The sign before decimals in a table: where commas part its cells, they are not in its numbers. */
export function decimalMarkOf(separator: number): DecimalMark {
  return separator === semicolon ? ',' : '.'
}

const semicolon = 59

/**
 * A whole number from 0 on, with or without signs between its thousands, or as programs print large ones (`1.2E7`); -1 for anything else, and
 * for what can be read as two numbers.
 */
export function wholeOf(text: string, decimal: DecimalMark): number {
  if (/^\d(?:\.\d+)?e\+?\d{1,2}$/i.test(text.trim())) {
    const number = Number(text)
    return Number.isSafeInteger(number) ? number : -1
  }
  // Units, as in 1.5K, stand for numbers that were rounded.
  const read = /[a-z]/i.test(text) ? null : readVolume(text.trim(), decimal)
  return read !== null && 'value' in read ? read.value : -1
}

/** The number of a day that is written `2026-08-01`, also as the start of an instant; -1 where it is none, or of another century. */
export function readDay(text: string): number {
  const [, year, month, day] = /^(20\d{2})-(\d{2})-(\d{2})(?:\s*$|[T ]\d)/.exec(text) ?? []
  return day === undefined ? -1 : (dayNumber(Number(year), Number(month), Number(day)) ?? -1)
}

/**
 * Reads the days of a file. Throws a sentence for what is none, and for a day that is still to come at `now`: it would stay the newest until
 * then.
 */
export function dayReader(now: number): (text: string, where: () => string) => number {
  const latest = latestDay(now)
  const numberOf = memoized(readDay)
  return (text, where) => {
    const day = numberOf(text)
    if (day !== -1 && day <= latest) return day
    const what =
      text === ''
        ? 'the row has no date; write days such as 2026-08-01'
        : day === -1
          ? `${quoted(text)} is no date; write days such as 2026-08-01`
          : `${quoted(text)} is in the future; correct the date, or the clock of this machine`
    throw new UsageError(`${where()}: ${what}. Nothing was stored`)
  }
}

/**
 * Throws a sentence for a row that has fewer cells than it must have, as it may be cut, and for one that has more than its header: a sign
 * within a number parts it.
 */
export function checkCells(
  { cells, starts, ends, line }: CsvRecord,
  columns: number,
  file: string,
  least = columns,
): void {
  let filled = cells
  while (filled > columns && starts[filled - 1] === ends[filled - 1]) filled--
  if (cells >= least && filled <= columns) return
  const why =
    cells < least
      ? 'the file may be cut. Export it again'
      : 'one of them has the sign that parts cells in its text, or stands below no name. Put quotes around that text, or give its column a name in the header'
  throw new UsageError(
    `${file}:${line}: the row has ${cells} cells, not ${columns}: ${why}; nothing was stored`,
  )
}
