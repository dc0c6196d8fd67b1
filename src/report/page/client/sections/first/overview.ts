import { type DailyFigures, daily } from '../../../../daily.ts'
import { factsOf } from '../../../../findings/facts.ts'
import { shareFloors } from '../../../../findings/spread.ts'
import { isSwing, isUsual, levelOn } from '../../../../findings/swing.ts'
import { headline, isKnownOnBothDays } from '../../../../headline.ts'
import { alignDepths } from '../../../../history/keyword-status.ts'
import { partKey, partLabel, partOf } from '../../../../history/parts.ts'
import { type Distribution, distribution, top } from '../../../../metrics/distribution.ts'
import { type Coverage, coverageOf, type MetricOptions } from '../../../../metrics/figure.ts'
import { type MetricName, metrics, pageMetrics } from '../../../../metrics/index.ts'
import { once } from '../../../data.ts'
import { trendLine } from '../../chart/sparkline.ts'
import { firstDrawn, firstKnown, type TrendDrawing, trend } from '../../chart/trend.ts'
import { html } from '../../dom.ts'
import { say } from '../../language.ts'
import { deltaMark, metricLabel, metricText, metricTooltip, usualMark, withTooltip } from '../../text.ts'
import { hasCompared, type View } from '../../view.ts'
import { empty, noMatch, section } from '../section.ts'
import { headlineList, type Opening } from './headline.ts'
import { type Moves, moved, movers } from './movers.ts'
import { nextActionsPanel } from './next-actions.ts'

/**
 * The first screen: what happened in sentences, figures, what to do next, their history, and movements. The caller presses the button of
 * the chosen movement.
 *
 * @param all the view with the keywords of every kind
 * @param view those that are counted
 * @param standIns what is shown of many keywords until the sentences and what to do next are found; null to find them at once
 */
export function overview(
  all: View,
  view: View,
  opening: Opening,
  standIns: StandIns | null,
): Moves & Omit<TrendDrawing, 'element'> {
  const head = { id: 'overview', title: say.header.sections.overview, lead: leadOf(view) }
  if (view.statuses.length === 0)
    return { element: section(head, empty(noMatch())), press: () => {}, steps: [], showFigure: () => {} }
  const { history, data, filters } = view
  const drawn = firstDrawn(view)
  const first = firstKnown(view)
  const known = daily(history, filters.target, data.measure, first)
  const days = known.slice(drawn - first)
  const moves = moved(view, opening.choose)
  const chart = trend(view, days, opening.chart)
  const facts = once(() =>
    factsOf(history, {
      target: filters.target,
      compare: view.asked,
      measure: data.measure,
      statuses: view.allTargets(),
    }),
  )
  const isLater = standIns !== null && history.series.length > manySeries
  const [sentences, actions] = isLater ? standIns : [html('div'), html('div')]
  const found = [
    () => sentences.replaceWith(headlineList(view, facts(), opening)),
    () => actions.replaceWith(nextActionsPanel(all, facts(), opening.open) ?? ''),
  ]
  const element = section(
    head,
    sentences,
    cards(view, days, known),
    actions,
    chart.element,
    // Of a later day it would be wrong that its keywords are checked for the first time.
    history.days.length < 2 || hasCompared(view) ? moves.element : null,
    hasCompared(view) ? movers(view, opening.open) : null,
  )
  if (!isLater) for (const find of found) find()
  const steps = [...(isLater ? found : []), ...chart.steps]
  return { element, press: moves.press, steps, showFigure: chart.showFigure }
}

/** What is in the place of the sentences, and of what to do next. */
export type StandIns = readonly [sentences: Element, actions: Element]

/** What stands in for them: what the file has of them, if that is of the same keywords. */
export function standInsIn(root: Element | null): StandIns {
  const written = (selector: string): Element => root?.querySelector(selector) ?? html('div')
  return [written('.headline'), written('.cards + .panel')]
}

/** With more series, of all targets, sentences and next actions are found after the figures are on the screen. */
const manySeries = 2_000

/** Names the part that the figures are of if the job has several parts. */
function leadOf({ parts: [counted, ...others], history: { keywords } }: View): string {
  if (counted === undefined || new Set(keywords.map(partOf).map(partKey)).size < 2) return ''
  const label = partLabel(counted, say)
  return others.length === 0
    ? `${say.filters.figuresOf} ${label}.`
    : say.overview.figuresOf(
        label,
        others.map((one) => partLabel(one, say)),
      )
}

/** @param known the days that are drawn, and those before them that say what is usual */
function cards(
  { statuses, data }: View,
  days: readonly DailyFigures[],
  known: readonly DailyFigures[],
): HTMLElement {
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
  const checked = say.overview.checked(coverage.observed, coverage.expected)
  const { measure } = data
  const counted = (label: string, name: MetricName, countIn: (counts: Distribution) => number) => {
    const delta = both.length === 0 ? null : countIn(bothNow) - countIn(bothBefore)
    // Shares, so that a day with less checked keywords is not a loss.
    const shareOn = ({ distribution, coverage: { observed } }: DailyFigures) =>
      observed === 0 ? null : countIn(distribution) / observed
    return figureCard({
      name,
      label,
      measure,
      value: countIn(now),
      delta,
      isUsual: isUsual(delta === null ? null : delta / both.length, known, shareOn, shareFloors),
      better: 'higher',
      trend: trendOf(days, shareOn),
      about: share(countIn(now), coverage),
    })
  }
  return html(
    'div',
    'cards',
    ...shown.map(({ name }) => {
      const { value, cohort, uncounted } = figures[name]
      const delta = cohort?.delta ?? null
      return figureCard({
        name,
        value,
        measure,
        delta,
        isUsual: isSwing(name, figures[name], known),
        trend: trendOf(days, (day) => levelOn(day, name)),
        about: uncounted === 0 ? checked : `${checked}, ${say.overview.notCounted(uncounted)}`,
      })
    }),
    ...([3, 10] as const).map((rank) =>
      counted(say.overview.top(rank), 'top_ranks', (counts) => top(counts, rank)),
    ),
    counted(say.overview.ranked, 'distribution', (counts) => top(counts, 100) + counts['>100']),
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
  return observed === 0 ? say.overview.nothingChecked : say.overview.shareChecked(part / observed, observed)
}

export interface FigureCard {
  readonly name: MetricName
  /** The label, if the figure is only a part of the metric. */
  readonly label?: string
  readonly value: number | null
  /** The change since the compared day, of keywords that were checked on both; null if there are none. */
  readonly delta: number | null
  /** Whether the change is no more than the figure usually swings. */
  readonly isUsual?: boolean
  readonly trend: readonly (number | null)[]
  readonly about: string
  readonly better?: 'higher'
  readonly measure: MetricOptions
}

/** One figure with its name, change, trend and coverage. */
export function figureCard(card: FigureCard): HTMLElement {
  const { name, label = metricLabel(name), value, delta, isUsual, trend, about, better, measure } = card
  const change = deltaMark(name, delta, better)
  return html(
    'div',
    'card',
    html('h3', '', withTooltip(label, metricTooltip(name, measure))),
    html('p', 'value', metricText(name, value), isUsual ? usualMark(change) : change),
    trendLine(trend, metrics[name].better === 'lower'),
    html('p', 'about', about),
  )
}
