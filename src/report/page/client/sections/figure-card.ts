import type { Measure } from '../../../headline.ts'
import type { MetricName } from '../../../metrics/index.ts'
import { trendLine } from '../chart/spark.ts'
import { h } from '../dom.ts'
import { deltaMark, explained, meaningOf, metricLabel, metricText } from '../metric-text.ts'

export interface FigureCard {
  readonly name: MetricName
  /** Where the figure is only a part of the metric. */
  readonly label?: string
  readonly value: number | null
  /** Since the compared day, of what was observed on both; null where there is nothing to compare. */
  readonly delta: number | null
  readonly trend: readonly (number | null)[]
  readonly about: string
  readonly better?: 'higher'
  readonly measure: Measure
}

/** One figure with its name, its change, its course and how much it speaks for. */
export function figureCard({
  name,
  label,
  value,
  delta,
  trend,
  about,
  better,
  measure,
}: FigureCard): HTMLElement {
  const text = label ?? metricLabel(name)
  return h(
    'div',
    { class: 'card' },
    h('h3', {}, explained(text, meaningOf(name, measure))),
    h('p', { class: 'value' }, metricText(name, value), deltaMark(name, delta, better)),
    trendLine(trend, { inverted: name === 'average_position' }),
    h('p', { class: 'about' }, about),
  )
}
