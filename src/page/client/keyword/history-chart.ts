import { type KeywordStatus, valueOn } from '../../../report/history/keyword-status.ts'
import type { DayValue } from '../../../report/history/rank-history.ts'
import { bestRank } from '../../../report/metrics/positions.ts'
import { notesAbout } from '../../../report/presentation/presentation.ts'
import { eventMarks, eventsWithin, eventTexts, markerRow, notesList } from '../chart/events.ts'
import { gridLine, type Plot, round, type TimeAxis } from '../chart/frame.ts'
import { type ChartLine, lineChart } from '../chart/line-chart.ts'
import { scaleOfRanks } from '../chart/scale.ts'
import { figure, html, svg } from '../dom.ts'
import { rankText, say } from '../text.ts'
import type { View } from '../view.ts'

/** Height of each of the two rows below the plot. */
const lane = 18

/** Width of the labels left of the plot; the strip of pages below has the same. */
export const historyGutter = 62

/** The ranks of a keyword day by day, with those of competitors. Days without a rank are marked below the plot. */
export function historyChart(
  view: View,
  status: KeywordStatus,
  rivals: readonly KeywordStatus[],
): HTMLElement {
  const { history, data } = view
  const { days, targets } = history
  const { baseline } = status
  const compared = baseline === null ? null : (days[baseline.day] ?? null)
  const events = eventsWithin(days, { notes: notesAbout(data.presentation, [status.keyword]), compared })
  const values = days.map((_, day) => valueOn(status.series, day))
  const lines: readonly ChartLine[] = rivals.map(({ series }) => ({
    label: targets[series.target]?.label ?? '',
    target: series.target,
    values: days.map((_, day) => valueOn(series, day)?.rank ?? null),
    main: series === status.series,
  }))
  const seriesOf = (line: ChartLine) => rivals.find(({ series }) => series.target === line.target)?.series
  const chart = lineChart({
    label: say.charts.history(view.target.label, status.keyword.query, days.length),
    days,
    lines,
    scale: scaleOfRanks(lines.flatMap((line) => line.values)),
    format: (value) => say.number(value),
    missing: (line, day) => {
      const series = seriesOf(line)
      const value = series === undefined ? null : valueOn(series, day)
      return value === null ? say.charts.notChecked : rankText(value)
    },
    height: 310,
    top: 26 + (events.notes.length === 0 ? 0 : markerRow),
    gutter: historyGutter,
    lanes: 2 * lane + 6,
    marks: (plot) => [
      ...eventMarks(events, plot),
      ...bestMark(status, plot),
      ...estimatedMarks(values, plot),
      ...laneMarks(values, plot.axis, plot.bottom),
    ],
    about: (day) => eventTexts(days, day, events),
    marked: compared,
  })
  return figure(chart, html('p', 'key', say.charts.historyKey), notesList(events))
}

function bestMark({ series }: KeywordStatus, { axis, y }: Plot): readonly SVGElement[] {
  const best = bestRank(series.cells)
  if (best === null) return []
  const [cx, cy] = [round(axis.x(best.day)), round(y(best.rank))]
  const late = axis.right - cx < 60
  const place = { x: cx + (late ? -4 : 4), y: cy - 9, 'text-anchor': late ? 'end' : 'start' }
  return [svg('g', 'best', svg('circle', { cx, cy, r: 6 }), svg('text', place, say.charts.best(best.rank)))]
}

function estimatedMarks(values: readonly (DayValue | null)[], { axis, y }: Plot): readonly SVGElement[] {
  return values.flatMap((value, day) =>
    value === null || value.rank === null || value.exactness !== 'estimated'
      ? []
      : [svg('circle', { class: 'estimated', cx: round(axis.x(day)), cy: round(y(value.rank)), r: 3 })],
  )
}

/** One row for days on which the target was not found, one for unknown days. */
function laneMarks(
  values: readonly (DayValue | null)[],
  axis: TimeAxis,
  bottom: number,
): readonly SVGElement[] {
  const rows = [
    { state: 'absent', name: say.charts.notFound, middle: bottom + 4 + lane / 2, mark: cross },
    { state: 'unknown', name: say.charts.notKnown, middle: bottom + 4 + lane * 1.5, mark: questionMark },
  ] as const
  return rows.flatMap(({ state, name, middle, mark }) => {
    const on = values.flatMap((value, day) => (value?.state === state ? [day] : []))
    return on.length === 0
      ? []
      : [gridLine(axis, middle, name), ...on.map((day) => mark(axis.x(day), middle))]
  })
}

function cross(x: number, y: number): SVGElement {
  const [left, right] = [round(x - 2.5), round(x + 2.5)]
  const d = `M${left} ${y - 2.5}L${right} ${y + 2.5}M${left} ${y + 2.5}L${right} ${y - 2.5}`
  return svg('path', { class: 'absent-mark', d })
}

function questionMark(x: number, y: number): SVGElement {
  return svg('text', { class: 'unknown-mark', x: round(x), y: y + 4, 'text-anchor': 'middle' }, '?')
}
