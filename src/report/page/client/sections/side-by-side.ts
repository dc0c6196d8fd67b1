import type { Standing } from '../../../cohort.ts'
import { leads } from '../../../metrics/head-to-head.ts'
import { h } from '../dom.ts'
import { localeOf } from '../keyword/keyword-text.ts'
import { rankMark } from '../movement-text.ts'
import { type GridView, grid } from '../table/grid.ts'
import type { Column } from '../table/sorting.ts'
import type { View } from '../view.ts'
import type { OpenKeyword } from './keywords.ts'
import { noValue } from './no-value.ts'
import { nothingFits } from './section.ts'

interface Row {
  /** Of the chosen target, where it is tracked for the keyword. */
  readonly main: Standing
  readonly byTarget: ReadonlyMap<number, Standing>
}

/** Targets that stand beside each other on a sheet of paper at most. */
const mostOnPaper = 4

/** The ranks of all targets for each keyword. */
export function sideBySide(view: View, open: OpenKeyword): HTMLElement {
  const { everyone, history, choice } = view
  const byKeyword = new Map<number, Map<number, Standing>>()
  for (const standing of everyone()) {
    const { keyword, target } = standing.series
    const one = byKeyword.get(keyword) ?? new Map<number, Standing>()
    byKeyword.set(keyword, one.set(target, standing))
  }
  const rows = [...byKeyword.values()].map((byTarget): Row => {
    const main = byTarget.get(choice.target) ?? ([...byTarget.values()][0] as Standing)
    return { main, byTarget }
  })
  const several = new Set(rows.map(({ main }) => main.keyword.operation)).size > 1
  const keyword: Column<Row> = {
    key: 'keyword',
    title: 'Keyword',
    class: 'keyword',
    value: ({ main }) => main.keyword.query,
    cell: ({ main: { keyword: one } }) =>
      h(
        'span',
        { class: 'two-lines' },
        h('bdi', { title: one.query }, one.query),
        h(
          'span',
          { class: 'about' },
          [localeOf(one), several ? one.operation : ''].filter(Boolean).join(' · '),
        ),
      ),
  }
  const targets = history.targets.map(
    (target, place): Column<Row> => ({
      key: `target-${place}`,
      title: target.label,
      class: `figure target-column${place === choice.target ? ' chosen' : ''}`,
      value: ({ byTarget }) => rankValue(byTarget.get(place)),
      cell: ({ byTarget }) => {
        const standing = byTarget.get(place)
        if (standing === undefined) return noValue('not tracked for this keyword')
        const others = [...byTarget.values()].filter((one) => one !== standing)
        const best = leads(
          standing.current,
          others.map(({ current }) => current),
        )
        return h(
          'span',
          { class: best ? 'ahead' : null },
          rankMark(standing.current),
          best ? h('span', { class: 'unseen' }, ', best of all') : null,
        )
      },
    }),
  )
  const table: GridView<Row> = grid<Row>({
    label: 'Ranks of all targets side by side',
    order: { by: `target-${choice.target}`, descending: false },
    open: ({ main }, all) =>
      open(
        main,
        all.map((row) => row.main),
      ),
    empty: nothingFits,
    manyColumns: targets.length,
    onPaper: shared(targets, mostOnPaper).map((some) => [keyword, ...some]),
    columns: [keyword, ...targets],
  })
  table.show(rows)
  return table.element
}

function rankValue(standing: Standing | undefined): number | null {
  if (standing === undefined) return null
  const { state, rank, depth } = standing.current
  return state === 'absent' ? 1e6 + (depth ?? 0) : rank
}

/** A list in as few parts as there must be, none longer than that, and none much longer than another. */
function shared<T>(all: readonly T[], most: number): readonly (readonly T[])[] {
  const parts = Math.max(1, Math.ceil(all.length / most))
  const size = Math.ceil(all.length / parts)
  return Array.from({ length: parts }, (_, part) => all.slice(part * size, (part + 1) * size))
}
