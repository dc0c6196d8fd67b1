import { pageAddress } from '../model/url.ts'
import type { PageContent, PageData, PageSerp, SerpResult } from '../report/data.ts'
import type { DayCell, RankHistory, RankSeries } from '../report/history/rank-history.ts'
import type { Told } from '../report/story/told.ts'

/** Class of the root element, while what stands in the file is not what its address asks for. */
export const undrawn = 'undrawn'

/** Id of the script that draws the page, which stands in the file as a text. */
export const pageScriptId = 'page-script'

/** The element that holds the data; where no browser draws the page, with the data as they are. */
export interface DataElement {
  readonly textContent: string
  readonly drawn?: WholePage
}

/** A report with what is told of it, and the addresses of its links. */
export interface WholePage extends PageData {
  readonly told: Told
  readonly addresses: Addresses
}

/** Links that are written in another way than the address of their page, each with that. */
export type Addresses = readonly (readonly [link: string, page: string])[]

export function addressesOf({ history, links }: Pick<PageData, 'history' | 'links'>): Addresses {
  const all = new Set([...history.links, ...links, ...history.keywords.flatMap(({ url }) => url ?? [])])
  return [...all].flatMap((link) => {
    const page = pageAddress(link)
    return link === page ? [] : [[link, page] as const]
  })
}

/** A text that was deflated and is written in base64. */
export function inflated(base64: string): Promise<string> {
  const binary = atob(base64)
  const bytes = new Uint8Array(binary.length)
  for (let place = 0; place < bytes.length; place++) bytes[place] = binary.charCodeAt(place)
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))
  return new Response(stream).text()
}

/** Title, link and site of a result as places in their lists, then its targets. */
type PackedResult = readonly [
  title: number | null,
  link: number | null,
  site: number | null,
  ...targets: number[],
]

/** The fields of a series in a fixed order, without their names. */
type PackedSeries = readonly [
  ...[RankSeries['keyword'], RankSeries['target'], string, RankSeries['seen']],
  ...[RankSeries['absentDepths'], RankSeries['links'], readonly number[]],
]

/**
 * The content of the HTML report as it stands in the file: series, results and links without names of fields, each result and host
 * once. The rest is as it is, for the file is compressed. Most results stay from day to day.
 */
export interface PackedPage extends Omit<WholePage, 'serps' | 'links' | 'history' | 'runs'> {
  readonly history: Omit<RankHistory, 'series' | 'links'> & {
    readonly series: readonly PackedSeries[]
    readonly links: PackedLinks
  }
  readonly links: PackedLinks
  /** Left out where there are none: the file of a client does not mention them. */
  readonly runs?: PageData['runs']
  readonly results: readonly PackedResult[]
  /**
   * Keyword, day and depth, then the first place of its results, and from there the place of each, from rank 1 on: results of a
   * keyword stand near each other. A rank that does not follow the one before stands before its result, as a negative number.
   */
  readonly serps: readonly (readonly number[])[]
}

/** All but what is told, which is found by what is packed. */
export function packed(page: PageContent): Omit<PackedPage, 'told'> {
  const { history, period, compare, requestedPeriod, presentation, measure, citations, runs } = page
  const packedHistory = {
    ...history,
    series: history.series.map(
      ({ keyword, target, cells, seen, absentDepths, links: ranking, places }): PackedSeries => [
        ...([keyword, target, packedCells(cells), seen] as const),
        ...([absentDepths, ranking, packedPlaces(places)] as const),
      ],
    ),
    links: packedLinks(history.links),
  }
  // Their texts and links are whole when all of them were taken.
  const taken = packedSerps(page.serps)
  return {
    history: packedHistory,
    period,
    compare,
    requestedPeriod,
    presentation,
    measure,
    citations,
    texts: page.texts,
    sites: page.sites,
    ...(runs.length === 0 ? {} : { runs }),
    features: page.features,
    links: packedLinks(page.links),
    addresses: addressesOf(page),
    ...taken,
  }
}

export function unpacked({ results, ...stored }: PackedPage): WholePage {
  const { serps, history, links, runs = [], ...page } = stored
  return {
    ...page,
    history: {
      ...history,
      series: history.series.map(([keyword, target, cells, seen, absentDepths, ranking, places]) => ({
        keyword,
        target,
        cells: unpackedCells(cells),
        seen,
        absentDepths,
        links: ranking,
        places: unpackedPlaces(places),
      })),
      links: unpackedLinks(history.links),
    },
    runs,
    links: unpackedLinks(links),
    serps: serps.map((serp) => unpackedSerp(serp, results)),
  }
}

function packedSerps(serps: Iterable<PageSerp>): Pick<PackedPage, 'serps' | 'results'> {
  const results = distinctResults()
  const rows: number[][] = []
  for (const { keyword, day, depth, results: own } of serps) {
    const places = own.map(results.placeOf)
    const first = places.reduce((least, place) => Math.min(least, place), places[0] ?? 0)
    const row = [keyword, day, depth, first]
    for (let at = 0; at < own.length; at++) {
      const rank = (own[at] as SerpResult)[0]
      if (rank !== (own[at - 1]?.[0] ?? 0) + 1) row.push(-rank)
      row.push((places[at] as number) - first)
    }
    rows.push(row)
  }
  return { serps: rows, results: results.all }
}

/** Distinct results in a list, named by their place. There are very many: none is made a text to be found by. */
function distinctResults() {
  const all: PackedResult[] = []
  /** The last one with a link, or with a title where there is no link; and from each on the one before. */
  const newest = new Map<number, number>()
  const older: (number | undefined)[] = []
  return {
    all,
    placeOf: (result: SerpResult): number => {
      const [title, link, site, targets] = [result[1], result[2], result[3], result[4]]
      const key = link ?? -2 - (title ?? -1)
      const last = newest.get(key)
      for (let place = last; place !== undefined; place = older[place]) {
        const one = all[place] as PackedResult
        const isSame =
          one[0] === title &&
          one[1] === link &&
          one[2] === site &&
          one.length === 3 + targets.length &&
          targets.every((target, index) => one[3 + index] === target)
        if (isSame) return place
      }
      newest.set(key, all.length)
      older.push(last)
      return all.push(targets.length === 0 ? [title, link, site] : [title, link, site, ...targets]) - 1
    },
  }
}

const none: readonly number[] = []

export function unpackedSerp(packed: readonly number[], results: readonly PackedResult[]): PageSerp {
  const [keyword = 0, day = 0, depth = 0, first = 0] = packed
  const own: SerpResult[] = []
  let rank = 0
  for (let at = 4; at < packed.length; at++) {
    const place = packed[at] as number
    if (place < 0) rank = -place - 1
    else {
      const one = results[first + place] as PackedResult
      own.push([++rank, one[0], one[1], one[2], one.length === 3 ? none : (one.slice(3) as number[])])
    }
  }
  return { keyword, day, depth, results: own }
}

/** Links by host: the place of the host and what follows it, over and over. */
type PackedLinks = ReturnType<typeof packedLinks>

function packedLinks(links: readonly string[]) {
  const places = new Map<string, number>()
  const parts: (number | string)[] = []
  for (const link of links) {
    const host = link.slice(0, endOfHost(link))
    const place = places.get(host) ?? places.size
    places.set(host, place)
    parts.push(place, link.slice(host.length))
  }
  return { hosts: [...places.keys()], parts }
}

/** Where the scheme and the host end; 0 for a link without them. */
function endOfHost(link: string): number {
  const slash = link.indexOf('/')
  const end = link.indexOf('/', slash + 2)
  return slash < 0 || link[slash + 1] !== '/' ? 0 : end < 0 ? link.length : end
}

function unpackedLinks({ hosts, parts }: PackedLinks): readonly string[] {
  return Array.from(
    { length: parts.length / 2 },
    (_, link) => `${hosts[parts[2 * link] as number]}${parts[2 * link + 1]}`,
  )
}

/** The first ranks, one letter each. */
const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const asBefore = '='
const nothing = '.'

/**
 * The days of a series as one text: a letter for each rank, `=` for a day like the one before, `.` for a day of which nothing is known,
 * and other numbers in brackets.
 */
function packedCells(cells: readonly DayCell[]): string {
  return cells
    .map((cell, day) => {
      if (day > 0 && cell === cells[day - 1]) return asBefore
      return cell === null ? nothing : (letters[cell - 1] ?? `(${cell})`)
    })
    .join('')
}

function unpackedCells(text: string): readonly DayCell[] {
  const cells: DayCell[] = []
  let last: DayCell = null
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] as string
    if (sign === '(') {
      const end = text.indexOf(')', at)
      last = Number(text.slice(at + 1, end))
      at = end
    } else if (sign !== asBefore) last = sign === nothing ? null : (rankOf.get(sign) ?? null)
    cells.push(last)
  }
  return cells
}

const rankOf: ReadonlyMap<string, number> = new Map(
  Array.from(letters, (letter, place) => [letter, place + 1]),
)

type PackedPlaces = RankSeries['places']

/**
 * The results of days with several: the first of their links, then each day as a number below zero, -1 for the first, and rank and
 * link of each result. Links of a series stand near each other: they are counted from the first.
 */
function packedPlaces(places: PackedPlaces): readonly number[] {
  const links = Object.values(places).flatMap((results) => results.map(([, link]) => link))
  if (links.length === 0) return []
  const first = links.reduce((least, link) => Math.min(least, link))
  const numbers: number[] = [first]
  for (const day in places) {
    numbers.push(-1 - Number(day))
    for (const [rank, link] of places[day] ?? []) numbers.push(rank, link - first)
  }
  return numbers
}

function unpackedPlaces([first = 0, ...numbers]: readonly number[]): PackedPlaces {
  const places: Record<number, (readonly [rank: number, link: number])[]> = {}
  let results: (readonly [rank: number, link: number])[] = []
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] as number
    if (number < 0) {
      results = []
      places[-1 - number] = results
    } else results.push([number, first + (numbers[++at] as number)])
  }
  return places
}
