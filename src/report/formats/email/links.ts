import { html, type Markup } from '../../../output/markup.ts'
import { shortLink } from '../../cells.ts'

/** Web addresses in running text, without the sign that ends a sentence. */
const address = /https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)]/gi

/** Text whose web addresses are links. */
export function linked(text: string): Markup {
  const found = [...text.matchAll(address)]
  let end = 0
  const parts = found.flatMap((match) => {
    const before = text.slice(end, match.index)
    end = match.index + match[0].length
    return [before, anchor(match[0], match[0])]
  })
  return html`${[...parts, text.slice(end)]}`
}

/** A page by its short address; an address of another kind is only text. */
export function linkTo(page: string): Markup {
  return /^https?:\/\//i.test(page) ? anchor(page, shortLink(page)) : html`${page}`
}

function anchor(address: string, text: string): Markup {
  return html`<a href="${address}" style="text-decoration:underline">${text}</a>`
}
