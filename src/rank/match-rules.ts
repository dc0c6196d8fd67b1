import type { Match } from '../model/target.ts'
import { type Address, addressOf } from './address.ts'
import { isInDomain, type Tracked } from './tracked.ts'
import { ampForms } from './variants.ts'

/** In what an address differs from what a rule asks for. */
export type Miss = 'other-host' | 'other-port' | 'within-segment' | 'other-path' | 'other-query'

type Step = (page: Address, tracked: Tracked) => Miss | null

const domain: Step = (page, tracked) => (isInDomain(page.host, tracked) ? null : 'other-host')

const host: Step = (page, { hosts }) => (hosts.has(page.host) ? null : 'other-host')

const port: Step = (page, { site }) => (page.port === site.port ? null : 'other-port')

const below: Step = ({ path }, { site }) => {
  if (path === site.path || site.path === '/' || path.startsWith(`${site.path}/`)) return null
  return path.startsWith(site.path) ? 'within-segment' : 'other-path'
}

const path: Step = (page, { site }) => (page.path === site.path ? null : 'other-path')

const query: Step = (page, { site }) => (page.query === site.query ? null : 'other-query')

/** What a page must fulfil to belong to a target, from the widest to the narrowest. */
const steps: Readonly<Record<Match, readonly Step[]>> = {
  domain: [domain],
  host: [host, port],
  prefix: [host, port, below],
  url: [host, port, path, query],
}

/** The first difference of a page from what the target asks for; null where it belongs to it. */
export function missOf(url: URL, tracked: Tracked): Miss | null {
  if (!tracked.also.includes('amp')) return missOfForm(addressOf(url), tracked)
  const misses = ampForms(url).map((form) => missOfForm(form, tracked))
  return misses.includes(null) ? null : (misses[0] ?? null)
}

function missOfForm(page: Address, tracked: Tracked): Miss | null {
  for (const step of steps[tracked.match]) {
    const miss = step(page, tracked)
    if (miss !== null) return miss
  }
  return null
}
