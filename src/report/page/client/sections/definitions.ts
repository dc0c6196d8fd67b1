import { type MetricName, metrics } from '../../../metrics/index.ts'
import { h } from '../dom.ts'
import { percent } from '../format.ts'
import { meaningOf, metricLabel } from '../metric-text.ts'
import type { View } from '../view.ts'
import { section } from './section.ts'

/** What is shown of a keyword on a day, in words. */
const states = [
  ['7', 'Rank', 'One more than the distinct results before it, over all pages that were looked at.'],
  ['~7', 'Estimated rank', 'Pages before it were not looked at and count with their usual size.'],
  [
    '>30',
    'Absent',
    'The first 30 results were looked at, and none belongs to the target. It may rank deeper.',
  ],
  [
    '?',
    'Not known',
    'A page failed or was not fetched. It is neither a rank nor an absence, and in no figure.',
  ],
  [
    'entered, left',
    'Movements',
    'Two days are compared as far down as both looked. What one of them could not have seen is not known, and no movement.',
  ],
  ['new', 'New', 'Never observed before.'],
] as const

/** What the signs and the numbers mean. */
export function definitions({ data: { measure } }: View): HTMLElement {
  const { curve } = measure
  const rates = curve.rates.map((rate, place) => `${place + 1}: ${percent(rate)}`).join(', ')
  return section(
    { id: 'definitions', title: 'Definitions' },
    h(
      'dl',
      { class: 'definitions' },
      ...states.map(([sign, term, text]) =>
        entry(h('span', {}, h('span', { class: 'sign' }, sign), term), [text]),
      ),
      ...(Object.keys(metrics) as MetricName[]).map((name) =>
        entry(metricLabel(name), [...meaningOf(name, measure), `Source: ${metrics[name].source}.`]),
      ),
      entry('Click-through rates', [
        `${curve.name}, ${curve.version}.`,
        `Source: ${curve.source}.`,
        `By rank: ${rates}.`,
      ]),
    ),
  )
}

function entry(term: Node | string, texts: readonly string[]): HTMLElement {
  return h('div', {}, h('dt', {}, term), ...texts.map((text) => h('dd', {}, text)))
}
