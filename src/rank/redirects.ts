import { hostOf, webUrl } from './address.ts'

/** Registrable domains of a search engine that has one in nearly every country. */
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

interface Place {
  /** The whole path, without a trailing slash, or what it must be like; any where none is given. */
  readonly path?: string | RegExp
  /** The only hosts, with all below them: on any other the same path is a page like any other. */
  readonly hosts: readonly string[]
  /** A search engine, whose own page may have it without its host. */
  readonly engine?: true
}

interface Wrapper extends Place {
  /** The parameters that may carry the page's address, the surest first. */
  readonly params: readonly string[]
  readonly decode?: (value: string) => string
}

/**
 * Places that do nothing but lead on to the address in a parameter. Pages that show an address or work on it (translators,
 * share dialogs, logins, web archives, previews) are not here: they are pages of their own.
 */
const wrappers: readonly Wrapper[] = [
  // With `url=`, `q=` is what was searched for, which may be an address, too.
  { path: '/url', params: ['url', 'q'], hosts: google, engine: true },
  { path: '/aclk', params: ['adurl'], hosts: google, engine: true },
  { path: '/pagead/aclk', params: ['adurl'], hosts: [...google, 'googleadservices.com'], engine: true },
  { path: '/ck/a', params: ['u'], decode: fromBase64, hosts: ['bing.com'], engine: true },
  { path: '/l', params: ['uddg'], hosts: ['duckduckgo.com'], engine: true },
  { path: '/link', params: ['url'], hosts: ['so.com'], engine: true },
  { path: '/redirect', params: ['q'], hosts: ['youtube.com'] },
  { path: '/l.php', params: ['u'], hosts: ['facebook.com', 'messenger.com'] },
  { path: '', params: ['u'], hosts: ['l.instagram.com', 'l.threads.com', 'l.threads.net'] },
  { params: ['url'], hosts: ['out.reddit.com'] },
  { path: '/away.php', params: ['to'], hosts: ['vk.com'] },
  { path: '/linkfilter', params: ['u', 'url'], hosts: ['steamcommunity.com'] },
  { path: '', params: ['target'], hosts: ['link.zhihu.com'] },
  { path: '', params: ['url'], hosts: ['safelinks.protection.outlook.com'] },
]

/** An engine that writes its redirects as one path: `/RV=2/RE=…/RU=https%3a%2f%2facme.com%2f/RK=2/RS=…`. */
const pathWrapper: Place = { path: /\/RU=/, hosts: ['search.yahoo.com'], engine: true }

/** Hosts that shorten links: what lies below their root leads elsewhere, and only they know where. */
const shorteners: ReadonlySet<string> = new Set(
  `amzn.to bit.ly buff.ly cutt.ly dlvr.it fb.me goo.gl is.gd lnkd.in ow.ly rb.gy rebrand.ly search.app share.google
  shorturl.at t.co t.ly tinyurl.com trib.al v.gd`.split(/\s+/),
)

/** Places of engines that lead on to what only they know. */
const opaque: readonly Place[] = [
  { path: '/ck/a', hosts: ['bing.com'], engine: true },
  { path: '/aclick', hosts: ['bing.com'], engine: true },
  { path: '/aclk', hosts: google, engine: true },
  { path: '/pagead/aclk', hosts: [...google, 'googleadservices.com'], engine: true },
  { path: '/clck/jsredir', hosts: yandex, engine: true },
  { path: /^\/(?:rss\/)?(?:articles|read)\/(?:CBM|AU_)[\w-]{8}/, hosts: ['news.google.com'], engine: true },
  { path: /^\/grounding-api-redirect\/./, hosts: ['vertexaisearch.cloud.google.com'] },
]

/** Places that lead on to what a token in `url=` stands for. */
const tokenPlaces: readonly Place[] = [
  { path: /^\/(?:link|goto|url)\/?$/, hosts: [...google, 'baidu.com', 'sogou.com', 'so.com'], engine: true },
]
const token = /^[\w-]{20,}=*$/

/** The host of links that come without one, of which nobody can have a site. */
export const engineHost = 'engine.invalid'

/** The page that a link of a redirect leads on to; null where it is no such link or hides it. */
export function redirectTarget(url: URL): URL | null {
  for (const wrapper of wrappers)
    if (isAt(url, wrapper)) {
      const target = firstAddress(url, wrapper)
      if (target !== null) return target
    }
  return isAt(url, pathWrapper) ? fromPath(url.pathname) : null
}

/** Says of a link that is no redirect with a readable target whether it is one without. */
export function hidesTarget(url: URL): boolean {
  if (shorteners.has(hostOf(url)) && url.pathname !== '/') return true
  if (opaque.some((place) => isAt(url, place))) return true
  return tokenPlaces.some((place) => isAt(url, place)) && token.test(url.searchParams.get('url') ?? '')
}

function isAt(url: URL, { path, hosts, engine }: Place): boolean {
  if (typeof path === 'string' && path !== withoutEnd(url.pathname)) return false
  if (path instanceof RegExp && !path.test(url.pathname)) return false
  const host = hostOf(url)
  if (host === engineHost) return engine === true
  return hosts.some((one) => host === one || host.endsWith(`.${one}`))
}

function withoutEnd(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

function firstAddress({ searchParams }: URL, { params, decode = asWritten }: Wrapper): URL | null {
  // The first that says anything decides: with `url=`, what stands in `q=` is what was searched for.
  const value = params.map((name) => searchParams.get(name)).find((one) => one !== null && one !== '')
  return value == null ? null : absolute(decode(value))
}

function fromPath(path: string): URL | null {
  const start = path.indexOf('/RU=')
  const end = path.indexOf('/RK=', start)
  return start < 0 || end < 0 ? null : absolute(unescaped(path.slice(start + 4, end)))
}

/** Only whole addresses: anything else is a word that was searched for, or a part of the site. */
function absolute(text: string): URL | null {
  const plain = /^https?%3a/i.test(text) ? unescaped(text) : text
  return /^https?:\/\//i.test(plain) ? webUrl(plain) : null
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function asWritten(value: string): string {
  return value
}

function fromBase64(value: string): string {
  return value.startsWith('a1') ? Buffer.from(value.slice(2), 'base64url').toString() : ''
}
