import { type KindShare, ownership } from '../../../metrics/ownership.ts'
import { h } from '../dom.ts'
import { number } from '../format.ts'
import { explained, meaningOf, metricText } from '../metric-text.ts'
import { simpleTable } from '../table/simple-table.ts'
import type { Column } from '../table/sorting.ts'
import type { View } from '../view.ts'
import { citations } from './citations.ts'
import { empty, nothingFits, panel, section } from './section.ts'

/** Who is cited by AI answers, and what the target owns of each kind of results. */
export function answers(view: View): HTMLElement {
  return section(
    { id: 'answers', title: 'AI answers and kinds of results' },
    h(
      'div',
      { class: 'halves' },
      panel(explained('Cited in AI answers', meaningOf('cited_answers')), citations(view)),
      panel(explained('First ten results by kind', meaningOf('first_ten_share')), kinds(view)),
    ),
  )
}

const kindWords: Readonly<Record<string, string>> = {
  organic: 'Web results',
  news: 'News',
  video: 'Videos',
  image: 'Images',
  reference: 'AI references',
  suggestion: 'Suggestions',
  related: 'Related searches',
}

function kinds({ history, data, standings, choice }: View): HTMLElement {
  const last = history.days.length - 1
  const rows = ownership(
    standings,
    choice.target,
    data.serps.filter(({ day }) => day === last),
  )
  if (rows.length === 0) return empty(nothingFits)
  const columns: readonly Column<KindShare>[] = [
    { key: 'kind', title: 'Kind', cell: ({ kind }) => kindWords[kind] ?? kind },
    {
      key: 'ranked',
      title: 'Ranked',
      class: 'figure',
      cell: ({ coverage }) => `${number(coverage.ranked)} of ${number(coverage.observed)}`,
    },
    {
      key: 'shown',
      title: 'In first tens',
      class: 'figure',
      cell: ({ firstTen: { coverage } }) => `${number(coverage.ranked)} of ${number(coverage.observed)}`,
    },
    {
      key: 'share',
      title: 'Share of results',
      class: 'figure',
      cell: ({ firstTen }) => metricText('first_ten_share', firstTen.value),
    },
  ]
  return simpleTable('What the target owns of each kind of results', columns, rows)
}
