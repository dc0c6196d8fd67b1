import { type DailyFigures, daily } from '../../../report/daily.ts'
import { firstNeeded } from '../../../report/findings/spread.ts'
import type { TrackedTarget } from '../../../report/history/rank-history.ts'
import { buckets } from '../../../report/metrics/positions.ts'
import { notesAbout } from '../../../report/presentation/presentation.ts'
import { button, html } from '../dom.ts'
import { longDay } from '../format.ts'
import { say } from '../language.ts'
import { isPrinted, onMedium } from '../paper/medium.ts'
import { empty, figure, panel } from '../sections/section.ts'
import { metricLabel, metricTooltip, withTooltip } from '../text.ts'
import type { View } from '../view.ts'
import {
  type DayEvents,
  eventMarks,
  eventsWithin,
  eventTexts,
  hatchedDays,
  markerRow,
  nameHeight,
  notesList,
} from './events.ts'
import { lineSample } from './frame.ts'
import { type ChartLine, lineChart } from './line-chart.ts'
import { fittedScale, type Scale } from './scale.ts'
import { type Band, bandCounts, bandLegend, stackChart } from './stack-chart.ts'
import { lineValues, type TrendFigure, trendFigures } from './trend-figures.ts'

export interface TrendDrawing {
  readonly element: HTMLElement
  /** What is still to be drawn when the browser has time. */
  readonly steps: readonly (() => void)[]
  /** Shows the figure of this name; the usual one for an empty text. */
  readonly showFigure: (figure: string) => void
}

/** The name of the figure that the chart shows first, and what is told of each that the reader chooses. */
export interface FigureChoice {
  readonly figure: string
  readonly onFigure: (figure: string) => void
}

/** Targets whose lines the reader hid, as long as the page is open, and the target that was chosen then. */
const hiddenLines = new WeakMap<
  readonly TrackedTarget[],
  { readonly hidden: Set<number>; readonly of: number }
>()

/** A target that is newly chosen has its line again. */
function hiddenOf(targets: readonly TrackedTarget[], chosen: number): Set<number> {
  const { hidden, of } = hiddenLines.get(targets) ?? { hidden: new Set<number>(), of: chosen }
  if (of !== chosen) hidden.delete(chosen)
  hiddenLines.set(targets, { hidden, of: chosen })
  return hidden
}

/** Lines on paper whose names are enough to tell them apart; those of more have their last values in the legend too. */
const mostTold = 4
/** If there are more values of all targets, the lines of other targets are drawn after the page is shown. */
const mostAtOnce = 100_000

/** The place of the first day of the charts: that of the period, or the compared day if it is right before the period. */
export function firstDrawn(view: View): number {
  const { start } = view.shown
  return comparedDay(view) === start - 1 ? start - 1 : start
}

/** The place of the first day of daily figures: they are of the days that are drawn, and enough to know what is usual. */
export function firstKnown(view: View): number {
  return firstNeeded(view.history.days.length, firstDrawn(view))
}

/**
 * One figure of every target day by day, chosen by the reader, and beside it the ranks of the chosen target.
 *
 * @param own the figures of the chosen target, from {@link firstDrawn} on
 */
export function trend(view: View, own: readonly DailyFigures[], choice: FigureChoice): TrendDrawing {
  const { history, filters, data } = view
  const hidden = hiddenOf(data.history.targets, filters.target)
  const from = firstDrawn(view)
  const days = history.days.slice(from)
  const compared = history.days[comparedDay(view) ?? -1] ?? null
  const byTarget = new Map([[filters.target, own]])
  const others = [...history.targets.keys()].filter((target) => target !== filters.target)
  const isWanted = (target: number): boolean => !byTarget.has(target) && !hidden.has(target)
  const add = (target: number): void => {
    if (isWanted(target)) byTarget.set(target, daily(history, target, data.measure, from))
  }
  if (history.series.length * days.length <= mostAtOnce) others.forEach(add)
  const waiting = others.filter(isWanted)

  const figures = trendFigures.filter((one) => lineValues(own, one).some((value) => value !== null))
  let wanted = choice.figure
  const title = html('h3')
  const body = html('div')
  const lines = html('div')
  const below = html('div', 'chart-words')
  const selected = new Set(history.series.map(({ keyword }) => keyword))
  const notes = notesAbout(
    data.presentation,
    history.keywords.filter((_, place) => selected.has(place)),
  )
  const events = eventsWithin(days, { notes, compared })
  const chart = html(
    'div',
    'panel chart-panel',
    html('div', 'chart-head', title, chartSwitch()),
    body,
    lines,
    below,
  )
  draw()
  return {
    element:
      days.length < 2
        ? panel(ranksTitle(), bandCounts(bandsOf(own)), notesList(events))
        : html('div', 'trend-part', chart, panel(ranksTitle(), ranksOverTime(days, own, events.compared))),
    steps: waiting.length === 0 ? [] : [...waiting.map((target) => () => add(target)), draw],
    showFigure: (figure) => {
      wanted = figure
      for (const field of chart.querySelectorAll('input')) field.checked = field.value === chosen().name
      draw()
    },
  }

  function chosen(): TrendFigure {
    return figures.find(({ name }) => name === wanted) ?? (figures[0] as TrendFigure)
  }

  function draw(): void {
    if (figures.length === 0) {
      title.replaceChildren(metricLabel('visibility'))
      body.replaceChildren(empty(say.charts.nothingChecked))
      return
    }
    const shown = chosen()
    const all = linesOf(shown)
    const visible = all.filter(({ target }) => !hidden.has(target))
    const scale = fittedScale(
      visible.flatMap(({ values }) => values),
      shown.fit,
    )
    const label = titleOf(shown)
    title.replaceChildren(withTooltip(label, metricTooltip(shown.metric, data.measure)))
    const dayOf = ({ target }: ChartLine, day: number): DailyFigures | undefined =>
      byTarget.get(target)?.[day]
    body.replaceChildren(
      visible.length === 0
        ? empty(say.charts.noLine)
        : chartOf({
            shown,
            visible,
            scale,
            label: say.charts.ofEachTarget(label),
            days,
            events,
            own,
            dayOf,
          }),
    )
    const drawLegend = () =>
      lines.replaceChildren(toggles(isPrinted() ? inOrderOfEnds(all, scale) : all, shown.text))
    drawLegend()
    onMedium(lines, drawLegend)
    const list = notesList(events)
    below.replaceChildren(html('p', 'key', keyOf(shown).join(' ')), ...(list === null ? [] : [list]))
  }

  function linesOf(shown: TrendFigure): readonly ChartLine[] {
    return [filters.target, ...others].flatMap((target) => {
      const label = history.targets[target]?.label ?? ''
      const values = lineValues(byTarget.get(target) ?? [], shown)
      const isHidden = hidden.has(target)
      if (!isHidden && values.every((value) => value === null)) return []
      return [{ label, target, values, main: target === filters.target }]
    })
  }

  function chartSwitch(): HTMLElement {
    const fields = figures.map((one) => {
      const field = html('input', {
        type: 'radio',
        name: 'chart',
        value: one.name,
        checked: one === chosen(),
        on: {
          change: () => {
            wanted = one.name
            draw()
            choice.onFigure(one === figures[0] ? '' : one.name)
          },
        },
      })
      return html('label', '', field, html('span', '', say.charts.figures[one.name]))
    })
    return html('fieldset', 'chart-switch', html('legend', 'sr-only', say.charts.choose), ...fields)
  }

  function toggles(all: readonly ChartLine[], text: (value: number) => string): HTMLElement {
    const entries = all.map((line) => {
      const { target, label } = line
      const last = isPrinted() && all.length > mostTold ? lastOf(line) : null
      const toggle = button(
        '',
        () => {
          if (!hidden.delete(target)) hidden.add(target)
          add(target)
          draw()
          lines.querySelector<HTMLElement>(`[data-target="${target}"]`)?.focus()
        },
        { 'aria-pressed': String(!hidden.has(target)), 'data-target': target },
        lineSample(target),
        html('bdi', '', label),
        last === null ? null : html('b', '', text(last)),
      )
      return html('li', '', toggle)
    })
    return html('ul', { class: 'legend toggles', 'aria-label': say.charts.lines }, ...entries)
  }

  function keyOf({ name }: TrendFigure): readonly string[] {
    const { curve } = data.measure
    const incomplete = own.filter(({ isPartial }) => isPartial).length
    return [
      ...(name === 'top_3' || name === 'top_10' ? [say.charts.sharesOfChecked] : []),
      ...(name === 'clicks' ? [say.charts.clicksOfChecked(`${curve.name}, ${curve.version}`)] : []),
      ...(incomplete === 0 ? [] : [say.charts.striped(incomplete)]),
      ...(compared === null || events.compared !== null
        ? []
        : [say.charts.comparedBefore(longDay(compared))]),
    ]
  }
}

function lastOf({ values }: ChartLine): number | null {
  return values.findLast((value) => value !== null) ?? null
}

/** From top to bottom, as the lines end. */
function inOrderOfEnds(lines: readonly ChartLine[], { top, bottom }: Scale): readonly ChartLine[] {
  const height = (line: ChartLine): number => (lastOf(line) ?? bottom) * Math.sign(top - bottom)
  return lines.toSorted((a, b) => height(b) - height(a))
}

interface Shown {
  readonly shown: TrendFigure
  readonly visible: readonly ChartLine[]
  readonly scale: Scale
  readonly label: string
  readonly days: readonly string[]
  readonly events: DayEvents
  readonly own: readonly DailyFigures[]
  dayOf(line: ChartLine, day: number): DailyFigures | undefined
}

function chartOf({ shown, visible, scale, label, days, events, own, dayOf }: Shown): HTMLElement {
  const [first = 0, second = 1] = scale.ticks.slice(-2)
  const incomplete = own.flatMap((day, place) => (day.isPartial ? [place] : []))
  return lineChart({
    label,
    days,
    lines: visible,
    scale,
    height: 320,
    top: nameHeight + (events.notes.length === 0 ? 4 : markerRow),
    gutter: 46,
    format: (value) => shown.axisText(value, second - first),
    exact: (value, line, day) => {
      const figures = dayOf(line, day)
      return figures === undefined ? shown.text(value) : shown.fullText(value, figures)
    },
    ends: shown.text,
    missing: (line, day) => missingText(dayOf(line, day)),
    ground: (plot) => hatchedDays(incomplete, plot, days.length),
    marks: (plot) => eventMarks(events, plot),
    about: (day) => eventTexts(days, day, events),
    marked: events.compared,
  })
}

function missingText(day: DailyFigures | undefined): string {
  const observed = day?.coverage.observed ?? 0
  return day === undefined || observed === 0 ? say.charts.notChecked : say.charts.leftOut(observed, day.asked)
}

function titleOf({ name, metric }: TrendFigure): string {
  if (name === 'top_3') return say.charts.topTitle(3)
  return name === 'top_10' ? say.charts.topTitle(10) : metricLabel(metric)
}

/** The place of the day that most keywords are compared with; null if there is none. */
function comparedDay({ statuses }: View): number | null {
  const counts = new Map<number, number>()
  for (const { baseline } of statuses)
    if (baseline !== null) counts.set(baseline.day, (counts.get(baseline.day) ?? 0) + 1)
  const [most] = [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0])
  return most?.[0] ?? null
}

function ranksTitle(): HTMLElement {
  return withTooltip(metricLabel('distribution'), metricTooltip('distribution'))
}

function ranksOverTime(
  days: readonly string[],
  own: readonly DailyFigures[],
  marked: string | null,
): HTMLElement {
  const bands = bandsOf(own)
  return figure(stackChart({ label: say.charts.ranksOverTime, days, marked }, bands), bandLegend(bands))
}

function bandsOf(own: readonly DailyFigures[]): readonly Band[] {
  const { over, absent, unknown } = say.charts.ranges
  const named: Readonly<Record<string, string>> = { '>100': over, absent, unknown }
  return buckets.map((bucket) => ({
    label: named[bucket] ?? bucket.replace('-', '–'),
    counts: own.map((day) => day.distribution[bucket]),
  }))
}
