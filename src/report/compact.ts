import type { BuiltHistory } from './build-history.ts'
import type { RankSeries } from './rank-history.ts'

/**
 * A filtered history without what no series names any more: keywords, targets and links that are left are numbered anew.
 * So a report on one client's keywords, which goes to that client, carries no word of others.
 */
export function compact({ history, queryIds, ...more }: BuiltHistory): BuiltHistory {
  const { series } = history
  const keywords = renumbering(series.map(({ keyword }) => keyword))
  const targets = renumbering(series.map(({ target }) => target))
  const links = renumbering(series.flatMap(linksIn))
  return {
    ...more,
    queryIds: keywords.kept(queryIds),
    history: {
      ...history,
      keywords: keywords.kept(history.keywords),
      targets: targets.kept(history.targets),
      links: links.kept(history.links),
      series: series.map((one) => ({
        ...one,
        keyword: keywords.of(one.keyword),
        target: targets.of(one.target),
        links: one.links.map(([day, link]) => [day, link === null ? null : links.of(link)]),
        places: Object.fromEntries(
          Object.entries(one.places).map(([day, all]) => [
            day,
            all.map(([rank, link]) => [rank, links.of(link)]),
          ]),
        ),
      })),
    },
  }
}

function linksIn({ links, places }: RankSeries): readonly number[] {
  return [
    ...links.flatMap(([, link]) => link ?? []),
    ...Object.values(places).flatMap((all) => all.map(([, link]) => link)),
  ]
}

/** New places for those that are used, in their old order. */
function renumbering(used: readonly number[]) {
  const places = [...new Set(used)].sort((a, b) => a - b)
  const now = new Map(places.map((place, index) => [place, index]))
  return {
    of: (place: number): number => now.get(place) as number,
    kept: <T>(all: readonly T[]): readonly T[] => places.map((place) => all[place] as T),
  }
}
