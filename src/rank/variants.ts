import { publicSuffixOf, siteOf } from '../model/link.ts'
import type { Variant } from '../model/target.ts'
import { type Address, addressOf, hostOf, webUrl } from './address.ts'

/** Labels that a site puts in front of its host to serve the same pages in another form. */
export const variantLabels: Readonly<Record<Variant, readonly string[]>> = {
  amp: ['amp'],
  mobile: ['m', 'mobile', 'touch'],
}

/** Parameters by which a page is asked for as AMP. */
const ampParams: ReadonlySet<string> = new Set(['amp', 'amp=1', 'outputType=amp'])

/** Search engines that serve copies of AMP pages below their own host: the name before the public suffix. */
const ampEngines: ReadonlySet<string> = new Set(['google', 'bing'])

/** AMP caches, whose hosts lie below these. */
const cacheHosts: readonly string[] = ['cdn.ampproject.org', 'bing-amp.com']

/** Beginnings of paths of AMP caches; what follows is the page's address without its scheme. */
const cachePaths = /^\/(?:c|v)\/(?:s\/)?(?=[^/])/
const enginePaths = /^\/amp\/(?:s\/)?(?=[^/])/

/** No link without one of these is a copy in an AMP cache: parsing turns backslashes, and drops breaks. */
export function mayBeCached(link: string): boolean {
  return /\/(?:c|v|amp)\/|[\\\t\r\n]/.test(link)
}

/** The addresses that a page may be known by without its AMP marks, its own first. */
export function ampForms(url: URL): readonly Address[] {
  const cached = cachedPage(url)
  const own = addressOf(url)
  return [own, ...withoutMarks(own), ...(cached === null ? [] : allForms(addressOf(cached)))]
}

function allForms(address: Address): readonly Address[] {
  return [address, ...withoutMarks(address)]
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
  // Below a private suffix such as github.io everybody may take an engine's name.
  if (publicSuffixOf(host)?.isPrivate !== false) return null
  return ampEngines.has(siteOf(host)?.split('.')[0] ?? '') ? beginning : null
}

// A site may have a directory called `amp` beside the marks: any of them may be all that is a mark.
function withoutMarks(address: Address): readonly Address[] {
  const query = address.query
    .split('&')
    .filter((part) => !ampParams.has(part))
    .join('&')
  const front = address.path.replace(/^\/amp(?=\/|$)/, '') || '/'
  const back = withoutEnd(address.path)
  return [...new Set([address.path, front, back, withoutEnd(front)])].map((path) => ({
    ...address,
    path,
    query,
  }))
}

function withoutEnd(path: string): string {
  return path.endsWith('/amp') ? path.slice(0, -4) || '/' : path
}
