import { type Attributes, ariaHidden, breakable, button, type Child, html } from '../dom.ts'
import { say } from '../text.ts'

export interface SimpleColumn<Row> {
  readonly title: string
  readonly class?: string
  cell(row: Row): Child
}

/** A column that rows can be sorted by, if it has a value. */
export interface GridColumn<Row> extends SimpleColumn<Row> {
  readonly key: string
  /** The value that rows are sorted by; null comes last in both directions. */
  readonly value?: (row: Row) => number | string | null
  /** Whether the first click sorts in descending order. */
  readonly descends?: boolean
}

/** A column of numbers. */
export function figures<Row>(title: string, cell: (row: Row) => Child, more = ''): SimpleColumn<Row> {
  return { title, class: `figure${more}`, cell }
}

/** A table of few rows. */
export function simpleTable<Row>(
  label: string,
  rows: readonly Row[],
  columns: readonly SimpleColumn<Row>[],
): HTMLElement {
  const heads = columns.map((column) => columnHead(column, {}, breakable(column.title)))
  const table = html(
    'table',
    '',
    html('caption', 'sr-only', label),
    html('thead', '', html('tr', '', ...heads)),
    html('tbody', '', ...rows.map((row) => tableRow(columns, row))),
  )
  return html('div', { class: 'table-frame', tabindex: 0, role: 'group', 'aria-label': label }, table)
}

/**
 * A row; its first cell is its head.
 *
 * @param wrap puts the first cell into another element
 */
export function tableRow<Row>(
  columns: readonly SimpleColumn<Row>[],
  row: Row,
  attributes: Attributes = {},
  wrap = (first: Child): Child => first,
): HTMLElement {
  const cells = columns.map((column, place) => {
    const className = column.class ?? null
    return place === 0
      ? html('th', { scope: 'row', class: className }, wrap(column.cell(row)))
      : html('td', { class: className, 'data-title': column.title }, column.cell(row))
  })
  return html('tr', attributes, ...cells)
}

export interface SortOrder {
  readonly by: string
  readonly descending: boolean
}

/** Rows in the order of a column; equal ones stay as they were. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly GridColumn<Row>[],
  { by, descending }: SortOrder,
): readonly Row[] {
  const value = columns.find(({ key }) => key === by)?.value
  if (value === undefined) return rows
  const sign = descending ? -1 : 1
  const collator = new Intl.Collator(say.language, { numeric: true })
  const keyed = rows.map((row) => ({ row, key: value(row) }))
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null)
    if (typeof a.key === 'string') return sign * collator.compare(a.key, String(b.key))
    return sign * (a.key - Number(b.key))
  })
  return keyed.map(({ row }) => row)
}

/** The head of a column; a button if rows can be sorted by the column. */
export function sortable<Row>(
  column: GridColumn<Row>,
  order: SortOrder,
  sort: (order: SortOrder) => void,
): HTMLElement {
  const { key, title, value, descends = false } = column
  if (value === undefined) return columnHead(column, {}, title)
  const current = order.by === key
  const next = { by: key, descending: current ? !order.descending : descends }
  const direction = current ? (order.descending ? 'descending' : 'ascending') : 'none'
  return columnHead(
    column,
    { 'aria-sort': direction },
    button(
      'sort',
      () => sort(next),
      { 'data-column': key, title },
      breakable(title),
      ariaHidden({ ascending: '↑', descending: '↓', none: '' }[direction], 'arrow'),
    ),
    // Chromium prints no buttons in heads that it repeats on every page.
    html('span', { class: 'only-print', 'aria-hidden': 'true' }, breakable(title)),
  )
}

function columnHead<Row>(
  { class: className = '' }: SimpleColumn<Row>,
  attributes: Attributes,
  ...children: readonly Child[]
): HTMLElement {
  return html('th', { scope: 'col', class: className || null, ...attributes }, ...children)
}
