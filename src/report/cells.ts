import type { Cell, Row } from '../model/result.ts'
import { count } from '../model/text.ts'
import type { ComparisonDay } from './history/movement.ts'
import type { DayCell, DayValue } from './history/rank-history.ts'

/** How reports for people, the page among them, write a row; text from outside is as it was sent. */

type Param = Cell | undefined

/**
 * Where and in which language was asked, as short as it can be said; the second engine has names of its own.
 *
 * @param between what stands between language and place
 */
export function localeText(params: Readonly<Record<string, Param>>, between = ' '): string {
  const { gl, hl, location, cc, mkt } = params
  const language = [hl, gl ?? cc].filter((part) => part != null).join('-')
  return [mkt ?? language, location].filter((part) => part != null && part !== '').join(between)
}

/** The same of a row of the `rankings` view. */
export function rowLocale({ gl, hl, location, params }: Row): string {
  return localeText({ ...(JSON.parse(String(params ?? '{}')) as Record<string, Param>), gl, hl, location })
}

/** Absent and unknown ranks have no number. */
export function valueRank({ state, rank, exactness, absentDepth }: DayValue): string {
  const about = exactness === 'estimated' ? '~' : ''
  if (state === 'ranked') return `${about}${rank}`
  return state === 'absent' ? `${about}>${absentDepth}` : '?'
}

export function changeText({ movement, change, state }: Row): string {
  if (movement === 'improved') return `▲ ${change}`
  if (movement === 'declined') return `▼ ${-Number(change)}`
  if (movement === 'same') return '='
  if (movement === 'unknown') return '?'
  // A first look that found nothing is no news.
  return movement === 'new' && state !== 'ranked' ? '' : String(movement)
}

/** A day, or the first and the last of several; empty where there are none. */
export function daysText(days: readonly string[]): string {
  return days.length < 2 ? (days[0] ?? '') : `${days[0]} to ${days.at(-1)}`
}

/** The day that the user asked to compare with, to follow a sentence; empty where none was asked for. */
export function askedText(compare: ComparisonDay | null): string {
  return compare === null ? '' : ` (asked for: ${compare.day}, ±${count(compare.tolerance, 'day')})`
}

/** A link without what all links have. */
export function shortUrl(url: Param): string {
  return url == null ? '' : String(url).replace(/^https?:\/\/(www\.)?/, '')
}

/** Deepest rank of each height. The same for all rows, so that they can be compared, and small moves stay small. */
const heights = [
  [1, '█'],
  [3, '▇'],
  [6, '▆'],
  [10, '▅'],
  [20, '▄'],
  [30, '▃'],
  [50, '▂'],
  [Number.POSITIVE_INFINITY, '▁'],
] as const

/** What the signs of a trend mean. */
export const trendLegend =
  'trend: the last days with a run, from █ rank 1, ▇ to 3, ▆ to 6, ▅ to 10, ▄ to 20, ▃ to 30, ▂ to 50, to ▁ deeper; ·: absent, ?: not known, blank: not asked.'

/** Days that a trend shows, where there is room. */
const trendDays = 30

/**
 * The days of a series as one sign each, the higher the better.
 *
 * @param most days at most, the latest ones
 */
export function trend(cells: readonly DayCell[], most = trendDays): string {
  return cells
    .map((cell, day) => (cell === null && day === cells.length - 1 ? '?' : sign(cell)))
    .slice(-most)
    .join('')
}

function sign(cell: DayCell): string {
  if (cell === null) return ' '
  if (cell === 0) return '?'
  if (cell < 0) return '·'
  const rank = Math.trunc(cell)
  return heights.find(([deepest]) => rank <= deepest)?.[1] ?? ''
}
