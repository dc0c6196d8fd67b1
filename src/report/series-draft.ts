import { isRanked, type ObservedRow } from '../store/tracking.ts'
import {
  type AbsentDepths,
  absentCell,
  type DayCell,
  type DayValue,
  dayValue,
  rankedCell,
  unknownCell,
} from './day-cell.ts'
import { speaksForDay } from './day-value.ts'
import type { Observed } from './movement.ts'
import type { RankSeries } from './rank-history.ts'

/** A series in the making. */
export interface SeriesDraft {
  /** Takes an observation; those of one day in the order of their runs, of which the last that knows more speaks. */
  add(day: number, row: ObservedRow): void
  /** @param lookedAtOnly whether absence counts with what was looked at, however deep was asked */
  finish(lookedAtOnly: boolean): RankSeries
}

type Places = readonly (readonly [rank: number, link: number])[]

export interface DraftOf {
  readonly keyword: number
  readonly target: number
  /** How many there are. */
  readonly days: number
  /** Place of a link among those of the history. */
  readonly linkPlace: (id: number) => number
}

export function seriesDraft({ keyword, target, days, linkPlace }: DraftOf): SeriesDraft {
  const cells: DayCell[] = Array<DayCell>(days).fill(null)
  const seen: Record<number, number> = {}
  const links: (number | null)[] = Array<null>(days).fill(null)
  const places: Record<number, Places> = {}
  const absentDepths: number[] = []
  const read = placesReader(linkPlace)

  return {
    add(day, row) {
      const cell = cells[day] as DayCell
      if (cell !== null) {
        if (!speaksForDay(observedIn(row), dayValue(cell, seen[day]) as DayValue)) return
        delete seen[day]
        delete absentDepths[day]
        delete places[day]
      }
      cells[day] = cellOf(row)
      if (isRanked(row)) {
        links[day] = row[4]
        if (row[5] !== null) places[day] = read(row[5])
      } else {
        links[day] = null
        if (row[3] !== null) {
          if (row[5] !== row[4]) seen[day] = row[5]
          absentDepths[day] = row[6]
        }
      }
    },
    finish: (lookedAtOnly) => ({
      keyword,
      target,
      cells,
      seen,
      absentDepths: lookedAtOnly ? [] : depthChanges(absentDepths),
      links: changesOf(links, linkPlace),
      places,
    }),
  }
}

function cellOf(row: ObservedRow): number {
  if (isRanked(row)) return rankedCell(row[2], row[3] === 1)
  return row[3] === null ? unknownCell : absentCell(row[4], row[3] === 1)
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
function placesReader(linkPlace: DraftOf['linkPlace']): (json: string) => Places {
  let last: { readonly json: string; readonly places: Places } | null = null
  return (json) => {
    if (last?.json !== json) {
      const all = JSON.parse(json) as Places
      last = { json, places: all.map(([rank, id]) => [rank, linkPlace(id)]) }
    }
    return last.places
  }
}

/** Only the days on which absence counts with another depth than on the last day of absence before. */
function depthChanges(depths: readonly number[]): AbsentDepths {
  const changes: (readonly [number, number])[] = []
  depths.forEach((depth, day) => {
    if (depth !== changes.at(-1)?.[1]) changes.push([day, depth])
  })
  return changes
}

/** Only the days on which another link ranks than on the day before, or none any more. */
function changesOf(
  links: readonly (number | null)[],
  linkPlace: (id: number) => number,
): RankSeries['links'] {
  const changes: (readonly [number, number | null])[] = []
  let before: number | null = null
  links.forEach((link, day) => {
    if (link !== before) changes.push([day, link === null ? null : linkPlace(link)])
    before = link
  })
  return changes
}
