import { type CitationShare, citationShare, type KindShare, ownership } from '../../../metrics/ownership.ts'
import { lineSample } from '../chart/look.ts'
import { h } from '../dom.ts'
import { longDay, number } from '../format.ts'
import { explained, meaningOf, metricText } from '../metric-text.ts'
import { simpleTable } from '../table/simple-table.ts'
import type { Column } from '../table/sorting.ts'
import type { View } from '../view.ts'
import { empty, panel, section } from './section.ts'

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

interface Cited extends CitationShare {
  readonly target: number
}

function citations({ history, data }: View): HTMLElement {
  const last = history.days.length - 1
  const now = data.citations.filter(({ day }) => day === last)
  const asked = new Set(
    history.series.flatMap(({ keyword }) =>
      history.keywords[keyword]?.kind === 'reference' ? [keyword] : [],
    ),
  )
  if (now.length === 0) return empty('No AI answer was looked at on the last day in sight.')
  const rows = history.targets.map(
    (_, target): Cited => ({ target, ...citationShare(now, target, asked.size) }),
  )
  const columns: readonly Column<Cited>[] = [
    {
      key: 'target',
      title: 'Target',
      cell: ({ target }) =>
        h('span', { class: 'target-name' }, lineSample(target), h('bdi', {}, history.targets[target]?.label)),
    },
    {
      key: 'answers',
      title: 'Answers',
      class: 'figure',
      cell: ({ answers: one }) => `${number(one.numerator)} of ${number(one.denominator)}`,
    },
    {
      key: 'share',
      title: 'Share',
      class: 'figure',
      cell: ({ answers: one }) => metricText('cited_answers', one.value),
    },
    {
      key: 'citations',
      title: 'Of references',
      class: 'figure',
      cell: (one) => metricText('citation_share', one.citations.value),
    },
    {
      key: 'index',
      title: 'First index',
      class: 'figure',
      cell: (one) => metricText('citation_index', one.averageFirstIndex),
    },
  ]
  return h(
    'div',
    {},
    simpleTable('Citations by target', columns, rows),
    h(
      'p',
      { class: 'note' },
      `${number(now.length)} of ${number(asked.size)} answers looked at on ${longDay(history.days[last] as string)}.`,
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
  if (rows.length === 0) return empty('No keyword fits what was chosen.')
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
