import type { KeywordStatus } from '../../../history/keyword-status.ts'
import type { Keyword } from '../../../history/rank-history.ts'
import { bestRank } from '../../../metrics/best-rank.ts'
import { rankingLink } from '../../../metrics/serps.ts'
import { spark } from '../chart/sparkline.ts'
import { html, twoLines } from '../dom.ts'
import { mediumDay, number, pathOf, shortDay } from '../format.ts'
import { type GridView, grid } from '../table/grid.ts'
import type { GridColumn } from '../table/simple-table.ts'
import { changeMark, localeOf, rankMark } from '../text.ts'
import type { View } from '../view.ts'
import { noMatch, noValue } from './section.ts'

export type OpenKeyword = (status: KeywordStatus, all: readonly KeywordStatus[]) => void

/** Every keyword of the chosen target. */
export function keywordTable(view: View, open: OpenKeyword): GridView<KeywordStatus> {
  const order = { by: 'rank', descending: false }
  return grid<KeywordStatus>({ label: 'Keywords', columns: columnsOf(view), order, open, empty: noMatch })
}

/** A query with its locale, and its operation and tags if they are shown. */
export function keywordCell(
  keyword: Keyword,
  withOperation: boolean,
  tags: readonly string[] = [],
): HTMLElement {
  const { query, operation } = keyword
  const about = [localeOf(keyword), withOperation ? operation : '', ...tags]
  return twoLines(html('bdi', { title: query }, query), about.filter((part) => part !== '').join(' · '))
}

/** Ranks first, then absent keywords by the checked depth. */
export function rankOrder(status: KeywordStatus | undefined): number | null {
  if (status === undefined) return null
  const { state, rank, depth } = status.current
  return state === 'absent' ? 1e6 + (depth ?? 0) : rank
}

function columnsOf({ history }: View): readonly GridColumn<KeywordStatus>[] {
  const { days, links, keywords } = history
  const last = days.length - 1
  const severalOperations = new Set(keywords.map(({ operation }) => operation)).size > 1
  const linkOf = ({ series }: KeywordStatus): string | null => {
    const link = rankingLink(series, last)
    return link === null ? null : (links[link] as string)
  }
  const volume: GridColumn<KeywordStatus> = {
    key: 'volume',
    title: 'Volume',
    class: 'figure wide',
    descends: true,
    value: ({ keyword }) => keyword.volume,
    cell: ({ keyword }) => (keyword.volume === null ? noValue('no volume given') : number(keyword.volume)),
  }
  return [
    {
      key: 'keyword',
      title: 'Keyword',
      class: 'keyword',
      value: ({ keyword }) => keyword.query,
      cell: ({ keyword }) => keywordCell(keyword, severalOperations, keyword.tags),
    },
    {
      key: 'rank',
      title: 'Rank',
      class: 'figure',
      value: rankOrder,
      cell: ({ current }) => rankMark(current),
    },
    {
      key: 'change',
      title: 'Change',
      class: 'figure',
      descends: true,
      value: changeOrder,
      cell: ({ change }) => changeMark(change),
    },
    {
      key: 'before',
      title: 'Before',
      class: 'figure wide',
      value: ({ baseline }) => baseline?.value.rank ?? null,
      cell: ({ baseline }) =>
        baseline === null
          ? noValue('nothing to compare with')
          : html('span', { title: mediumDay(days[baseline.day] as string) }, rankMark(baseline.value)),
    },
    {
      key: 'trend',
      title: 'Trend',
      class: 'trend',
      cell: ({ series }) =>
        spark(series.cells.map((cell) => (cell !== null && cell > 0 ? Math.trunc(cell) : null))),
    },
    {
      key: 'best',
      title: 'Best',
      class: 'figure wide',
      value: ({ series }) => bestRank(series.cells)?.rank ?? null,
      cell: ({ series }) => {
        const best = bestRank(series.cells)
        if (best === null) return noValue('never ranked')
        return twoLines(html('span', '', number(best.rank)), shortDay(days[best.day] as string))
      },
    },
    ...(keywords.some((keyword) => keyword.volume !== null) ? [volume] : []),
    {
      key: 'page',
      title: 'Page',
      class: 'page wide',
      value: linkOf,
      cell: (status) => {
        const link = linkOf(status)
        return link === null
          ? noValue('no page ranks')
          : html('bdi', { title: link, dir: 'ltr' }, pathOf(link))
      },
    },
  ]
}

/** The greatest gain first. A keyword that entered gained more than any that improved, one that left lost more than any other. */
function changeOrder({ change: { movement, change } }: KeywordStatus): number | null {
  if (movement === 'entered') return 1e6
  if (movement === 'left') return -1e6
  return movement === 'same' ? 0 : change
}
