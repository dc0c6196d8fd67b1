import { withoutFormula } from '../../../model/text.ts'
import { button, copyText, html } from '../dom.ts'
import { say } from '../text.ts'

/** A column of what is copied or written to a file. */
export interface TakenColumn<Row> {
  readonly title: string
  readonly of: (row: Row) => TakenValue
}

interface Taking<Row> {
  /** The name of the table. */
  readonly label: string
  readonly columns: readonly TakenColumn<Row>[]
  /** Every row that is selected, in its order, drawn or not. */
  readonly rows: () => readonly Row[]
}

/** The buttons that copy a table and save it as a CSV file. */
export function tableTools<Row>({ label, columns, rows }: Taking<Row>): HTMLElement {
  const words = say.tables
  const said = html('span', { class: 'said', role: 'status' })
  const taken = function* (): Generator<readonly TakenValue[]> {
    yield columns.map(({ title }) => title)
    for (const row of rows()) yield columns.map(({ of }) => of(row))
  }
  const copy = async (): Promise<void> => {
    said.textContent = ''
    const isCopied = await copyText(tabbedOf(taken(), decimalSign()))
    said.textContent = isCopied ? words.copied(rows().length) : words.notCopied
  }
  const save = (): void => {
    const name = `${fileName(`${document.title} ${label}`)}.csv`
    saveAs(name, new Blob([csvOf(taken(), decimalSign())], { type: 'text/csv' }))
    said.textContent = words.saved(name)
  }
  return html(
    'div',
    { class: 'table-tools', role: 'group', 'aria-label': words.tools(label) },
    said,
    button('tool', () => void copy(), { title: words.copyHint }, words.copy),
    button('tool', save, { title: words.csvHint }, words.csv),
  )
}

function decimalSign(): DecimalSign {
  return say.decimal(0.5).includes(',') ? ',' : '.'
}

function fileName(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return words.join('-').slice(0, 100)
}

function saveAs(name: string, content: Blob): void {
  const href = URL.createObjectURL(content)
  html('a', { href, download: name }).click()
  // The browser reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(href), 10_000)
}
/** A cell of a table that is taken out of the page. */
export type TakenValue = string | number | null

/** How spreadsheets of a language write numbers and part columns: where decimals follow a comma, columns end with a semicolon. */
type DecimalSign = '.' | ','

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
