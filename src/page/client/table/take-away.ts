import { copyText } from '../clipboard.ts'
import { button, html } from '../dom.ts'
import { decimal } from '../format.ts'
import { say } from '../language.ts'
import { csvOf, type DecimalSign, type TakenValue, tabbedOf } from './delimited.ts'

/** A column of what is copied or written to a file. */
export interface TakenColumn<Row> {
  readonly title: string
  readonly of: (row: Row) => TakenValue
}

export interface Taking<Row> {
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
  return decimal(0.5).includes(',') ? ',' : '.'
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
