import { alike, type Standing } from '../../../cohort.ts'
import { type DailyFigures, daily } from '../../../daily.ts'
import type { DayValue } from '../../../day-cell.ts'
import { type HeadlineName, headline } from '../../../headline.ts'
import { buckets, type Distribution, distribution, top } from '../../../metrics/distribution.ts'
import { type Coverage, coverageOf } from '../../../metrics/figure.ts'
import { partWords } from '../../../parts.ts'
import { type Line, legend, lineChart, scaleFromZero } from '../chart/line-chart.ts'
import { bandLegend, stackChart } from '../chart/stack-chart.ts'
import { round } from '../chart/time-axis.ts'
import type { Choice } from '../choice.ts'
import { h, s } from '../dom.ts'
import { count, number, percent } from '../format.ts'
import { explained, meaningOf } from '../metric-text.ts'
import type { View } from '../view.ts'
import { figureCard } from './figure-card.ts'
import type { OpenKeyword } from './keywords.ts'
import { type Moves, moved } from './moved.ts'
import { movers } from './movers.ts'
import { empty, nothingFits, panel, section } from './section.ts'

export interface Reactions {
  readonly open: OpenKeyword
  readonly choose: (change: Partial<Choice>) => void
}

/** The movement that is chosen is pressed in it; nothing else in it depends on that. */
export type Overview = Moves

/** The first screen: figures, how they came about, and who moved. */
export function overview(view: View, { open, choose }: Reactions): Overview {
  const head = { id: 'overview', title: 'Overview', lead: leadOf(view) }
  if (view.standings.length === 0) return { element: section(head, empty(nothingFits)), press: () => {} }
  const { history, data, choice } = view
  const days = daily(history, choice.target, data.measure)
  const moves = moved(view, choose)
  const element = section(
    head,
    cards(view, days),
    h(
      'div',
      { class: 'halves' },
      panel(explained('Visibility', meaningOf('visibility')), visibilityOverTime(view, days)),
      panel(explained('Distribution of ranks', meaningOf('distribution')), distributionOverTime(view, days)),
    ),
    moves.element,
    movers(view, open),
  )
  return { element, press: moves.press }
}

/** What the figures are of, where other kinds of results or engines are in sight. */
function leadOf({ parts: [counted, ...others] }: View): string {
  return counted === undefined || others.length === 0
    ? ''
    : `Figures of ${partWords(counted)}; not counted among them: ${others.map(partWords).join('; ')}.`
}

const headlines: readonly HeadlineName[] = ['average_position', 'visibility', 'share_of_voice']

function cards({ standings, data }: View, days: readonly DailyFigures[]): HTMLElement {
  const figures = headline(standings, data.measure)
  const shown = headlines.filter(
    (name) => name !== 'share_of_voice' || figures.share_of_voice.denominator > 0,
  )
  const now = distribution(standings.map(({ current }) => current))
  const both = onBothDays(standings)
  const counts = {
    now: distribution(both.map(([one]) => one)),
    before: distribution(both.map(([, one]) => one)),
  }
  const coverage = coverageOf(standings.map(({ current }) => ({ value: current })))
  return h(
    'div',
    { class: 'cards' },
    ...shown.map((name) => {
      const { value, cohort, uncounted } = figures[name]
      return figureCard({
        name,
        value,
        measure: data.measure,
        delta: cohort?.delta ?? null,
        trend: course(days, (day) => day.figures[name].value),
        about: uncounted === 0 ? covered(coverage) : `${covered(coverage)}, ${number(uncounted)} not counted`,
      })
    }),
    ...([3, 10] as const).map((rank) =>
      figureCard({
        name: 'top_ranks',
        label: `Top ${rank}`,
        measure: data.measure,
        value: top(now, rank),
        delta: both.length === 0 ? null : top(counts.now, rank) - top(counts.before, rank),
        trend: course(days, (day) => ofObserved(top(day.distribution, rank), day)),
        about: share(top(now, rank), coverage),
      }),
    ),
    figureCard({
      name: 'distribution',
      label: 'Ranked keywords',
      measure: data.measure,
      value: coverage.ranked,
      delta: both.length === 0 ? null : ranked(counts.now) - ranked(counts.before),
      trend: course(days, (day) => ofObserved(day.coverage.ranked, day)),
      about: share(coverage.ranked, coverage),
      better: 'higher',
    }),
  )
}

/** What was observed on both days, as far down as both looked. */
function onBothDays(standings: readonly Standing[]): readonly (readonly [now: DayValue, before: DayValue])[] {
  return standings.flatMap(({ current, baseline }) =>
    baseline === null || current.state === 'unknown' || baseline.value.state === 'unknown'
      ? []
      : [alike(current, baseline.value)],
  )
}

/** The values of a line: a day on which most searches failed is a gap, not a spike. */
function course(
  days: readonly DailyFigures[],
  value: (day: DailyFigures) => number | null,
): readonly (number | null)[] {
  return days.map((day) => (day.isPartial ? null : value(day)))
}

/** A share, so that a day on which less was observed is no loss. */
function ofObserved(part: number, { coverage }: DailyFigures): number | null {
  return coverage.observed === 0 ? null : part / coverage.observed
}

function covered({ observed, expected }: Coverage): string {
  return `${number(observed)} of ${number(expected)} keywords observed`
}

function ranked(counts: Distribution): number {
  return top(counts, 100) + counts['>100']
}

function share(part: number, { observed }: Coverage): string {
  return observed === 0
    ? 'nothing observed'
    : `${percent(part / observed, 0)} of ${number(observed)} observed`
}

function visibilityOverTime({ history, choice, data }: View, own: readonly DailyFigures[]): HTMLElement {
  const byTarget = history.targets.map((_, target) =>
    target === choice.target ? own : daily(history, target, data.measure),
  )
  const lines: readonly Line[] = history.targets.flatMap(({ label }, target) => {
    const values = course(byTarget[target] ?? [], ({ figures }) => figures.visibility.value)
    return values.every((value) => value === null)
      ? []
      : [{ label, target, values, main: target === choice.target }]
  })
  const partial = own.flatMap(({ isPartial }, day) => (isPartial ? [day] : []))
  const scale = scaleFromZero(lines.flatMap(({ values }) => values))
  return h(
    'figure',
    {},
    lineChart({
      label: 'Visibility of each target over time.',
      days: history.days,
      lines,
      scale,
      format: (value) => percent(value, scale.top < 0.1 ? 1 : 0),
      exact: percent,
      missing: ({ target }, day) => missing(byTarget[target]?.[day]),
      marks: (axis, _, bottom) => partial.map((day) => partialMark(axis.x(day), bottom)),
    }),
    h(
      'figcaption',
      {},
      legend([...lines].sort((a, b) => Number(b.main) - Number(a.main))),
      partial.length === 0
        ? null
        : h(
            'p',
            { class: 'key' },
            `Dotted: ${count(partial.length, 'day')} on which less than half of the keywords was observed, left out of the lines.`,
          ),
    ),
  )
}

function missing(day: DailyFigures | undefined): string {
  if (day === undefined || day.coverage.observed === 0) return 'not observed'
  return `left out, ${number(day.coverage.observed)} of ${number(day.asked)} observed`
}

function partialMark(x: number, bottom: number): SVGElement {
  return s('line', { class: 'partial', x1: round(x), x2: round(x), y1: 10, y2: bottom })
}

/** Buckets as they are named on the page. */
const bucketLabels: Readonly<Record<string, string>> = {
  '1': '1',
  '2-3': '2–3',
  '4-10': '4–10',
  '11-20': '11–20',
  '21-50': '21–50',
  '51-100': '51–100',
  '>100': 'over 100',
  absent: 'absent',
  unknown: 'not known',
}

function distributionOverTime({ history }: View, days: readonly DailyFigures[]): HTMLElement {
  const bands = buckets.map((bucket) => ({
    label: bucketLabels[bucket] ?? bucket,
    counts: days.map((day) => day.distribution[bucket]),
  }))
  return h(
    'figure',
    {},
    stackChart({ label: 'Keywords by rank over time.', days: history.days, bands }),
    h('figcaption', {}, bandLegend(bands)),
  )
}
