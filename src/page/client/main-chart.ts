import { capitalised } from '../../model/text.ts'
import { type DailyFigures, importedDaily } from '../../report/daily.ts'
import { reachOf } from '../../report/history/period.ts'
import type { RankHistory } from '../../report/history/rank-history.ts'
import type { HeadlineName, ShownMetric } from '../../report/metrics/index.ts'
import { top } from '../../report/metrics/positions.ts'
import { notesAbout } from '../../report/presentation/presentation.ts'
import type { Scale } from './chart/frame.ts'
import {
  type ChartLine,
  comparedHeight,
  eventsWithin,
  lineChart,
  markerRow,
  notesList,
  scaleFromZero,
  scaleOfRanks,
} from './chart/line-chart.ts'
import { empty, html, isNarrow } from './dom.ts'
import { metricText, metricTooltip, say, withTooltip } from './text.ts'
import { dailyOf, type View } from './view.ts'

/** A figure that the main chart and the table of rivals can show. */
export interface TrendFigure {
  readonly name: keyof typeof say.charts.figures
  readonly metric: ShownMetric
  /** The value of a day, even of one that is incomplete. */
  value(day: DailyFigures): number | null
  scale(values: readonly (number | null)[]): Scale
  /** How the axis writes a value. */
  axisText(value: number, step: number): string
  text(value: number): string
  /** Of the ranks themselves, whatever they count. */
  readonly ofRanks?: true
  /** The value of a day with what it is of, where that says more. */
  fullText?(value: number, day: DailyFigures): string
}

const share = {
  scale: (values: readonly (number | null)[]) => scaleFromZero(values),
  axisText: (value: number, step: number) => say.percent(value, step < 0.01 ? 1 : 0),
  text: (value: number) => say.percent(value),
} as const

const whole = { axisText: (value: number) => say.number(value) } as const

/** In the order of the switch; the first one that has values is shown first. */
const trendFigures: readonly TrendFigure[] = [
  {
    ...headlineFigure('clicks'),
    ...whole,
    scale: (values) => scaleFromZero(values, { whole: true }),
    fullText: (value, { checked, asked }) => {
      const text = metricText('clicks', value)
      return checked < asked ? say.charts.ofChecked(text, checked, asked) : text
    },
  },
  { ...headlineFigure('visibility'), ...share },
  {
    ...share,
    name: 'top_10',
    ofRanks: true,
    metric: 'top_ranks',
    // A share of the checked keywords, so that a day with fewer of them is not a loss.
    value: ({ distribution, coverage: { observed } }) =>
      observed === 0 ? null : top(distribution, 10) / observed,
    fullText: (value, { distribution, coverage: { observed } }) =>
      say.charts.withCount(say.percent(value), top(distribution, 10), observed),
  },
  { ...headlineFigure('average_position'), ...whole, ofRanks: true, scale: scaleOfRanks },
]

function headlineFigure<Name extends HeadlineName & TrendFigure['name']>(name: Name) {
  return {
    name,
    metric: name,
    value: (day: DailyFigures) => day.figures[name].value,
    text: (value: number) => metricText(name, value),
  }
}

/** The values of a line; an incomplete day is a gap. */
export function lineValues(
  days: readonly DailyFigures[],
  { value }: TrendFigure,
): readonly (number | null)[] {
  return days.map((day) => (day.isPartial ? null : value(day)))
}

/** The figure of this name, or the usual one; none where nothing has a value. */
export function chosenFigure(days: readonly DailyFigures[], name: string): TrendFigure | undefined {
  const figures = figuresOf(days)
  return figures.find((one) => one.name === name) ?? figures[0]
}

/** The figures that have values on these days. */
function figuresOf(days: readonly DailyFigures[]): readonly TrendFigure[] {
  return trendFigures.filter((one) => lineValues(days, one).some((value) => value !== null))
}

/** If there are more values of all targets, the lines of other targets are drawn after the page is shown. */
const mostAtOnce = 100_000

/** The place of the first day of the charts: that of the period, or the compared day if it is right before the period. */
export function firstDrawn({ shown: { start }, history: { days }, span }: View): number {
  const compared = span?.day
  return compared !== undefined && days.indexOf(compared) < start ? days.indexOf(compared) : start
}

/**
 * One figure of every target day by day, chosen by the reader: the chosen target in the accent, the others in grey.
 *
 * @param own the figures of the chosen target, from {@link firstDrawn} on
 * @param choice the name of the figure that is shown first, and what is told of each that the reader chooses
 */
export function mainChart(
  view: View,
  own: readonly DailyFigures[],
  choice: { readonly figure: string; readonly onFigure: (figure: string) => void },
) {
  const { history, filters, data } = view
  const from = firstDrawn(view)
  const days = history.days.slice(from)
  const compared = view.span?.day ?? null
  const byTarget = new Map([[filters.target, own]])
  const others = [...new Set(history.series.map(({ target }) => target))].filter(
    (target) => target !== filters.target,
  )
  const add = (target: number) => byTarget.set(target, dailyOf(view, target, from))
  const isLater = history.series.length * days.length > mostAtOnce
  if (!isLater) others.forEach(add)
  const figures = figuresOf(own)
  const asked = filters.period || data.requestedPeriod.period
  const reach = view.period === null ? '' : reachOf(asked, view.period, history.days)
  const imported = importedDaily(history, filters.target, data.measure).filter(({ day }) => day >= reach)
  const selected = new Set(history.series.map(({ keyword }) => keyword))
  const keywords = history.keywords.filter((_, place) => selected.has(place))
  const events = eventsWithin([imported[0]?.day ?? days[0] ?? '', ...days], {
    notes: notesAbout(data.presentation, keywords),
    compared,
  })
  let wanted = choice.figure
  const title = html('figcaption')
  const body = html('div', 'main-plot')
  const below = html('div', 'chart-words')
  const element = html('figure', 'main-chart', html('div', 'chart-head', title, chartSwitch()), body, below)
  draw()
  // A line needs a second day.
  element.hidden = imported.length + days.length < 2
  return {
    element,
    /** What is still to be drawn when the browser has time. */
    steps: isLater ? [...others.map((target) => () => void add(target)), draw] : [],
  }

  function chosen(): TrendFigure | undefined {
    return figures.find(({ name }) => name === wanted) ?? figures[0]
  }

  function draw(): void {
    const shown = chosen()
    if (shown === undefined) {
      body.replaceChildren(empty(say.charts.nothingChecked))
      return
    }
    const label = shown.name === 'top_10' ? say.charts.topTitle(10) : metricLabel(shown.metric)
    title.replaceChildren(withTooltip(label, metricTooltip(shown.metric, data.measure)))
    const past = shown.ofRanks || history.imported?.countsAll === false ? imported : []
    const axis = [...past.map(({ day }) => day), ...days]
    const lines = linesOf(shown, past)
    const scale = shown.scale(lines.flatMap(({ values }) => values))
    const [first = 0, second = 1] = scale.ticks.slice(-2)
    const dayOf = ({ target }: ChartLine, day: number) => byTarget.get(target)?.[day - past.length]
    const chart = lineChart({
      label: say.charts.ofEachTarget(label),
      days: axis,
      lines,
      events,
      scale,
      height: isNarrow() ? 170 : 260,
      top: comparedHeight + (events.notes.length === 0 ? 4 : markerRow),
      gutter: 48,
      format: (value) => shown.axisText(value, second - first),
      exact: (value, line, day) => {
        const figures = dayOf(line, day)
        return (figures && shown.fullText?.(value, figures)) ?? shown.text(value)
      },
      missing: (line, day) => {
        const { checked = 0, asked = 0 } = dayOf(line, day) ?? {}
        return checked === 0 ? say.charts.notChecked : say.charts.leftOut(checked, asked)
      },
    })
    body.replaceChildren(chart)
    const incomplete = own.filter(({ isPartial }) => isPartial).length
    const incompleteNote = incomplete === 0 ? '' : html('p', 'key', say.charts.incomplete(incomplete))
    below.replaceChildren(incompleteNote, notesList(events) ?? '')
  }

  /** The targets that have values, and what was imported of the chosen one. */
  function linesOf(shown: TrendFigure, past: readonly DailyFigures[]): readonly ChartLine[] {
    const gap = (length: number) => Array<null>(length).fill(null)
    const lines = [filters.target, ...others].map(
      (target): ChartLine => ({
        label: history.targets[target]?.label ?? '',
        target,
        values: [...gap(past.length), ...lineValues(byTarget.get(target) ?? [], shown)],
        main: target === filters.target,
      }),
    )
    if (history.imported !== undefined)
      lines.push({
        label: importedLabel(history.imported),
        target: filters.target,
        values: [...lineValues(past, shown), ...gap(days.length)],
        main: true,
        imported: true,
      })
    return lines.filter(({ values }) => values.some((value) => value !== null))
  }

  function chartSwitch(): HTMLElement | null {
    const options = figures.map(({ name }) => [name, say.charts.figures[name]] as const)
    return switchOf(say.charts.choose, 'chart', options, chosen()?.name ?? '', (name) => {
      wanted = name
      draw()
      choice.onFigure(name === figures[0]?.name ? '' : name)
    })
  }
}

function metricLabel(name: ShownMetric): string {
  return capitalised(say.metric(name, {}).label)
}

/** The name of a line of what was imported. */
export function importedLabel({ sources, countsAll }: NonNullable<RankHistory['imported']>): string {
  return say.charts.imported(sources.join(', '), countsAll)
}

/** One of a few things to choose; nothing where there is only one. */
export function switchOf(
  label: string,
  group: string,
  options: readonly (readonly [value: string, text: string])[],
  chosen: string,
  choose: (value: string) => void,
): HTMLElement | null {
  if (options.length < 2) return null
  const fields = options.map(([value, text]) => {
    const on = { change: () => choose(value) }
    const input = html('input', { type: 'radio', name: group, value, checked: value === chosen, on })
    return html('label', '', input, html('span', '', text))
  })
  return html('fieldset', 'switch', html('legend', 'sr-only', label), ...fields)
}
