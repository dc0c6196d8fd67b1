import type { ResultKind } from '../../model/result.ts'
import type { Keyword, RankHistory } from './rank-history.ts'

/** Keywords whose figures belong together: ranks of other kinds of results, or of other engines, are not averaged with them. */
export interface Part {
  readonly kind: ResultKind
  /** alpha, beta or gamma */
  readonly engine: string
}

/** Kinds of results in words; the first that is asked for is the one of the headline, unless another is named. */
export const kindLabels = {
  organic: 'web results',
  news: 'news',
  video: 'videos',
  image: 'images',
  reference: 'AI references',
  suggestion: 'suggestions',
  related: 'related searches',
} as const satisfies Record<ResultKind, string>

const kindOrder = Object.keys(kindLabels) as readonly ResultKind[]

/**
 * Whether a click-through curve says anything of the kind: the place of a reference in an AI answer is none among web
 * results.
 */
export function hasClicks(kind: ResultKind): boolean {
  return kind !== 'reference'
}

export function partOf({ kind, operation }: Pick<Keyword, 'kind' | 'operation'>): Part {
  return { kind, engine: operation.replace(/\..*/, '') }
}

/** A part for people: `web results, alpha`. */
export function partLabel({ kind, engine }: Part): string {
  return `${kindLabels[kind]}, ${engine}`
}

/** A part as one word, to compare and to name it. */
export function partKey({ kind, engine }: Part): string {
  return `${kind}-${engine}`
}

/**
 * The parts of what is asked: those of the named kind first, then web results, news, videos, images and AI references, each by
 * engine.
 *
 * @param first kind of results that the headline tells
 */
export function partsOf({ series, keywords }: Pick<RankHistory, 'series' | 'keywords'>, first?: ResultKind) {
  const parts = new Map<string, Part>()
  for (const keyword of new Set(series.map((one) => one.keyword))) {
    const part = partOf(keywords[keyword] as Keyword)
    parts.set(partKey(part), part)
  }
  const order = (kind: ResultKind): number => (kind === first ? -1 : kindOrder.indexOf(kind))
  return [...parts.values()].sort(
    (a, b) => order(a.kind) - order(b.kind) || (a.engine < b.engine ? -1 : a.engine > b.engine ? 1 : 0),
  )
}

/** The same history of the keywords of these parts alone; all keep their places. */
export function historyOfParts<History extends Pick<RankHistory, 'series' | 'keywords'>>(
  history: History,
  parts: readonly Part[],
): History {
  const keys = new Set(parts.map(partKey))
  const isIn = history.keywords.map((keyword) => keys.has(partKey(partOf(keyword))))
  return { ...history, series: history.series.filter(({ keyword }) => isIn[keyword]) }
}
