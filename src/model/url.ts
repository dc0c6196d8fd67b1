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

/** Whether a host is this machine itself. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
}
