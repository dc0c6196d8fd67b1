import { paramsApart } from '../../../report/cells.ts'
import type { KeywordStatus } from '../../../report/history/keyword-status.ts'
import type { RankHistory } from '../../../report/history/rank-history.ts'
import { leads } from '../../../report/metrics/head-to-head.ts'
import { breakable, html, onResize, srOnly } from '../dom.ts'
import { say } from '../language.ts'
import { grid } from '../table/grid.ts'
import type { GridColumn } from '../table/simple-table.ts'
import { rankMark } from '../text.ts'
import type { View } from '../view.ts'
import { keywordCell, mostChanged, type OpenKeyword, rankOrder, takenKeyword } from './keywords.ts'
import { noMatch, note, noValue } from './section.ts'
import { chosenFirst } from './target-figures.ts'

interface SideBySideRow {
  /** The status of the chosen target, if it is tracked for the keyword. */
  readonly main: KeywordStatus
  readonly byTarget: ReadonlyMap<number, KeywordStatus>
  /** Those of the other targets, the best first. */
  readonly others: readonly KeywordStatus[]
}

/** Targets beside the chosen one in one table on paper at most. */
const mostOnPaper = 4
/** Other targets that a narrow screen names for a keyword at most. */
const mostNamed = 8

/** Rows on paper: all keywords are printed in the table of keywords. */
const mostPrintedRows = 40

/**
 * The ranks of all targets for each keyword. On wide screens each has a column, the chosen one first; narrow screens list the names
 * and ranks below the keyword.
 */
export function sideBySide({ allTargets, history, filters, data }: View, open: OpenKeyword): HTMLElement {
  const rows = rowsOf(allTargets(), filters.target)
  const severalOperations = new Set(rows.map(({ main }) => main.keyword.operation)).size > 1
  const look = { withOperation: severalOperations, apart: paramsApart(history.keywords) }
  const keyword: GridColumn<SideBySideRow> = {
    key: 'keyword',
    title: say.competitors.keyword,
    class: 'keyword',
    value: ({ main }) => main.keyword.query,
    cell: (row) =>
      html('span', '', keywordCell(row.main.keyword, look), rankList(row, history, filters.target)),
    taken: takenKeyword(history.keywords, ({ main }) => main.keyword),
  }
  const inOrder = chosenFirst(history, filters.target)
  const targets = inOrder.map((target) => targetColumn(history, target, target === filters.target))
  const [chosen, ...others] = targets as [GridColumn<SideBySideRow>, ...GridColumn<SideBySideRow>[]]
  const table = grid<SideBySideRow>({
    label: say.competitors.sideBySideLabel,
    order: { by: keyOf(filters.target), descending: false },
    open: ({ main }, all) => {
      const statuses = all.map((row) => row.main)
      open(main, statuses)
    },
    empty: noMatch(),
    manyColumns: targets.length,
    onPaper: evenParts(others, mostOnPaper).map(({ from, some }) => ({
      title: say.competitors.beside(chosen.title, [from + 1, from + some.length], others.length),
      columns: [keyword, chosen, ...some],
    })),
    printedRows: mostPrintedRows,
    choice: mostChanged(data.measure.curve, ({ main }) => main),
    columns: [keyword, ...targets],
  })
  table.show(rows)
  return html(
    'div',
    'side-by-side',
    scrollHint(table.element, targets.length),
    table.element,
    html('p', 'key', say.competitors.rankKey),
  )
}

function rowsOf(statuses: readonly KeywordStatus[], chosen: number): readonly SideBySideRow[] {
  const byKeyword = new Map<number, Map<number, KeywordStatus>>()
  for (const status of statuses) {
    const { keyword, target } = status.series
    const one = byKeyword.get(keyword)
    if (one === undefined) byKeyword.set(keyword, new Map([[target, status]]))
    else one.set(target, status)
  }
  return [...byKeyword.values()].map((byTarget): SideBySideRow => {
    const main = byTarget.get(chosen) ?? ([...byTarget.values()][0] as KeywordStatus)
    const others = [...byTarget.values()].filter((one) => one.series.target !== chosen)
    return {
      main,
      byTarget,
      others: others.sort((a, b) => orderOf(a) - orderOf(b)),
    }
  })
}

/** Ranked ones first, unknown ones last. */
function orderOf(status: KeywordStatus): number {
  return rankOrder(status) ?? Number.MAX_SAFE_INTEGER
}

function targetColumn(
  { targets }: RankHistory,
  target: number,
  isChosen: boolean,
): GridColumn<SideBySideRow> {
  return {
    key: keyOf(target),
    title: targets[target]?.label ?? '',
    ...(targets[target]?.own ? { badge: say.competitors.own } : {}),
    class: `figure target-column${isChosen ? ' chosen' : ''}`,
    value: ({ byTarget }) => rankOrder(byTarget.get(target)),
    cell: ({ byTarget }) => {
      const status = byTarget.get(target)
      if (status === undefined) return noValue(say.competitors.notTracked)
      const others = [...byTarget.values()].filter((one) => one !== status).map(({ current }) => current)
      const best = leads(status.current, others)
      return html(
        'span',
        best ? 'ahead' : '',
        rankMark(status.current),
        best && srOnly(say.competitors.bestOfAll),
      )
    },
  }
}

function keyOf(target: number): string {
  return `target-${target}`
}

/** Names with ranks: the chosen target, then the others, the best first. */
function rankList(
  { byTarget, others }: SideBySideRow,
  { targets }: RankHistory,
  chosen: number,
): HTMLElement {
  const main = byTarget.get(chosen)
  const ranked = others.filter(({ current }) => current.state === 'ranked')
  const [named, further] = [ranked.slice(0, mostNamed), ranked.slice(mostNamed)]
  const [absent, unknown] = (['absent', 'unknown'] as const).map(
    (state) => others.filter(({ current }) => current.state === state).length,
  ) as [number, number]
  const chip = ({ series, current }: KeywordStatus, className = ''): HTMLElement =>
    html('span', `chip${className}`, breakable(targets[series.target]?.label ?? ''), rankMark(current))
  return html(
    'span',
    'rank-list',
    main === undefined ? null : chip(main, ' chosen'),
    ...named.map((one) => chip(one)),
    further.length === 0
      ? null
      : html('span', 'chip rest', say.competitors.more(further.length, further[0]?.current.rank ?? 0)),
    absent === 0 ? null : html('span', 'chip rest', say.competitors.notFound(absent)),
    unknown === 0 ? null : html('span', 'chip rest', say.competitors.notKnown(unknown)),
  )
}

/** Says that a table goes on to the right, while it does. */
function scrollHint(frame: HTMLElement, targets: number): HTMLElement {
  const hint = note(say.competitors.scroll(targets))
  hint.classList.add('only-screen')
  hint.hidden = true
  const box = frame.querySelector<HTMLElement>('.grid')
  if (box === null) return hint
  const show = (): void => {
    const more = box.scrollWidth - box.clientWidth
    hint.hidden = more <= 1
    frame.classList.toggle('goes-on', more - box.scrollLeft > 1)
  }
  onResize(box, show)
  box.addEventListener('scroll', show, { passive: true })
  return hint
}

/** A list in as few parts as possible, of about the same length. */
function evenParts<T>(
  all: readonly T[],
  most: number,
): readonly { readonly from: number; readonly some: readonly T[] }[] {
  const parts = Math.max(1, Math.ceil(all.length / most))
  const size = Math.ceil(all.length / parts)
  return Array.from({ length: parts }, (_, part) => ({
    from: part * size,
    some: all.slice(part * size, (part + 1) * size),
  }))
}
