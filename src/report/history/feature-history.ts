import { featureBits, type SerpFeature } from '../../model/result.ts'
import type { Store } from '../../store/sqlite/open.ts'
import { changesOf, type KeywordFeatures, stateOf } from './features.ts'
import type { Keyword } from './rank-history.ts'

/** The features of every keyword whose answers tell of some. Of two runs on one day the later one counts. */
export function featureHistory({
  days,
  keywords,
  queryIds,
  runs,
  store,
  featuresOf,
}: {
  readonly days: readonly string[]
  readonly keywords: readonly Keyword[]
  /** Numbers of the queries that stand in `keywords`, place by place. */
  readonly queryIds: readonly number[]
  readonly runs: readonly { readonly id: number; readonly date: string }[]
  readonly store: Pick<Store, 'featuresIn'>
  readonly featuresOf: (operation: string) => readonly SerpFeature[]
}) {
  const knownOf = new Map(
    queryIds.map((id, keyword) => [id, featureBits(featuresOf(keywords[keyword]?.operation ?? ''))]),
  )
  const dayOf = new Map(days.map((date, day) => [date, day]))
  const states = new Map<number, number[]>()
  for (const { id, date } of runs.toSorted((a, b) => a.id - b.id)) {
    const day = dayOf.get(date)
    if (day === undefined) continue
    for (const [query, found] of store.featuresIn(id)) {
      const known = knownOf.get(query) ?? 0
      if (known === 0) continue
      const own = states.get(query) ?? Array<number>(days.length).fill(0)
      states.set(query, own)
      own[day] = stateOf(known, found)
    }
  }
  return queryIds.flatMap((query, keyword): readonly KeywordFeatures[] => {
    const own = states.get(query)
    return own === undefined ? [] : [{ keyword, changes: changesOf(own) }]
  })
}
