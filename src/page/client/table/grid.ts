import {
  type Attributes,
  ariaHidden,
  breakable,
  button,
  type Child,
  html,
  isNarrow,
  isPrinted,
  onMedium,
  onResize,
} from '../dom.ts'
import { say } from '../text.ts'

/** The most important rows, and a sentence that says which these are. */
export type PaperChoice<Row> = (
  all: readonly Row[],
  most: number,
) => { readonly chosen: readonly Row[]; readonly lead: string }

/** Rows that are drawn beyond the edges, so that scrolling does not show empty space. */
const margin = 8
/** The greatest height by the style sheet; used until the real height is known. */
const usualHeight = 640
/** Pixels of a row. */
const rowHeight = 48
/** Rows that a narrow screen shows at first, and rows that each click on the button adds. */
const narrowRows = 20
/** Rows on paper at most. */
const mostPrintedRows = 80

/**
 * A table of any number of rows. Only visible rows are elements; all rows have the same height. Arrow keys, Page Up and Down,
 * Home and End go from row to row. On paper some rows are printed, and a note says which.
 */
export function grid<Row>({
  label,
  columns,
  order: first,
  onOrder,
  open,
  empty,
  choice = firstRows,
}: {
  readonly label: string
  readonly columns: readonly GridColumn<Row>[]
  readonly order: SortOrder
  /** Is told the order that the reader chose. */
  readonly onOrder?: (order: SortOrder) => void
  /** Called by the button in the first cell; without it rows have no button. */
  readonly open?: (row: Row, rows: readonly Row[]) => void
  /** The text in place of rows if there are none. */
  readonly empty: string
  /** Which rows are printed if not all are; without it the first ones. */
  readonly choice?: PaperChoice<Row>
}) {
  let order = first
  let given: readonly Row[] = []
  let rows: readonly Row[] = []
  let active = 0
  let most = narrowRows
  let drawn = ''
  const head = html('tr', { 'aria-rowindex': 1 })
  const [above, body, below] = [spacer(), html('tbody'), spacer()]
  const table = html('table', { 'aria-label': label }, html('thead', '', head), above, body, below)
  const tabindex = open === undefined ? 0 : null
  const box = html('div', { class: 'grid', tabindex, role: 'group', 'aria-label': label }, table)
  const more = button('quiet more-rows', showMore, { hidden: true })
  const note = html('p', 'note only-print')
  const nothing = html('p', { class: 'empty', hidden: true }, empty)
  // Remembered, because reading them while the page changes makes the browser compute its layout at once.
  let [scrolled, height] = [0, usualHeight]
  box.addEventListener('scroll', () => {
    scrolled = box.scrollTop
    draw()
  })
  onResize(box, () => {
    height = box.clientHeight
    draw()
  })
  onMedium(box, draw)
  body.addEventListener('keydown', steer)
  body.addEventListener('focusin', ({ target }) => activate(indexOf(target as Element) ?? active))
  body.addEventListener('click', (event) => {
    // A click on a link follows the link, and selecting text opens nothing.
    if (open === undefined || (event.target as Element).closest('a') !== null) return
    if (getSelection()?.isCollapsed === false) return
    const index = indexOf(event.target as Element)
    if (index !== null) openAt(index)
  })
  drawHead()
  const element = html('div', 'grid-frame', note, box, more, nothing)
  return {
    element,
    show: (next: readonly Row[]): void => {
      given = next
      goToTop()
      arrange()
    },
  }

  function arrange(): void {
    rows = sorted(given, columns, order)
    active = Math.min(active, Math.max(0, rows.length - 1))
    most = narrowRows
    table.setAttribute('aria-rowcount', String(rows.length + 1))
    box.hidden = rows.length === 0
    nothing.hidden = rows.length > 0
    drawn = ''
    draw()
  }

  function goToTop(): void {
    if (scrolled === 0) return
    scrolled = 0
    box.scrollTop = 0
  }

  function drawHead(): void {
    head.replaceChildren(...columns.map((column) => sortable(column, order, sort)))
  }

  function sort(next: SortOrder): void {
    order = next
    onOrder?.(next)
    drawHead()
    goToTop()
    arrange()
    head.querySelector<HTMLElement>(`[data-column="${next.by}"]`)?.focus()
  }

  function draw(): void {
    const printed = isPrinted()
    // On a phone a table that scrolls would catch the finger that scrolls the page.
    const whole = printed || isNarrow()
    const top = whole ? 0 : Math.floor(scrolled / rowHeight)
    const from = Math.max(0, top - margin)
    const seen = printed ? mostPrintedRows : whole ? most : Math.ceil(height / rowHeight) + margin
    const to = Math.min(rows.length, top + seen)
    more.hidden = printed || !whole || to === rows.length
    more.textContent = say.tables.more(Math.min(narrowRows, rows.length - to), rows.length)
    const next = `${from}-${to} ${whole} ${printed}`
    if (next === drawn) return
    const isCut = printed && rows.length > mostPrintedRows
    const { chosen, lead } = isCut ? choice(rows, mostPrintedRows) : { chosen: rows, lead: '' }
    note.textContent = lead
    const focused = body.contains(document.activeElement)
    drawn = next
    above.style.height = `${from * rowHeight}px`
    below.style.height = whole ? '0px' : `${(rows.length - to) * rowHeight}px`
    if (active < from || active >= to) active = Math.min(rows.length - 1, from + (whole ? 0 : margin))
    body.replaceChildren(...chosen.slice(from, to).map((row, place) => line(row, from + place)))
    if (focused && !printed) buttonAt(active)?.focus({ preventScroll: true })
  }

  function showMore(): void {
    const first = most
    most += narrowRows
    draw()
    if (open !== undefined) reach(first)
  }

  function line(row: Row, index: number): HTMLElement {
    const tabindex = index === active ? 0 : -1
    const attributes = { 'aria-rowindex': index + 2, 'data-index': index }
    return tableRow(columns, row, attributes, (first) =>
      open === undefined ? first : html('button', { type: 'button', class: 'row-button', tabindex }, first),
    )
  }

  function indexOf(target: Element): number | null {
    const index = target.closest<HTMLElement>('tr')?.dataset.index
    return index === undefined ? null : Number(index)
  }

  function openAt(index: number): void {
    reach(index)
    const row = rows[index]
    if (row !== undefined) open?.(row, rows)
  }

  function steer(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(box.clientHeight / rowHeight) - 1)
    const step = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -rows.length,
      End: rows.length,
    }[event.key]
    const index = indexOf(event.target as Element)
    if (step === undefined || index === null || open === undefined) return
    event.preventDefault()
    const last = isNarrow() ? Math.min(most, rows.length) - 1 : rows.length - 1
    reach(Math.min(last, Math.max(0, index + step)))
  }

  /** Brings a row into sight and puts the focus on it. */
  function reach(index: number): void {
    activate(index)
    const room = box.clientHeight - head.offsetHeight
    if (index * rowHeight < box.scrollTop) box.scrollTop = index * rowHeight
    else if ((index + 1) * rowHeight > box.scrollTop + room) box.scrollTop = (index + 1) * rowHeight - room
    scrolled = box.scrollTop
    draw()
    const opener = buttonAt(index)
    opener?.focus({ preventScroll: true })
    // The table may be partly outside the window.
    opener?.closest('tr')?.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' })
  }

  /** The row that Tab goes to. */
  function activate(index: number): void {
    buttonAt(active)?.setAttribute('tabindex', '-1')
    active = index
    buttonAt(index)?.setAttribute('tabindex', '0')
  }

  function buttonAt(index: number): HTMLElement | null {
    return body.querySelector<HTMLElement>(`tr[data-index="${index}"] .row-button`)
  }
}

function firstRows<Row>(all: readonly Row[], most: number): ReturnType<PaperChoice<Row>> {
  return { chosen: all.slice(0, most), lead: say.tables.printed(most, all.length) }
}

function spacer(): HTMLElement {
  return html('tbody', { class: 'spacer', 'aria-hidden': 'true' })
}

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
  const arrow = ariaHidden({ ascending: '↑', descending: '↓', none: '' }[direction], 'arrow')
  const sorter = button('sort', () => sort(next), { 'data-column': key, title }, breakable(title), arrow)
  // Chromium prints no buttons in heads that it repeats on every page.
  const printed = html('span', { class: 'only-print', 'aria-hidden': 'true' }, breakable(title))
  return columnHead(column, { 'aria-sort': direction }, sorter, printed)
}

function columnHead<Row>(
  { class: className = '' }: SimpleColumn<Row>,
  attributes: Attributes,
  ...children: readonly Child[]
): HTMLElement {
  return html('th', { scope: 'col', class: className || null, ...attributes }, ...children)
}
