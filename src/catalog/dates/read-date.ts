import type { Precision } from '../../model/result.ts'
import { ageOf } from './ages.ts'
import { before, calendarDate, dayMs, endsRange, type ParsedDate } from './calendar.ts'
import { fold, languagesOf, plain, textLocaleOf } from './languages.ts'
import { withoutTime } from './times.ts'

/** Needed to read the dates in a text. */
interface DateContext {
  /** When the answer came, epoch ms: ages count back from here. */
  readonly fetchedAt: number
  /** Code of the language of the text, as requested from the service; null if unknown. */
  readonly language: string | null
  readonly country?: string | null
}

/** The instant that a text names, epoch ms, and its precision. */
type ReadDate = Pick<ParsedDate, 'at' | 'precision'>

/** Longer texts are not read. */
const longest = 200
const earliest = Date.UTC(1990, 0, 1)
/** A page may be ahead of us because of its time zone. Later dates are announcements. */
const latestAhead = 2 * dayMs

/**
 * The date in a text of a result, relative or absolute; null if there is none or it is not certain. A date without a time is
 * its midnight in UTC, a month is its first day.
 */
export function readDate(text: string, context: DateContext): ReadDate | null {
  if (text.length > longest) return null
  const reader = pieceReader(context)
  const whole = plain(text)
  const reading = compactAge(whole, context) ?? inPieces(whole, reader) ?? inHead(whole, reader)
  if (reading === null || reading.at < earliest || reading.at > context.fetchedAt + latestAhead) return null
  return { at: reading.at, precision: reading.precision }
}

/** The date in the pieces of a text; null if two dates differ. */
function inPieces(text: string, { read, isOtherEnd }: ReturnType<typeof pieceReader>): ParsedDate | null {
  const pieces = text.split(separator).flatMap((piece) => piece.trim() || [])
  const readings = pieces.map((piece) => read(piece))
  const at = readings.findIndex((reading) => reading !== null)
  const first = readings[at] ?? null
  if (first === null || readings.some((other) => other !== null && !isSame(first, other))) return null
  // A number without a date may be the first half of `3 – 4 weeks ago`.
  const undated = pieces.filter((_, index) => readings[index] === null)
  if (undated.some((piece) => /^\d{1,4}$/.test(piece) || isOtherEnd(piece, first))) return null
  if (first.whole) return first
  // `Mar 4 – 8, 2024` and `March – May 2024` are neither this year's March nor May.
  const others = pieces.filter((_, index) => index !== at)
  const isAlone =
    first.precision === 'month' ? others.length === 0 : !others.some((other) => /\d/.test(other))
  return isAlone ? first : null
}

/** The date at the beginning of a text, if the next word follows without a space. */
function inHead(text: string, { read }: Pick<ReturnType<typeof pieceReader>, 'read'>): ParsedDate | null {
  for (const { index } of text.matchAll(seam)) {
    const reading = read(text.slice(0, index))
    if (reading?.whole) return reading
  }
  return null
}

function pieceReader({ fetchedAt, language: code, country = null }: DateContext) {
  const { language, region } = textLocaleOf(code, country)
  const read = (piece: string): ParsedDate | null => {
    const text = bare(piece)
    const isDated = /\d/.test(text)
    const english = (): ParsedDate | null => readIn('en', null, text, fetchedAt)
    if (language === null) return english() ?? (isDated ? agreed(text, fetchedAt) : null)
    const own = readIn(language, region, text, fetchedAt)
    if (own !== null || language === 'en' || !isDated) return own
    // Services answer in English if they have no words in the requested language.
    const other = english()
    return other?.whole ? other : null
  }
  /** Whether a piece without a date is the other end of a range. */
  const isOtherEnd = (piece: string, reading: ParsedDate): boolean => {
    const text = bare(piece)
    const possible = language === null ? languagesOf(text) : [language]
    return ['en', ...possible].some((one) => endsRange(text, reading, one))
  }
  return { read, isOtherEnd }
}

/** A folded piece without the label before it and the marks after it. */
function bare(piece: string): string {
  return fold(piece)
    .replace(label, '')
    .replace(/[,;:…]+$/, '')
}

/** The date that the text has in all languages that can read it; null if two differ. */
function agreed(text: string, fetchedAt: number): ParsedDate | null {
  const readings = languagesOf(text)
    .map((language) => readIn(language, null, text, fetchedAt))
    .filter((reading) => reading?.whole === true)
  const [first = null] = readings
  return first !== null && readings.every((reading) => reading !== null && isSame(first, reading))
    ? first
    : null
}

function readIn(language: string, region: string | null, text: string, fetchedAt: number): ParsedDate | null {
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

/** The day of a date with a time without a zone: the instant is not certain, the day is. */
function dayWithTime(
  text: string,
  language: string,
  region: string | null,
  fetchedAt: number,
): ParsedDate | null {
  const date = withoutTime(text, language)
  const reading = date === null ? null : calendarDate(date, language, region, fetchedAt)
  return reading?.whole && reading.precision === 'day' ? reading : null
}

/** The units of short ages by their letters, and the greatest amount of each. */
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

/** Ages such as `3h` and `15 hrs`, in English only and without other text. `24h`, `3D` and `60 minutes` are names or lengths. */
function compactAge(text: string, { fetchedAt, language, country = null }: DateContext): ParsedDate | null {
  const [, amount, letter, word = ''] =
    text.match(/^(\d{1,2})(?:(s|mo?|[hdwy])\b| ?(sec|min|hr)s?\b\.?)[ ·—–-]*$/) ?? []
  const [unit, most] = compact[letter ?? word] ?? []
  const known = textLocaleOf(language, country).language ?? 'en'
  if (unit === undefined || most === undefined || Number(amount) > most || known !== 'en') return null
  const at = before(fetchedAt, Number(amount), unit)
  return at === null ? null : { at, precision: unit, whole: true }
}

function isSame(one: ParsedDate, other: ParsedDate): boolean {
  return one.at === other.at && one.precision === other.precision
}

/** Dots and bars between the parts of a line, and dashes between spaces or at an end; other dashes join ranges. */
const separator = /[·•∙⋅‧・|｜]|(?<=^|\s)[-–—]+(?=\s|$)|[-–—]+$/u

/** The place where a name follows a date without a space, as in `2 days agoReuters`. */
const seam = /(?<=\p{Ll})(?=\p{Lu})|(?<=\d{4})(?=\p{Lu})/gu

/**
 * Words before the date of a publication, folded. Words for updates and for future premieres are not here, because their dates
 * are not those of a publication.
 */
const labels: readonly string[] = [
  '(premiered|published|posted|uploaded)( on)?',
  'streamed( live)?( on)?',
  '(veroffentlicht|live ubertragen)( am)?',
  '(publie|mise? en ligne|diffuse en direct)( le)?',
  '(publicado|estrenado|emitido|transmitido|publicat)( en directo| en vivo| ao vivo)?( el| em)?',
  'estreou( em)?',
  '(pubblicato|trasmesso)( il)?',
  'gepubliceerd( op)?',
  'publicera[dt]( den)?',
  '(udgivet|publisert)( den)?',
  'julkaistu',
  'opublikowan[oy]( dnia)?',
  'publikovano( dne)?',
  'опубликовано|дата публикации|дата премьеры',
  'опубликован[ао]|опубліковано|дата публікаціі',
  'δημοσιευτηκε( στις)?',
  'yayinlanma tarihi',
  'diterbitkan( pada)?',
  'đa (đang|cong chieu)( vao)?',
  'เผยแพร่เมื่อ',
  '公開日?|公開日時',
  '发布(于|时间|日期)|發[佈布](於|時間|日期)',
  '게시일|최초 공개',
  'نشر في',
  'פורסם ב',
]

const label = new RegExp(`^(?:${labels.join('|')})(?: ?: ?| |(?=\\d))`, 'u')

const iso =
  /^(?<day>\d{4}-\d{2}-\d{2})[t ](?<time>\d{2}:\d{2}(?<seconds>:\d{2}(?:\.\d+)?)?) ?(?<zone>z|utc|gmt|[+-]\d{2}:?\d{2})$/
const mail =
  /^(?:[a-z]{3}, )?(?<day>\d{1,2} [a-z]{3} \d{4}) \d{2}:\d{2}(?<seconds>:\d{2})? (?:gmt|utc|z|[+-]\d{4})$/

/** A full timestamp in a folded text, with its time zone. */
function timestamp(text: string): ParsedDate | null {
  const { day, time, zone = '', seconds } = text.match(iso)?.groups ?? {}
  if (day !== undefined)
    return isDay(day) ? instant(`${day}T${time}${/^[a-z]/.test(zone) ? 'Z' : zone}`, seconds) : null
  const letter = text.match(mail)?.groups
  return letter?.day !== undefined && isDay(letter.day) ? instant(text, letter.seconds) : null
}

/** Whether the day exists. Date.parse reads the 30th of February as the 2nd of March. */
function isDay(day: string): boolean {
  const at = Date.parse(`${day} UTC`)
  const [date] = day.match(/^\d{1,2}(?= )|\d{2}$/) ?? []
  return !Number.isNaN(at) && new Date(at).getUTCDate() === Number(date)
}

function instant(text: string, seconds: string | undefined): ParsedDate | null {
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : { at, precision: seconds === undefined ? 'minute' : 'second', whole: true }
}
