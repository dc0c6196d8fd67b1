import { type CitationShare, citationShare } from '../../../metrics/ownership.ts'
import { type Line, lineChart, scaleFromZero } from '../chart/line-chart.ts'
import { lineSample } from '../chart/look.ts'
import { breakable, h } from '../dom.ts'
import { longDay, number, percent } from '../format.ts'
import { metricText } from '../metric-text.ts'
import { simpleTable } from '../table/simple-table.ts'
import type { Column } from '../table/sorting.ts'
import type { View } from '../view.ts'
import { empty, nothingFits } from './section.ts'

interface Cited extends CitationShare {
  readonly target: number
}

/** Who is cited by the AI answers of the last day, and by those of the days before. */
export function citations(view: View): HTMLElement {
  const { history, data } = view
  const last = history.days.length - 1
  const now = data.citations.filter(({ day }) => day === last)
  const asked = new Set([
    ...history.series.flatMap(({ keyword }) =>
      history.keywords[keyword]?.kind === 'reference' ? [keyword] : [],
    ),
    ...data.citations.map(({ keyword }) => keyword),
  ])
  if (history.series.length === 0) return empty(nothingFits)
  if (asked.size === 0) return empty('No keyword in sight is asked for AI answers.')
  if (now.length === 0) return empty('No AI answer was looked at on the last day in sight.')
  const rows = history.targets.map(
    (_, target): Cited => ({ target, ...citationShare(now, target, asked.size) }),
  )
  const columns: readonly Column<Cited>[] = [
    {
      key: 'target',
      title: 'Target',
      cell: ({ target }) =>
        h(
          'span',
          { class: 'target-name' },
          lineSample(target),
          breakable(history.targets[target]?.label ?? ''),
        ),
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
      key: 'place',
      title: 'First place',
      class: 'figure',
      // The service counts from 0, people from 1.
      cell: ({ averageFirstIndex: index }) => metricText('citation_index', index === null ? null : index + 1),
    },
  ]
  return h(
    'div',
    {},
    simpleTable('Citations by target', columns, rows),
    overTime(view, asked),
    h(
      'p',
      { class: 'note' },
      `${number(now.length)} of ${number(asked.size)} answers looked at on ${longDay(history.days[last] as string)}. First place: where its first reference stands, on average, counted from 1.`,
    ),
  )
}

/** The share of answers that cite each target, from the first day on of which any answer is at hand. */
function overTime({ history, data, choice }: View, asked: ReadonlySet<number>): HTMLElement | null {
  const all = data.citations
  const first = Math.min(...all.map(({ day }) => day))
  const days = history.days.slice(first)
  if (days.length < 2) return null
  const since = new Map(
    history.series.map(({ keyword, cells }) => [keyword, cells.findIndex((cell) => cell !== null)]),
  )
  const byDay = days.map((_, place) => {
    const day = first + place
    const expected = [...asked].filter((keyword) => (since.get(keyword) ?? 0) <= day).length
    return { those: all.filter((one) => one.day === day), expected }
  })
  const lines = history.targets.map(
    ({ label }, target): Line => ({
      label,
      target,
      // A day on which most answers are missing is a gap, not a spike.
      values: byDay.map(({ those, expected }) =>
        those.length * 2 < expected ? null : citationShare(those, target, expected).answers.value,
      ),
      main: target === choice.target,
    }),
  )
  return h(
    'figure',
    {},
    lineChart({
      label: 'Share of AI answers that cite each target.',
      days,
      lines,
      scale: scaleFromZero(lines.flatMap(({ values }) => values)),
      format: (value) => percent(value, 0),
      missing: (_, day) => {
        const { those, expected } = byDay[day] ?? { those: [], expected: 0 }
        return those.length === 0 ? 'no answer' : `left out, ${those.length} of ${expected} answers`
      },
      height: 180,
    }),
  )
}
