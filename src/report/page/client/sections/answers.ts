import { kindLabels } from '../../../history/parts.ts'
import { citationShare, ownership } from '../../../metrics/ownership.ts'
import { type Line, lineChart, scaleFromZero } from '../chart/line-chart.ts'
import { html } from '../dom.ts'
import { capitalised, longDay, number, percent } from '../format.ts'
import { figures, simpleTable } from '../table/simple-table.ts'
import { metricText, metricTooltip, targetName, withTooltip } from '../text.ts'
import type { View } from '../view.ts'
import { empty, figure, halves, noMatch, note, panel, section } from './section.ts'

/** Citations in AI answers, and the share of the target in each kind of results. */
export function answers(view: View): HTMLElement {
  return section(
    { id: 'answers', title: 'AI answers and kinds of results' },
    halves(
      panel(withTooltip('Cited in AI answers', metricTooltip('cited_answers')), citations(view)),
      panel(withTooltip('First ten results by kind', metricTooltip('first_ten_share')), kinds(view)),
    ),
  )
}

function kinds({ history, data, statuses, filters }: View): HTMLElement {
  const last = history.days.length - 1
  const serps = data.serps.filter(({ day }) => day === last)
  const rows = ownership(statuses, filters.target, serps)
  if (rows.length === 0) return empty(noMatch)
  return simpleTable('Share of the target in each kind of results', rows, [
    { title: 'Kind', cell: ({ kind }) => capitalised(kindLabels[kind]) },
    figures('Ranked', ({ coverage }) => partOf(coverage.ranked, coverage.observed)),
    figures('In top 10', ({ firstTen }) => partOf(firstTen.coverage.ranked, firstTen.coverage.observed)),
    figures('Share of results', ({ firstTen }) => metricText('first_ten_share', firstTen.value)),
  ])
}

function partOf(part: number, whole: number): string {
  return `${number(part)} of ${number(whole)}`
}

/** The citations of every target in the AI answers of the last day, and over time. */
export function citations(view: View): HTMLElement {
  const { history, data } = view
  const last = history.days.length - 1
  const now = data.citations.filter(({ day }) => day === last)
  const isReference = (keyword: number): boolean => history.keywords[keyword]?.kind === 'reference'
  const asked = new Set(
    [...history.series, ...data.citations].flatMap((one) =>
      'references' in one || isReference(one.keyword) ? [one.keyword] : [],
    ),
  )
  if (history.series.length === 0) return empty(noMatch)
  if (asked.size === 0) return empty('No selected keyword asks for AI answers.')
  if (now.length === 0) return empty('No AI answer was checked on the last selected day.')
  const rows = history.targets.map((_, target) => ({ target, ...citationShare(now, target, asked.size) }))
  const checked = `${partOf(now.length, asked.size)} answers checked on ${longDay(history.days[last] as string)}.`
  return html(
    'div',
    '',
    simpleTable('Citations by target', rows, [
      { title: 'Target', cell: ({ target }) => targetName(history, target) },
      figures('Answers', ({ answers }) => partOf(answers.numerator, answers.denominator)),
      figures('Share', ({ answers }) => metricText('cited_answers', answers.value)),
      figures('Of references', (one) => metricText('citation_share', one.citations.value)),
      // The service counts from 0, people from 1.
      figures('First place', ({ averageFirstIndex: index }) =>
        metricText('citation_index', index === null ? null : index + 1),
      ),
    ]),
    overTime(view, asked),
    note(`${checked} First place: the average position of its first reference, counted from 1.`),
  )
}

/** The share of answers that cite each target, beginning with the first day that has an answer. */
function overTime({ history, data, filters }: View, asked: ReadonlySet<number>): HTMLElement | null {
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
    return { found: all.filter((one) => one.day === day), expected }
  })
  const lines = history.targets.map(
    ({ label }, target): Line => ({
      label,
      target,
      // A day without most of its answers is a gap in the line.
      values: byDay.map(({ found, expected }) =>
        found.length * 2 < expected ? null : citationShare(found, target, expected).answers.value,
      ),
      main: target === filters.target,
    }),
  )
  return figure(
    lineChart({
      label: 'Share of AI answers that cite each target.',
      days,
      lines,
      scale: scaleFromZero(lines.flatMap(({ values }) => values)),
      format: (value) => percent(value, 0),
      missing: (_, day) => {
        const { found, expected } = byDay[day] ?? { found: [], expected: 0 }
        return found.length === 0 ? 'no answer' : `left out, ${found.length} of ${expected} answers`
      },
      height: 180,
    }),
  )
}
