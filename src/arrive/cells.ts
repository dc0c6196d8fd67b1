import { UsageError } from '../model/errors.ts'
import { memoized } from '../model/text.ts'
import { dayNumber, latestDay } from '../model/time.ts'
import { type DecimalMark, quoted, readVolume } from '../model/values.ts'
import type { CsvRecord } from './csv.ts'

/** The sign before decimals in a table: where commas part its cells, they are not in its numbers. */
export function decimalMarkOf(separator: number): DecimalMark {
  return separator === semicolon ? ',' : '.'
}

const semicolon = 59

/** A whole number from 0 on, with or without signs between its thousands, or as programs print large ones (`1.2E7`); -1 for anything else, and for what can be read as two numbers. */
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
  const [, year, month, day] = /^(20\d{2})-(\d{2})-(\d{2})(?:$|[T ])/.exec(text) ?? []
  return day === undefined ? -1 : (dayNumber(Number(year), Number(month), Number(day)) ?? -1)
}

/** Reads the days of a file. Throws a sentence for what is none, and for one that is still to come at `now`: it would be the newest for long. */
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
