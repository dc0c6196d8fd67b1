import { featureBits, type SerpFeature } from '../../model/features.ts'
import type { TrackingStore } from '../../store/reports.ts'
import { localeText } from '../cells.ts'
import { changesOf, type KeywordFeatures, stateOf } from './features.ts'
import type { Keyword } from './rank-history.ts'

export interface FeatureSource {
  readonly days: readonly string[]
  readonly keywords: readonly Keyword[]
  /** Numbers of the queries that stand in `keywords`, place by place. */
  readonly queryIds: readonly number[]
  readonly runs: readonly { readonly id: number; readonly date: string }[]
  readonly store: Pick<TrackingStore, 'featuresIn'>
  readonly featuresOf: (operation: string) => readonly SerpFeature[]
}

/**
 * The features of every keyword. One search may be asked with several operations, of which each shows others: what one of them says
 * counts for all. Of two runs on one day the later one speaks.
 */
export function featureHistory({ days, keywords, queryIds, runs, store, featuresOf }: FeatureSource) {
  const searches = searchesOf(keywords)
  const searchOf = new Map(queryIds.map((id, keyword) => [id, searches[keyword] as number]))
  const knownOf = new Map(queryIds.map((id, keyword) => [id, bitsOf(keywords[keyword]?.operation ?? '')]))
  const dayOf = new Map(days.map((date, day) => [date, day]))
  const states = new Map<number, number[]>()
  for (const { id, date } of runs.toSorted((a, b) => a.id - b.id)) {
    const day = dayOf.get(date)
    if (day === undefined) continue
    for (const [query, found] of store.featuresIn(id)) {
      const [search, known] = [searchOf.get(query), knownOf.get(query) ?? 0]
      if (search === undefined || known === 0) continue
      const own = states.get(search) ?? Array<number>(days.length).fill(0)
      if (!states.has(search)) states.set(search, own)
      own[day] = ((own[day] ?? 0) & ~stateOf(known, known)) | stateOf(known, found)
    }
  }
  return keywords.flatMap((_, keyword): readonly KeywordFeatures[] => {
    const own = states.get(searches[keyword] as number)
    return own === undefined ? [] : [{ keyword, changes: changesOf(own) }]
  })

  function bitsOf(operation: string): number {
    return featureBits(featuresOf(operation))
  }
}

/** Keywords of one search, which differ in the operation alone, have the same number. */
function searchesOf(keywords: readonly Keyword[]): readonly number[] {
  const places = new Map<string, number>()
  return keywords.map(({ query, params }) => {
    const search = JSON.stringify([query, localeText(params, ' ')])
    const place = places.get(search) ?? places.size
    places.set(search, place)
    return place
  })
}
