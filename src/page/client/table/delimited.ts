import { withoutFormula } from '../../../model/text.ts'

/** A cell of a table that is taken out of the page. */
export type TakenValue = string | number | null

/** How spreadsheets of a language write numbers and part columns: where decimals follow a comma, columns end with a semicolon. */
export type DecimalSign = '.' | ','

/** Rows as CSV for spreadsheets, with the mark that makes them read it as UTF-8. */
export function csvOf(rows: Iterable<readonly TakenValue[]>, decimal: DecimalSign): string {
  const separator = decimal === ',' ? ';' : ','
  return `\ufeff${linesOf(rows, (cell) => quoted(cellText(cell, decimal), separator), separator)}`
}

/** Rows as text that spreadsheets paste into cells. A cell is one line. */
export function tabbedOf(rows: Iterable<readonly TakenValue[]>, decimal: DecimalSign): string {
  const inOneLine = (cell: TakenValue): string => cellText(cell, decimal).replace(/[\t\r\n]+/g, ' ')
  return linesOf(rows, (cell) => quoted(inOneLine(cell), '\t'), '\t')
}

function linesOf(
  rows: Iterable<readonly TakenValue[]>,
  write: (cell: TakenValue) => string,
  separator: string,
): string {
  return Array.from(rows, (row) => `${row.map(write).join(separator)}\r\n`).join('')
}

function cellText(cell: TakenValue, decimal: DecimalSign): string {
  if (cell === null) return ''
  return typeof cell === 'number' ? String(cell).replace('.', decimal) : withoutFormula(cell)
}

function quoted(text: string, separator: string): string {
  return /["\r\n]/.test(text) || text.includes(separator) ? `"${text.replaceAll('"', '""')}"` : text
}
