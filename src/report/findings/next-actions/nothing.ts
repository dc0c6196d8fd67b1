import { isKnownOnBothDays } from '../../headline.ts'
import type { Keyword } from '../../history/rank-history.ts'
import { checkedOf, type FindingFacts } from '../facts.ts'

/** Why no keyword asks for anything. */
export type NothingToDo =
  | { readonly kind: 'not checked' }
  /** The pages to look at are those of these keywords. */
  | { readonly kind: 'nothing ranks'; readonly keywords: readonly MeantKeyword[] }
  | { readonly kind: 'answers' }
  /** `ofClicks`: a keyword with less than a click a month at stake may have been left out. */
  | { readonly kind: 'not compared' | 'nothing stands out'; readonly ofClicks: boolean }

export type MeantKeyword = Pick<Keyword, 'query' | 'volume' | 'url'>

/** Keywords that are named. */
const most = 3

/** What is told where there are no next actions. */
export function nothingToDo({ own, metric }: FindingFacts): NothingToDo {
  const { observed, ranked } = checkedOf(own)
  if (observed === 0) return { kind: 'not checked' }
  if (metric === 'cited') return { kind: 'answers' }
  const keywords = own.map(({ keyword }) => keyword)
  if (ranked === 0) return { kind: 'nothing ranks', keywords: toLookAt(keywords) }
  const kind = own.some(isKnownOnBothDays) ? 'nothing stands out' : 'not compared'
  return { kind, ofClicks: keywords.some(({ volume }) => volume !== null) }
}

/** Those with the most searches; without volumes, some with a page that is meant for them. A query is named once. */
function toLookAt(keywords: readonly Keyword[]): readonly MeantKeyword[] {
  const hasVolumes = keywords.some(({ volume }) => volume !== null)
  const named = keywords
    .filter(({ volume, url }) => (hasVolumes ? volume !== null : url !== null))
    .toSorted((a, b) => (b.volume ?? 0) - (a.volume ?? 0))
  const byQuery = new Map(named.toReversed().map((one) => [one.query, one]))
  return named.filter((one) => byQuery.get(one.query) === one).slice(0, most)
}
