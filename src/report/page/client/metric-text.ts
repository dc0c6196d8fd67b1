import { definitionOf } from '../../definitions.ts'
import type { Measure } from '../../headline.ts'
import { type MetricName, metrics } from '../../metrics/index.ts'
import { freshId, h, unsaid, unseen } from './dom.ts'
import { decimal, number, percent } from './format.ts'

/** A value as its unit is written; a dash where there is none. */
export function metricText(name: MetricName, value: number | null): string {
  if (value === null) return '–'
  const { unit } = metrics[name]
  if (unit === 'share') return percent(value)
  if (unit === 'rank' || unit === 'index') return decimal(value)
  return number(value)
}

/**
 * How much better or worse a figure is: `▲ 1.3`, `▼ 0.4 pp` (shares in percentage points), or `=` as far as it is shown.
 * Up is better, whichever way the number went.
 */
export function deltaMark(
  name: MetricName,
  delta: number | null,
  better = metrics[name].better,
): HTMLElement | null {
  if (delta === null) return null
  const { unit } = metrics[name]
  const size = Math.abs(delta)
  const text =
    unit === 'share' ? `${decimal(size * 100)} pp` : unit === 'keywords' ? number(size) : decimal(size)
  if (Number.parseFloat(text) === 0)
    return h('span', { class: 'change still' }, unsaid('='), unseen('unchanged'))
  const isBetter = delta > 0 === (better === 'higher')
  return h(
    'span',
    { class: `change ${isBetter ? 'up' : 'down'}` },
    unsaid(`${isBetter ? '▲' : '▼'} ${text}`),
    unseen(`${isBetter ? 'better' : 'worse'} by ${text}`),
  )
}

export function metricLabel(name: MetricName): string {
  const { label } = metrics[name]
  return `${label.charAt(0).toUpperCase()}${label.slice(1)}`
}

/** A term that says what it means when it is pointed at or focused. */
export function explained(text: string, meaning: readonly string[]): HTMLElement {
  const id = freshId('meaning')
  const bubble = h(
    'span',
    { class: 'bubble', role: 'tooltip', id },
    ...meaning.map((one) => h('span', {}, one)),
  )
  const button = h('button', { type: 'button', class: 'term', 'aria-describedby': id }, text)
  const term = h('span', { class: 'explained' }, button, bubble)
  // Escape takes it away without moving pointer or focus.
  term.addEventListener('keydown', ({ key }) => term.classList.toggle('dismissed', key === 'Escape'))
  term.addEventListener('pointerenter', () => term.classList.remove('dismissed'))
  button.addEventListener('blur', () => term.classList.remove('dismissed'))
  return term
}

/** What a metric means, in sentences, as the report measures it where that can differ. */
export function meaningOf(name: MetricName, measure: Pick<Measure, 'absent'> = {}): readonly string[] {
  const { definition, denominator, missing } = definitionOf(name, measure)
  return [
    `${definition}.`,
    ...(denominator === null ? [] : [`Of: ${denominator}.`]),
    `Missing: ${missing}.`,
  ].map((text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`)
}
