import { hashText, mix, pick, unit } from './hash.ts'

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
export const knownSites: readonly Site[] = (Object.keys(known) as Flavour[]).flatMap((flavour) =>
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
export function ownSite(words: readonly string[], salt: number, index: number): Site {
  const hash = mix(salt, index)
  const plain = words.map((word) => word.replace(/[^a-z0-9]/g, '').slice(0, 14)).filter((word) => word !== '')
  const stem = plain.slice(0, 1 + (hash % 2)).join('') || `site${salt % 9973}`
  const [lead, tail] = [pick(before, index), pick(after, mix(hash, 2))]
  const label = index % 2 === 0 ? `${stem}${tail}` : `${lead}${stem}${index > 19 ? tail : ''}`
  const host = `${hash % 3 === 0 ? '' : 'www.'}${label}.${pick(endings, mix(hash, 3))}`
  return { ...siteOf(host, pick(ownFlavours, mix(hash, 4))), strength: 0.4 * unit(mix(hash, 5)) }
}

/** A site for a domain in the options or in a query. */
export function siteOf(host: string, flavour: Flavour): Site {
  const label = host.replace(/^www\./, '').split('.')[0] ?? host
  return { host, name: `${label.charAt(0).toUpperCase()}${label.slice(1)}`, flavour, strength: 0.5 }
}

/** The topic of a query: its words without operators, and the site that it is limited to. */
export interface Topic {
  /** Lower case; at least one. */
  readonly words: readonly string[]
  /** The words as a phrase for running text. */
  readonly phrase: string
  /** The phrase with capitals, for titles. */
  readonly heading: string
  /** The words for a path: percent-encoded and joined by hyphens. */
  readonly slug: string
  /** Host of a `site:` operator, or null. */
  readonly only: string | null
  /** Whether nothing is found for it: texts with the word `zxqv`. */
  readonly barren: boolean
}

const longestWord = 24
const mostWords = 7

export function topicOf(text: string): Topic {
  const only =
    text.match(/(?:^|\s)site:(?:https?:\/\/)?\.*([\p{L}\p{N}][\p{L}\p{N}.-]*)/iu)?.[1]?.toLowerCase() ?? null
  const rest = text.replace(/(?:^|\s)-?(?:site|inurl|intitle):\S+/gi, ' ').toLowerCase()
  const found: readonly string[] = rest.match(/[\p{L}\p{N}\p{M}']+/gu) ?? []
  const words = found.slice(0, mostWords).map((word) => Array.from(word).slice(0, longestWord).join(''))
  if (words.length === 0) words.push(only?.split('.')[0] ?? 'things')
  return {
    words,
    phrase: words.join(' '),
    heading: words.map(capital).join(' '),
    slug: words.map((word) => encodeURIComponent(word.replaceAll("'", ''))).join('-'),
    only,
    barren: found.includes('zxqv'),
  }
}

/** The word with its first letter in upper case. */
export function capital(word: string): string {
  const [first = '', ...others] = word
  return first.toUpperCase() + others.join('')
}
