import type { Exactness } from '../model/observation.ts'
import { isRanked, type ObservedRow } from '../store/tracking.ts'
import { type DayCell, dayCell, dayValue } from './day-cell.ts'
import { speaksForDay } from './day-value.ts'
import type { Observed } from './movement.ts'
import type { RankSeries } from './rank-history.ts'

/** A series in the making. */
export interface SeriesDraft {
  /** Takes an observation; those of one day in the order of their runs, of which the last that knows more speaks. */
  add(day: number, row: ObservedRow): void
  /** The series, with links by the places that they have in the history. */
  finish(linkPlace: (id: number) => number): RankSeries
}

type Places = readonly (readonly [rank: number, link: number])[]

export function seriesDraft(keyword: number, target: number, days: number): SeriesDraft {
  const cells: DayCell[] = Array<DayCell>(days).fill(null)
  const seen: Record<number, number> = {}
  const links: (number | null)[] = Array<null>(days).fill(null)
  const places: Record<number, Places> = {}
  const read = placesReader()

  return {
    add(day, row) {
      const before = dayValue(cells[day] as DayCell, seen[day])
      if (before !== null) {
        if (!speaksForDay(observedIn(row), before)) return
        delete seen[day]
        delete places[day]
      }
      cells[day] = cellOf(row)
      if (isRanked(row)) {
        const [, , , , link, several] = row
        links[day] = link
        if (several !== null) places[day] = read(several)
      } else {
        const [, , , estimated, depth, unbrokenDepth] = row
        links[day] = null
        if (estimated !== null && unbrokenDepth !== depth) seen[day] = unbrokenDepth
      }
    },
    finish: (linkPlace) => ({
      keyword,
      target,
      cells,
      seen,
      links: changesOf(links, linkPlace),
      places: Object.fromEntries(
        Object.entries(places).map(([day, all]) => [day, all.map(([rank, id]) => [rank, linkPlace(id)])]),
      ),
    }),
  }
}

function cellOf(row: ObservedRow): number {
  if (isRanked(row)) return dayCell({ state: 'ranked', rank: row[2], exactness: exactness(row[3]), depth: 0 })
  const [, , rank, estimated, depth] = row
  if (estimated === null) return dayCell({ state: 'unknown', rank, exactness: null, depth })
  return dayCell({ state: 'absent', rank, exactness: exactness(estimated), depth })
}

function exactness(estimated: 0 | 1): Exactness {
  return estimated === 1 ? 'estimated' : 'exact'
}

function observedIn(row: ObservedRow): Observed {
  if (isRanked(row)) return { state: 'ranked', rank: row[2], unbrokenDepth: Number.POSITIVE_INFINITY }
  const [, , rank, estimated, , unbrokenDepth] = row
  return {
    state: estimated === null ? 'unknown' : 'absent',
    rank,
    unbrokenDepth: unbrokenDepth === -1 ? Number.POSITIVE_INFINITY : unbrokenDepth,
  }
}

/** Most days say the same as the day before, and need not be kept twice. */
function placesReader(): (json: string) => Places {
  let last: { readonly json: string; readonly places: Places } | null = null
  return (json) => {
    if (last?.json !== json) last = { json, places: JSON.parse(json) as Places }
    return last.places
  }
}

/** Only the days on which another link ranks than on the day before, or none any more. */
function changesOf(
  links: readonly (number | null)[],
  linkPlace: (id: number) => number,
): RankSeries['links'] {
  const changes: (readonly [number, number | null])[] = []
  let before: number | null = null
  for (const [day, link] of links.entries()) {
    if (link !== before) changes.push([day, link === null ? null : linkPlace(link)])
    before = link
  }
  return changes
}
