import type { Target } from '../../src/model/job.ts'
import type { RunQuality } from '../../src/model/run.ts'
import { addDays } from '../../src/model/time.ts'
import type { Citation, PageData, PageSerp, SerpResult } from '../../src/report/data.ts'
import { reportPeriod } from '../../src/report/history/period.ts'
import {
  absentCell,
  type Keyword,
  type RankHistory,
  type RankSeries,
  rankedCell,
} from '../../src/report/history/rank-history.ts'
import { plainPresentation } from '../../src/report/presentation/presentation.ts'
import { pool, sampleKeywords } from './sample-words.ts'

export interface SampleSize {
  readonly keywords: number
  readonly days: number
  readonly seed?: number
  /** How many targets are tracked; four where nothing is said. */
  readonly targets?: number
}

const lastDay = '2026-11-20'
/** Results looked at on a day. */
const depth = 30

const allTargets: readonly Target[] = [
  { label: 'northdesk.example', site: 'northdesk.example', match: 'domain', also: [], own: true },
  { label: 'North Desk Shop', site: 'northdesk.example/shop', match: 'prefix', also: ['amp'], own: true },
  { label: 'risewell.example', site: 'risewell.example', match: 'domain', also: [], own: false },
  { label: 'harborledger.com', site: 'harborledger.com', match: 'domain', also: [], own: false },
  {
    label: 'the-standing-room.example',
    site: 'the-standing-room.example',
    match: 'domain',
    also: [],
    own: false,
  },
  { label: 'oakandsteel.example', site: 'oakandsteel.example', match: 'domain', also: [], own: false },
  { label: 'sitless.example', site: 'sitless.example', match: 'domain', also: [], own: false },
  { label: 'deskwise.example', site: 'deskwise.example', match: 'domain', also: [], own: false },
]

/** How well each of the targets does, the lower the better. */
const strengths = [9, 15, 8, 16, 12, 18, 7, 14]

function targetAt(place: number): Target {
  const known = allTargets[place]
  if (known !== undefined) return known
  const site = `rival-number-${place + 1}.example`
  return { label: site, site, match: 'domain', also: [], own: false }
}

/** A job with a history that looks like a real one, the same for the same seed. */
export function samplePage({
  keywords: wanted,
  days: length,
  seed = 1,
  targets: tracked = 4,
}: SampleSize): PageData {
  const sampleTargets = Array.from({ length: tracked }, (_, place) => targetAt(place))
  const random = randomOf(seed)
  const days = Array.from({ length }, (_, index) => addDays(lastDay, index - length + 1))
  const keywords = sampleKeywords(wanted, random)
  const links = new Lists()
  const series: RankSeries[] = []
  const serps: PageSerp[] = []
  const texts = new Lists()
  const sites = new Lists()
  const otherLinks = new Lists()
  const citations: Citation[] = []
  keywords.forEach((keyword, index) => {
    const fails = (day: number): boolean => random() < (day === length - 9 ? 0.2 : 0.012)
    const failed = days.map((_, day) => fails(day))
    const added = random() < 0.08 ? Math.floor(length * 0.6) : 0
    const ranks = ranksOf(length, tracked, random)
    sampleTargets.forEach((target, number) => {
      series.push(
        seriesOf([keyword, target], [index, number], ranks[number] as number[], {
          failed,
          added,
          links,
          random,
        }),
      )
    })
    for (const day of [length - 1, length - 2, length - 8])
      if (day >= added && failed[day] === false && keyword.operation === 'alpha.search')
        serps.push(serpOf({ keyword, index, day, ranks, texts, sites, links: otherLinks, random }))
    if (keyword.operation === 'alpha.ai')
      for (let day = Math.max(0, length - 14); day < length; day++)
        if (random() < 0.92) citations.push(citationOf([index, day], tracked, random))
  })
  const history: RankHistory = {
    job: 'standing-desks-us',
    days,
    keywords,
    targets: sampleTargets,
    series,
    links: links.all,
    removed: [
      { query: 'desk riser 2025', operation: 'alpha.search', params: { gl: 'us' }, last: days[0] as string },
    ],
  }
  const requestedPeriod = { period: null, compare: length > 8 ? '7d' : null }
  const period = reportPeriod(days, requestedPeriod)
  return {
    history,
    requestedPeriod,
    period,
    compare: period?.compare ?? null,
    presentation: plainPresentation,
    measure: { curve: sampleCurve },
    runs: days.slice(-30).map((date, index) => runOf(date, index, wanted, random)),
    serps,
    citations,
    features: keywords.flatMap(({ kind }, index) => (kind === 'organic' ? [featuresOn(index, length)] : [])),
    texts: texts.all,
    sites: sites.all,
    links: otherLinks.all,
  }
}

export const sampleCurve = {
  name: 'organic clicks',
  version: '1',
  source: 'made up for tests',
  rates: [0.28, 0.15, 0.1, 0.07, 0.05, 0.04, 0.03, 0.025, 0.02, 0.018],
}

/** Distinct texts, each with its place. */
class Lists {
  readonly all: string[] = []
  readonly #places = new Map<string, number>()

  place(text: string): number {
    const known = this.#places.get(text)
    if (known !== undefined) return known
    this.#places.set(text, this.all.length)
    return this.all.push(text) - 1
  }
}

/** Numbers from 0 to 1 (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The rank of each target on each day: walks that no two share a place of. */
function ranksOf(length: number, tracked: number, random: () => number): number[][] {
  const walks = Array.from({ length: tracked }, (_, target) => ({
    at: 1 + random() * (strengths[target % strengths.length] as number) * 2.2,
    drift: (random() - 0.56) * 0.12,
  }))
  const ranks = walks.map(() => [] as number[])
  for (let day = 0; day < length; day++) {
    const taken = new Set<number>()
    walks.forEach((walk, number) => {
      walk.at = Math.max(1, walk.at + walk.drift + (random() - 0.5) * Math.min(3, 0.4 + walk.at / 8))
      let rank = Math.round(walk.at)
      while (taken.has(rank)) rank++
      taken.add(rank)
      ;(ranks[number] as number[]).push(rank)
    })
  }
  return ranks
}

function seriesOf(
  [keyword, target]: readonly [Keyword, Target],
  at: readonly [keyword: number, target: number],
  ranks: readonly number[],
  { failed, added, links, random }: History,
): RankSeries {
  const missed = ranks.length - 20
  const seen: Record<number, number> = {}
  const cells = ranks.map((rank, day) => {
    // On a Sunday nothing ran.
    if (day < added || (day === missed && ranks.length > 30)) return null
    if (failed[day]) return 0
    const isEstimated = random() < 0.03
    if (rank <= depth) return rankedCell(rank, isEstimated)
    if (random() < 0.1) seen[day] = -1
    return absentCell(depth, false)
  })
  const slug = keyword.query.replace(/\s+/g, '-')
  const pages = [
    `https://www.${target.site}/${slug}`,
    `https://www.${target.site}/blog/best-${slug}-of-the-year`,
  ]
  const changes: [number, number | null][] = []
  const places: Record<number, [number, number][]> = {}
  const switches = random() < 0.25
  let last: number | null | undefined
  cells.forEach((cell, day) => {
    if (cell === null || cell === 0) return
    const page = switches && Math.floor(day / 11) % 2 === 1 ? 1 : 0
    const link = cell > 0 ? links.place(pages[page] as string) : null
    if (link !== last) changes.push([day, link])
    last = link
    if (switches && cell > 0 && cell < 20 && random() < 0.5)
      places[day] = [
        [Math.trunc(cell), link as number],
        [Math.trunc(cell) + 3, links.place(pages[1 - page] as string)],
      ]
  })
  return { keyword: at[0], target: at[1], cells, seen, absentDepths: [], links: changes, places }
}

interface History {
  readonly failed: readonly boolean[]
  readonly added: number
  readonly links: Lists
  readonly random: () => number
}

interface Page {
  readonly keyword: Keyword
  readonly index: number
  readonly day: number
  readonly ranks: readonly (readonly number[])[]
  readonly texts: Lists
  readonly sites: Lists
  readonly links: Lists
  readonly random: () => number
}

function serpOf({ keyword, index, day, ranks, texts, sites, links, random }: Page): PageSerp {
  const at = new Map(ranks.map((walk, target) => [walk[day] as number, target]))
  const slug = keyword.query.replace(/\s+/g, '-')
  const start = (index * 7) % pool.length
  let next = start + (random() < 0.3 ? 1 : 0)
  const results = Array.from({ length: 10 }, (_, place): SerpResult => {
    const target = at.get(place + 1) ?? null
    const site = target === null ? (pool[next++ % pool.length] as string) : targetAt(target).site
    const title =
      target === null
        ? `${capital(keyword.query)}: ${['a guide', 'compared', 'tested for 90 days', 'what to buy'][next % 4]} | ${site}`
        : `${capital(keyword.query)} by ${site}`
    const [host = ''] = site.split('/')
    return [
      place + 1,
      texts.place(title),
      links.place(`https://www.${site}/${slug}`),
      sites.place(host),
      target === null ? [] : [target],
    ]
  })
  return { keyword: index, day, depth: 10, results }
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/** How often each target is cited. */
const chances = [0.5, 0.1, 0.7, 0.3, 0.2, 0.1, 0.4, 0.2]

function citationOf(
  [keyword, day]: readonly [number, number],
  tracked: number,
  random: () => number,
): Citation {
  const references = 4 + Math.floor(random() * 6)
  const cited = chances.slice(0, tracked).flatMap((chance, target) => {
    if (random() > chance) return []
    return [{ target, indexes: random() < 0.2 ? [1, 3] : [Math.floor(random() * references)] }]
  })
  return { keyword, day, references, cited }
}

/** A state for each of a few stretches of days: what is known, and what of it was there. */
function featuresOn(index: number, length: number): PageData['features'][number] {
  const known = 0b11
  const changes = [0, 0.3, 0.35, 0.7].flatMap((share, part) => {
    const found = (index + part) % 4
    return [Math.floor(share * length), part === 1 ? 0 : known | (found << 2)]
  })
  return { keyword: index, changes: length < 10 ? changes.slice(0, 2) : changes }
}

function runOf(date: string, index: number, keywords: number, random: () => number): RunQuality {
  const planned = keywords * 3
  const failed = index === 21 ? Math.round(planned * 0.2) : Math.floor(random() * planned * 0.02)
  return {
    run: index + 31,
    date,
    finishReason: failed > 0 ? 'completed_with_failures' : 'completed',
    tasks: { planned, done: planned - failed, failed },
    spent: planned - failed,
    ambiguous: index === 21 ? 3 : 0,
  }
}
