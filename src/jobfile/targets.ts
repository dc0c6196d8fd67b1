import { type Match, type Target, variants, type WrittenTarget } from '../model/job.ts'
import { publicSuffixOf } from '../model/public-suffix.ts'
import { parseUrl } from '../model/url.ts'
import { type InvalidValue, plainText, quoted, type ReadResult } from '../model/values.ts'
import type { FilePosition, Report } from './source.ts'

/** Reads a site: a host with a dot, or an address on one. A public suffix is not a site. */
export function site(text: string): ReadResult<string> {
  const read = plainText(text)
  if (!('value' in read)) return read
  if (read.value.includes('*'))
    return {
      message: `cannot be ${quoted(text)}`,
      fix: 'write the domain alone, which includes its subdomains',
    }
  const url = parsed(read.value)
  if (url === null)
    return { message: `cannot be ${quoted(text)}`, fix: 'write a site such as acme.com or acme.com/shop' }
  return (goesBeyondHost(read.value) ? null : suffixMistake(read.value, url)) ?? read
}

/** `https://Acme.com/` is `acme.com`: one target, one history. */
function hostAlone(text: string): string {
  return text
    .replace(/^https?:\/\//i, '')
    .replace(/[./]+$/, '')
    .toLowerCase()
}

/** `co.uk` has no results of its own; `github.io` is a host of its company, and matches as that host alone. */
function suffixMistake(text: string, { hostname }: URL): InvalidValue | null {
  const host = hostname.replace(/\.$/, '')
  const suffix = publicSuffixOf(host)
  if (suffix === null || suffix.isPrivate || suffix.name !== host) return null
  return {
    message: `cannot be ${quoted(text)}, a public suffix that many sites share`,
    fix: `write one site such as acme.${host}`,
  }
}

/** The same text for every spelling of one site. */
export function siteKey(text: string): string {
  const url = parsed(text)
  return url === null ? text : `${url.host.replace(/\.$/, '')}${url.pathname}${url.search}`
}

/** The checked target; `fallback` is the match of a site without path that names none, `forPath` that of one with a path. */
export function target(
  written: WrittenTarget,
  own: boolean,
  fallback: Match,
  hints: MatchHints,
  forPath?: Match,
): ReadResult<Target> {
  const deep = goesBeyondHost(written.site)
  const match = written.match ?? (deep ? forPath : undefined) ?? fallback
  if (deep && (match === 'domain' || match === 'host')) return needsMatch(written.site, match, hints)
  if (match === 'prefix' && hasQuery(written.site)) return needsNoQuery(written.site, hints)
  const also = variants.filter((variant) => written.also?.includes(variant))
  const site = deep ? written.site : hostAlone(written.site)
  return { value: { site, match, also, label: written.label ?? site, own } }
}

function needsMatch(text: string, match: Match, { beyond }: MatchHints): InvalidValue {
  return {
    message: `${quoted(text)} is more than a host, but match: ${match} compares only hosts`,
    fix: `${beyond}, or write only the host`,
  }
}

function needsNoQuery(text: string, { page }: MatchHints): InvalidValue {
  return {
    message: `${quoted(text)} has a query string, but match: prefix compares only paths`,
    fix: `${page}, or remove the query string`,
  }
}

function hasQuery(text: string): boolean {
  return (parsed(text)?.search ?? '') !== ''
}

function goesBeyondHost(text: string): boolean {
  const url = parsed(text)
  return url !== null && (url.pathname !== '/' || url.search !== '' || url.port !== '')
}

function parsed(text: string): URL | null {
  const address = /^https?:\/\//i.test(text) ? text : `https://${text}`
  const url = /[\s\\@#]/.test(text) ? null : parseUrl(address)
  return url !== null && /^[a-z0-9_-]+(\.[a-z0-9_-]+)+\.?$/.test(url.hostname) ? url : null
}

/** How a place says what a mistake in a match asks for: a file, an option, or a cell, which cannot name a match. */
type MatchHints = typeof inFile

/** How to name another match in a file. */
export const inFile = {
  /** To look beyond the host. */
  beyond: 'write { site: …, match: prefix } or match: url',
  /** To look at one page. */
  page: 'write { site: …, match: url }',
}

/** The checked targets of a job or of a query, from lists as they were written; repetitions are left out, contradictions are reported. */
export function readTargets(
  lists: readonly {
    readonly written: readonly (string | WrittenTarget)[]
    readonly own: boolean
    readonly at: (index: number) => FilePosition
    /** How to name another match in that place. */
    readonly hints: MatchHints
  }[],
  match: Match | undefined,
  report: Report,
): readonly Target[] {
  const targets = new Map<string, Target>()
  const owners = new Map<string, boolean>()
  const labels = new Map<string, string>()
  for (const { written, own, at, hints } of lists)
    for (const [index, entry] of written.entries()) {
      const asked = typeof entry === 'string' ? { site: entry } : entry
      const read = target(asked, own, match ?? 'domain', hints)
      if (!('value' in read)) {
        report({ ...at(index), message: read.message, fix: read.fix })
        continue
      }
      const { site, label, also } = read.value
      const plain = siteKey(site)
      const key = `${[read.value.match, ...also]} ${plain}`
      if (owners.get(plain) === !own)
        report({
          ...at(index),
          message: `${quoted(asked.site)} is both a target and a competitor`,
          fix: 'keep it in one of the lists',
        })
      else if (!targets.has(key) && labels.has(label))
        report({
          ...at(index),
          message: `two targets have the name ${quoted(label)}`,
          fix: 'give each its own label',
        })
      else if (!targets.has(key)) targets.set(key, read.value)
      owners.set(plain, own)
      labels.set(label, key)
    }
  return [...targets.values()]
}
