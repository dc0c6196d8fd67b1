import { breakable, type Child, h, onResize } from '../dom.ts'
import { number } from '../format.ts'
import { isNarrow, isPrinted, onMedium, rowHeight } from './medium.ts'
import { type Column, type SortOrder, sortable, sorted } from './sorting.ts'

export interface Grid<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly order: SortOrder
  /** What the first cell's button opens; rows are plain where there is none. */
  readonly open?: (row: Row, rows: readonly Row[]) => void
  /** What is said where there are no rows. */
  readonly empty: string
  /** Columns beside the first one, where these may be many: with more than fit it scrolls sideways, its first column staying. */
  readonly manyColumns?: number
  /** Columns of the tables that stand one below the other on paper, where nothing scrolls; all in one where it is left out. */
  readonly onPaper?: readonly (readonly Column<Row>[])[]
}

export interface GridView<Row> {
  readonly element: HTMLElement
  show(rows: readonly Row[]): void
}

/** Rows beyond the edges, so that scrolling does not outrun drawing. */
const margin = 8
/** As high as the style lets it be, until its own height is known. */
const usualHeight = 640
/** Rows that a narrow screen shows at first, and so many more whenever more are asked for. */
const narrowRows = 20
/** Rows on paper: more is for a spreadsheet. */
const printedRows = 200

/**
 * A table of any number of rows, of which only those in sight are elements. Rows are as high as each other; arrow keys,
 * Page Up and Down, Home and End go from row to row. On paper the first rows stand whole, and a note says how many.
 */
export function grid<Row>({
  label,
  columns,
  order: first,
  open,
  empty,
  manyColumns,
  onPaper = [],
}: Grid<Row>): GridView<Row> {
  const isApart = onPaper.length > 1
  let order = first
  let given: readonly Row[] = []
  let rows: readonly Row[] = []
  let active = 0
  let most = narrowRows
  let drawn = ''
  const head = h('tr', { 'aria-rowindex': 1 })
  const above = h('tbody', { class: 'spacer', 'aria-hidden': 'true' })
  const body = h('tbody')
  const below = h('tbody', { class: 'spacer', 'aria-hidden': 'true' })
  const table = h('table', { 'aria-label': label }, h('thead', {}, head), above, body, below)
  const box = h(
    'div',
    {
      class: isApart ? 'grid only-screen' : 'grid',
      tabindex: open === undefined ? 0 : null,
      role: 'group',
      'aria-label': label,
    },
    table,
  )
  const paper = h('div', { class: 'only-print' })
  if (manyColumns !== undefined) {
    table.classList.add('many-columns')
    table.style.setProperty('--columns', String(manyColumns))
  }
  const more = h('button', {
    type: 'button',
    class: 'quiet more-rows',
    hidden: true,
    on: { click: showMore },
  })
  const note = h('p', { class: 'note only-print' })
  const nothing = h('p', { class: 'empty', hidden: true }, empty)
  // Asking for them while the page changes makes the browser lay it out there and then.
  let [scrolled, height] = [0, usualHeight]
  box.addEventListener(
    'scroll',
    () => {
      scrolled = box.scrollTop
      draw()
    },
    { passive: true },
  )
  onResize(box, () => {
    height = box.clientHeight
    draw()
  })
  onMedium(box, () => draw())
  body.addEventListener('keydown', steer)
  body.addEventListener('click', (event) => {
    // A link in a row is its own; so is text that somebody marks.
    if (open === undefined || (event.target as Element).closest('a') !== null) return
    if (getSelection()?.isCollapsed === false) return
    const index = indexOf(event.target as Element)
    if (index !== null) openAt(index)
  })
  drawHead()
  return {
    element: h('div', { class: 'grid-frame' }, box, paper, more, nothing, note),
    show: (next) => {
      given = next
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
    if (scrolled !== 0) {
      scrolled = 0
      box.scrollTop = 0
    }
    draw()
  }

  function drawHead(): void {
    head.replaceChildren(
      ...columns.map((column) =>
        sortable(column, order, (next) => {
          order = next
          drawHead()
          arrange()
          head.querySelector<HTMLElement>(`[data-column="${next.by}"]`)?.focus()
        }),
      ),
    )
  }

  function draw(): void {
    const [printed, high] = [isPrinted(), rowHeight()]
    const whole = printed || isNarrow()
    const from = whole ? 0 : Math.max(0, Math.floor(scrolled / high) - margin)
    const seen = printed ? printedRows : whole ? most : Math.ceil(height / high) + 2 * margin
    const to = Math.min(rows.length, from + seen)
    note.textContent =
      rows.length > printedRows
        ? `The first ${number(printedRows)} of ${number(rows.length)} rows. A CSV export has them all.`
        : ''
    more.hidden = printed || !whole || to === rows.length
    more.textContent = `${number(Math.min(narrowRows, rows.length - to))} more of ${number(rows.length)}`
    const next = `${from}-${to} ${high} ${printed}`
    if (next === drawn) return
    const focused = body.contains(document.activeElement)
    drawn = next
    above.style.height = `${from * high}px`
    below.style.height = whole ? '0px' : `${(rows.length - to) * high}px`
    if (active < from || active >= to) active = Math.min(rows.length - 1, from + (whole ? 0 : margin))
    body.replaceChildren(...rows.slice(from, to).map((row, place) => line(row, from + place)))
    if (isApart) paper.replaceChildren(...(printed ? onPaper.map((some) => paperTable(some)) : []))
    if (focused && !printed) buttonAt(active)?.focus({ preventScroll: true })
  }

  function showMore(): void {
    const first = most
    most += narrowRows
    draw()
    if (open !== undefined) reach(first)
  }

  function paperTable(some: readonly Column<Row>[]): HTMLElement {
    const heads = some.map(({ title, class: name }) =>
      h('th', { scope: 'col', class: name ?? null }, breakable(title)),
    )
    const lines = rows
      .slice(0, printedRows)
      .map((row) =>
        h(
          'tr',
          {},
          ...some.map((column, place) =>
            place === 0
              ? h('th', { scope: 'row', class: column.class ?? null }, column.cell(row))
              : h('td', { class: column.class ?? null }, column.cell(row)),
          ),
        ),
      )
    return h(
      'div',
      { class: 'grid' },
      h('table', {}, h('thead', {}, h('tr', {}, ...heads)), h('tbody', {}, ...lines)),
    )
  }

  function line(row: Row, index: number): HTMLElement {
    const cells = columns.map((column, place) => {
      const content: Child = column.cell(row)
      if (place > 0) return h('td', { class: column.class ?? null }, content)
      const inner =
        open === undefined
          ? content
          : h(
              'button',
              {
                type: 'button',
                class: 'row-button',
                tabindex: index === active ? 0 : -1,
                'aria-haspopup': 'dialog',
              },
              content,
            )
      return h('th', { scope: 'row', class: column.class ?? null }, inner)
    })
    return h('tr', { 'aria-rowindex': index + 2, 'data-index': index }, ...cells)
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
    const page = Math.max(1, Math.floor(box.clientHeight / rowHeight()) - 1)
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
    buttonAt(active)?.setAttribute('tabindex', '-1')
    active = index
    const [room, high] = [box.clientHeight - head.offsetHeight, rowHeight()]
    if (index * high < box.scrollTop) box.scrollTop = index * high
    else if ((index + 1) * high > box.scrollTop + room) box.scrollTop = (index + 1) * high - room
    scrolled = box.scrollTop
    draw()
    buttonAt(index)?.setAttribute('tabindex', '0')
    buttonAt(index)?.focus({ preventScroll: true })
    // The table itself may lie half outside the window.
    buttonAt(index)
      ?.closest('tr')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' })
  }

  function buttonAt(index: number): HTMLElement | null {
    return body.querySelector<HTMLElement>(`tr[data-index="${index}"] .row-button`)
  }
}
