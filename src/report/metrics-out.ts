import { absentWords, definitionOf } from './definitions.ts'
import type { Measure } from './headline.ts'
import type { Summary } from './summary.ts'
import { summaryDocument } from './summary-document.ts'
import { type SummaryLook, summaryText } from './summary-text.ts'
import { wrap } from './wrap.ts'

/** The summary for people, with what it says of absent targets where that is not the usual. */
export function metricsText(summary: Summary, { absent }: Measure, look: SummaryLook): string {
  const text = summaryText(summary, look)
  if (text === '' || absent === undefined || absent === 'depth') return text
  const { label, denominator } = definitionOf('average_position', { absent })
  const words = `Here ${absentWords(absent)}; ${label}: by ${denominator}.`
  return `${text}${wrap(words, look.width).join('\n')}\n`
}

/** The summary for programs. */
export function metricsJson(summary: Summary, measure: Measure): string {
  const document = summaryDocument(summary)
  const targets = document.targets.map(({ figures, ...target }) => ({
    ...target,
    figures: figures.map((figure) => {
      const { definition, denominator } = definitionOf(figure.metric, measure)
      return { ...figure, definition, divided_by: denominator }
    }),
  }))
  return `${JSON.stringify({ ...document, targets }, null, 2)}\n`
}
