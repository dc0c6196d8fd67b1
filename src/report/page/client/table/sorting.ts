import { breakable, type Child, h, unsaid } from '../dom.ts'

export interface Column<Row> {
  readonly key: string
  readonly title: string
  readonly class?: string
  cell(row: Row): Child
  /** What rows are sorted by; null, in both directions, comes last. Columns without it are not sorted by. */
  readonly value?: (row: Row) => number | string | null
  /** The direction that a first click asks for. */
  readonly descends?: boolean
}

export interface SortOrder {
  readonly by: string
  readonly descending: boolean
}

/** Rows in the order of a column; equal ones stay as they were. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { by, descending }: SortOrder,
): readonly Row[] {
  const value = columns.find(({ key }) => key === by)?.value
  if (value === undefined) return rows
  const sign = descending ? -1 : 1
  const keyed = rows.map((row) => ({ row, key: value(row) }))
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null)
    if (typeof a.key === 'string') return sign * collator.compare(a.key, String(b.key))
    return sign * (a.key - Number(b.key))
  })
  return keyed.map(({ row }) => row)
}

const collator = new Intl.Collator('en', { numeric: true })

/** The head of a column, a button where one can sort by it. */
export function sortable<Row>(
  { key, title, class: className, value, descends = false }: Column<Row>,
  order: SortOrder,
  sort: (order: SortOrder) => void,
): HTMLElement {
  if (value === undefined) return h('th', { scope: 'col', class: className ?? null }, title)
  const current = order.by === key
  const button = h(
    'button',
    {
      type: 'button',
      class: 'sort',
      'data-column': key,
      title,
      on: { click: () => sort({ by: key, descending: current ? !order.descending : descends }) },
    },
    breakable(title),
    unsaid(current ? (order.descending ? '↓' : '↑') : '', 'arrow'),
  )
  const direction = current ? (order.descending ? 'descending' : 'ascending') : 'none'
  // Chromium prints no buttons in heads that it repeats on every sheet.
  const printed = h('span', { class: 'only-print', 'aria-hidden': 'true' }, breakable(title))
  return h('th', { scope: 'col', class: className ?? null, 'aria-sort': direction }, button, printed)
}
