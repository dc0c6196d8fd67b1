import { parseUrl } from '../model/url.ts'
import type { Explained } from './failures.ts'
import type { ApiRequest } from './request.ts'

/**
 * What a redirect says: where to, and which base URL that would be where the same path stands at its end. User names, query
 * strings and fragments of the address are left out.
 */
export function explainRedirect(
  status: number,
  location: string | string[] | undefined,
  { origin, path }: Pick<ApiRequest, 'origin' | 'path'>,
): Explained {
  const to = typeof location === 'string' ? parseUrl(location, `${origin}${path}`) : null
  if (to === null || !/^https?:$/.test(to.protocol))
    return { words: `HTTP ${status}, a redirect that names no web address`, wrongSetting: false }
  const shown = `${to.origin}${to.pathname}`
  const meant = baseUrlIn(to, path)
  const words = `HTTP ${status}, a redirect to ${shown}`
  return meant === null
    ? {
        words: `${words}, which is another page: a login or a portal of the network, perhaps`,
        wrongSetting: false,
      }
    : { words: `${words}: if you trust that address, set RANKLINE_BASE_URL=${meant}`, wrongSetting: true }
}

/** The base URL under which the same operation stands at the address; null where it is another page. */
function baseUrlIn({ origin, pathname }: URL, path: string): string | null {
  const operation = path.replace(/\?.*/s, '').match(/\/(?:api\/)?v1\/.*|\/jobs\/.*/)?.[0]
  const bare = pathname.replace(/\/+$/, '')
  if (operation === undefined || !bare.endsWith(operation)) return null
  return `${origin}${bare.slice(0, -operation.length)}`
}
