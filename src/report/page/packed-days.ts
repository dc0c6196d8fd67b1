import type { DayCell, RankSeries } from '../history/rank-history.ts'

/** The first ranks, one letter each. */
const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const asBefore = '='
const nothing = '.'

/**
 * The days of a series as one text: a letter for each rank, `=` for a day like the one before, `.` for a day of which nothing is known,
 * and other numbers in brackets.
 */
export function packedCells(cells: readonly DayCell[]): string {
  return cells
    .map((cell, day) => {
      if (day > 0 && cell === cells[day - 1]) return asBefore
      return cell === null ? nothing : (letters[cell - 1] ?? `(${cell})`)
    })
    .join('')
}

export function unpackedCells(text: string): readonly DayCell[] {
  const cells: DayCell[] = []
  let last: DayCell = null
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] as string
    if (sign === '(') {
      const end = text.indexOf(')', at)
      last = Number(text.slice(at + 1, end))
      at = end
    } else if (sign !== asBefore) last = sign === nothing ? null : (rankOf.get(sign) ?? null)
    cells.push(last)
  }
  return cells
}

const rankOf: ReadonlyMap<string, number> = new Map(
  Array.from(letters, (letter, place) => [letter, place + 1]),
)

type PackedPlaces = RankSeries['places']

/**
 * The results of days with several: the first of their links, then each day as a number below zero, -1 for the first, and rank and
 * link of each result. Links of a series stand near each other: they are counted from the first.
 */
export function packedPlaces(places: PackedPlaces): readonly number[] {
  const links = Object.values(places).flatMap((results) => results.map(([, link]) => link))
  if (links.length === 0) return []
  const first = links.reduce((least, link) => Math.min(least, link))
  const numbers: number[] = [first]
  for (const day in places) {
    numbers.push(-1 - Number(day))
    for (const [rank, link] of places[day] ?? []) numbers.push(rank, link - first)
  }
  return numbers
}

export function unpackedPlaces([first = 0, ...numbers]: readonly number[]): PackedPlaces {
  const places: Record<number, (readonly [rank: number, link: number])[]> = {}
  let results: (readonly [rank: number, link: number])[] = []
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] as number
    if (number < 0) {
      results = []
      places[-1 - number] = results
    } else results.push([number, first + (numbers[++at] as number)])
  }
  return places
}
