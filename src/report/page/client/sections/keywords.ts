import type { Standing } from '../../../cohort.ts'
import { bestRank } from '../../../metrics/best-rank.ts'
import { rankingLink } from '../../../metrics/ranking-link.ts'
import { spark } from '../chart/spark.ts'
import { h } from '../dom.ts'
import { mediumDay, number, pathOf, shortDay } from '../format.ts'
import { localeOf } from '../keyword/keyword-text.ts'
import { changeMark, rankMark } from '../movement-text.ts'
import { type GridView, grid } from '../table/grid.ts'
import type { Column } from '../table/sorting.ts'
import type { View } from '../view.ts'
import { noValue } from './no-value.ts'
import { nothingFits } from './section.ts'

export type OpenKeyword = (standing: Standing, all: readonly Standing[]) => void

/** Every keyword of the chosen target. */
export function keywordTable(view: View, open: OpenKeyword): GridView<Standing> {
  return grid<Standing>({
    label: 'Keywords',
    columns: columnsOf(view),
    order: { by: 'rank', descending: false },
    open,
    empty: nothingFits,
  })
}

/** Behind every rank: deeper ones come later, and what is not known last. */
function rankOrder({ current }: Standing): number | null {
  if (current.rank !== null) return current.rank
  return current.state === 'absent' ? 1e6 + (current.depth ?? 0) : null
}

function columnsOf({ history }: View): readonly Column<Standing>[] {
  const { days, links, keywords } = history
  const last = days.length - 1
  const severalOperations = new Set(keywords.map(({ operation }) => operation)).size > 1
  const linkOf = ({ series }: Standing): string | null => {
    const link = rankingLink(series, last)
    return link === null ? null : (links[link] as string)
  }
  const volumes = keywords.some(({ volume }) => volume !== null)
  return [
    {
      key: 'keyword',
      title: 'Keyword',
      class: 'keyword',
      value: ({ keyword }) => keyword.query,
      cell: ({ keyword }) => {
        const about = [localeOf(keyword), severalOperations ? keyword.operation : '', ...keyword.tags]
        return h(
          'span',
          { class: 'two-lines' },
          h('bdi', { title: keyword.query }, keyword.query),
          h('span', { class: 'about' }, about.filter((part) => part !== '').join(' · ')),
        )
      },
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
          : h('span', { title: mediumDay(days[baseline.day] as string) }, rankMark(baseline.value)),
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
        return h(
          'span',
          { class: 'two-lines' },
          h('span', {}, number(best.rank)),
          h('span', { class: 'about' }, shortDay(days[best.day] as string)),
        )
      },
    },
    ...(volumes
      ? [
          {
            key: 'volume',
            title: 'Volume',
            class: 'figure wide',
            descends: true,
            value: ({ keyword }: Standing) => keyword.volume,
            cell: ({ keyword }: Standing) =>
              keyword.volume === null ? noValue('no volume given') : number(keyword.volume),
          },
        ]
      : []),
    {
      key: 'page',
      title: 'Page',
      class: 'page wide',
      value: linkOf,
      cell: (standing) => {
        const link = linkOf(standing)
        return link === null ? noValue('no page ranks') : h('bdi', { title: link, dir: 'ltr' }, pathOf(link))
      },
    },
  ]
}

/** What gained most comes first: what entered before what improved, and the other way round below. */
function changeOrder({ change: { movement, change } }: Standing): number | null {
  if (movement === 'entered') return 1e6
  if (movement === 'left') return -1e6
  if (movement === 'same') return 0
  return change
}
