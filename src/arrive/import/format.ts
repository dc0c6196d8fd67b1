import { UsageError } from '../../model/errors.ts'
import { memoized } from '../../model/text.ts'
import { dayNumber } from '../../model/time.ts'
import { parseLink } from '../../model/url.ts'
import { readVolume } from '../../model/values.ts'
import type { openForeign } from '../../store/sqlite/connection/database.ts'
import { type ImportSink, mostRank } from '../../store/sqlite/imports/imports.ts'
import type { TextRow } from '../csv.ts'
import type { InputFile } from '../input-files.ts'

/** How one tool writes what it knows: it stands in a file of `formats`, and in the list of that file. */
export interface ForeignFormat {
  /** What `--as` takes. */
  readonly name: string
  /** Formats of one tool share what they follow. */
  readonly tool: string
  readonly title: string
  /** Of several observations of one day, which one counts. */
  readonly sameDay: 'last' | 'best'
  /** Whether a file is of this format, by what is in it. */
  readonly recognise: (file: ForeignFile) => boolean
  /** Tells all that a file of this format says. */
  readonly read: (file: ForeignFile, into: ImportSink, wanted: ImportOptions) => Promise<void>
}

/** What a person says of a file that does not say it itself. */
export interface ImportOptions {
  /** The site whose ranks it has. */
  readonly target: string | null
  /** The day of a file without days, as a number. */
  readonly day: number | null
  readonly order: DayBeforeMonth | null
  /** Names of columns by what they hold. */
  readonly columns: ReadonlyMap<string, string>
}

/**
 * The site of a file that does not name it: the one that was typed, else the one in the name of the file, else the host of the page that
 * ranks, else that of the row before.
 */
export function siteGuess({ name }: ForeignFile, { target }: ImportOptions, ofName: string | null = null) {
  const named = target ?? ofName
  let last = named === null ? null : siteOf(named)
  return (link: string | null): string => {
    if (named === null && link !== null) last = hostIn(link) ?? last
    if (last !== null) return last
    throw new UsageError(`${name} does not say whose ranks it has. Name the site with --target acme.com`)
  }
}

function hostIn(link: string): string | null {
  const parsed = parseLink(/^https?:/i.test(link) ? link : `https://${link}`)
  return parsed === null ? null : siteOf(parsed.host)
}

/** A file of another tool, opened as far as is needed to see what it is. */
export interface ForeignFile extends InputFile, Disposable {
  /** The columns of each table by its name; null where the file is no database. */
  readonly tables: ReadonlyMap<string, readonly string[]> | null
  /** The database; throws where the file is none. */
  readonly db: () => ReturnType<typeof openForeign>['db']
  /** How its text begins; empty for a database. */
  readonly head: string
  /** The first rows of its text, and what parts their cells. */
  readonly headRows: readonly TextRow[]
  readonly separator: number
}

/** What SQLite says of a file that is damaged or cut off, as one sentence; other errors as they are. */
export function brokenDatabase(name: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const missing = /no such (?:column|table): (\S+)/.exec(error instanceof Error ? error.message : '')?.[1]
  if (missing !== undefined)
    return new UsageError(
      `${name} is of a version of its program that rankline does not know: ${missing} is missing. Export its ranks as CSV, and import that`,
      { cause: error },
    )
  return /^SQLITE_(CORRUPT|NOTADB|IOERR)/.test(code)
    ? new UsageError(`${name} is damaged or cut off. Copy it again while its program is stopped`, {
        cause: error,
      })
    : error
}

/** In which order a file writes day and month where both are numbers with slashes or dots between them. */
export type DayBeforeMonth = 'dmy' | 'mdy'

/** How the names of months begin in English, German, French, Spanish, Italian, Portuguese and Dutch, without accents. */
const months = [
  /^(jan|ene|gen)/,
  /^(feb|fev)/,
  /^(mar|maa|mrt)/,
  /^(apr|avr|abr)/,
  /^(may|mai|mag|mei)/,
  /^(jun|juin|giu)/,
  /^(jul|juil|lug)/,
  /^(aug|aou|ago)/,
  /^(sep|set)/,
  /^(oct|okt|ott|out)/,
  /^nov/,
  /^(dec|dez|dic)/,
]

/**
 * A local day as other tools write it, as days since 1970: `2026-1-5`, with a time behind it, `20260105`, `5 Jan 2026`, `5. Januar 2026`,
 * `Mon, Jan 5th, 2026`; and `05/01/2026` or `05.01.26` where the order is known. `ambiguous` where it would have to be; null where it is no day.
 */
function readDay(text: string, order: DayBeforeMonth | null): number | 'ambiguous' | null {
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
  const two = /^(\d{1,2})([./-])(\d{1,2})[./-](\d{4}|\d\d)(?:[T ,].*)?$/.exec(text)
  if (two !== null) {
    const [first, second] = [two[1], two[3]].map(Number) as [number, number]
    const year = yearOf(two[4])
    // Only days come before months with dots between them.
    if (two[2] === '.' || order === 'dmy') return plausibleDay(year, second, first)
    return order === 'mdy' ? plausibleDay(year, first, second) : 'ambiguous'
  }
  const words = text.normalize('NFD').replace(/\p{M}/gu, '')
  // The name of the day of the week says nothing more, and the hour of a time is no year.
  const named =
    /^(?:[a-z]{2,10}\.?,? )?(\d{1,2})(?:\.|st|nd|rd|th)?[ -](?:de )?([a-z]+)\.?,?[ -](?:de )?(\d{4}|\d\d(?![:.]\d))\b/i.exec(
      words,
    )
  if (named !== null) return plausibleDay(yearOf(named[3]), monthOf(named[2]), Number(named[1]))
  const american = /^(?:[a-z]{2,10}\.?,? )?([a-z]+)\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})/i.exec(words)
  if (american !== null) return plausibleDay(Number(american[3]), monthOf(american[1]), Number(american[2]))
  return null
}

function yearOf(digits = ''): number {
  return digits.length === 2 ? 2000 + Number(digits) : Number(digits)
}

/** Tools have written ranks since the nineties: another year is another number. */
function plausibleDay(year: number, month: number, day: number): number | null {
  return year >= 1990 && year < 2100 ? dayNumber(year, month, day) : null
}

function monthOf(name = ''): number {
  return months.findIndex((month) => month.test(name.toLowerCase())) + 1
}

/** What a cell says of a rank. */
type RankCell =
  | { readonly rank: number }
  /** Looked for among so many results, and not found. */
  | { readonly absentFrom: number }
  | { readonly unknown: string }

const average: RankCell = { unknown: 'an average, not a rank' }

/** A rank as tables write it. What may mean that nothing was found, or that nothing was asked, is unknown. */
const readRank = memoized((cell): RankCell => {
  const text = cell.trim()
  // A table that was written by a program for numbers has 12.0 for 12; 1,000 is a thousand.
  const whole = /^(\d+)(?:[.,]0{1,2})?$/.exec(text)
  if (whole !== null) {
    const rank = Number(whole[1])
    if (rank === 0) return { unknown: '0 can mean not found or not checked' }
    return rank <= mostRank ? { rank } : { unknown: 'a number that is no rank' }
  }
  const beyond = /^(?:>|not in (?:the )?top|outside (?:the )?top)\s*(\d{1,4})$|^(\d{1,4})\+$/i.exec(text)
  if (beyond !== null) {
    const depth = Number(beyond[1] ?? beyond[2])
    return depth === 0 ? { unknown: 'no number' } : { absentFrom: depth }
  }
  if (/^\d+[.,]\d{3}$/.test(text)) return { unknown: 'a number that is no rank' }
  if (/^\d+[.,]\d+$/.test(text)) return average
  return { unknown: text === '' ? 'an empty cell can mean not found or not checked' : 'no number' }
})

/** Reads the ranks of a column. Where some of it are averages, 12.0 is one of them. */
function rankReader(some: readonly string[]): (cell: string) => RankCell {
  const isOfAverages = some.some((cell) => readRank(cell) === average)
  return isOfAverages ? (cell) => (/^\d+[.,]\d+$/.test(cell) ? average : readRank(cell)) : readRank
}

/** A target as a site: without scheme, `www.`, and signs that stand for all pages. */
const siteOf = memoized((text): string => {
  return text
    .trim()
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, '')
    .replace(/^\*\./, '')
    .replace(/^www\./, '')
    .replace(/\/?\*?$/, '')
})

/** The address that a cell holds; null where it holds none. */
function readLink(cell: string | null | undefined): string | null {
  const link = cell?.trim() ?? ''
  if (link === '' || link === '-' || link === '[]' || link === 'null' || link === 'N/A') return null
  // Any other scheme is no page of a search result.
  return /^[a-z][a-z0-9+.-]*:(?!\/\/|\d)/i.test(link) || /^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i.test(link)
    ? null
    : link
}

/** The volume in a cell; null where there is none, or a number that can mean two. */
const volumeIn = memoized((cell): number | null => {
  const read = readVolume(cell.trim(), '.')
  return 'value' in read ? read.value : null
})

/** Reads the tags of a cell, with a sign between them. */
function tagReader(sign: string | RegExp) {
  return memoized((cell): readonly string[] =>
    cell
      .split(sign)
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '' && tag !== '-'),
  )
}

/** What cells of files of other tools say. */
export const readCell = {
  day: readDay,
  rank: readRank,
  ranks: rankReader,
  site: siteOf,
  link: readLink,
  volume: volumeIn,
  tags: tagReader,
}
