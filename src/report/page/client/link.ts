import { type Child, h } from './dom.ts'
import { shortLink } from './format.ts'

/** A link that opens in a window of its own; what is no web address stays text. */
export function linkTo(link: string, text = shortLink(link)): HTMLElement {
  if (!isWeb(link)) return h('span', { class: 'link', title: link, dir: 'ltr' }, ...inOrder(text))
  return h(
    'a',
    { class: 'link', href: link, target: '_blank', rel: 'noopener noreferrer', title: link, dir: 'ltr' },
    ...inOrder(text),
  )
}

/** Scripts that are written from right to left. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** The parts of a link from left to right, each by itself, so that none changes places with the next. */
function inOrder(text: string): readonly Child[] {
  if (!rightToLeft.test(text)) return [text]
  return text.split(/([/?&=#]+)/).map((part) => (rightToLeft.test(part) ? h('bdi', {}, part) : part))
}

function isWeb(link: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(link).protocol)
  } catch {
    return false
  }
}
