import { parseUrl } from '../model/url.ts'
import { isTracking } from './tracking-params.ts'

/** A page's address without what makes no difference; addresses of one page are equal. */
export interface Address {
  /** Lower case, punycode, without a trailing dot. */
  readonly host: string
  /** Empty where it is that of http or https. */
  readonly port: string
  /** Begins with a slash and, but for the root, ends without one. */
  readonly path: string
  /** Parameters that matter, by name, joined by `&`. */
  readonly query: string
}

/** Parses the address of a web page as browsers do; null for anything else. */
export function webUrl(text: string, base?: string): URL | null {
  const url = parseUrl(text, base)
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url : null
}

export function addressOf(url: URL): Address {
  return { host: hostOf(url), port: portOf(url), path: pathOf(url.pathname), query: queryOf(url.search) }
}

export function hostOf({ hostname }: URL): string {
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
}

function portOf({ port }: URL): string {
  return port === '80' || port === '443' ? '' : port
}

function pathOf(pathname: string): string {
  const path = canonical(pathname, plainInPath).replace(/\/{2,}/g, '/')
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

// Parameters of one name keep their order: `a[]=1&a[]=2` is a list.
function queryOf(search: string): string {
  if (search.length < 2) return ''
  return search
    .slice(1)
    .split('&')
    .map((part) => canonical(part.replaceAll('+', '%20'), plainInQuery).replace(/^([^=]+)=$/, '$1'))
    .filter((part) => part !== '' && !isTracking(nameOf(part)))
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0))
    .join('&')
}

function nameOf(part: string): string {
  const end = part.indexOf('=')
  return end < 0 ? part : part.slice(0, end)
}

// Which of these an encoder writes as they are is up to the encoder (RFC 2396 took them all for unreserved).
// `@`, `:`, `,`, `$`, `&` and `=` part nothing within a path, nor do the slash and the question mark within a query.
const plainInPath = /[\w.~!*'()@:,$&=-]/
const plainInQuery = /[\w.~!*'()@:,$/?-]/
const encodedOrIllegal = /%[0-9a-f]{2}|[^\w.~!*'()\-$&+,;=:@/?%[\]]/gi

/** One spelling of percent-encoding: what may stand plainly does, all else is encoded in upper case. */
function canonical(text: string, plain: RegExp): string {
  return text.replace(encodedOrIllegal, (part) => {
    if (part.length < 3) return encodeURIComponent(part)
    const character = String.fromCharCode(Number.parseInt(part.slice(1), 16))
    return plain.test(character) ? character : part.toUpperCase()
  })
}
