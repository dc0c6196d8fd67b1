import type { RankSeries } from '../rank-history.ts'

/** The link that ranked on a day; null where none did, or the service sent none. */
export function rankingLink({ cells, links }: RankSeries, day: number): number | null {
  if ((cells[day] ?? 0) <= 0) return null
  return links.findLast(([from]) => from <= day)?.[1] ?? null
}

/** The ranking link of every day. */
export function rankingLinks({ cells, links }: RankSeries): readonly (number | null)[] {
  let [next, link]: [number, number | null] = [0, null]
  return cells.map((cell, day) => {
    for (let change = links[next]; change !== undefined && change[0] <= day; change = links[++next])
      link = change[1]
    return (cell ?? 0) > 0 ? link : null
  })
}
