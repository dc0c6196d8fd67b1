import type { DayValue } from './day-cell.ts'

/** How reports for people, the page among them, write a row; text from outside is as it was sent. */

type Cell = string | number | null
/** A row of a report: cells by name. */
type Row = Readonly<Record<string, Cell>>
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

/** What was looked at and not found is no number; nor is what nobody knows. */
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

/** A link without what all links have. */
export function shortUrl(url: Param): string {
  return url == null ? '' : String(url).replace(/^https?:\/\/(www\.)?/, '')
}
