import { type Match, type Target, type Variant, variants } from '../model/target.ts'
import { parseUrl } from '../model/url.ts'
import { type Mistake, quoted, type Read } from './problem.ts'
import { plainText } from './values.ts'

/** A target as it was written; the match is missing where the user gave none. */
export interface WrittenTarget {
  readonly site: string
  readonly match?: Match | undefined
  readonly also?: readonly Variant[] | undefined
  readonly label?: string | undefined
}

/** Reads a site: a host with a dot, or an address on one. */
export function site(text: string): Read<string> {
  const read = plainText(text)
  if (!('value' in read)) return read
  if (read.value.includes('*'))
    return {
      what: `cannot be ${quoted(text)}`,
      instead: 'write the bare domain, it holds for its subdomains',
    }
  if (parsed(read.value) === null)
    return { what: `cannot be ${quoted(text)}`, instead: 'write a site such as acme.com or acme.com/shop' }
  return read
}

/** The same text for every spelling of one site. */
export function siteKey(text: string): string {
  const url = parsed(text)
  return url === null ? text : `${url.host.replace(/\.$/, '')}${url.pathname}${url.search}`
}

/** The checked target; `fallback` is the match of a site without path that names none, `forPath` that of one with a path. */
export function target(
  written: WrittenTarget,
  own: boolean,
  fallback: Match = 'domain',
  forPath?: Match,
): Read<Target> {
  const deep = goesBeyondHost(written.site)
  const match = written.match ?? (deep ? forPath : undefined) ?? fallback
  if (deep && (match === 'domain' || match === 'host')) return needsMatch(written.site, match)
  const also = variants.filter((variant) => written.also?.includes(variant))
  return { value: { site: written.site, match, also, label: written.label ?? written.site, own } }
}

function needsMatch(text: string, match: Match): Mistake {
  return {
    what: `${quoted(text)} goes beyond a host, and match: ${match} looks at hosts only`,
    instead: 'add match: prefix or match: url, or leave only the host',
  }
}

function goesBeyondHost(text: string): boolean {
  const url = parsed(text)
  return url !== null && (url.pathname !== '/' || url.search !== '' || url.port !== '')
}

function parsed(text: string): URL | null {
  const address = /^https?:\/\//i.test(text) ? text : `https://${text}`
  const url = /[\s\\@#]/.test(text) ? null : parseUrl(address)
  return url !== null && /^[a-z0-9_-]+(\.[a-z0-9_-]+)+\.?$/.test(url.hostname) ? url : null
}
