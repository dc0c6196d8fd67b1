import { type MetricName, metrics } from '../../../metrics/index.ts'
import { html } from '../dom.ts'
import { percent } from '../format.ts'
import { metricLabel, metricTooltip } from '../text.ts'
import type { View } from '../view.ts'
import { section } from './section.ts'

/** The signs for a keyword on a day. */
const states = [
  ['7', 'Rank', 'The number of distinct results above it, plus one, over all checked pages.'],
  ['~7', 'Estimated rank', 'Some pages before it were not checked. They count with their usual size.'],
  [
    '>30',
    'Not in top 30',
    'The first 30 results were checked, and the target is not among them. It may rank lower.',
  ],
  ['?', 'Not known', 'A page failed or was not fetched. The keyword is left out of every figure.'],
  [
    'entered, left',
    'Movements',
    'Two days are compared down to the depth that was checked on both. If one day was not checked deep enough, the change is not known.',
  ],
  ['new', 'New', 'Not checked before.'],
] as const

/** The meaning of the signs and the figures. */
export function definitions({ data: { measure } }: View): HTMLElement {
  const { curve } = measure
  const rates = curve.rates.map((rate, place) => `${place + 1}: ${percent(rate)}`).join(', ')
  return section(
    { id: 'definitions', title: 'Definitions' },
    html(
      'dl',
      'definitions',
      ...states.map(([sign, term, text]) => entry([html('span', 'sign', sign), term], [text])),
      ...(Object.keys(metrics) as MetricName[]).map((name) =>
        entry([metricLabel(name)], [...metricTooltip(name, measure), `Source: ${metrics[name].source}.`]),
      ),
      entry(
        ['Click-through rates'],
        [`${curve.name}, ${curve.version}.`, `Source: ${curve.source}.`, `By rank: ${rates}.`],
      ),
    ),
  )
}

function entry(term: readonly (Node | string)[], texts: readonly string[]): HTMLElement {
  return html('div', '', html('dt', '', ...term), ...texts.map((text) => html('dd', '', text)))
}
