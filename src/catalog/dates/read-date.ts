import type { Precision } from '../../model/result.ts'
import { memoized } from '../../model/text.ts'
import { dayMs } from '../../model/time.ts'
import { dateLanguages, fold, plain, textLocaleOf } from './languages.ts'

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
    const possible = language === null ? dateLanguages.of(text) : [language]
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
  const readings = dateLanguages
    .of(text)
    .map((language) => readIn(language, null, text, fetchedAt))
    .filter((reading) => reading?.whole === true)
  const [first = null] = readings
  return first !== null && readings.every((reading) => reading !== null && isSame(first, reading))
    ? first
    : null
}

function readIn(language: string, region: string | null, text: string, fetchedAt: number): ParsedDate | null {
  const age = dateLanguages.age(text, language)
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
  const date = dateLanguages.withoutTime(text, language)
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

interface ParsedDate {
  readonly at: number
  readonly precision: Precision
  /** Whether the text has all numbers of a day or an age; the year of `12 March` is a guess. */
  readonly whole: boolean
}

/** Dates with a sign or a word for each part. */
const marked: readonly RegExp[] = [
  /^(?:(?<year>\d{4}) ?年 ?)?(?<month>\d{1,2}) ?月(?: ?(?<day>\d{1,2}) ?[日号號])?$/,
  /^(?:(?<year>\d{4}) ?년 ?)?(?<month>\d{1,2}) ?월(?: ?(?<day>\d{1,2}) ?일)?$/,
  /^(?:ngay )?(?<day>\d{1,2}) (?:thang|thg) (?<month>\d{1,2})(?:,? (?:nam )?(?<year>\d{4}))?$/,
  /^(?:thang|thg) (?<month>\d{1,2})(?:,|,? nam)? (?<year>\d{4})$/,
]

/** The date that a folded text of a language names; null if there is none or it does not exist. */
function calendarDate(
  text: string,
  language: string,
  region: string | null,
  fetchedAt: number,
): ParsedDate | null {
  const words = calendarWordsOf(language)
  for (const { rest, weekday } of withoutWeekday(text, words)) {
    const date =
      markedDate(rest) ?? namedDate(rest, words) ?? numericDate(trimmed(rest, words), language, region)
    const reading = date === null ? null : placed(date, language, fetchedAt)
    if (reading !== null) return weekday === null || isOn(reading, weekday) ? reading : null
  }
  return weekdayAlone(text, words, fetchedAt)
}

/**
 * Whether a folded text is the other end of a range: only a day of a month, such as `Mon 4`, `4.` or `8日`, or a weekday that
 * is not that of the date next to it.
 */
function endsRange(text: string, reading: ParsedDate, language: string): boolean {
  if (reading.precision !== 'day') return false
  const words = calendarWordsOf(language)
  return withoutWeekday(text, words).some(({ rest, weekday }) => {
    const tokens = rest.match(/\d+|[\p{L}\p{M}'-]+|[^ ]/gu) ?? []
    const significant = tokens.filter(
      (token) => !words.fillers.has(token) && !/^[.,،、日号號일]$/.test(token),
    )
    if (significant.length === 0) return weekday !== null && !isOn(reading, weekday)
    const [day = ''] = significant
    return significant.length === 1 && /^\d{1,2}$/.test(day) && Number(day) <= 31
  })
}

/** The text, then the text without the weekday that it begins or ends with. */
function withoutWeekday(text: string, { weekdays }: CalendarWords) {
  const readings: { readonly rest: string; readonly weekday: number | null }[] = [
    { rest: text, weekday: null },
  ]
  for (const [name, weekday] of weekdays) {
    if (text.startsWith(name))
      readings.push({ rest: text.slice(name.length).replace(/^[ ,،]+/, ''), weekday })
    const end = text.replace(/ ?\(([^()]+)\)$/, ' $1')
    if (end.endsWith(name))
      readings.push({ rest: end.slice(0, -name.length).replace(/[ ,،]+$/, ''), weekday })
  }
  return readings
}

function markedDate(text: string): CalendarDate | null {
  for (const form of marked) {
    const { year, month, day } = text.match(form)?.groups ?? {}
    if (month !== undefined) return { year: numberOrNull(year), month: Number(month), day: numberOrNull(day) }
  }
  return null
}

/** A month by its name, with the day and the year as numbers. */
function namedDate(text: string, words: CalendarWords): CalendarDate | null {
  const parts = monthsJoined(text, words).replace(
    /(?<=\d)-(?=\p{L})|(?<=\p{L})-(?=\d)|[,،、]|(?<=\d)\./gu,
    ' ',
  )
  const tokens = parts.match(/\d+|[\p{L}\p{M}'-]+|[^ ]/gu) ?? []
  const significant = tokens.filter((token) => !words.fillers.has(token) || words.months.has(token))
  const at = significant.findIndex((token) => monthOf(token, words) !== null)
  const numbers = significant.filter((_, index) => index !== at)
  if (at < 0 || numbers.length > 2 || !numbers.every((token) => /^(\d{1,2}|\d{4})$/.test(token))) return null
  const year = numbers.find((token) => token.length === 4)
  const day = numbers.find((token) => token.length < 3)
  if (numbers.length !== [year, day].filter((part) => part !== undefined).length) return null
  const order: DayOrder = at === 0 ? 'month-day' : 'day-month'
  if (year === undefined && (day === undefined || !words.dayOrders.has(order))) return null
  return {
    year: numberOrNull(year),
    month: monthOf(significant[at] ?? '', words) ?? 0,
    day: numberOrNull(day),
  }
}

/** The text with months of two words, as in the Levant, joined to one word. */
function monthsJoined(text: string, { months }: CalendarWords): string {
  const name = [...months.keys()].find((name) => name.includes(' ') && text.includes(name))
  return name === undefined ? text : text.replace(name, name.replaceAll(' ', ''))
}

const englishStarts: ReadonlySet<string> = new Set(
  'jan feb mar apr may jun jul aug sep oct nov dec'.split(' '),
)

/** The month of a name, or of its first three or more letters if no other month begins with them. */
function monthOf(word: string, { months }: CalendarWords): number | null {
  const exact = months.get(word)
  if (exact !== undefined) return exact
  // English beginnings occur in texts of any language: `Mar` is not the Finnish marraskuu, November.
  if (!/^\p{L}{3}/u.test(word) || englishStarts.has(word)) return null
  const found = new Set([...months].filter(([name]) => name.startsWith(word)).map(([, month]) => month))
  return found.size === 1 ? ([...found][0] ?? null) : null
}

/** Without the word after a date in numbers, such as the Bulgarian `г.` */
function trimmed(text: string, { fillers }: CalendarWords): string {
  return text.replace(/ ([\p{L}\p{M}]+)$/u, (end, word) => (fillers.has(word) ? '' : end))
}

function placed({ year, month, day }: CalendarDate, language: string, fetchedAt: number): ParsedDate | null {
  if (year === null) return day === null ? null : latest(month, day, fetchedAt)
  // The Thai calendar is 543 years ahead.
  const ours = language === 'th' && year > 2400 ? year - 543 : year
  const at = midnight(ours, month, day ?? 1)
  return at === null ? null : { at, precision: day === null ? 'month' : 'day', whole: day !== null }
}

/** The last such day until a day after the fetch, because clocks differ. */
function latest(month: number, day: number, fetchedAt: number): ParsedDate | null {
  const thisYear = new Date(fetchedAt).getUTCFullYear()
  for (const year of [thisYear + 1, thisYear, thisYear - 1]) {
    const at = midnight(year, month, day)
    if (at !== null && at <= fetchedAt + dayMs) return { at, precision: 'day', whole: false }
  }
  return null
}

/** The last such weekday. Null for the weekdays of today and tomorrow, which may mean today or a week ago. */
function weekdayAlone(text: string, { longWeekdays }: CalendarWords, fetchedAt: number): ParsedDate | null {
  const weekday = longWeekdays.get(text)
  if (weekday === undefined) return null
  const back = (new Date(fetchedAt).getUTCDay() - weekday + 7) % 7
  if (back === 0 || back === 6) return null
  return { at: Math.floor(fetchedAt / dayMs - back) * dayMs, precision: 'day', whole: false }
}

function isOn({ at, precision }: ParsedDate, weekday: number): boolean {
  return precision === 'day' && new Date(at).getUTCDay() === weekday
}

function numberOrNull(text: string | undefined): number | null {
  return text === undefined ? null : Number(text)
}

/** A date of the calendar; parts that the text does not have are null. Months count from 1. */
interface CalendarDate {
  readonly year: number | null
  readonly month: number
  readonly day: number | null
}

/** How dates are written in numbers; null if the order is unknown. */
interface DateStyle {
  readonly order: 'dmy' | 'mdy' | 'ymd' | null
  readonly separators: string
}

const unknown: DateStyle = { order: null, separators: '' }

/** Regions in which English dates certainly begin with the day. Intl names an order for every region, certain or not. */
const dayFirstRegions: readonly string[] = 'AU GB IE IN KE NG NZ PK SG'.split(' ')

function englishStyle(region: string | null): DateStyle {
  if (region === 'US') return { order: 'mdy', separators: '/-' }
  return dayFirstRegions.includes(region ?? '') ? { order: 'dmy', separators: '/.-' } : unknown
}

/** Locales whose speakers live among people who write another order. */
const mixed: readonly string[] = ['es-US']

/** Languages whose years of two digits may be those of another calendar. */
const otherCalendars: readonly string[] = ['ar', 'fa', 'th']

const yearFirst = /^(\d{4})(?<separator>[-/]|\. ?)(\d{1,2})\k<separator>(\d{1,2})\.?$/
const yearLast = /^(\d{1,2})(?<separator>[-/]|\. ?)(\d{1,2})\k<separator>(\d{4}|\d{2})\.?$/

/** A date in numbers if its order is certain, by the numbers or by the language and the region of the text. */
function numericDate(text: string, language: string, region: string | null): CalendarDate | null {
  const iso = text.match(yearFirst)
  if (iso !== null) return { year: Number(iso[1]), month: Number(iso[3]), day: Number(iso[4]) }
  const [, first = '', separator = '', second = '', year = ''] = text.match(yearLast) ?? []
  if (year === '') return null
  const style = styleOf(language, region)
  const own = style.separators.includes(separator.trim()) ? style.order : null
  if (year.length === 4) return inOrder(Number(first), Number(second), Number(year), own)
  const isSure = own !== null && own !== 'ymd' && separator !== '-' && !otherCalendars.includes(language)
  // There was no web before 1990.
  const century = Number(year) < 90 ? 2000 : 1900
  return isSure ? ordered(Number(first), Number(second), century + Number(year), own) : null
}

function inOrder(first: number, second: number, year: number, own: DateStyle['order']): CalendarDate | null {
  if (first === second || (first > 12 && second <= 12)) return ordered(first, second, year, 'dmy')
  if (second > 12) return ordered(first, second, year, 'mdy')
  return own === null || own === 'ymd' ? null : ordered(first, second, year, own)
}

function ordered(first: number, second: number, year: number, order: 'dmy' | 'mdy'): CalendarDate {
  const [day, month] = order === 'dmy' ? [first, second] : [second, first]
  return { year, month, day }
}

/** The style of a language in a region, if the order is that of the language everywhere. */
function styleOf(language: string, region: string | null): DateStyle {
  if (language === 'en') return englishStyle(region)
  const places = region === null ? [language] : [language, `${language}-${region}`]
  const styles = places.map((place) => intlStyle(`${place}-u-ca-gregory-nu-latn`))
  const orders = new Set(styles.map(({ order }) => order))
  const [order] = orders
  if (orders.size !== 1 || order === undefined || mixed.includes(`${language}-${region}`)) return unknown
  const separators = styles.map((style) => style.separators).join('')
  // A date with slashes may be American in any locale; one with dots or dashes is not.
  return { order, separators: order === 'dmy' ? `${separators}.-` : separators }
}

function intlStyle(locale: string): DateStyle {
  const parts = new Intl.DateTimeFormat(locale, { timeZone: 'UTC' }).formatToParts(0)
  const order = parts.map(({ type }) => ({ day: 'd', month: 'm', year: 'y' })[type as string] ?? '').join('')
  const separators = parts.map(({ type, value }) => (type === 'literal' ? value.trim() : '')).join('')
  return { order: order as DateStyle['order'], separators }
}

const lengths: Partial<Record<Precision, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: dayMs,
  week: 7 * dayMs,
}

/** The midnight in UTC of a day, months from 1; null if there is no such day. */
function midnight(year: number, month: number, day: number): number | null {
  // Date.UTC reads a year of two digits as one of the last century.
  if (year < 1000 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null
  return Date.UTC(year, month - 1, day)
}

/** The instant this many units before another. The day is cut to the length of the month. */
function before(instant: number, amount: number, unit: Precision): number | null {
  const length = lengths[unit]
  if (length !== undefined) return instant - amount * length
  const date = new Date(instant)
  const months = date.getUTCFullYear() * 12 + date.getUTCMonth() - amount * (unit === 'year' ? 12 : 1)
  const year = Math.floor(months / 12)
  const month = months - year * 12 + 1
  const start = midnight(year, month, Math.min(date.getUTCDate(), daysIn(year, month)))
  return start === null ? null : start + (((instant % dayMs) + dayMs) % dayMs)
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

/** Order of day and month in a date without a year. */
type DayOrder = 'day-month' | 'month-day'

/** The words in dates of a language, folded. */
type CalendarWords = ReturnType<typeof calendarWords>

const calendarWordsOf = memoized(calendarWords)

function calendarWords(language: string) {
  const locales = dateLanguages.locales(language)
  const months = new Names()
  const weekdays = new Names()
  const longWeekdays = new Names()
  const fillers = new Set(dateLanguages.words(language, 'fillers')?.map(fold))
  const dayOrders = new Set<DayOrder>()
  for (const locale of locales) {
    for (let month = 1; month <= 12; month++)
      for (const name of monthNames(locale, month, fillers)) months.add(name, month)
    for (let day = 0; day < 7; day++) {
      longWeekdays.add(weekdayName(locale, day, 'long'), day)
      for (const style of ['long', 'short'] as const) weekdays.add(weekdayName(locale, day, style), day)
    }
    dayOrders.add(dayOrderOf(locale))
  }
  return {
    /** Name, abbreviation or inflected form -> month, from 1. */
    months: months.certain(),
    /** Full and short names -> day of the week, from 0 for Sunday. */
    weekdays: weekdays.certain(),
    longWeekdays: longWeekdays.certain(),
    /** Words without a meaning between the parts of a date, such as `de`, `den` or `г`. */
    fillers,
    dayOrders,
  }
}

/** Names with their numbers; a name with two numbers is not certain. */
class Names {
  readonly #numbers = new Map<string, number | null>()

  add(name: string, number: number): void {
    const known = this.#numbers.get(name)
    this.#numbers.set(name, known === undefined || known === number ? number : null)
  }

  certain(): ReadonlyMap<string, number> {
    return new Map([...this.#numbers].filter((entry): entry is [string, number] => entry[1] !== null))
  }
}

const monthForms = (['long', 'short'] as const).flatMap((month) => [
  { month },
  { month, day: 'numeric' } as const,
  { month, day: 'numeric', year: 'numeric', weekday: 'long' } as const,
])

/** All forms of a month: alone and in a date, long and short. Adds the words around them to the fillers. */
function monthNames(locale: string, month: number, fillers: Set<string>): readonly string[] {
  return monthForms.flatMap((form) => {
    const format = new Intl.DateTimeFormat(locale, { ...form, timeZone: 'UTC' })
    const parts = format.formatToParts(Date.UTC(2025, month - 1, 4))
    const at = parts.findIndex(({ type }) => type === 'month')
    const name = fold(parts[at]?.value ?? '')
    // Months that are numbers, as in East Asia, are read by their signs.
    if (/\d/.test(name)) return []
    for (const word of parts.flatMap(({ type, value }) => (type === 'literal' ? wordsIn(value) : [])))
      fillers.add(word)
    // Hebrew and Catalan join a preposition to the name.
    const before = parts[at - 1]?.value ?? ' '
    const prefix = /\s$/.test(before) ? '' : (wordsIn(before).at(-1) ?? '')
    return [name, name.replaceAll(' ', ''), prefix + name]
  })
}

function wordsIn(text: string): readonly string[] {
  return fold(text).match(/[\p{L}\p{M}']+/gu) ?? []
}

function weekdayName(locale: string, day: number, weekday: 'long' | 'short'): string {
  // The 5th of January 2025 was a Sunday.
  const date = Date.UTC(2025, 0, 5 + day)
  return fold(new Intl.DateTimeFormat(locale, { weekday, timeZone: 'UTC' }).format(date))
}

function dayOrderOf(locale: string): DayOrder {
  const format = new Intl.DateTimeFormat(locale, { month: 'long', day: 'numeric', timeZone: 'UTC' })
  const [first] = format.formatToParts(0).filter(({ type }) => type !== 'literal')
  return first?.type === 'day' ? 'day-month' : 'month-day'
}
