import type { Target } from '../../model/job.ts'
import { markets } from '../../model/query.ts'
import { groupedBy, memoized, textInLowerCase } from '../../model/text.ts'
import { dayMs, latestKnown } from '../../model/time.ts'
import { pageAddress } from '../../model/url.ts'
import { groupKeywords } from '../../rank/grouping.ts'
import { matcherOf } from '../../rank/match.ts'
import type { ImportedPage, ImportedSearch } from '../../store/sqlite/imports/reads.ts'
import type { Store } from '../../store/sqlite/open.ts'
import { firstResults, type KeywordSerp } from '../../store/sqlite/rankings/keywords.ts'

/** A keyword of the jobs that are looked at, once however many of them ask it. */
export interface MarketKeyword extends KeywordSerp {
  readonly jobs: readonly string[]
  /** Whose result page shows its links where that was imported: the format of its file; else null. */
  readonly source: string | null
}

/** The runs whose keywords are those of these jobs. */
export async function newestRuns(store: Pick<Store, 'latestRun'>, jobs: readonly string[]) {
  const runs = await Promise.all(jobs.map((job) => store.latestRun(job)))
  return runs.flatMap((run) => run ?? [])
}

/** The keywords of these runs, with answers that can have come by now. Where none has web results, what was imported shows them. */
export function keywordsOf(
  store: Store,
  runs: readonly { readonly id: number; readonly job: string }[],
  {
    now,
    isWeb,
  }: {
    readonly now: number
    /** Whether an operation answers with web results. */
    readonly isWeb: (operation: string) => boolean
  },
): readonly MarketKeyword[] {
  const latest = latestKnown(now)
  const found = new Map<number, MarketKeyword>()
  for (const { id, job } of runs)
    for (const keyword of store.keywordSerps(id, latest)) {
      const known = found.get(keyword.queryId)
      found.set(
        keyword.queryId,
        known === undefined ? { ...keyword, jobs: [job], source: null } : joined(known, keyword, job),
      )
    }
  return filledFromImports(store, [...found.values()], isWeb)
}

function joined(known: MarketKeyword, other: KeywordSerp, job: string): MarketKeyword {
  return {
    ...known,
    jobs: [...known.jobs, job],
    volume: known.volume ?? other.volume,
    tags: [...new Set([...known.tags, ...other.tags])],
    targets: [...known.targets, ...other.targets],
  }
}

/** The keywords of which whole result pages were imported for these jobs, or for any (null), each with its newest page and what that says of targets. */
export function importedKeywords(
  store: Pick<Store, 'importedSearches' | 'newestImportedPage' | 'importedLinks'>,
  jobs: readonly string[] | null,
  targets: readonly Target[],
): readonly MarketKeyword[] {
  const numbers = pageNumbers(new Map())
  const matchers = targets.map((target) => ({ target, matches: matcherOf(target) }))
  const found = new Map<number, MarketKeyword>()
  for (const job of jobs ?? [null])
    for (const search of store.importedSearches(job)) {
      const { ids, text, gl, hl, location, device, engine, volume, tags } = search
      const queryId = ids[0] as number
      const known = found.get(queryId)
      const page = store.newestImportedPage(search)
      const own = job === null ? [] : [job]
      if (known !== undefined) found.set(queryId, { ...known, jobs: [...known.jobs, ...own] })
      if (known !== undefined || page === null) continue
      const links = store.importedLinks(page)
      const params = Object.entries({ gl, hl, location, device, engine }).filter(
        ([, value]) => value !== null,
      )
      found.set(queryId, {
        queryId,
        text,
        volume,
        tags,
        jobs: own,
        runId: 0,
        operation: 'imported',
        params: JSON.stringify(Object.fromEntries(params)),
        ...shownBy(page, links, numbers),
        targets: matchers.map(({ target: { label, own }, matches }) => {
          const place = links.findIndex(matches)
          return {
            label,
            own: own ? 1 : 0,
            ...(place < 0
              ? ({ state: 'absent', rank: null, url: null } as const)
              : ({ state: 'ranked', rank: place + 1, url: links[place] ?? null } as const)),
          }
        }),
      })
    }
  return [...found.values()]
}

/**
 * The same keywords, those without measured web results with the newest result page that was imported for them: of several that of the
 * market which is told most exactly. What is known of their targets stays what was measured.
 *
 * @param isWeb whether an operation answers with web results
 */
function filledFromImports(
  store: Pick<Store, 'importedSearches' | 'newestImportedPage' | 'importedLinks' | 'linksOfPages'>,
  keywords: readonly MarketKeyword[],
  isWeb: (operation: string) => boolean,
): readonly MarketKeyword[] {
  const pages = new Map<number, ImportedPage>()
  const searchesOf = memoized((job) =>
    groupedBy(store.importedSearches(job), (search) => textInLowerCase(search.text)),
  )
  for (const { queryId, jobs, text, params, operation, links } of keywords) {
    if (links.length > 0 || !isWeb(operation)) continue
    const asked = JSON.parse(params)
    const fitting = jobs
      .flatMap((job) => searchesOf(job).get(textInLowerCase(text)) ?? [])
      .filter((one) => markets.includes(one, asked))
    const page = nearestImportedPage(store, fitting)
    if (page !== null) pages.set(queryId, page)
  }
  if (pages.size === 0) return keywords
  const linksOf = new Map([...pages].map(([queryId, page]) => [queryId, store.importedLinks(page)]))
  const wanted = new Set([...linksOf.values()].flatMap((links) => links.map(pageAddress)))
  const measured = new Map<string, number>()
  for (const [number, link] of store.linksOfPages(new Set(keywords.flatMap(({ links }) => links)))) {
    const address = pageAddress(link)
    if (wanted.has(address)) measured.set(address, number)
  }
  const numbers = pageNumbers(measured)
  return keywords.map((keyword) => {
    const page = pages.get(keyword.queryId)
    return page === undefined
      ? keyword
      : { ...keyword, ...shownBy(page, linksOf.get(keyword.queryId) ?? [], numbers) }
  })
}

/** The newest page of what is nearest: not on mobile first, and where its country is said. */
export function nearestImportedPage(
  store: Pick<Store, 'newestImportedPage'>,
  searches: readonly ImportedSearch[],
): ImportedPage | null {
  const [nearest] = searches
    .flatMap((search) => {
      const page = store.newestImportedPage(search)
      return page === null ? [] : [{ page, distance: markets.distance(search) }]
    })
    .toSorted((a, b) => a.distance - b.distance || b.page.day - a.page.day)
  return nearest?.page ?? null
}

/** What a keyword shows by an imported page. */
function shownBy(
  { day, source }: ImportedPage,
  links: readonly string[],
  numberOf: (link: string) => number,
) {
  const shown = new Set<number>()
  for (const link of links) if (shown.size < firstResults) shown.add(numberOf(link))
  return { source, fetchedAt: day * dayMs, links: [...shown] }
}

/** Numbers for the pages of links: those that are known, else below zero. */
function pageNumbers(known: ReadonlyMap<string, number>): (link: string) => number {
  const others = new Map<string, number>()
  return (link) => {
    const address = pageAddress(link)
    const number = known.get(address) ?? others.get(address) ?? -1 - others.size
    if (number < 0) others.set(address, number)
    return number
  }
}

/** Keywords that one page can serve. */
export interface Cluster {
  /** The head: the most searched of them. */
  readonly name: string
  readonly operation: string
  readonly params: Readonly<Record<string, string | number>>
  /** Searches a month of all; null where no volume is known. */
  readonly volume: number | null
  /** The head first, then by descending volume. */
  readonly keywords: readonly ClusterKeyword[]
  /** Own pages that rank best for one of the keywords, that of most keywords first. */
  readonly pages: readonly { readonly url: string; readonly keywords: number }[]
}

interface ClusterKeyword
  extends Pick<MarketKeyword, 'queryId' | 'text' | 'volume' | 'tags' | 'jobs' | 'targets' | 'source'> {
  /** Pages that it shares with the head; of the head, all of its own. */
  readonly shared: number
  /** Epoch milliseconds; of what was imported, when its local day begins in UTC. */
  readonly fetchedAt: number
  /** The best of the own targets in the newest run; null where there is none. */
  readonly own: Place | null
}

export type Place = Pick<MarketKeyword['targets'][number], 'state' | 'rank' | 'url'>

/** The clusters of these keywords, the most searched first, and how many keywords have no stored answer with web results. */
export function clustersOf(keywords: readonly MarketKeyword[], least: number) {
  const shown = keywords.filter(({ links }) => links.length > 0)
  const { heads, shared, order } = groupKeywords(
    shown.map(({ operation, params, text, volume, links }) => ({
      market: `${operation} ${params}`,
      text,
      volume,
      links,
    })),
    least,
  )
  const members = new Map<number, ClusterKeyword[]>()
  for (const place of order) {
    const { queryId, text, volume, tags, jobs, targets, source, fetchedAt } = shown[place] as MarketKeyword
    const member = {
      queryId,
      text,
      volume,
      tags,
      jobs,
      targets,
      source,
      shared: shared[place] as number,
      fetchedAt: fetchedAt as number,
      own: bestOf(targets.filter(({ own }) => own === 1)),
    }
    const head = heads[place] as number
    const others = members.get(head)
    if (others === undefined) members.set(head, [member])
    else others.push(member)
  }
  const clusters = [...members].map(([head, keywords]) => cluster(shown[head] as MarketKeyword, keywords))
  return {
    clusters: clusters.sort((a, b) => (b.volume ?? -1) - (a.volume ?? -1)),
    leftOut: keywords.length - shown.length,
  }
}

function cluster(head: MarketKeyword, keywords: readonly ClusterKeyword[]): Cluster {
  const pages = new Map<string, number>()
  for (const { own } of keywords) if (own?.url != null) pages.set(own.url, (pages.get(own.url) ?? 0) + 1)
  return {
    name: head.text,
    operation: head.operation,
    params: JSON.parse(head.params) as Cluster['params'],
    volume: keywords.reduce<number | null>(
      (sum, { volume }) => (volume === null ? sum : (sum ?? 0) + volume),
      null,
    ),
    keywords,
    pages: [...pages]
      .map(([url, keywords]) => ({ url, keywords }))
      .sort((a, b) => b.keywords - a.keywords || (a.url < b.url ? -1 : 1)),
  }
}

/** The best of what is seen of some targets: absent only where all of them are; null where there is none. */
export function bestOf(targets: MarketKeyword['targets']): Place | null {
  let best: Place | null = null
  for (const { state, rank, url } of targets) {
    if (state === 'ranked' && rank !== null && rank < (best?.rank ?? Number.POSITIVE_INFINITY))
      best = { state, rank, url }
    else if (best === null || (best.state === 'absent' && state === 'unknown'))
      best = { state, rank: null, url: null }
  }
  return best
}

/** Makes the name of the cluster of each keyword of these jobs; null for what is in none. */
export async function clusterNames(
  store: Store,
  jobs: readonly string[],
  { least, ...request }: Parameters<typeof keywordsOf>[2] & { readonly least: number },
) {
  const keywords = keywordsOf(store, await newestRuns(store, jobs), request)
  const ids = new Map(keywords.map((one) => [nameOf(one), one.queryId]))
  const names = new Map(
    clustersOf(keywords, least).clusters.flatMap(({ name, keywords }) =>
      keywords.map(({ queryId }) => [queryId, name] as const),
    ),
  )
  return (asked: Pick<MarketKeyword, 'operation' | 'params' | 'text'>): string | null =>
    names.get(ids.get(nameOf(asked)) ?? 0) ?? null
}

function nameOf({ operation, params, text }: Pick<MarketKeyword, 'operation' | 'params' | 'text'>): string {
  return `${operation} ${params} ${text}`
}

/** A cluster for which rivals are among the first results, and none of the own targets is. */
export type Gap = ReturnType<typeof gapsOf>[number]

type ShareOfClicks = (rank: number, keyword: Pick<ClusterKeyword, 'jobs'>) => number

/** Ranks that count: those of the results by which keywords are grouped. */
const seen = 10

/**
 * The gaps among clusters, that with the most clicks first. Keywords of which nothing is known of the own targets say nothing; at least one
 * has to be known, and no own target may be seen for any.
 *
 * @param rate the share of searches that click on a rank for a keyword
 */
export function gapsOf(clusters: readonly Cluster[], rate: ShareOfClicks) {
  const gaps = clusters.flatMap((cluster) => {
    const known = cluster.keywords.filter(({ own }) => own !== null && own.state !== 'unknown')
    if (known.some(({ own }) => isSeen(own?.rank))) return []
    const rivals = rivalsOf(known, rate)
    const ranks = known.flatMap(({ own }) => own?.rank ?? [])
    if (rivals.length === 0) return []
    return {
      cluster,
      /** Searches a month that would click on the results of rivals, estimated; null where no volume is known. */
      clicks: total(known.map((one) => clicksOf(one, bestRank(one), rate))),
      /** The one with the most clicks first. */
      rivals,
      /** The best own rank, which is further down; null where all are absent. */
      ownRank: ranks.length === 0 ? null : Math.min(...ranks),
      /** Keywords of which it is not known whether an own target ranks. */
      unknown: cluster.keywords.length - known.length,
    }
  })
  return gaps.sort((a, b) => byClicks(a, b) || b.cluster.keywords.length - a.cluster.keywords.length)
}

function isSeen(rank: number | null | undefined): boolean {
  return rank != null && rank <= seen
}

const byClicks = (a: { readonly clicks: number | null }, b: typeof a): number =>
  (b.clicks ?? -1) - (a.clicks ?? -1)

/** Volumes that are not known say nothing. */
function total(clicks: readonly (number | null)[]): number | null {
  return clicks.reduce<number | null>((sum, one) => (one === null ? sum : (sum ?? 0) + one), null)
}

function clicksOf(keyword: ClusterKeyword, rank: number | null, rate: ShareOfClicks) {
  const { volume } = keyword
  return volume === null ? null : rank === null ? 0 : volume * rate(rank, keyword)
}

/** The best rank of a rival. */
function bestRank({ targets }: ClusterKeyword): number | null {
  const ranks = targets.flatMap(({ own, rank }) => (own === 0 && rank !== null && rank <= seen ? rank : []))
  return ranks.length === 0 ? null : Math.min(...ranks)
}

function rivalsOf(keywords: readonly ClusterKeyword[], rate: ShareOfClicks) {
  const found = new Map<
    string,
    {
      readonly target: string
      readonly keywords: number
      readonly clicks: number | null
      /** Its best rank, and the page that has it. */
      readonly rank: number
      readonly url: string | null
    }
  >()
  for (const keyword of keywords)
    for (const { label, own, rank, url } of keyword.targets) {
      if (own === 1 || rank === null || rank > seen) continue
      const known = found.get(label)
      const best = known === undefined || rank < known.rank ? { rank, url } : known
      found.set(label, {
        target: label,
        keywords: (known?.keywords ?? 0) + 1,
        clicks: total([known?.clicks ?? null, clicksOf(keyword, rank, rate)]),
        rank: best.rank,
        url: best.url,
      })
    }
  return [...found.values()].sort(
    (a, b) => byClicks(a, b) || b.keywords - a.keywords || a.rank - b.rank || (a.target < b.target ? -1 : 1),
  )
}
