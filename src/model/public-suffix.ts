import { createRequire } from 'node:module'

type Suffixes = typeof import('tldts')

let loaded: Suffixes | null = null

/** The list of public suffixes is long, and most commands look up no host: it is loaded for the first one. */
function suffixes(): Suffixes {
  loaded ??= createRequire(import.meta.url)('tldts') as Suffixes
  return loaded
}

/** Registrable domain of a host, private suffixes counted as suffixes; null for addresses and bare names. */
export function siteOf(host: string): string | null {
  return suffixes().getDomain(host, { allowPrivateDomains: true })
}

/** The public suffix that a host ends in, or is; null where the list of public suffixes knows none. */
export function publicSuffixOf(host: string): {
  readonly name: string
  /** Run by a company, such as github.io, and not by a registry, such as co.uk. */
  readonly isPrivate: boolean
} | null {
  // Engines show hosts that no registry would take: these still lie below their suffix.
  const { publicSuffix, isIcann, isPrivate } = suffixes().parse(host, {
    allowPrivateDomains: true,
    validateHostname: false,
  })
  if (publicSuffix === null || !(isIcann || isPrivate)) return null
  return { name: publicSuffix, isPrivate: isPrivate === true }
}
