import type { Precision } from '../../../model/result.ts'
import { calendarDate, endsRange, type Reading } from './calendar.ts'
import { fold, plain } from './fold.ts'
import { before, dayMs } from './instants.ts'
import { unlabelled } from './labels.ts'
import { askedOf, languagesOf } from './languages.ts'
import { ageOf } from './phrases.ts'
import { gluedHeads, piecesOf } from './pieces.ts'
import { withoutTime } from './times.ts'
import { timestamp } from './timestamps.ts'

/** What must be known of a text to read dates in it. */
export interface DateContext {
  /** When the answer came, epoch ms: ages count back from then. */
  readonly fetchedAt: number
  /** Code of the language that the text is in, as the service was asked for it; null where nobody knows. */
  readonly language: string | null
  readonly country?: string | null
}

/** The instant that a text names, epoch ms, and how exactly it names it. */
export interface ReadDate {
  readonly at: number
  readonly precision: Precision
}

interface Reader {
  readonly read: (piece: string) => Reading | null
  /** Whether a piece that names no date makes a range of the one beside it. */
  readonly isOtherEnd: (piece: string, reading: Reading) => boolean
}

/** A longer text is no line with a date, but something else in its place. */
const longest = 200
const earliest = Date.UTC(1990, 0, 1)
/** A page may be ahead of us by its time zone; what is announced for later was not published. */
const latestAhead = 2 * dayMs

/**
 * The date in a text of a result, relative or absolute, or null where there is none, or none that is certain.
 * A date without a time is its midnight in UTC, a month its first day.
 */
export function readDate(text: string, context: DateContext): ReadDate | null {
  if (text.length > longest) return null
  const reader = pieceReader(context)
  const whole = plain(text)
  const reading = compactAge(whole, context) ?? inPieces(whole, reader) ?? inHead(whole, reader)
  if (reading === null || reading.at < earliest || reading.at > context.fetchedAt + latestAhead) return null
  return { at: reading.at, precision: reading.precision }
}

/** The one date among the pieces of a text; two that differ are none. */
function inPieces(text: string, { read, isOtherEnd }: Reader): Reading | null {
  const pieces = piecesOf(text)
  const readings = pieces.map((piece) => read(piece))
  const at = readings.findIndex((reading) => reading !== null)
  const first = readings[at] ?? null
  if (first === null || readings.some((other) => other !== null && !isSame(first, other))) return null
  // A number alone beside a date may be the first half of `3 – 4 weeks ago`.
  const undated = pieces.filter((_, index) => readings[index] === null)
  if (undated.some((piece) => /^\d{1,4}$/.test(piece) || isOtherEnd(piece, first))) return null
  if (first.whole) return first
  // `Mar 4 – 8, 2024` and `March – May 2024` are neither this year's March nor May.
  const others = pieces.filter((_, index) => index !== at)
  const isAlone =
    first.precision === 'month' ? others.length === 0 : !others.some((other) => /\d/.test(other))
  return isAlone ? first : null
}

/** The date that a text begins with, where what follows is glued to it. */
function inHead(text: string, { read }: Reader): Reading | null {
  for (const head of gluedHeads(text)) {
    const reading = read(head)
    if (reading?.whole) return reading
  }
  return null
}

function pieceReader({ fetchedAt, language: code, country = null }: DateContext): Reader {
  const { language, region } = askedOf(code, country)
  const read = (piece: string): Reading | null => {
    const text = bare(piece)
    const isDated = /\d/.test(text)
    const english = (): Reading | null => readIn('en', null, text, fetchedAt)
    if (language === null) return english() ?? (isDated ? agreed(text, fetchedAt) : null)
    const own = readIn(language, region, text, fetchedAt)
    if (own !== null || language === 'en' || !isDated) return own
    // Services answer in English where they have no words in the language that was asked for.
    const other = english()
    return other?.whole ? other : null
  }
  const isOtherEnd: Reader['isOtherEnd'] = (piece, reading) => {
    const text = bare(piece)
    const possible = language === null ? languagesOf(text) : [language]
    return ['en', ...possible].some((one) => endsRange(text, reading, one))
  }
  return { read, isOtherEnd }
}

function bare(piece: string): string {
  return unlabelled(fold(piece)).replace(/[,;:…]+$/, '')
}

/** What all languages make of a text that can read it; null where two of them differ. */
function agreed(text: string, fetchedAt: number): Reading | null {
  const readings = languagesOf(text)
    .map((language) => readIn(language, null, text, fetchedAt))
    .filter((reading) => reading?.whole === true)
  const [first = null] = readings
  return first !== null && readings.every((reading) => reading !== null && isSame(first, reading))
    ? first
    : null
}

function readIn(language: string, region: string | null, text: string, fetchedAt: number): Reading | null {
  const age = ageOf(text, language)
  if (age === null)
    return (
      timestamp(text) ??
      calendarDate(text, language, region, fetchedAt) ??
      dayWithTime(text, language, region, fetchedAt)
    )
  const at = before(fetchedAt, age.amount, age.unit)
  return at === null ? null : { at, precision: age.unit, whole: /\d/.test(text) }
}

/** The day of a date with a time, whose zone nobody knows: the instant is not certain, the day is the one written. */
function dayWithTime(
  text: string,
  language: string,
  region: string | null,
  fetchedAt: number,
): Reading | null {
  const date = withoutTime(text, language)
  const reading = date === null ? null : calendarDate(date, language, region, fetchedAt)
  return reading?.whole && reading.precision === 'day' ? reading : null
}

/** Letter -> the unit that it stands for in an age without words, and how many of it there are at most. */
const compact: Readonly<Record<string, readonly [unit: Precision, most: number]>> = {
  sec: ['second', 59],
  min: ['minute', 59],
  hr: ['hour', 23],
  s: ['second', 59],
  m: ['minute', 59],
  h: ['hour', 23],
  d: ['day', 31],
  w: ['week', 52],
  mo: ['month', 11],
  y: ['year', 30],
}

/** Ages such as `3h` and `15 hrs`, in English and alone only: `24h`, `3D` and `60 minutes` are names or lengths. */
function compactAge(text: string, { fetchedAt, language, country = null }: DateContext): Reading | null {
  const [, amount, letter, word = ''] =
    text.match(/^(\d{1,2})(?:(s|mo?|[hdwy])\b| ?(sec|min|hr)s?\b\.?)[ ·—–-]*$/) ?? []
  const [unit, most] = compact[letter ?? word] ?? []
  const known = askedOf(language, country).language ?? 'en'
  if (unit === undefined || most === undefined || Number(amount) > most || known !== 'en') return null
  const at = before(fetchedAt, Number(amount), unit)
  return at === null ? null : { at, precision: unit, whole: true }
}

function isSame(one: Reading, other: Reading): boolean {
  return one.at === other.at && one.precision === other.precision
}
