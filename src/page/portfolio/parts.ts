import { html, type Markup } from '../../output/markup.ts'
import type { PortfolioProblem } from '../../report/formats/portfolio.ts'
import type { Words } from '../../report/words/words.ts'

/** An instant as a day and a minute, in UTC: the page is read in several time zones. */
export function instantParts(at: number, say: Words): { readonly day: string; readonly time: string } {
  const text = new Date(at).toISOString()
  return { day: say.mediumDay(text.slice(0, 10)), time: `${text.slice(11, 16)} UTC` }
}

/** Problems in their own words, which are English. */
export function problemList(problems: readonly PortfolioProblem[], say: Words): Markup | null {
  if (problems.length === 0) return null
  const items = problems.map(
    ({ level, kind, text }) =>
      html`<li class="${level}"><strong>${say.portfolio.kinds[kind] ?? kind}</strong> <span lang="en">${text}</span></li>`,
  )
  return html`<ul class="problems">${items}</ul>`
}
