import { type MetricName, metrics } from '../../../report/metrics/index.ts'
import { html } from '../dom.ts'
import { capitalised } from '../format.ts'
import { say } from '../language.ts'
import type { View } from '../view.ts'
import { section } from './section.ts'

/** The meaning of the signs, and of the figures that the report has. */
export function definitions(view: View): HTMLElement {
  const { title, lead, signs, rates, byRank, source, curveSource } = say.definitions
  const { measure } = view.data
  const { curve } = measure
  const element = section(
    { id: 'definitions', title, lead },
    html(
      'dl',
      'definitions',
      ...signs.map(([sign, term, meaning]) => entry([html('span', 'sign', sign), term], [meaning])),
      ...definedMetrics(view).map((name) => {
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
  // On paper there would be nothing that it explains.
  if (view.history.series.length === 0) element.classList.add('only-screen')
  return element
}

/** The metrics that the report has figures of. */
function definedMetrics({ data: { history, serps } }: View): readonly MetricName[] {
  const { keywords, days, targets } = history
  const hasVolume = keywords.some(({ volume }) => volume !== null)
  const hasPages = keywords.some(({ url }) => url !== null)
  const hasAnswers = keywords.some(({ kind }) => kind === 'reference')
  const missing: readonly MetricName[] = [
    ...(hasVolume ? [] : (['share_of_voice', 'clicks', 'gain'] as const)),
    ...(serps.length > 0 ? [] : (['serp_share_of_voice', 'site_share', 'turnover'] as const)),
    ...(days.length > 1 ? [] : (['movements', 'gain', 'best_rank', 'cannibalisation', 'turnover'] as const)),
    ...(hasPages ? [] : (['landing_page'] as const)),
    ...(targets.length > 1 ? [] : (['head_to_head'] as const)),
    ...(hasAnswers ? [] : (['cited_answers', 'citation_share', 'citation_index'] as const)),
  ]
  return (Object.keys(metrics) as MetricName[]).filter((name) => !missing.includes(name))
}

function entry(term: readonly (Node | string)[], meaning: readonly (Node | string)[]): HTMLElement {
  return html('div', '', html('dt', '', ...term), html('dd', '', ...meaning))
}
