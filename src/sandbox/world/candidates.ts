import { hashText, mix, pick, unit } from './hash.ts'

/** The lists of results of a query; each has its own candidates. */
export type Vertical = 'web' | 'news' | 'videos' | 'images'

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

/** Every page that competes for the topic, the tracked sites first; all links differ. */
function candidatesFor(
  topic: Topic,
  vertical: Vertical,
  salt: number,
  tracked: readonly string[],
): readonly RankingCandidate[] {
  if (topic.barren) return []
  const seed = hashText(`${vertical}|${topic.phrase}|${topic.only ?? ''}`, salt)
  const [least, more] = sizes[vertical]
  const size = topic.only === null ? least + (seed % more) : 12 + (seed % 40)
  const sites = sitesFor(topic, vertical, seed)
  const links = new Set<string>()
  const candidates: RankingCandidate[] = []
  const add = (site: Site, isTracked: boolean, visit: number) => {
    const link = linkOf(site, topic, mix(seed, candidates.length), links)
    candidates.push(candidate(site, link, seed, visit, isTracked))
  }
  if (topic.only === null)
    for (const host of tracked) for (const visit of [0, 1]) add(siteOf(host, 'shop'), true, visit)
  for (let index = 0; candidates.length < size; index++) {
    const first = index < sites.length
    // Further pages are of the same sites; sites at the front of the list have more of them.
    const again = Math.floor(sites.length * unit(mix(seed, index)) ** 2)
    add(sites[first ? index : again] as Site, false, first ? 0 : 1)
  }
  return candidates
}

/** Which share of the pages for the words of one query, and of those that show up for everything, compete with those of its meaning. */
const besideMeaning = { own: 0.4, common: 0.1 }

/** Every web page that competes for a query of a meaning. */
function candidatesOfMeaning(
  topic: Topic,
  meaning: Topic,
  salt: number,
  tracked: readonly string[],
): readonly RankingCandidate[] {
  const some = (of: Topic, share: number) =>
    candidatesFor(of, 'web', salt, []).filter(({ hash }) => unit(mix(hash, 71)) < share)
  const all = [
    ...candidatesFor(meaning, 'web', salt, tracked),
    ...some(topic, besideMeaning.own),
    ...some(topicOf('home'), besideMeaning.common),
  ]
  return [...new Map(all.map((candidate) => [candidate.link, candidate])).values()]
}

function sitesFor(topic: Topic, vertical: Vertical, seed: number): readonly Site[] {
  if (topic.only !== null) return [siteOf(topic.only, 'shop')]
  const flavours = flavoursOf[vertical]
  const sites =
    flavours?.flatMap((wanted) => knownSites.filter(({ flavour }) => flavour === wanted)) ?? knownSites
  const own = flavours === null ? 40 : 8
  return [...sites, ...Array.from({ length: own }, (_, index) => ownSite(topic.words, seed, index))]
}

/** A page that competes for a query. */
export type RankingCandidate = ReturnType<typeof candidate>

/** Its `fit` is how well it fits the query on average: exponential, so that the best are far apart and the others close together. */
function candidate(site: Site, link: string, seed: number, visit: number, tracked: boolean) {
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

/**
 * Indices of the candidates, best first. From day to day pages drift in slow and quick waves, and leave for some days. Another
 * engine, country or place gives a similar order.
 */
function orderOn(
  candidates: readonly RankingCandidate[],
  view: {
    readonly engine: string
    readonly country: string
    /** The other params that narrow the search, as one text. */
    readonly narrowed: string
    /** Days since 1970-01-01 UTC. */
    readonly day: number
  },
): Uint16Array {
  const engine = hashText(view.engine)
  const country = hashText(view.country)
  const narrowed = hashText(view.narrowed)
  const scores = new Float64Array(candidates.length)
  const present: number[] = []
  candidates.forEach((candidate, index) => {
    const { hash, fit } = candidate
    if (isAway(candidate, view.day)) return
    scores[index] =
      fit +
      1.1 * (unit(mix(hash, engine)) - 0.5) +
      0.8 * (unit(mix(hash, country)) - 0.5) +
      0.4 * (unit(mix(hash, narrowed)) - 0.5) +
      drift(hash, view.day)
    present.push(index)
  })
  present.sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b)
  return Uint16Array.from(present)
}

function isAway({ hash, tracked }: RankingCandidate, day: number): boolean {
  const spell = Math.floor((day + (hash % 5)) / 5)
  return unit(mix(mix(hash, 11), spell)) < (tracked ? 0.03 : 0.05)
}

function drift(hash: number, day: number): number {
  return (
    1.3 * wave(mix(hash, 21), day, 28) +
    0.5 * wave(mix(hash, 22), day, 7) +
    0.25 * wave(mix(hash, 23), day, 3) +
    0.12 * (unit(mix(mix(hash, 24), day)) - 0.5)
  )
}

/** Smooth noise from -0.5 to 0.5, with a random value every `period` days. */
function wave(hash: number, day: number, period: number): number {
  const at = (day + (hash % period)) / period
  const knot = Math.floor(at)
  const share = at - knot
  const from = unit(mix(hash, knot))
  const to = unit(mix(hash, knot + 1))
  return from + (to - from) * share * share * (3 - 2 * share) - 0.5
}

/** The kind of a site; it decides its paths, titles and snippets. */
export type Flavour = 'shop' | 'review' | 'guide' | 'forum' | 'reference' | 'news' | 'video'

/** A site that can have results. */
export interface Site {
  readonly host: string
  readonly name: string
  readonly flavour: Flavour
  /** How well the site does for every query, 0 to 1. */
  readonly strength: number
}

/** Host and name of each site. */
const known: Readonly<Record<Flavour, string>> = {
  reference: `en.openalmanac.org Openalmanac, www.factbound.org Factbound,
    www.plainlexicon.com Plain Lexicon, www.everyterm.net Everyterm`,
  shop: `www.marketlane.com Marketlane, www.brightaisle.com Bright Aisle,
    www.cartwright-and-co.co.uk Cartwright & Co, shop.homeharbour.com Home Harbour,
    www.dealorchard.com Deal Orchard, www.northstock.de Northstock, www.thegoodcrate.com The Good Crate,
    www.quaystore.com.au Quay Store`,
  review: `www.testbenchdaily.com Testbench Daily, www.picksandproofs.com Picks & Proofs,
    www.honestladder.com Honest Ladder, www.ratedroom.net Rated Room, www.whichever.co.uk Whichever,
    www.labshelf.com Labshelf`,
  guide: `www.howtoharbor.com How To Harbor, www.steadyguide.com Steady Guide,
    blog.tidyworkshop.com Tidy Workshop, www.firstprinciple.io First Principle,
    www.the-long-answer.com The Long Answer, www.learnlantern.org Learn Lantern,
    notes.slowmaker.net Slow Maker`,
  forum: `www.askthehive.com Ask the Hive, forum.threadhollow.net Thread Hollow,
    www.commonboard.com Common Board, community.tinkerers.io Tinkerers`,
  news: `www.morningcourier.com Morning Courier, www.harborledger.com Harbor Ledger,
    www.theeveningwire.co.uk The Evening Wire, www.metrodispatch.com Metro Dispatch,
    news.openfrontier.org Open Frontier, www.dailyobservatory.net Daily Observatory,
    www.tradepost.biz Trade Post, www.capitalmonitor.eu Capital Monitor,
    www.pacificbulletin.com.au Pacific Bulletin, www.signalandnoise.tech Signal and Noise`,
  video: `www.tubewell.com Tubewell, www.clipharbor.tv Clip Harbor, vidstage.com Vidstage`,
}

/** The sites that compete for every query, in a fixed order. */
const knownSites: readonly Site[] = (Object.keys(known) as Flavour[]).flatMap((flavour) =>
  known[flavour].split(/,\s+/).map((line) => knownSite(line, flavour)),
)

function knownSite(line: string, flavour: Flavour): Site {
  const space = line.indexOf(' ')
  const host = line.slice(0, space)
  // Video hosts have most results of lists that they are in.
  const strength = flavour === 'video' ? 1 : 0.3 + 0.6 * unit(hashText(host))
  return { host, name: line.slice(space + 1), flavour, strength }
}

const before = ['best', 'my', 'the', 'top', 'go', 'smart', 'just', 'pure', 'all', 'open']
const after = ['hub', 'world', 'guide', 'lab', 'direct', 'central', 'pro', 'nest', 'works', 'daily']
const endings = ['com', 'com', 'com', 'net', 'org', 'co', 'io', 'co.uk', 'de', 'shop']
const ownFlavours: readonly Flavour[] = ['shop', 'shop', 'review', 'guide', 'guide', 'forum']

/** A small site for the words of one query; each `index` gives another site. */
function ownSite(words: readonly string[], salt: number, index: number): Site {
  const hash = mix(salt, index)
  const plain = words.map((word) => word.replace(/[^a-z0-9]/g, '').slice(0, 14)).filter((word) => word !== '')
  const stem = plain.slice(0, 1 + (hash % 2)).join('') || `site${salt % 9973}`
  const [lead, tail] = [pick(before, index), pick(after, mix(hash, 2))]
  const label = index % 2 === 0 ? `${stem}${tail}` : `${lead}${stem}${index > 19 ? tail : ''}`
  const host = `${hash % 3 === 0 ? '' : 'www.'}${label}.${pick(endings, mix(hash, 3))}`
  return {
    ...siteOf(host, pick(ownFlavours, mix(hash, 4))),
    strength: 0.4 * unit(mix(hash, 5)),
  }
}

/** A site for a domain in the options or in a query. */
function siteOf(host: string, flavour: Flavour): Site {
  const label = host.replace(/^www\./, '').split('.')[0] ?? host
  return { host, name: `${label.charAt(0).toUpperCase()}${label.slice(1)}`, flavour, strength: 0.5 }
}

const longestWord = 24
const mostWords = 7

/** The topic of a query: its words without operators, and the site that it is limited to. */
export type Topic = ReturnType<typeof topicOf>

function topicOf(text: string) {
  const only =
    text.match(/(?:^|\s)site:(?:https?:\/\/)?\.*([\p{L}\p{N}][\p{L}\p{N}.-]*)/iu)?.[1]?.toLowerCase() ?? null
  const rest = text.replace(/(?:^|\s)-?(?:site|inurl|intitle):\S+/gi, ' ').toLowerCase()
  const found: readonly string[] = rest.match(/[\p{L}\p{N}\p{M}']+/gu) ?? []
  const words = found.slice(0, mostWords).map((word) => Array.from(word).slice(0, longestWord).join(''))
  if (words.length === 0) words.push(only?.split('.')[0] ?? 'things')
  return {
    /** Lower case; at least one. */
    words,
    /** The words as a phrase for running text. */
    phrase: words.join(' '),
    /** The phrase with capitals, for titles. */
    heading: words.map(capital).join(' '),
    /** The words for a path: percent-encoded and joined by hyphens. */
    slug: words.map((word) => encodeURIComponent(word.replaceAll("'", ''))).join('-'),
    /** Host of a `site:` operator, or null. */
    only,
    /** Whether nothing is found for it: texts with the word `zxqv`. */
    barren: found.includes('zxqv'),
  }
}

/** The word with its first letter in upper case. */
function capital(word: string): string {
  const [first = '', ...others] = word
  return first.toUpperCase() + others.join('')
}

/** What competes for a query, and in which order. */
export const ranking = {
  of: candidatesFor,
  ofMeaning: candidatesOfMeaning,
  orderOn,
  topicOf,
  capital,
}
