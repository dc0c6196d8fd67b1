import { html, type Markup } from '../../../output/markup.ts'

/** Web addresses in running text, without the sign that ends a sentence. */
const address = /https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)]/gi

/** Text whose web addresses are links. */
export function linked(text: string): Markup {
  const found = [...text.matchAll(address)]
  let end = 0
  const parts = found.flatMap((match) => {
    const before = text.slice(end, match.index)
    end = match.index + match[0].length
    return [before, html`<a href="${match[0]}" style="text-decoration:underline">${match[0]}</a>`]
  })
  return html`${[...parts, text.slice(end)]}`
}
