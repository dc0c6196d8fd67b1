import { missOf } from './match-rules.ts'
import { type Pattern, type Tracked, trackedOf } from './tracked.ts'
import { mayWrap, unwrap } from './unwrap.ts'
import { mayBeCached } from './variants.ts'

/** Tells whether a link belongs to a target. */
export type Matcher = (link: string) => boolean

/**
 * A matcher for the target: `domain` takes the host and all below it, `host` that host alone (with or without `www.`),
 * `prefix` everything below a path, `url` one page. A target that is no site matches nothing.
 */
export function matcherOf(target: Pattern): Matcher {
  const tracked = trackedOf(target)
  if (tracked === null) return () => false
  const isForeign = foreignTo(tracked)
  return (link) => {
    if (isForeign(link)) return false
    const { url } = unwrap(link)
    return url !== null && missOf(url, tracked) === null
  }
}

// A host as nearly all links have it: what parsing would make of it is the same in lower case. A last label of letters
// alone cannot be part of an IP address.
const plainHost = /^https?:\/\/([a-z0-9.-]*\.[a-z]{2,})(?:[/?#]|$)/i

/** Most links are of others, which their host tells at once: only the rest is worth parsing. */
function foreignTo({ hosts, site, also }: Tracked): (link: string) => boolean {
  const ending = `.${site.host}`
  const amp = also.includes('amp')
  return (link) => {
    const host = plainHost.exec(link)?.[1]?.toLowerCase()
    if (host === undefined || hosts.has(host) || host.endsWith(ending)) return false
    return !mayWrap(link) && !(amp && mayBeCached(link))
  }
}
