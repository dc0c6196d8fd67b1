import { type Match, type Variant, variants } from '../model/target.ts'
import { hostOf, webUrl } from './address.ts'
import { missOf } from './match-rules.ts'
import { resemblanceOf } from './near-hosts.ts'
import { type Reason, reasons } from './reasons.ts'
import { isInDomain, type Pattern, type Tracked, trackedOf } from './tracked.ts'
import { isOpaque, unwrap } from './unwrap.ts'

/** Whether a link belongs to a target, and why. */
export interface MatchVerdict {
  readonly matches: boolean
  readonly reason: Reason
  /** It does not, but nearly, or looks as if it did. */
  readonly near: boolean
  /** For people, to be read after the link: “is on shop.acme.com, which belongs to acme.com”. */
  readonly text: string
}

/** Explains what the matcher of the target says of the link. */
export function explainMatch(target: Pattern, link: string): MatchVerdict {
  const tracked = trackedOf(target)
  if (tracked === null) return verdict('no-site', target.site, target.site, '', false)
  const { url, redirected } = unwrap(link)
  const host = url === null ? 'the engine' : hostOf(url)
  return verdict(reasonOf(target, tracked, link, url), placeOf(tracked), tracked.site.host, host, redirected)
}

function verdict(
  reason: Reason,
  target: string,
  tracked: string,
  host: string,
  redirected: boolean,
): MatchVerdict {
  const { matches, near, text } = reasons[reason]
  const said = text({ target, tracked, host })
  return { matches, reason, near, text: redirected ? `leads on to a page that ${said}` : said }
}

function reasonOf(target: Pattern, tracked: Tracked, link: string, url: URL | null): Reason {
  if (url === null) return isOpaque(link) ? 'opaque-redirect' : 'no-page'
  const miss = missOf(url, tracked)
  if (miss === null) return why(target, url)
  const counting = variantsNeeded({ ...target, also: variants }, url)
  if (counting.length > 0) return notAsked(counting.filter((variant) => !target.also.includes(variant)))
  if (miss !== 'other-host') return miss
  if (isOpaque(link)) return 'opaque-redirect'
  const resemblance = resemblanceOf(hostOf(url), tracked.site.host)
  return resemblance ?? (mentions(url, tracked) ? 'only-mentioned' : 'other-site')
}

const plainly: Readonly<Record<Match, Reason>> = {
  domain: 'in-domain',
  host: 'on-host',
  prefix: 'below-path',
  url: 'same-page',
}

function why(target: Pattern, url: URL): Reason {
  const needed = variantsNeeded(target, url)
  if (needed.length === 0) return plainly[target.match]
  return needed.includes('amp') ? 'amp-variant' : 'mobile-variant'
}

function notAsked(missing: readonly Variant[]): Reason {
  if (missing.length > 1) return 'variants-not-asked'
  return missing[0] === 'amp' ? 'amp-not-asked' : 'mobile-not-asked'
}

/** The fewest variants of the target that make it match; none where it matches without, or not at all. */
function variantsNeeded(target: Pattern, url: URL): readonly Variant[] {
  const choices: readonly (readonly Variant[])[] = [[], ['mobile'], ['amp'], ['amp', 'mobile']]
  const possible = choices.filter((choice) => choice.every((variant) => target.also.includes(variant)))
  return possible.find((also) => matches({ ...target, also }, url)) ?? []
}

function matches(target: Pattern, url: URL): boolean {
  const tracked = trackedOf(target)
  return tracked !== null && missOf(url, tracked) === null
}

function placeOf({ site, match }: Tracked): string {
  if (match === 'domain') return site.host
  const place = `${site.host}${site.port === '' ? '' : `:${site.port}`}`
  const path = site.path === '/' ? '' : site.path
  if (match === 'host') return place
  return match === 'prefix' || site.query === '' ? `${place}${path}` : `${place}${site.path}?${site.query}`
}

// Translators, share dialogs, logins, archives: the first few addresses within an address are enough to see it.
function mentions({ href }: URL, tracked: Tracked): boolean {
  return href
    .replace(/%3a/gi, ':')
    .replace(/%2f/gi, '/')
    .split(/(?=https?:\/\/)/i, 5)
    .slice(1)
    .some((part) => {
      const named = webUrl(part)
      return named !== null && isInDomain(hostOf(named), tracked)
    })
}
