import { h } from './dom.ts'
import { shortLink } from './format.ts'

/** A link that opens in a window of its own; what is no web address stays text. */
export function linkTo(link: string, text = shortLink(link)): HTMLElement {
  if (!isWeb(link)) return h('span', { class: 'link', title: link, dir: 'ltr' }, text)
  return h(
    'a',
    { class: 'link', href: link, target: '_blank', rel: 'noopener noreferrer', title: link, dir: 'ltr' },
    text,
  )
}

function isWeb(link: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(link).protocol)
  } catch {
    return false
  }
}
