import type { MetricName } from '../../../metrics/index.ts'
import { trendLine } from '../chart/spark.ts'
import { h, unseen } from '../dom.ts'
import { deltaText, explained, isGood, meaningOf, metricLabel, metricText } from '../metric-text.ts'

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
}

/** One figure with its name, its change, its course and how much it speaks for. */
export function figureCard({ name, label, value, delta, trend, about, better }: FigureCard): HTMLElement {
  const text = label ?? metricLabel(name)
  return h(
    'div',
    { class: 'card' },
    h('h3', {}, explained(text, meaningOf(name))),
    h('p', { class: 'value' }, metricText(name, value), deltaMark({ name, delta, better })),
    trendLine(trend, { inverted: name === 'average_position' }),
    h('p', { class: 'about' }, about),
  )
}

/** A difference, with an arrow that says which way it went and a colour that says whether that is good. */
export function deltaMark({
  name,
  delta,
  better,
}: {
  readonly name: MetricName
  readonly delta: number | null
  readonly better?: 'higher' | undefined
}): HTMLElement | null {
  if (delta === null) return null
  const text = deltaText(name, delta)
  const isNothing = text.startsWith('±')
  const good = isNothing ? null : better === undefined ? isGood(name, delta) : delta > 0
  const className = good === null ? 'still' : good ? 'up' : 'down'
  return h(
    'span',
    { class: `change ${className}` },
    isNothing ? '=' : text,
    unseen(good === null ? ' unchanged' : good ? ' better' : ' worse'),
  )
}
