import { hashText, mix, pick, unit } from './hash.ts'
import { type Flavour, knownSites, ownSite, type Site, siteOf } from './sites.ts'
import type { Topic } from './topic.ts'

/** The lists of results that a query has; each has its own candidates. */
export type Vertical = 'web' | 'news' | 'videos' | 'images'

/** A page that competes for a query. */
export interface Candidate {
  readonly site: Site
  readonly link: string
  readonly hash: number
  /** How well it fits the query before anything changes: exponential, so that the top is far apart and the tail is dense. */
  readonly fit: number
  readonly tracked: boolean
}

const sizes: Readonly<Record<Vertical, readonly [number, number]>> = {
  web: [110, 70],
  news: [50, 40],
  videos: [50, 40],
  images: [190, 90],
}

const flavoursOf: Readonly<Record<Vertical, readonly Flavour[] | null>> = {
  web: null,
  news: ['news'],
  videos: ['video', 'guide'],
  images: null,
}

/** Every page that competes for the topic: the tracked sites first, links all different. */
export function candidatesFor(
  topic: Topic,
  vertical: Vertical,
  salt: number,
  tracked: readonly string[],
): readonly Candidate[] {
  if (topic.barren) return []
  const seed = hashText(`${vertical}|${topic.phrase}|${topic.only ?? ''}`, salt)
  const [least, more] = sizes[vertical]
  const size = topic.only === null ? least + (seed % more) : 12 + (seed % 40)
  const sites = sitesFor(topic, vertical, seed)
  const links = new Set<string>()
  const candidates: Candidate[] = []
  const add = (site: Site, isTracked: boolean, visit: number) => {
    const link = linkOf(site, topic, mix(seed, candidates.length), links)
    candidates.push(candidate(site, link, seed, visit, isTracked))
  }
  if (topic.only === null)
    for (const host of tracked) for (const visit of [0, 1]) add(siteOf(host, 'shop'), true, visit)
  for (let index = 0; candidates.length < size; index++) {
    const first = index < sites.length
    // Sites come back for further pages of theirs, the ones at the front of the list more often.
    const again = Math.floor(sites.length * unit(mix(seed, index)) ** 2)
    add(sites[first ? index : again] as Site, false, first ? 0 : 1)
  }
  return candidates
}

function sitesFor(topic: Topic, vertical: Vertical, seed: number): readonly Site[] {
  if (topic.only !== null) return [siteOf(topic.only, 'shop')]
  const flavours = flavoursOf[vertical]
  const sites =
    flavours?.flatMap((wanted) => knownSites.filter(({ flavour }) => flavour === wanted)) ?? knownSites
  const own = flavours === null ? 40 : 8
  return [...sites, ...Array.from({ length: own }, (_, index) => ownSite(topic.words, seed, index))]
}

function candidate(site: Site, link: string, seed: number, visit: number, tracked: boolean): Candidate {
  const hash = hashText(link, seed)
  const chance = unit(mix(hash, 1))
  const fit = tracked
    ? visit === 0
      ? 1.6 + 2.9 * chance
      : 0.2 + 1.6 * chance
    : -0.85 * Math.log(1 - chance) + 0.7 * site.strength - 0.3 * visit
  return { site, link, hash, fit, tracked }
}

const paths: Readonly<Record<Flavour, readonly string[]>> = {
  shop: ['/{}', '/products/{}', '/c/{}', '/collections/{}', '/shop/{}-sale'],
  review: ['/best-{}', '/reviews/{}', '/{}-review', '/compare/{}'],
  guide: ['/blog/{}', '/guides/{}', '/how-to-choose-{}', '/{}-explained'],
  forum: ['/t/{}', '/questions/which-{}', '/threads/{}', '/d/{}-advice'],
  reference: ['/wiki/{}', '/entry/{}', '/topic/{}'],
  news: ['/markets/{}', '/business/{}', '/story/{}', '/world/{}-latest'],
  video: ['/watch/{}', '/v/{}'],
}

function linkOf(site: Site, topic: Topic, hash: number, links: Set<string>): string {
  const path = pick(paths[site.flavour], hash).replace('{}', topic.slug)
  const numbered = site.flavour === 'forum' || site.flavour === 'news' || site.flavour === 'video'
  let link = `https://${site.host}${path}${numbered ? `-${10_000 + (hash % 89_999)}` : ''}`
  for (let n = 2; links.has(link); n++) link = `https://${site.host}${path}-${n}`
  links.add(link)
  return link
}
