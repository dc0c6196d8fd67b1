import { type Standing, valueOn } from '../../../cohort.ts'
import type { DayValue } from '../../../day-cell.ts'
import { bestRank } from '../../../metrics/best-rank.ts'
import { type Line, legend, lineChart, scaleOfRanks } from '../chart/line-chart.ts'
import { round, type TimeAxis } from '../chart/time-axis.ts'
import { h, s } from '../dom.ts'
import { number } from '../format.ts'
import { rankWords } from '../movement-text.ts'
import type { View } from '../view.ts'

/** Height of each of the two rows below the plot. */
const lane = 18

/** Room for names left of the plot; what stands below keeps it, too. */
export const historyGutter = 62

/** The ranks of a keyword day by day, the competitors' beside them; below the plot, the days without a rank. */
export function historyChart(view: View, standing: Standing, rivals: readonly Standing[]): HTMLElement {
  const { history } = view
  const { days, targets } = history
  const values = days.map((_, day) => valueOn(standing.series, day))
  const lines: readonly Line[] = rivals.map(({ series }) => ({
    label: targets[series.target]?.label ?? '',
    target: series.target,
    values: days.map((_, day) => valueOn(series, day)?.rank ?? null),
    main: series === standing.series,
  }))
  const of = (line: Line) => rivals.find(({ series }) => series.target === line.target)?.series
  const chart = lineChart({
    label: `Rank of ${view.target.label} for ${standing.keyword.query} on ${days.length} days.`,
    days,
    lines,
    scale: scaleOfRanks(lines.flatMap((line) => line.values)),
    format: number,
    missing: (line, day) => {
      const series = of(line)
      const value = series === undefined ? null : valueOn(series, day)
      return value === null ? 'not asked' : rankWords(value)
    },
    height: 310,
    top: 24,
    gutter: historyGutter,
    lanes: 2 * lane + 6,
    marks: (axis, y, bottom) => [
      ...bestMark(standing, axis, y),
      ...estimatedMarks(values, axis, y),
      ...laneMarks(values, axis, bottom),
    ],
  })
  return h(
    'figure',
    {},
    chart,
    h('figcaption', {}, legend([...lines].sort((a, b) => Number(b.main) - Number(a.main))), key()),
  )
}

function bestMark({ series }: Standing, axis: TimeAxis, y: (rank: number) => number): readonly SVGElement[] {
  const best = bestRank(series.cells)
  if (best === null) return []
  const [cx, cy] = [round(axis.x(best.day)), round(y(best.rank))]
  const late = axis.right - cx < 60
  return [
    s(
      'g',
      { class: 'best' },
      s('circle', { cx, cy, r: 6 }),
      s(
        'text',
        { x: cx + (late ? -4 : 4), y: cy - 9, 'text-anchor': late ? 'end' : 'start' },
        `best ${best.rank}`,
      ),
    ),
  ]
}

function estimatedMarks(
  values: readonly (DayValue | null)[],
  axis: TimeAxis,
  y: (rank: number) => number,
): readonly SVGElement[] {
  return values.flatMap((value, day) =>
    value === null || value.rank === null || value.exactness !== 'estimated'
      ? []
      : [s('circle', { class: 'estimated', cx: round(axis.x(day)), cy: round(y(value.rank)), r: 3 })],
  )
}

/** One row for days on which it was absent, one for days of which nothing is known. */
function laneMarks(
  values: readonly (DayValue | null)[],
  axis: TimeAxis,
  bottom: number,
): readonly SVGElement[] {
  const rows = [
    { state: 'absent', name: 'absent', middle: bottom + 4 + lane / 2 },
    { state: 'unknown', name: 'not known', middle: bottom + 4 + lane * 1.5 },
  ] as const
  return rows.flatMap(({ state, name, middle }) => {
    const on = values.flatMap((value, day) => (value?.state === state ? [day] : []))
    if (on.length === 0) return []
    return [
      s(
        'g',
        { class: 'axis' },
        s('line', { x1: axis.left, x2: axis.right, y1: middle, y2: middle }),
        s('text', { x: axis.left - 8, y: middle + 4, 'text-anchor': 'end' }, name),
      ),
      ...on.map((day) => (state === 'absent' ? cross(axis.x(day), middle) : query(axis.x(day), middle))),
    ]
  })
}

function cross(x: number, y: number): SVGElement {
  const [left, right] = [round(x - 2.5), round(x + 2.5)]
  return s('path', {
    class: 'absent-mark',
    d: `M${left} ${y - 2.5}L${right} ${y + 2.5}M${left} ${y + 2.5}L${right} ${y - 2.5}`,
  })
}

function query(x: number, y: number): SVGElement {
  return s('text', { class: 'unknown-mark', x: round(x), y: y + 4, 'text-anchor': 'middle' }, '?')
}

function key(): HTMLElement {
  return h(
    'p',
    { class: 'key' },
    'A gap is a day without a rank. × below: absent, not among the results that were looked at. ? below: not known. Hollow: estimated.',
  )
}
