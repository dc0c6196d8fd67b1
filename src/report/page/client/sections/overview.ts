import { type DailyFigures, daily } from '../../../daily.ts'
import { headline, isKnownOnBothDays } from '../../../headline.ts'
import { alignDepths } from '../../../history/keyword-status.ts'
import { partLabel } from '../../../history/parts.ts'
import { buckets, type Distribution, distribution, top } from '../../../metrics/distribution.ts'
import { type Coverage, coverageOf, type MetricOptions } from '../../../metrics/figure.ts'
import { headlineMetrics, type MetricName, metrics, pageMetrics } from '../../../metrics/index.ts'
import { round } from '../chart/frame.ts'
import { type Line, lineChart, lineLegend, scaleFromZero } from '../chart/line-chart.ts'
import { trendLine } from '../chart/sparkline.ts'
import { bandLegend, stackChart } from '../chart/stack-chart.ts'
import { html, svg } from '../dom.ts'
import type { Filters } from '../filters.ts'
import { count, number, percent } from '../format.ts'
import { say } from '../language.ts'
import { deltaMark, metricLabel, metricText, metricTooltip, withTooltip } from '../text.ts'
import type { View } from '../view.ts'
import type { OpenKeyword } from './keywords.ts'
import { type Moves, moved, movers } from './movers.ts'
import { empty, figure, halves, noMatch, panel, section } from './section.ts'

/** The first screen: figures, their history, and movements. The caller presses the button of the chosen movement. */
export function overview(view: View, open: OpenKeyword, choose: (change: Partial<Filters>) => void): Moves {
  const head = { id: 'overview', title: 'Overview', lead: leadOf(view) }
  if (view.statuses.length === 0) return { element: section(head, empty(noMatch)), press: () => {} }
  const { history, data, filters } = view
  const days = daily(history, filters.target, data.measure)
  const moves = moved(view, choose)
  const element = section(
    head,
    cards(view, days),
    halves(
      panel(withTooltip(metricLabel(charted), metricTooltip(charted)), shareOverTime(view, days)),
      panel(withTooltip('Distribution of ranks', metricTooltip('distribution')), ranksOverTime(view, days)),
    ),
    moves.element,
    movers(view, open),
  )
  return { element, press: moves.press }
}

/** Names the part that the figures are of if several parts are selected. */
function leadOf({ parts: [counted, ...others] }: View): string {
  return counted === undefined || others.length === 0
    ? ''
    : `Figures of ${partLabel(counted, say)}. Not included: ${others.map((one) => partLabel(one, say)).join('; ')}.`
}

function cards({ statuses, data }: View, days: readonly DailyFigures[]): HTMLElement {
  const figures = headline(statuses, data.measure)
  const shown = pageMetrics.filter(({ name, needs }) => needs === undefined || figures[name].value !== null)
  const now = distribution(statuses.map(({ current }) => current))
  // Checked on both days, down to the same depth.
  const both = statuses
    .filter(isKnownOnBothDays)
    .map(({ current, baseline }) => alignDepths(current, baseline.value))
  const bothNow = distribution(both.map(([now]) => now))
  const bothBefore = distribution(both.map(([, before]) => before))
  const coverage = coverageOf(statuses.map(({ current }) => ({ value: current })))
  const checked = `${number(coverage.observed)} of ${number(coverage.expected)} keywords checked`
  const { measure } = data
  const counted = (label: string, name: MetricName, countIn: (counts: Distribution) => number) =>
    figureCard({
      name,
      label,
      measure,
      value: countIn(now),
      delta: both.length === 0 ? null : countIn(bothNow) - countIn(bothBefore),
      better: 'higher',
      // Shares, so that a day with less checked keywords is not a loss.
      trend: trendOf(days, ({ distribution, coverage: { observed } }) =>
        observed === 0 ? null : countIn(distribution) / observed,
      ),
      about: share(countIn(now), coverage),
    })
  return html(
    'div',
    'cards',
    ...shown.map(({ name }) => {
      const { value, cohort, uncounted } = figures[name]
      return figureCard({
        name,
        value,
        measure,
        delta: cohort?.delta ?? null,
        trend: trendOf(days, (day) => day.figures[name].value),
        about: uncounted === 0 ? checked : `${checked}, ${number(uncounted)} not counted`,
      })
    }),
    ...([3, 10] as const).map((rank) => counted(`Top ${rank}`, 'top_ranks', (counts) => top(counts, rank))),
    counted('Ranked keywords', 'distribution', (counts) => top(counts, 100) + counts['>100']),
  )
}

/** The values of a line. A day on which most searches failed is a gap in the line. */
function trendOf(
  days: readonly DailyFigures[],
  value: (day: DailyFigures) => number | null,
): readonly (number | null)[] {
  return days.map((day) => (day.isPartial ? null : value(day)))
}

function share(part: number, { observed }: Coverage): string {
  return observed === 0 ? 'nothing checked' : `${percent(part / observed, 0)} of ${number(observed)} checked`
}

/** The first share of the headline; it is drawn for every target. */
const charted = (headlineMetrics.find(({ unit }) => unit === 'share') as (typeof headlineMetrics)[number])
  .name

function shareOverTime({ history, filters, data }: View, own: readonly DailyFigures[]): HTMLElement {
  const byTarget = history.targets.map((_, target) =>
    target === filters.target ? own : daily(history, target, data.measure),
  )
  const lines: readonly Line[] = history.targets.flatMap(({ label }, target) => {
    const values = trendOf(byTarget[target] ?? [], ({ figures }) => figures[charted].value)
    return values.every((value) => value === null)
      ? []
      : [{ label, target, values, main: target === filters.target }]
  })
  const partial = own.flatMap(({ isPartial }, day) => (isPartial ? [day] : []))
  const scale = scaleFromZero(lines.flatMap(({ values }) => values))
  const chart = lineChart({
    label: `${metricLabel(charted)} of each target over time.`,
    days: history.days,
    lines,
    scale,
    format: (value) => percent(value, scale.top < 0.1 ? 1 : 0),
    exact: percent,
    missing: ({ target }, day) => missing(byTarget[target]?.[day]),
    marks: ({ x }, _, bottom) =>
      partial.map((day) => {
        const at = round(x(day))
        return svg('line', { class: 'partial', x1: at, x2: at, y1: 10, y2: bottom })
      }),
  })
  const key = `Dotted line: ${count(partial.length, 'day')} on which less than half of the keywords were checked. It is left out of the lines.`
  return figure(chart, lineLegend(lines), partial.length > 0 && html('p', 'key', key))
}

function missing(day: DailyFigures | undefined): string {
  if (day === undefined || day.coverage.observed === 0) return 'not checked'
  return `left out, ${number(day.coverage.observed)} of ${number(day.asked)} checked`
}

/** Buckets that are no range of ranks, as they are named on the page. */
const bucketLabels: Readonly<Record<string, string>> = {
  '>100': 'over 100',
  absent: 'not found',
  unknown: 'not known',
}

function ranksOverTime({ history }: View, days: readonly DailyFigures[]): HTMLElement {
  const bands = buckets.map((bucket) => ({
    label: bucketLabels[bucket] ?? bucket.replace('-', '–'),
    counts: days.map((day) => day.distribution[bucket]),
  }))
  return figure(stackChart('Keywords by rank over time.', history.days, bands), bandLegend(bands))
}

export interface FigureCard {
  readonly name: MetricName
  /** The label, if the figure is only a part of the metric. */
  readonly label?: string
  readonly value: number | null
  /** The change since the compared day, of keywords that were checked on both; null if there are none. */
  readonly delta: number | null
  readonly trend: readonly (number | null)[]
  readonly about: string
  readonly better?: 'higher'
  readonly measure: MetricOptions
}

/** One figure with its name, change, trend and coverage. */
export function figureCard(card: FigureCard): HTMLElement {
  const { name, label = metricLabel(name), value, delta, trend, about, better, measure } = card
  return html(
    'div',
    'card',
    html('h3', '', withTooltip(label, metricTooltip(name, measure))),
    html('p', 'value', metricText(name, value), deltaMark(name, delta, better)),
    trendLine(trend, metrics[name].better === 'lower'),
    html('p', 'about', about),
  )
}
