import type { Match, Target, Variant } from '../model/job.ts'
import { publicSuffixOf, siteOf } from '../model/public-suffix.ts'
import { namesNoPage, parseUrl, percentDecoded } from '../model/url.ts'

/** Whether a link belongs to a target. */
export type Matcher = (link: string) => boolean

/**
 * A matcher for the target: `domain` takes the host and all below it, `host` that host only (with or without `www.`),
 * `prefix` everything below a path, `url` one page. A target that is not a site matches nothing.
 */
export function matcherOf(target: Pattern): Matcher {
  const compiled = compileTarget(target)
  if (compiled === null) return () => false
  const isForeign = foreignTo(compiled)
  return (link) => {
    if (isForeign(link)) return false
    const { url } = resolveRedirect(link)
    return url !== null && mismatchOf(url, compiled) === null
  }
}

// A host for which parsing does nothing but write it in lower case, as in nearly all links. A last label of letters cannot be
// part of an IP address.
const plainHost = /^https?:\/\/([a-z0-9.-]*\.[a-z]{2,})(?:[/?#]|$)/i

/** Most links belong to other sites by their host alone, and are not parsed. */
function foreignTo({ hosts, site, also }: CompiledTarget): (link: string) => boolean {
  const ending = `.${site.host}`
  const amp = also.includes('amp')
  return (link) => {
    const host = plainHost.exec(link)?.[1]?.toLowerCase()
    if (host === undefined || hosts.has(host) || host.endsWith(ending)) return false
    return !mayRedirect(link) && !(amp && mayBeCached(link))
  }
}

/** The first condition of a target that an address does not meet. */
type Mismatch = 'other-host' | 'other-port' | 'within-segment' | 'other-path' | 'other-query'

type MatchStep = (page: Address, target: CompiledTarget) => Mismatch | null

const domain: MatchStep = (page, target) => (isInDomain(page.host, target) ? null : 'other-host')

const host: MatchStep = (page, { hosts }) => (hosts.has(page.host) ? null : 'other-host')

const port: MatchStep = (page, { site }) => (page.port === site.port ? null : 'other-port')

const below: MatchStep = ({ path }, { site }) => {
  if (path === site.path || site.path === '/' || path.startsWith(`${site.path}/`)) return null
  return path.startsWith(site.path) ? 'within-segment' : 'other-path'
}

const path: MatchStep = (page, { site }) => (page.path === site.path ? null : 'other-path')

const query: MatchStep = (page, { site }) => (page.query === site.query ? null : 'other-query')

/** The conditions for a page of a target, from the widest to the narrowest. */
const steps: Readonly<Record<Match, readonly MatchStep[]>> = {
  domain: [domain],
  host: [host, port],
  prefix: [host, port, below],
  url: [host, port, path, query],
}

/** The first condition that a page does not meet; null if it belongs to the target. */
export function mismatchOf(url: URL, target: CompiledTarget): Mismatch | null {
  if (!target.also.includes('amp')) return mismatchOfForm(addressOf(url), target)
  const mismatches = ampForms(url).map((form) => mismatchOfForm(form, target))
  return mismatches.includes(null) ? null : (mismatches[0] ?? null)
}

function mismatchOfForm(page: Address, target: CompiledTarget): Mismatch | null {
  for (const step of steps[target.match]) {
    const mismatch = step(page, target)
    if (mismatch !== null) return mismatch
  }
  return null
}

/** The part of a target that says which links belong to it. */
export type Pattern = Pick<Target, 'site' | 'match' | 'also'>

/** A target as links are compared with it. */
export type CompiledTarget = NonNullable<ReturnType<typeof compileTarget>>

/** Prepares a target; null if its site is not a web address. */
export function compileTarget({ site, match, also }: Pattern): {
  readonly match: Match
  readonly also: readonly Variant[]
  /** The site's address; its host without `www.` */
  readonly site: Address
  /** All names that count as the host itself. */
  readonly hosts: ReadonlySet<string>
  /** Whether the host is a public suffix: hosts below it belong to others. */
  readonly isSuffix: boolean
} | null {
  const url = webUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(site) ? site : `https://${site}`)
  if (url === null) return null
  const address = addressOf(url)
  const host = withoutWww(address.host)
  const isSuffix = publicSuffixOf(host)?.name === host
  const hosts = new Set(isSuffix ? [host] : hostNames(host, also))
  return { match, also, site: { ...address, host }, hosts, isSuffix }
}

/** Whether a host is one of the target's names, or lies below it and belongs to the same owner. */
export function isInDomain(host: string, { hosts, site, isSuffix }: CompiledTarget): boolean {
  if (hosts.has(host)) return true
  return !isSuffix && host.endsWith(`.${site.host}`) && !isOthers(host, site.host)
}

function hostNames(host: string, also: readonly Variant[]): readonly string[] {
  const labels = ['www', ...also.flatMap((variant) => variantLabels[variant])]
  return [host, ...labels.map((label) => `${label}.${host}`)]
}

// In `www.com` and `www.github.io` the `www.` is part of the name.
function withoutWww(host: string): string {
  const rest = host.startsWith('www.') ? host.slice(4) : host
  return rest.includes('.') && publicSuffixOf(rest)?.name !== rest ? rest : host
}

// Buckets on s3.amazonaws.com are below amazonaws.com, but do not belong to Amazon.
function isOthers(host: string, top: string): boolean {
  const name = publicSuffixOf(host)?.name ?? host
  return name !== host && name.endsWith(`.${top}`)
}

/** Parses the address of a web page as browsers do; null for anything else. */
export function webUrl(text: string, base?: string): URL | null {
  const url = parseUrl(text, base)
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url : null
}

type Address = Readonly<ReturnType<typeof addressOf>>

/** The normalised address of a page; equal for all addresses of the page. */
function addressOf(url: URL) {
  return {
    /** Lower case, punycode, without a trailing dot. */
    host: hostOf(url),
    /** Empty for the ports of http and https. */
    port: portOf(url),
    /** Begins with a slash and ends without one, except the root. */
    path: pathOf(url.pathname),
    /** Parameters without tracking, sorted by name and joined by `&`. */
    query: queryOf(url.search),
  }
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
    .filter((part) => part !== '' && !namesNoPage(part))
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0))
    .join('&')
}

function nameOf(part: string): string {
  const end = part.indexOf('=')
  return end < 0 ? part : part.slice(0, end)
}

// Encoders differ in which of these they escape (in RFC 2396 all were unreserved). `@`, `:`, `,`, `$`, `&` and `=` separate
// nothing within a path, nor do the slash and the question mark within a query.
const plainInPath = /[\w.~!*'()@:,$&=-]/
const plainInQuery = /[\w.~!*'()@:,$/?-]/
const encodedOrIllegal = /%[0-9a-f]{2}|[^\w.~!*'()\-$&+,;=:@/?%[\]]/gi

/** One spelling of percent-encoding: plain characters are decoded, all others encoded in upper case. */
function canonical(text: string, plain: RegExp): string {
  return text.replace(encodedOrIllegal, (part) => {
    if (part.length < 3) return encodeURIComponent(part)
    const character = String.fromCharCode(Number.parseInt(part.slice(1), 16))
    return plain.test(character) ? character : part.toUpperCase()
  })
}

/** Labels before the host of a site that serves the same pages in another form. */
const variantLabels: Readonly<Record<Variant, readonly string[]>> = {
  amp: ['amp'],
  mobile: ['m', 'mobile', 'touch'],
}

/** Parameters that ask for the AMP form of a page. */
const ampParams: ReadonlySet<string> = new Set(['amp', 'amp=1', 'outputType=amp'])

/** Search engines that serve copies of AMP pages on their own hosts, by the name before the public suffix. */
const ampEngines: ReadonlySet<string> = new Set(['google', 'bing'])

/** Parent hosts of AMP caches. */
const cacheHosts: readonly string[] = ['cdn.ampproject.org', 'bing-amp.com']

/** Beginnings of paths of AMP caches; the address of the page follows, without its scheme. */
const cachePaths = /^\/(?:c|v)\/(?:s\/)?(?=[^/])/
const enginePaths = /^\/amp\/(?:s\/)?(?=[^/])/

/** Every copy in an AMP cache has one of these in its link: parsing turns backslashes into slashes and drops line breaks. */
function mayBeCached(link: string): boolean {
  return /\/(?:c|v|amp)\/|[\\\t\r\n]/.test(link)
}

/** The addresses that a page may have without its AMP marks, its own address first. */
function ampForms(url: URL): readonly Address[] {
  const cached = cachedPage(url)
  const pages = cached === null ? [url] : [url, cached]
  return pages.map(addressOf).flatMap((address) => [address, ...withoutMarks(address)])
}

function cachedPage(url: URL): URL | null {
  const beginning = cacheBeginning(hostOf(url), url.pathname)
  return beginning === null ? null : webUrl(`https://${url.pathname.slice(beginning.length)}${url.search}`)
}

function cacheBeginning(host: string, path: string): string | null {
  if (cacheHosts.some((cache) => host === cache || host.endsWith(`.${cache}`)))
    return cachePaths.exec(path)?.[0] ?? null
  const beginning = enginePaths.exec(path)?.[0]
  if (beginning === undefined) return null
  // Below a private suffix such as github.io any site may have the name of an engine.
  if (publicSuffixOf(host)?.isPrivate !== false) return null
  return ampEngines.has(siteOf(host)?.split('.')[0] ?? '') ? beginning : null
}

// A site may have a directory called `amp` as well as marks, so each `amp` may be the only mark.
function withoutMarks(address: Address): readonly Address[] {
  const query = address.query
    .split('&')
    .filter((part) => !ampParams.has(part))
    .join('&')
  const front = address.path.replace(/^\/amp(?=\/|$)/, '') || '/'
  const back = withoutAmpSegment(address.path)
  return [...new Set([address.path, front, back, withoutAmpSegment(front)])].map((path) => ({
    ...address,
    path,
    query,
  }))
}

function withoutAmpSegment(path: string): string {
  return path.endsWith('/amp') ? path.slice(0, -4) || '/' : path
}

/** Registrable domains of a search engine with a domain in nearly every country. */
const google: readonly string[] =
  `ad ae al am as at az ba be bf bg bi bj bs bt by ca cat cd cf cg ch ci cl cm cn co.ao co.bw
  co.ck co.cr co.id co.il co.in co.jp co.ke co.kr co.ls co.ma co.mz co.nz co.th co.tz co.ug co.uk co.uz co.ve co.vi co.za co.zm
  co.zw com com.af com.ag com.ar com.au com.bd com.bh com.bn com.bo com.br com.bz com.co com.cu com.cy com.do com.ec com.eg
  com.et com.fj com.gh com.gi com.gt com.hk com.jm com.kh com.kw com.lb com.ly com.mm com.mt com.mx com.my com.na com.ng com.ni
  com.np com.om com.pa com.pe com.pg com.ph com.pk com.pr com.py com.qa com.sa com.sb com.sg com.sl com.sv com.tj com.tr com.tw
  com.ua com.uy com.vc com.vn cv cz de dj dk dm dz ee es fi fm fr ga ge gg gl gm gr gy hn hr ht hu ie im iq is it je jo kg ki kz
  la li lk lt lu lv md me mg mk ml mn mu mv mw ne nl no nr nu pl pn ps pt ro rs ru rw sc se sh si sk sm sn so sr st td tg tl tm
  tn to tt vu ws`
    .split(/\s+/)
    .map((suffix) => `google.${suffix}`)

const yandex: readonly string[] = 'ru com by kz uz com.tr'.split(' ').map((suffix) => `yandex.${suffix}`)

interface SearchPages {
  /** The whole path, without a trailing slash, or a pattern; any path by default. */
  readonly path?: string | RegExp
  /** These hosts and all below them. */
  readonly hosts: readonly string[]
  /** A search engine: on its own pages the link may have no host. */
  readonly engine?: true
}

/**
 * Redirects to an address in the link itself. Pages that show an address or work on it (translators, share dialogs, logins,
 * web archives, previews) are not here: they are pages of their own.
 */
const redirects: readonly (SearchPages & {
  /** The text in the link that should be the address of the page; empty if there is none. */
  readonly target: (url: URL) => string
})[] = [
  // With `url=`, `q=` is the search query, which may be an address as well.
  { path: '/url', target: inParam('url', 'q'), hosts: google, engine: true },
  { path: '/aclk', target: inParam('adurl'), hosts: google, engine: true },
  {
    path: '/pagead/aclk',
    target: inParam('adurl'),
    hosts: [...google, 'googleadservices.com'],
    engine: true,
  },
  { path: '/ck/a', target: inBase64('u'), hosts: ['bing.com'], engine: true },
  { path: '/l', target: inParam('uddg'), hosts: ['duckduckgo.com'], engine: true },
  { path: '/link', target: inParam('url'), hosts: ['so.com'], engine: true },
  { path: '/redirect', target: inParam('q'), hosts: ['youtube.com'] },
  { path: '/l.php', target: inParam('u'), hosts: ['facebook.com', 'messenger.com'] },
  { path: '', target: inParam('u'), hosts: ['l.instagram.com', 'l.threads.com', 'l.threads.net'] },
  { target: inParam('url'), hosts: ['out.reddit.com'] },
  { path: '/away.php', target: inParam('to'), hosts: ['vk.com'] },
  { path: '/linkfilter', target: inParam('u', 'url'), hosts: ['steamcommunity.com'] },
  { path: '', target: inParam('target'), hosts: ['link.zhihu.com'] },
  { path: '', target: inParam('url'), hosts: ['safelinks.protection.outlook.com'] },
  // The whole redirect is one path: `/RV=2/RE=…/RU=https%3a%2f%2facme.com%2f/RK=2/RS=…`.
  { path: /\/RU=/, target: inPath('/RU=', '/RK='), hosts: ['search.yahoo.com'], engine: true },
]

/** Hosts that shorten links: every path except the root is a redirect, and only the host knows its target. */
const shorteners: ReadonlySet<string> = new Set(
  `amzn.to bit.ly buff.ly cutt.ly dlvr.it fb.me goo.gl is.gd lnkd.in ow.ly rb.gy rebrand.ly search.app share.google
  shorturl.at t.co t.ly tinyurl.com trib.al v.gd`.split(/\s+/),
)

/** Redirects of engines to a target that only the engine knows. */
const opaque: readonly SearchPages[] = [
  { path: '/ck/a', hosts: ['bing.com'], engine: true },
  { path: '/aclick', hosts: ['bing.com'], engine: true },
  { path: '/aclk', hosts: google, engine: true },
  { path: '/pagead/aclk', hosts: [...google, 'googleadservices.com'], engine: true },
  { path: '/clck/jsredir', hosts: yandex, engine: true },
  { path: /^\/(?:rss\/)?(?:articles|read)\/(?:CBM|AU_)[\w-]{8}/, hosts: ['news.google.com'], engine: true },
  { path: /^\/grounding-api-redirect\/./, hosts: ['vertexaisearch.cloud.google.com'] },
]

/** Redirects of engines to the target of a token in `url=`. */
const tokenPlace: SearchPages = {
  path: /^\/(?:link|goto|url)\/?$/,
  hosts: [...google, 'baidu.com', 'sogou.com', 'so.com'],
  engine: true,
}
const token = /^[\w-]{20,}=*$/

/** The host that links without a host get; no site can have it. */
const engineHost = 'engine.invalid'

/** The target of a redirect; null if the link is not a redirect or hides its target. */
function redirectTarget(url: URL): URL | null {
  for (const redirect of redirects)
    if (isAt(url, redirect)) {
      const target = absolute(redirect.target(url))
      if (target !== null) return target
    }
  return null
}

/** Whether a link without a readable target is a redirect that hides it. */
function hidesTarget(url: URL): boolean {
  if (shorteners.has(hostOf(url)) && url.pathname !== '/') return true
  if (opaque.some((place) => isAt(url, place))) return true
  return isAt(url, tokenPlace) && token.test(url.searchParams.get('url') ?? '')
}

function isAt(url: URL, { path, hosts, engine }: SearchPages): boolean {
  if (typeof path === 'string' && path !== withoutLastSlash(url.pathname)) return false
  if (path instanceof RegExp && !path.test(url.pathname)) return false
  const host = hostOf(url)
  if (host === engineHost) return engine === true
  return hosts.some((one) => host === one || host.endsWith(`.${one}`))
}

function withoutLastSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

/** The first of these parameters that is not empty. */
function inParam(...names: readonly string[]) {
  return ({ searchParams }: URL) => names.map((name) => searchParams.get(name)).find(Boolean) ?? ''
}

function inBase64(name: string) {
  return ({ searchParams }: URL) => {
    const value = searchParams.get(name) ?? ''
    return value.startsWith('a1') ? Buffer.from(value.slice(2), 'base64url').toString() : ''
  }
}

function inPath(before: string, after: string) {
  return ({ pathname }: URL) => {
    const start = pathname.indexOf(before)
    const end = pathname.indexOf(after, start)
    return start < 0 || end < 0 ? '' : percentDecoded(pathname.slice(start + before.length, end))
  }
}

/** Only whole addresses: anything else is a search query, or a part of the site. */
function absolute(text: string): URL | null {
  const plain = /^https?%3a/i.test(text) ? percentDecoded(text) : text
  return /^https?:\/\//i.test(plain) ? webUrl(plain) : null
}

const deepest = 3

// A link without a host is on the page of the engine: it counts only as a redirect to another page.
const engine = `https://${engineHost}`

/** Whether the link may carry the target of a redirect. */
function mayRedirect(link: string): boolean {
  return link.includes('=')
}

/** Follows redirects that carry their target, for a few steps: one may be within another. */
export function resolveRedirect(link: string) {
  const { first, last } = follow(link)
  const redirected = last !== first
  // Without a host; `//acme.com/` has one.
  const isRelative = /^\s*\/(?!\/)/.test(link)
  return {
    /** The page that the link leads to; null if it is not a web page. */
    url: isRelative && !redirected ? null : last,
    /** Whether the link was a redirect with its target in it. */
    redirected,
  }
}

/** The host of the target of a redirect; null if the link is not a redirect or hides its target. */
export function redirectedHost(link: string): string | null {
  if (!mayRedirect(link)) return null
  const { url, redirected } = resolveRedirect(link)
  return redirected && url !== null ? hostOf(url) : null
}

/** Whether a link is a redirect that hides its target. */
export function isOpaque(link: string): boolean {
  const { last } = follow(link)
  return last !== null && (redirectTarget(last) !== null || hidesTarget(last))
}

function follow(link: string) {
  const first = webUrl(link, /^\s*\//.test(link) ? engine : undefined)
  let last = first
  for (let step = 0; step < deepest && last !== null; step++) {
    const next = redirectTarget(last)
    if (next === null) break
    last = next
  }
  return { first, last }
}
