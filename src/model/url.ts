/** Parts of a link, parsed as WHATWG does. */
export interface ParsedLink {
  /** The link without its fragment: two results are the same when these are equal. */
  readonly canonical: string
  /** Lower case, punycode, without port. */
  readonly host: string
}

const withoutScheme = /^\s*\/\/[^/\\]/

/** Parses a URL as browsers do; null where the text is not a URL. */
export function parseUrl(text: string, base?: string): URL | null {
  // URL.canParse, once it is compiled, takes umlauts in hosts for mistakes (Node 20).
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}

/** Parses a link of a result; null where it has no host. */
export function parseLink(link: string): ParsedLink | null {
  const url = parseUrl(link)
  if (url === null) return parseWithoutScheme(link)
  url.hash = ''
  return { canonical: url.href, host: hostOf(url) }
}

/** `//acme.com/x` has a host but no scheme: it stays as it is, and equals only the same text. */
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

/** Decodes percent codes; a text with an invalid one is taken as it is. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
