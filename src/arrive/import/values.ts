import { memoized } from '../../model/text.ts'
import { dayNumber } from '../../model/time.ts'
import { readVolume } from '../../model/values.ts'
import { mostRank } from '../../store/sqlite/imports/imports.ts'

/** In which order a file writes day and month where both are numbers with slashes or dots between them. */
export type DayBeforeMonth = 'dmy' | 'mdy'

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/**
 * A local day as other tools write it, as days since 1970: `2026-1-5`, with a time behind it, `20260105`, `5 Jan 2026`,
 * `Jan 5, 2026`; and `05/01/2026` or `05.01.2026` where the order is known. `ambiguous` where it would have to be; null where it is no day.
 */
export function readDay(text: string, order: DayBeforeMonth | null): number | 'ambiguous' | null {
  return dayReaders[order ?? 'none'](text)
}

const dayReaders = {
  none: memoized((text) => dayOf(text, null)),
  dmy: memoized((text) => dayOf(text, 'dmy')),
  mdy: memoized((text) => dayOf(text, 'mdy')),
}

function dayOf(text: string, order: DayBeforeMonth | null): number | 'ambiguous' | null {
  const iso = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ,].*)?$/.exec(text)
  if (iso !== null) return plausibleDay(Number(iso[1]), Number(iso[2]), Number(iso[3]))
  const packed = /^(\d{4})(\d\d)(\d\d)$/.exec(text)
  if (packed !== null) return plausibleDay(Number(packed[1]), Number(packed[2]), Number(packed[3]))
  const two = /^(\d{1,2})([./-])(\d{1,2})[./-](\d{4})(?:[T ,].*)?$/.exec(text)
  if (two !== null) {
    const [first, second, year] = [two[1], two[3], two[4]].map(Number) as [number, number, number]
    // Only days come before months with dots between them.
    if (two[2] === '.' || order === 'dmy') return plausibleDay(year, second, first)
    return order === 'mdy' ? plausibleDay(year, first, second) : 'ambiguous'
  }
  const named = /^(\d{1,2})[ -]([a-z]{3})[a-z]*\.?,?[ -](\d{4})/i.exec(text)
  if (named !== null) return plausibleDay(Number(named[3]), monthOf(named[2]), Number(named[1]))
  const american = /^([a-z]{3})[a-z]*\.? (\d{1,2}),? (\d{4})/i.exec(text)
  if (american !== null) return plausibleDay(Number(american[3]), monthOf(american[1]), Number(american[2]))
  return null
}

/** Tools have written ranks since the nineties: another year is another number. */
function plausibleDay(year: number, month: number, day: number): number | null {
  return year >= 1990 && year < 2100 ? dayNumber(year, month, day) : null
}

function monthOf(name = ''): number {
  return months.indexOf(name.toLowerCase()) + 1
}

/** What a cell says of a rank. */
type RankCell =
  | { readonly rank: number }
  /** Looked for among so many results, and not found. */
  | { readonly absentFrom: number }
  | { readonly unknown: string }

/** A rank as tables write it. What may mean that nothing was found, or that nothing was asked, is unknown. */
export const readRank = memoized((cell): RankCell => {
  const text = cell.trim()
  if (/^\d+$/.test(text)) {
    const rank = Number(text)
    if (rank === 0) return { unknown: '0 can mean not found or not checked' }
    return rank <= mostRank ? { rank } : { unknown: 'a number that is no rank' }
  }
  const beyond = /^(?:>|not in (?:the )?top|outside (?:the )?top)\s*(\d{1,4})$|^(\d{1,4})\+$/i.exec(text)
  if (beyond !== null) {
    const depth = Number(beyond[1] ?? beyond[2])
    return depth === 0 ? { unknown: 'no number' } : { absentFrom: depth }
  }
  if (/^\d+[.,]\d+$/.test(text)) return { unknown: 'an average, not a rank' }
  return { unknown: text === '' ? 'an empty cell can mean not found or not checked' : 'no number' }
})

/** A target as a site: without scheme, `www.`, and signs that stand for all pages. */
export const siteOf = memoized((text): string => {
  return text
    .trim()
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, '')
    .replace(/^\*\./, '')
    .replace(/^www\./, '')
    .replace(/\/?\*?$/, '')
})

/** The address that a cell holds; null where it holds none. */
export function readLink(cell: string | null | undefined): string | null {
  const link = cell?.trim() ?? ''
  if (link === '' || link === '-' || link === '[]' || link === 'null' || link === 'N/A') return null
  // Any other scheme is no page of a search result.
  return /^[a-z][a-z0-9+.-]*:(?!\/\/|\d)/i.test(link) || /^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i.test(link)
    ? null
    : link
}

/** The volume in a cell; null where there is none, or a number that can mean two. */
export const volumeIn = memoized((cell): number | null => {
  const read = readVolume(cell.trim(), '.')
  return 'value' in read ? read.value : null
})

/** Reads the tags of a cell, with a sign between them. */
export function tagReader(sign: string | RegExp) {
  return memoized((cell): readonly string[] =>
    cell
      .split(sign)
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '' && tag !== '-'),
  )
}
