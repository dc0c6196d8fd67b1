import { type Match, type Variant, variants } from '../model/job.ts'
import { publicSuffixOf, siteOf } from '../model/public-suffix.ts'
import {
  type CompiledTarget,
  compileTarget,
  hostOf,
  isInDomain,
  isOpaque,
  mismatchOf,
  type Pattern,
  resolveRedirect,
  webUrl,
} from './match.ts'

/** Explains why the link belongs to the target or does not. */
export function explainMatch(target: Pattern, link: string) {
  const compiled = compileTarget(target)
  if (compiled === null) return verdict('no-site', { target: target.site, site: target.site, host: '' })
  const { url, redirected } = resolveRedirect(link)
  const host = url === null ? 'the engine' : hostOf(url)
  const facts = { target: placeOf(compiled), site: compiled.site.host, host }
  const found = verdict(reasonOf(target, compiled, link, url), facts)
  return redirected ? { ...found, text: `leads on to a page that ${found.text}` } : found
}

function verdict(reason: VerdictReason, facts: Parameters<VerdictText>[0]) {
  const { matches, near, text } = reasons[reason]
  // The text is for people, to follow the link: “is on shop.acme.com, which belongs to acme.com”.
  return { matches, reason, near, text: text(facts) }
}

function reasonOf(target: Pattern, compiled: CompiledTarget, link: string, url: URL | null): VerdictReason {
  if (url === null) return isOpaque(link) ? 'opaque-redirect' : 'no-page'
  const mismatch = mismatchOf(url, compiled)
  if (mismatch === null) return why(target, url)
  const counting = variantsNeeded({ ...target, also: variants }, url)
  if (counting.length > 0) return notAsked(counting.filter((variant) => !target.also.includes(variant)))
  if (mismatch !== 'other-host') return mismatch
  if (isOpaque(link)) return 'opaque-redirect'
  const similarity = similarityOf(hostOf(url), compiled.site.host)
  return similarity ?? (mentions(url, compiled) ? 'only-mentioned' : 'other-site')
}

const plainly: Readonly<Record<Match, VerdictReason>> = {
  domain: 'in-domain',
  host: 'on-host',
  prefix: 'below-path',
  url: 'same-page',
}

function why(target: Pattern, url: URL): VerdictReason {
  const needed = variantsNeeded(target, url)
  if (needed.length === 0) return plainly[target.match]
  return needed.includes('amp') ? 'amp-variant' : 'mobile-variant'
}

function notAsked(missing: readonly Variant[]): VerdictReason {
  if (missing.length > 1) return 'variants-not-asked'
  return missing[0] === 'amp' ? 'amp-not-asked' : 'mobile-not-asked'
}

/** The fewest variants of the target that make it match; none if it matches without, or not at all. */
function variantsNeeded(target: Pattern, url: URL): readonly Variant[] {
  const choices: readonly (readonly Variant[])[] = [[], ['mobile'], ['amp'], ['amp', 'mobile']]
  const possible = choices.filter((choice) => choice.every((variant) => target.also.includes(variant)))
  return possible.find((also) => matches({ ...target, also }, url)) ?? []
}

function matches(target: Pattern, url: URL): boolean {
  const compiled = compileTarget(target)
  return compiled !== null && mismatchOf(url, compiled) === null
}

function placeOf({ site, match }: CompiledTarget): string {
  if (match === 'domain') return site.host
  const place = `${site.host}${site.port === '' ? '' : `:${site.port}`}`
  const path = site.path === '/' ? '' : site.path
  if (match === 'host') return place
  return match === 'prefix' || site.query === '' ? `${place}${path}` : `${place}${site.path}?${site.query}`
}

// Translators, share dialogs, logins and archives have the site in the first few addresses within their own.
function mentions({ href }: URL, compiled: CompiledTarget): boolean {
  return href
    .replace(/%3a/gi, ':')
    .replace(/%2f/gi, '/')
    .split(/(?=https?:\/\/)/i, 5)
    .slice(1)
    .some((part) => {
      const named = webUrl(part)
      return named !== null && isInDomain(hostOf(named), compiled)
    })
}

/** The verdict in words, to follow “it”. */
type VerdictText = (facts: {
  /** The address of the target: the host, with port, path and query if they are compared. */
  readonly target: string
  /** The host of the target. */
  readonly site: string
  /** The host of the page that the link leads to. */
  readonly host: string
}) => string

const match = (text: VerdictText) => ({ matches: true, near: false, text })
/** No match, but similar enough that a user would ask about it. */
const near = (text: VerdictText) => ({ matches: false, near: true, text })
const no = (text: VerdictText) => ({ matches: false, near: false, text })

/** Why a link belongs to a target or does not. */
const reasons = {
  'in-domain': match(({ host, target }) =>
    host === target ? `is on ${target}` : `is on ${host}, which belongs to ${target}`,
  ),
  'on-host': match(({ target }) => `is on the host ${target}`),
  'below-path': match(({ target }) => `is ${target} or lies below it`),
  'same-page': match(({ target }) => `is the page ${target}`),
  'amp-variant': match(({ target }) => `is an AMP variant that counts as ${target}`),
  'mobile-variant': match(({ target }) => `is a mobile variant that counts as ${target}`),
  'amp-not-asked': near(({ target }) => `is an AMP variant of ${target}, which counts only with also: [amp]`),
  'mobile-not-asked': near(
    ({ target }) => `is a mobile variant of ${target}, which counts only with also: [mobile]`,
  ),
  'variants-not-asked': near(
    ({ target }) => `is a mobile AMP variant of ${target}, which counts only with also: [amp, mobile]`,
  ),
  'other-port': near(({ host, target }) => `is on ${host}, but on another port than ${target}`),
  'within-segment': near(
    ({ target }) => `has a path that begins like ${target} but goes on within the segment`,
  ),
  'other-path': near(({ host, target }) => `is on ${host}, but has another path than ${target}`),
  'other-query': near(({ target }) => `is ${target} with another query string`),
  'opaque-redirect': near(({ host }) => `is a redirect of ${host} that does not say where it leads`),
  'same-site': near(({ host, site }) => `is on ${host}, another host of the site that ${site} is part of`),
  'other-owner': near(
    ({ host, site }) => `is on ${host}, which shares a public suffix with ${site} and belongs to others`,
  ),
  'other-suffix': near(
    ({ host, site }) => `is on ${host}, which has the name of ${site} under another suffix`,
  ),
  'name-within': near(({ host, site }) => `is on ${host}, which only contains the name of ${site}`),
  'only-mentioned': near(({ host, site }) => `is a page of ${host} whose address mentions ${site}`),
  'other-site': no(({ host, site }) => `is on ${host}, which has nothing to do with ${site}`),
  'no-page': no(() => 'is not the address of a web page'),
  'no-site': no(() => 'is compared with a target that is not a site'),
} as const

export type VerdictReason = keyof typeof reasons

/** How another host is similar to that of a target. */
type Similarity = 'other-owner' | 'same-site' | 'other-suffix' | 'name-within'

type Test = (host: string, tracked: string) => boolean

/** In the order in which they are tried. */
const similarities: readonly (readonly [Similarity, Test])[] = [
  ['other-owner', isOtherOwner],
  ['same-site', (host, tracked) => registrable(host) === registrable(tracked)],
  ['other-suffix', (host, tracked) => nameOf(host) === nameOf(tracked)],
  ['name-within', isNameWithin],
]

/** The similarity of a host to that of a target; null for none. */
function similarityOf(host: string, tracked: string): Similarity | null {
  return similarities.find(([, test]) => test(host, tracked))?.[0] ?? null
}

// Neighbours below the suffix of a company, and hosts below a suffix that is the target or a part of it.
function isOtherOwner(host: string, tracked: string): boolean {
  if (registrable(host) === registrable(tracked)) return false
  const suffix = publicSuffixOf(host)
  if (suffix === null) return false
  if (suffix.name === tracked || suffix.name.endsWith(`.${tracked}`)) return true
  return suffix.isPrivate && suffix.name === publicSuffixOf(tracked)?.name
}

// Shorter names are contained in very many hosts.
const shortestName = 5

function isNameWithin(host: string, tracked: string): boolean {
  const name = nameOf(tracked)
  return host.includes(registrable(tracked)) || (name.length >= shortestName && host.includes(name))
}

function nameOf(host: string): string {
  const site = siteOf(host)
  return site === null ? host : (site.split('.')[0] ?? host)
}

// IP addresses, single names and suffixes have no registrable domain.
function registrable(host: string): string {
  return siteOf(host) ?? host
}
