import { publicSuffixOf, siteOf } from '../model/link.ts'

/** How another host resembles that of a target. */
export type Resemblance = 'other-owner' | 'same-site' | 'other-suffix' | 'name-within'

type Test = (host: string, tracked: string) => boolean

/** The first that holds is what a user would ask about. */
const resemblances: readonly (readonly [Resemblance, Test])[] = [
  ['other-owner', isOtherOwner],
  ['same-site', (host, tracked) => registrable(host) === registrable(tracked)],
  ['other-suffix', (host, tracked) => nameOf(host) === nameOf(tracked)],
  ['name-within', isNameWithin],
]

/** What makes a host look like that of a target to which it does not belong; null where nothing does. */
export function resemblanceOf(host: string, tracked: string): Resemblance | null {
  return resemblances.find(([, test]) => test(host, tracked))?.[0] ?? null
}

// Neighbours below a company's suffix, and whoever lies below a suffix that is the target itself or a part of it.
function isOtherOwner(host: string, tracked: string): boolean {
  if (registrable(host) === registrable(tracked)) return false
  const suffix = publicSuffixOf(host)
  if (suffix === null) return false
  if (suffix.name === tracked || suffix.name.endsWith(`.${tracked}`)) return true
  return suffix.isPrivate && suffix.name === publicSuffixOf(tracked)?.name
}

// Names of a few letters are within half of all hosts.
const telling = 5

function isNameWithin(host: string, tracked: string): boolean {
  const name = nameOf(tracked)
  return host.includes(registrable(tracked)) || (name.length >= telling && host.includes(name))
}

function nameOf(host: string): string {
  const site = siteOf(host)
  return site === null ? host : (site.split('.')[0] ?? host)
}

// Addresses, bare names and suffixes have nothing registered: they are what they are.
function registrable(host: string): string {
  return siteOf(host) ?? host
}
