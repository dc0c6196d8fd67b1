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

export interface ClusterKeyword
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

/** What clusters were made of. */
export interface Clustering {
  readonly clusters: readonly Cluster[]
  /** Keywords without a stored answer that has web results. */
  readonly leftOut: number
}

/** The clusters of these keywords, the most searched first. */
export function clustersOf(keywords: readonly MarketKeyword[], least: number): Clustering {
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
