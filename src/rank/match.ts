import type { Match, Target } from '../model/target.ts'

/** Tells whether a link belongs to a target. */
export type Matcher = (link: string) => boolean

interface Place {
  readonly host: string
  readonly port: string
  readonly path: string
  readonly search: string
}

/**
 * A matcher for the target: `domain` takes the host and all below it, `host` that host alone (with or without `www.`),
 * `prefix` everything below a path, `url` one page. Scheme, `www.`, fragment and a trailing slash make no difference.
 * A target that is no site matches nothing.
 */
export function matcherOf({ site, match }: Pick<Target, 'site' | 'match'>): Matcher {
  const target = placeOf(/^[a-z][a-z0-9+.-]*:\/\//i.test(site) ? site : `https://${site}`)
  if (target === null) return () => false
  const rule = rules[match]
  return (link) => {
    const place = placeOf(link)
    return place !== null && rule(place, target)
  }
}

const rules: Readonly<Record<Match, (place: Place, target: Place) => boolean>> = {
  domain: (place, target) => place.host === target.host || place.host.endsWith(`.${target.host}`),
  host: (place, target) => place.host === target.host && place.port === target.port,
  prefix: (place, target) =>
    place.host === target.host &&
    place.port === target.port &&
    (place.path === target.path || place.path.startsWith(`${target.path.replace(/\/$/, '')}/`)),
  url: (place, target) =>
    place.host === target.host &&
    place.port === target.port &&
    place.path === target.path &&
    place.search === target.search,
}

function placeOf(link: string): Place | null {
  if (!URL.canParse(link)) return null
  const { protocol, hostname, port, pathname, search } = new URL(link)
  if (protocol !== 'http:' && protocol !== 'https:') return null
  return {
    host: hostname
      .toLowerCase()
      .replace(/\.$/, '')
      .replace(/^www\.(?=[^.]+\.)/, ''),
    port,
    path: pathname.length > 1 ? pathname.replace(/\/$/, '') : pathname,
    search,
  }
}
