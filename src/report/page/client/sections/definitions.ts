import { type MetricName, metrics } from '../../../metrics/index.ts'
import { html } from '../dom.ts'
import { capitalised } from '../format.ts'
import { say } from '../language.ts'
import type { View } from '../view.ts'
import { isWithoutAnswers } from './answers.ts'
import { section } from './section.ts'

/** The meaning of the signs and the figures. */
export function definitions({ data }: View): HTMLElement {
  const { title, lead, signs, rates, byRank, source, curveSource } = say.definitions
  const { measure, history, presentation } = data
  const { curve } = measure
  // A client is not told of what the job does not have.
  const hidden: readonly MetricName[] = [
    ...(isWithoutAnswers(data) ? (['cited_answers', 'citation_share', 'citation_index'] as const) : []),
    ...(presentation.audience === 'client' && history.keywords.every(({ url }) => url === null)
      ? (['landing_page'] as const)
      : []),
  ]
  const shown = (Object.keys(metrics) as MetricName[]).filter((name) => !hidden.includes(name))
  return section(
    { id: 'definitions', title, lead },
    html(
      'dl',
      'definitions',
      ...signs.map(([sign, term, meaning]) => entry([html('span', 'sign', sign), term], [meaning])),
      ...shown.map((name) => {
        const { label, definition, formula, source: from } = say.metric(name, measure)
        return entry(
          [capitalised(label)],
          [`${definition} `, html('span', 'formula', formula), html('span', 'source', source(from))],
        )
      }),
      entry(
        [rates],
        [`${curve.name}, ${curve.version}. ${source(curveSource(curve.source))} ${byRank(curve.rates)}`],
      ),
    ),
  )
}

function entry(term: readonly (Node | string)[], meaning: readonly (Node | string)[]): HTMLElement {
  return html('div', '', html('dt', '', ...term), html('dd', '', ...meaning))
}
