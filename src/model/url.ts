/** Parts of a link, parsed as WHATWG does. */

const withoutScheme = /^\s*\/\/[^/\\]/

/** Parses a URL as browsers do; null where the text is not a URL. */
export function parseUrl(text: string, base?: string): URL | null {
  // URL.canParse, once it is compiled, takes umlauts in hosts for mistakes (Node 20).
  try {
    const url = new URL(text, base)
    return text.includes('^') ? withEscapedCarets(url) : url
  } catch {
    return null
  }
}

/** Node 20 and 22 leave `^` in a path as it is, browsers and later versions do not: a page has one address under each of them. */
function withEscapedCarets(url: URL): URL {
  if (url.pathname.includes('^')) url.pathname = url.pathname.replaceAll('^', '%5E')
  return url
}

/**
 * The host and the query of a link that parsing leaves as it is, as nearly all are: its host is of lower case and ends in letters, no part of
 * its path begins with a dot, and nothing in it would be encoded.
 */
const plainLink =
  /^https?:\/\/((?:(?!xn--)[a-z\d-]+\.)+[a-z]{2,})(?:\/(?!\.|%2[eE])[\w!$&'()*+,;=:@%~.-]*)+(\?[\w!$&()*+,;=:@%~/?.-]*)?$/

/** Parses a link of a result as WHATWG does; null where it has no host. */
export function parseLink(link: string): {
  /** The address of its page. */
  readonly page: string
  /** Lower case, punycode, without port. */
  readonly host: string
} | null {
  const [, host, query = ''] = plainLink.exec(link) ?? []
  if (host !== undefined && withoutTokens(query) === query) return { page: link, host }
  const url = parseUrl(link)
  if (url === null) return parseWithoutScheme(link)
  // To set a part of it takes as long as to parse it.
  if (link.includes('#')) url.hash = ''
  const search = withoutTokens(url.search)
  if (search !== url.search) url.search = search
  return { page: url.href, host: hostOf(url) }
}

/**
 * The address of the page that a link leads to, equal for all links of the page: parsed as browsers do, without the fragment and
 * without the tokens that never name a page. Two results are the same where these are equal, and so are two landing pages.
 */
export function pageAddress(link: string): string {
  return parseLink(link)?.page ?? link
}

/** `//acme.com/x` has a host but no scheme: but for its tokens it equals only the same text. */
function parseWithoutScheme(link: string): ReturnType<typeof parseLink> {
  const url = withoutScheme.test(link) ? parseUrl(link, 'https://any.invalid') : null
  return url === null ? null : { page: link.replace(/\?[^#]*/, withoutTokens), host: hostOf(url) }
}

/** A query with its question mark, without the parameters that never name a page; what is left stays as it is written. */
function withoutTokens(search: string): string {
  if (search === '') return search
  const parts = search.slice(1).split('&')
  const kept = parts.filter((part) => !namesNoPage(part))
  if (kept.length === parts.length) return search
  const rest = kept.join('&')
  return rest === '' ? '' : `?${rest}`
}

/**
 * Query parameters that say how a visitor came and never which page it is. Names that some sites use for pages (`ref`, `id`,
 * `page`, `source`, `sa`, `ei`, `cid`) are not here, although they mostly track.
 */
const tracking: readonly {
  readonly why: string
  /** Lower case; `*` at the end stands for any rest. */
  readonly names: readonly string[]
}[] = [
  { why: 'campaign tags of web analytics', names: ['utm_*', 'mtm_*', 'pk_campaign', 'pk_kwd', 'pk_keyword'] },
  { why: 'older campaign tags of web analytics', names: ['pk_source', 'pk_medium', 'pk_content', 'pk_cid'] },
  { why: 'visitors handed over between domains by web analytics', names: ['_ga', '_gl', '_gac'] },
  { why: 'put on shopping results by a search engine', names: ['srsltid'] },
  { why: 'state of a page of search results', names: ['sca_esv', 'sca_upv', 'ved', 'usg', 'sxsrf'] },
  { why: 'typing in the search box', names: ['gs_lcp', 'gs_lcrp', 'gws_rd'] },
  {
    why: 'clicks on ads of search engines',
    names: ['gclid', 'gclsrc', 'gbraid', 'wbraid', 'dclid', 'msclkid'],
  },
  { why: 'more about clicks on ads of search engines', names: ['gad_source', 'gad_campaignid'] },
  { why: 'clicks on ads and results of another search engine', names: ['yclid', 'ysclid', '_openstat'] },
  { why: 'clicks in social networks', names: ['fbclid', 'igshid', 'igsh', 'ttclid', 'twclid', 'li_fat_id'] },
  { why: 'more clicks in social networks', names: ['epik', 'rdt_cid', 'sccid', 'ref_src'] },
  { why: 'clicks in content ads and affiliate networks', names: ['tblci', 'dicbo', 'irclickid'] },
  { why: 'readers of newsletters', names: ['mc_cid', 'mc_eid', 'mkt_tok', '_kx', 'vero_id'] },
  { why: 'more readers of newsletters', names: ['oly_enc_id', 'oly_anon_id'] },
  {
    why: 'contacts of a marketing suite',
    names: ['_hsenc', '_hsmi', '__hstc', '__hssc', '__hsfp', 'hsctatracking'],
  },
  { why: 'added by AMP caches', names: ['amp_js_v', 'amp_gsa', 'amp_r', 'usqp'] },
]

const names = tracking.flatMap((row) => row.names)
const exact: ReadonlySet<string> = new Set(names.filter((name) => !name.endsWith('*')))
const beginnings = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))

/** Whether a part of a query, `utm_source=news`, only says how a visitor came. */
export function namesNoPage(part: string): boolean {
  const end = part.indexOf('=')
  const name = percentDecoded(end < 0 ? part : part.slice(0, end)).toLowerCase()
  return exact.has(name) || beginnings.some((beginning) => name.startsWith(beginning))
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
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
