import { publicSuffixOf } from '../model/link.ts'
import type { Match, Target, Variant } from '../model/target.ts'
import { type Address, addressOf, webUrl } from './address.ts'
import { variantLabels } from './variants.ts'

/** What of a target says which links belong to it. */
export type Pattern = Pick<Target, 'site' | 'match' | 'also'>

/** A target made ready for comparing. */
export interface Tracked {
  readonly match: Match
  readonly also: readonly Variant[]
  /** The site's address; its host without `www.` */
  readonly site: Address
  /** All names that count as the host itself. */
  readonly hosts: ReadonlySet<string>
  /** A public suffix: what lies below it belongs to others. */
  readonly isSuffix: boolean
}

/** Reads a target; null where its site is none. */
export function trackedOf({ site, match, also }: Pattern): Tracked | null {
  const url = webUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(site) ? site : `https://${site}`)
  if (url === null) return null
  const address = addressOf(url)
  const host = withoutWww(address.host)
  const isSuffix = publicSuffixOf(host)?.name === host
  const hosts = new Set(isSuffix ? [host] : hostNames(host, also))
  return { match, also, site: { ...address, host }, hosts, isSuffix }
}

/** Says of a host whether it is one of the target's names, or lies below it and belongs to the same owner. */
export function isInDomain(host: string, { hosts, site, isSuffix }: Tracked): boolean {
  if (hosts.has(host)) return true
  return !isSuffix && host.endsWith(`.${site.host}`) && !isOthers(host, site.host)
}

function hostNames(host: string, also: readonly Variant[]): readonly string[] {
  const labels = ['www', ...also.flatMap((variant) => variantLabels[variant])]
  return [host, ...labels.map((label) => `${label}.${host}`)]
}

// `www.com` is a name of its own, and so is `www.github.io`.
function withoutWww(host: string): string {
  const rest = host.startsWith('www.') ? host.slice(4) : host
  return rest.includes('.') && publicSuffixOf(rest)?.name !== rest ? rest : host
}

// Buckets below s3.amazonaws.com lie below amazonaws.com, and are not Amazon's.
function isOthers(host: string, top: string): boolean {
  const name = publicSuffixOf(host)?.name ?? host
  return name !== host && name.endsWith(`.${top}`)
}
