import { publicSuffixOf } from '../model/link.ts'
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

/** How a place says what a mistake in a match asks for: a file, a flag, or a cell, which cannot name a match. */
export interface MatchHints {
  /** To look beyond the host. */
  readonly beyond: string
  /** To look at one page. */
  readonly page: string
}

/** Reads a site: a host with a dot, or an address on one. What everybody has sites below is none. */
export function site(text: string): Read<string> {
  const read = plainText(text)
  if (!('value' in read)) return read
  if (read.value.includes('*'))
    return {
      what: `cannot be ${quoted(text)}`,
      instead: 'write the bare domain, it holds for its subdomains',
    }
  const url = parsed(read.value)
  if (url === null)
    return { what: `cannot be ${quoted(text)}`, instead: 'write a site such as acme.com or acme.com/shop' }
  return (goesBeyondHost(read.value) ? null : suffixMistake(read.value, url)) ?? read
}

/** Nobody can be found at `co.uk`; `github.io` is a host of its company, and matches as that host alone. */
function suffixMistake(text: string, { hostname }: URL): Mistake | null {
  const host = hostname.replace(/\.$/, '')
  const suffix = publicSuffixOf(host)
  if (suffix === null || suffix.isPrivate || suffix.name !== host) return null
  return {
    what: `cannot be ${quoted(text)}, a public suffix below which everybody has sites`,
    instead: `write a site below it such as acme.${host}`,
  }
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
  fallback: Match,
  hints: MatchHints,
  forPath?: Match,
): Read<Target> {
  const deep = goesBeyondHost(written.site)
  const match = written.match ?? (deep ? forPath : undefined) ?? fallback
  if (deep && (match === 'domain' || match === 'host')) return needsMatch(written.site, match, hints)
  if (match === 'prefix' && hasQuery(written.site)) return needsNoQuery(written.site, hints)
  const also = variants.filter((variant) => written.also?.includes(variant))
  return { value: { site: written.site, match, also, label: written.label ?? written.site, own } }
}

function needsMatch(text: string, match: Match, { beyond }: MatchHints): Mistake {
  return {
    what: `${quoted(text)} goes beyond a host, and match: ${match} looks at hosts only`,
    instead: `${beyond}, or leave only the host`,
  }
}

function needsNoQuery(text: string, { page }: MatchHints): Mistake {
  return {
    what: `${quoted(text)} has a query string, and match: prefix looks at paths only`,
    instead: `${page}, or leave out the query string`,
  }
}

function hasQuery(text: string): boolean {
  return (parsed(text)?.search ?? '') !== ''
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
