import { getDomain, parse } from 'tldts'

/** What a link says of itself once it is parsed as WHATWG does. */
export interface ParsedLink {
  /** The link without its fragment: two results are the same when these are equal. */
  readonly canonical: string
  /** Lower case, punycode, without port. */
  readonly host: string
}

const withoutScheme = /^\s*\/\/[^/\\]/

/** Parses a URL as browsers do; null where the text is none. */
export function parseUrl(text: string, base?: string): URL | null {
  // URL.canParse, once it is compiled, takes umlauts in hosts for mistakes (Node 20).
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}

/** Parses a link of a result; null where it names no scheme and no host, or is no link at all. */
export function parseLink(link: string): ParsedLink | null {
  const url = parseUrl(link)
  if (url === null) return parseWithoutScheme(link)
  url.hash = ''
  return { canonical: url.href, host: hostOf(url) }
}

/** `//acme.com/x` names its host; as a link it is no whole one, which is the same as its equals alone. */
function parseWithoutScheme(link: string): ParsedLink | null {
  const url = withoutScheme.test(link) ? parseUrl(link, 'https://any.invalid') : null
  return url === null ? null : { canonical: link, host: hostOf(url) }
}

function hostOf({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/\.$/, '')
}

/** Registrable domain of a host, private suffixes counted as suffixes; null for addresses and bare names. */
export function siteOf(host: string): string | null {
  return getDomain(host, { allowPrivateDomains: true })
}

/** A name below which everybody may have a site of their own. */
export interface PublicSuffix {
  readonly name: string
  /** Run by a company, such as github.io, and not by a registry, such as co.uk. */
  readonly isPrivate: boolean
}

/** The public suffix that a host ends in, or is; null where the list of public suffixes knows none. */
export function publicSuffixOf(host: string): PublicSuffix | null {
  // Engines show hosts that no registry would take: they lie below their suffix all the same.
  const { publicSuffix, isIcann, isPrivate } = parse(host, {
    allowPrivateDomains: true,
    validateHostname: false,
  })
  if (publicSuffix === null || !(isIcann || isPrivate)) return null
  return { name: publicSuffix, isPrivate: isPrivate === true }
}
