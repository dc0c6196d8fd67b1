import { hostOf, webUrl } from './address.ts'
import { engineHost, hidesTarget, redirectTarget } from './redirects.ts'

/** What a link leads to. */
export interface Unwrapped {
  /** Null where it leads to no web page. */
  readonly url: URL | null
  /** It was a redirect that carries its target. */
  readonly redirected: boolean
}

const deepest = 3

// A link without a host stands on the engine's own page: it counts only as a redirect to somewhere else.
const engine = `https://${engineHost}`

/** No redirect carries its target without one of these. */
export function mayWrap(link: string): boolean {
  return link.includes('=')
}

/** Follows redirects that carry their target, one within the other, for a few steps. */
export function unwrap(link: string): Unwrapped {
  const { first, last } = follow(link)
  const redirected = last !== first
  return { url: isRelative(link) && !redirected ? null : last, redirected }
}

/** The host of the page that a redirect leads on to; null for what is none, or hides where it leads. */
export function redirectedHost(link: string): string | null {
  if (!mayWrap(link)) return null
  const { url, redirected } = unwrap(link)
  return redirected && url !== null ? hostOf(url) : null
}

/** Says of a link that it leads to a page that nothing in it tells. */
export function isOpaque(link: string): boolean {
  const { last } = follow(link)
  return last !== null && (redirectTarget(last) !== null || hidesTarget(last))
}

function follow(link: string): { readonly first: URL | null; readonly last: URL | null } {
  const first = webUrl(link, /^\s*\//.test(link) ? engine : undefined)
  let last = first
  for (let step = 0; step < deepest && last !== null; step++) {
    const next = redirectTarget(last)
    if (next === null) break
    last = next
  }
  return { first, last }
}

/** Without a host; `//acme.com/` has one. */
function isRelative(link: string): boolean {
  return /^\s*\/(?!\/)/.test(link)
}
