import type { ObservationState } from '../../model/result.ts'
import { groupKeywords } from '../../rank/grouping.ts'
import type { Store } from '../../store/sqlite/open.ts'
import { type KeywordRequest, keywordsOf, type MarketKeyword, newestRuns } from './keywords.ts'

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

export interface Place {
  readonly state: ObservationState
  readonly rank: number | null
  readonly url: string | null
}

export type Clustering = ReturnType<typeof clustersOf>

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
  { least, ...request }: KeywordRequest & { readonly least: number },
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

/** The clusters as a document. */
export function clustersDocument(
  { clusters, leftOut }: Clustering,
  { jobs, least }: { readonly jobs: readonly string[]; readonly least: number },
) {
  return {
    jobs,
    shared: least,
    keywords: clusters.reduce((sum, { keywords }) => sum + keywords.length, 0),
    left_out: leftOut,
    clusters: clusters.map(({ name, operation, params, volume, keywords, pages }) => ({
      cluster: name,
      operation,
      params,
      volume,
      pages,
      keywords: keywords.map(({ text, volume, tags, jobs, shared, own, ...shown }) => ({
        query: text,
        volume,
        tags,
        jobs,
        shared,
        state: own?.state ?? null,
        rank: own?.rank ?? null,
        url: own?.url ?? null,
        fetched_at: fetchedText(shown),
        source: shown.source,
      })),
    })),
  }
}

/** An instant, or the local day of what was imported. */
function fetchedText({ fetchedAt, source }: Pick<ClusterKeyword, 'fetchedAt' | 'source'>): string {
  const instant = new Date(fetchedAt).toISOString()
  return source === null ? instant : instant.slice(0, 10)
}

/** Columns of the clusters as rows, one for each keyword. */
export const clusterColumns = [
  { name: 'cluster', type: 'text' },
  { name: 'query', type: 'text' },
  { name: 'operation', type: 'text' },
  { name: 'gl', type: 'text' },
  { name: 'hl', type: 'text' },
  { name: 'location', type: 'text' },
  { name: 'volume', type: 'long' },
  { name: 'shared', type: 'integer' },
  { name: 'state', type: 'text' },
  { name: 'rank', type: 'integer' },
  { name: 'url', type: 'text' },
  { name: 'fetched_at', type: 'instant' },
  { name: 'job', type: 'text' },
  { name: 'tags', type: 'text' },
  { name: 'params', type: 'json' },
  { name: 'source', type: 'text' },
] as const

export function* clusterRows(clusters: readonly Cluster[]) {
  for (const { name, operation, params, keywords } of clusters)
    for (const { text, volume, shared, own, jobs, tags, ...shown } of keywords)
      yield [
        name,
        text,
        operation,
        params.gl ?? null,
        params.hl ?? null,
        params.location ?? null,
        volume,
        shared,
        own?.state ?? null,
        own?.rank ?? null,
        own?.url ?? null,
        fetchedText(shown),
        jobs.join(';'),
        tags.join(';'),
        JSON.stringify(params),
        shown.source,
      ]
}

/** Settings of a job file that give each cluster of several keywords a tag and a view. Texts are written as JSON, which YAML reads. */
export function suggestedViews(clusters: readonly Cluster[]): string {
  const several = clusters.filter(({ keywords }) => keywords.length > 1)
  if (several.length === 0) return ''
  const tags = new Map<string, Set<string>>()
  for (const { name, keywords } of several)
    for (const { text, tags: own } of keywords) {
      const known = tags.get(text) ?? new Set(own)
      tags.set(text, known.add(name))
    }
  const names = [...new Set(several.map(({ name }) => name))]
  return [
    '# For the job file: a view of each cluster, and the tags of its queries.',
    'views:',
    ...names.map((name) => `  - { name: ${JSON.stringify(name)}, tags: [${JSON.stringify(name)}] }`),
    'queries:',
    ...[...tags].map(
      ([text, all]) => `  - { query: ${JSON.stringify(text)}, tags: ${JSON.stringify([...all])} }`,
    ),
    '',
  ].join('\n')
}

/** A cluster for which rivals are among the first results, and none of the own targets is. */
export interface Gap {
  readonly cluster: Cluster
  /** Searches a month that would click on the results of rivals, estimated; null where no volume is known. */
  readonly clicks: number | null
  /** The one with the most clicks first. */
  readonly rivals: readonly Rival[]
  /** The best own rank, which is further down; null where all are absent. */
  readonly ownRank: number | null
  /** Keywords of which it is not known whether an own target ranks. */
  readonly unknown: number
}

interface Rival {
  readonly target: string
  readonly keywords: number
  readonly clicks: number | null
  /** Its best rank, and the page that has it. */
  readonly rank: number
  readonly url: string | null
}

type ShareOfClicks = (rank: number, keyword: Pick<ClusterKeyword, 'jobs'>) => number

/** Ranks that count: those of the results by which keywords are grouped. */
const seen = 10

/**
 * The gaps among clusters, that with the most clicks first. Keywords of which nothing is known of the own targets say nothing; at least one
 * has to be known, and no own target may be seen for any.
 *
 * @param rate the share of searches that click on a rank for a keyword
 */
export function gapsOf(clusters: readonly Cluster[], rate: ShareOfClicks): readonly Gap[] {
  const gaps = clusters.flatMap((cluster) => {
    const known = cluster.keywords.filter(({ own }) => own !== null && own.state !== 'unknown')
    if (known.some(({ own }) => isSeen(own?.rank))) return []
    const rivals = rivalsOf(known, rate)
    const ranks = known.flatMap(({ own }) => own?.rank ?? [])
    if (rivals.length === 0) return []
    return {
      cluster,
      clicks: total(known.map((one) => clicksOf(one, bestRank(one), rate))),
      rivals,
      ownRank: ranks.length === 0 ? null : Math.min(...ranks),
      unknown: cluster.keywords.length - known.length,
    }
  })
  return gaps.sort((a, b) => byClicks(a, b) || b.cluster.keywords.length - a.cluster.keywords.length)
}

function isSeen(rank: number | null | undefined): boolean {
  return rank != null && rank <= seen
}

const byClicks = (a: Pick<Gap, 'clicks'>, b: Pick<Gap, 'clicks'>): number =>
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

function rivalsOf(keywords: readonly ClusterKeyword[], rate: ShareOfClicks): readonly Rival[] {
  const found = new Map<string, Rival>()
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

/** The gaps as a document. Clicks are rounded. */
export function gapsDocument(gaps: readonly Gap[]) {
  return gaps.map(
    ({ cluster: { name, operation, params, volume, keywords }, clicks, rivals, ownRank, unknown }) => ({
      cluster: name,
      operation,
      params,
      volume,
      clicks: rounded(clicks),
      own_rank: ownRank,
      unknown_keywords: unknown,
      rivals: rivals.map(({ clicks, ...rival }) => ({ ...rival, clicks: rounded(clicks) })),
      keywords: keywords.map(({ text, volume }) => ({ query: text, volume })),
    }),
  )
}

function rounded(clicks: number | null): number | null {
  return clicks === null ? null : Math.round(clicks)
}

/** Columns of the gaps as rows: each with the rival that has the most clicks. */
export const gapColumns = [
  { name: 'cluster', type: 'text' },
  { name: 'operation', type: 'text' },
  { name: 'gl', type: 'text' },
  { name: 'hl', type: 'text' },
  { name: 'location', type: 'text' },
  { name: 'keywords', type: 'integer' },
  { name: 'volume', type: 'long' },
  { name: 'clicks', type: 'long' },
  { name: 'rival', type: 'text' },
  { name: 'rival_rank', type: 'integer' },
  { name: 'rival_url', type: 'text' },
  { name: 'own_rank', type: 'integer' },
  { name: 'unknown_keywords', type: 'integer' },
  { name: 'params', type: 'json' },
] as const

export function* gapRows(gaps: readonly Gap[]) {
  for (const { cluster, clicks, rivals, ownRank, unknown } of gaps) {
    const { name, operation, params, keywords, volume } = cluster
    const [rival] = rivals
    yield [
      name,
      operation,
      params.gl ?? null,
      params.hl ?? null,
      params.location ?? null,
      keywords.length,
      volume,
      rounded(clicks),
      rival?.target ?? null,
      rival?.rank ?? null,
      rival?.url ?? null,
      ownRank,
      unknown,
      JSON.stringify(params),
    ]
  }
}
