import { hostOf, webUrl } from './address.ts'

interface Wrapper {
  /** The whole path, without a trailing slash. */
  readonly path: string
  /** Where the path alone could be a page of any site: the only hosts, with all below them. */
  readonly hosts?: readonly string[]
  /** The parameters that may carry the page's address, the surest first. */
  readonly params: readonly string[]
  readonly decode?: (value: string) => string
}

/**
 * Paths that do nothing but lead on to the address in a parameter. Pages that show an address or work on it (translators,
 * share dialogs, logins, web archives, previews) are not here: they are pages of their own.
 */
const wrappers: readonly Wrapper[] = [
  // With `url=`, `q=` is what was searched for, which may be an address, too.
  { path: '/url', params: ['url', 'q'] },
  { path: '/link', params: ['url'] },
  { path: '/l', params: ['uddg'] },
  { path: '/ck/a', params: ['u'], decode: fromBase64 },
  { path: '/aclk', params: ['adurl'] },
  { path: '/pagead/aclk', params: ['adurl'] },
  { path: '/out', params: ['url'] },
  { path: '/away.php', params: ['to'] },
  { path: '/l.php', params: ['u'] },
  { path: '/redirect', params: ['q'], hosts: ['youtube.com'] },
  { path: '/linkfilter', params: ['u', 'url'], hosts: ['steamcommunity.com'] },
  { path: '', params: ['u'], hosts: ['l.instagram.com', 'l.threads.com', 'l.threads.net'] },
  { path: '', params: ['target'], hosts: ['link.zhihu.com'] },
  { path: '', params: ['url'], hosts: ['safelinks.protection.outlook.com'] },
]

/** Hosts that shorten links: what lies below their root leads elsewhere, and only they know where. */
const shorteners: ReadonlySet<string> = new Set(
  `amzn.to bit.ly buff.ly cutt.ly dlvr.it fb.me goo.gl is.gd lnkd.in ow.ly rb.gy rebrand.ly search.app share.google
  shorturl.at t.co t.ly tinyurl.com trib.al v.gd`.split(/\s+/),
)

/** Paths of engines that lead on to what only they know. */
const opaquePaths: readonly RegExp[] = [
  /^\/(?:ck\/a|aclk|aclick|pagead\/aclk|clck\/jsredir)\/?$/,
  /^\/(?:rss\/)?(?:articles|read)\/(?:CBM|AU_)[\w-]{8}/,
  /^\/grounding-api-redirect\/./,
]
const tokenPaths = /^\/(?:link|goto|url)\/?$/
const token = /^[\w-]{20,}=*$/

/** The page that a link of a redirect leads on to; null where it is no such link or hides it. */
export function redirectTarget(url: URL): URL | null {
  const path = url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname
  for (const wrapper of wrappers)
    if (wrapper.path === path && isOn(url, wrapper.hosts)) {
      const target = firstAddress(url, wrapper)
      if (target !== null) return target
    }
  return fromPath(url.pathname)
}

/** Says of a link that is no redirect with a readable target whether it is one without. */
export function hidesTarget(url: URL): boolean {
  if (shorteners.has(hostOf(url)) && url.pathname !== '/') return true
  if (opaquePaths.some((path) => path.test(url.pathname))) return true
  return tokenPaths.test(url.pathname) && token.test(url.searchParams.get('url') ?? '')
}

function isOn(url: URL, hosts: readonly string[] | undefined): boolean {
  if (hosts === undefined) return true
  const host = hostOf(url)
  return hosts.some((one) => host === one || host.endsWith(`.${one}`))
}

function firstAddress({ searchParams }: URL, { params, decode = asWritten }: Wrapper): URL | null {
  // The first that says anything decides: with `url=`, what stands in `q=` is what was searched for.
  const value = params.map((name) => searchParams.get(name)).find((one) => one !== null && one !== '')
  return value == null ? null : absolute(decode(value))
}

// An engine writes its redirects as one path: `/RV=2/RE=…/RU=https%3a%2f%2facme.com%2f/RK=2/RS=…`.
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
