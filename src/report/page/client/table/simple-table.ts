import { breakable, h } from '../dom.ts'
import type { Column } from './sorting.ts'

/** A table of few rows, all of them there. */
export function simpleTable<Row>(
  label: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): HTMLElement {
  return h(
    'div',
    { class: 'table-frame', tabindex: 0, role: 'group', 'aria-label': label },
    h(
      'table',
      {},
      h('caption', { class: 'unseen' }, label),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ...columns.map(({ title, class: name }) =>
            h('th', { scope: 'col', class: name ?? null }, breakable(title)),
          ),
        ),
      ),
      h(
        'tbody',
        {},
        ...rows.map((row) =>
          h(
            'tr',
            {},
            ...columns.map((column, place) =>
              place === 0
                ? h('th', { scope: 'row', class: column.class ?? null }, column.cell(row))
                : h('td', { class: column.class ?? null }, column.cell(row)),
            ),
          ),
        ),
      ),
    ),
  )
}
