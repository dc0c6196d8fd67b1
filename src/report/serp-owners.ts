import { rankingLink } from './metrics/ranking-link.ts'
import type { RankHistory, RankSeries } from './rank-history.ts'

/** The targets that a link ranked for, own ones first; none for what belongs to others. */
export type Owners = (link: string | null) => readonly number[]

/** Whose the results of a keyword are on a day. */
export function ownersOf({ links }: RankHistory, series: readonly RankSeries[], day: number): Owners {
  const owners = new Map<string, number[]>()
  for (const one of series)
    for (const link of linksOn(one, day)) {
      const name = links[link] as string
      owners.set(name, [...(owners.get(name) ?? []), one.target])
    }
  return (link) => (link === null ? [] : (owners.get(link) ?? []))
}

function linksOn(series: RankSeries, day: number): readonly number[] {
  const several = series.places[day]
  if (several !== undefined) return [...new Set(several.map(([, link]) => link))]
  const link = rankingLink(series, day)
  return link === null ? [] : [link]
}
