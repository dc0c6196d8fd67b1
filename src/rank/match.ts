import { publicSuffixOf } from '../model/public-suffix.ts'
import type { Match, Target, Variant } from '../model/target.ts'
import {
  type Address,
  addressOf,
  ampForms,
  mayBeCached,
  mayRedirect,
  resolveRedirect,
  variantLabels,
  webUrl,
} from './address.ts'

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

/** A target that is prepared for comparing. */
export interface CompiledTarget {
  readonly match: Match
  readonly also: readonly Variant[]
  /** The site's address; its host without `www.` */
  readonly site: Address
  /** All names that count as the host itself. */
  readonly hosts: ReadonlySet<string>
  /** Whether the host is a public suffix: hosts below it belong to others. */
  readonly isSuffix: boolean
}

/** Prepares a target; null if its site is not a web address. */
export function compileTarget({ site, match, also }: Pattern): CompiledTarget | null {
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
