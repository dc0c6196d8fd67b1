import type { ResultKind } from '../../model/result.ts'
import { kinds as kindLabels } from '../words/en/counts.ts'
import type { Keyword, RankHistory } from './rank-history.ts'

/** Keywords with common figures: one kind of results of one engine. Ranks of different parts are never averaged. */
export interface Part {
  readonly kind: ResultKind
  /** alpha, beta or gamma */
  readonly engine: string
}

/** Kinds of results in English. */
export { kindLabels }

/** The first kind that is asked for is that of the headline, unless another is named. */
const kindOrder = Object.keys(kindLabels) as readonly ResultKind[]

/**
 * Whether a click-through curve applies to the kind. It does not apply to references of AI answers, whose places are not ranks of
 * web results.
 */
export function hasClicks(kind: ResultKind): boolean {
  return kind !== 'reference'
}

export function partOf({ kind, operation }: Pick<Keyword, 'kind' | 'operation'>): Part {
  return { kind, engine: operation.replace(/\..*/, '') }
}

/** A part for people: `web results, alpha`. In reports for clients the engine is named by its kind of results already. */
export function partLabel(
  { kind, engine }: Part,
  say: { readonly kinds: Readonly<Record<ResultKind, string>> },
): string {
  const name = say.kinds[kind]
  return engine.startsWith(name) ? engine : `${name}, ${engine}`
}

/** The key of a part as one word. */
export function partKey({ kind, engine }: Part): string {
  return `${kind}-${engine}`
}

/**
 * The parts of a history: those of the named kind first, then the other kinds in the order of `kindLabels`, each by engine.
 *
 * @param first the kind of the headline
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

/** The history with the keywords of these parts only; all places stay the same. */
export function historyOfParts<History extends Pick<RankHistory, 'series' | 'keywords'>>(
  history: History,
  parts: readonly Part[],
): History {
  const keys = new Set(parts.map(partKey))
  const isIn = history.keywords.map((keyword) => keys.has(partKey(partOf(keyword))))
  return { ...history, series: history.series.filter(({ keyword }) => isIn[keyword]) }
}
