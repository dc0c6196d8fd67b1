import type { Cluster, ClusterKeyword } from './clusters.ts'

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
