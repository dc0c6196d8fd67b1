import type { Precision } from '../../../model/result.ts'
import { type CalendarWords, calendarWordsOf, type DayOrder } from './calendar-words.ts'
import { dayMs, midnight } from './instants.ts'
import { type CalendarDate, numericDate } from './numeric.ts'

export interface Reading {
  readonly at: number
  readonly precision: Precision
  /** Whether the text says a day or an age in full, with its numbers; the year of `12 March` is a guess. */
  readonly whole: boolean
}

/** Dates whose parts are marked by signs or words of their own. */
const marked: readonly RegExp[] = [
  /^(?:(?<year>\d{4}) ?年 ?)?(?<month>\d{1,2}) ?月(?: ?(?<day>\d{1,2}) ?[日号號])?$/,
  /^(?:(?<year>\d{4}) ?년 ?)?(?<month>\d{1,2}) ?월(?: ?(?<day>\d{1,2}) ?일)?$/,
  /^(?:ngay )?(?<day>\d{1,2}) (?:thang|thg) (?<month>\d{1,2})(?:,? (?:nam )?(?<year>\d{4}))?$/,
  /^(?:thang|thg) (?<month>\d{1,2})(?:,|,? nam)? (?<year>\d{4})$/,
]

/** The date that a folded text names in a language; null where it names none, or one that does not exist. */
export function calendarDate(
  text: string,
  language: string,
  region: string | null,
  fetchedAt: number,
): Reading | null {
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
 * Whether a folded text is nothing but a day of some month, as `Mon 4`, `4.` or `8日` are, or a weekday that is not the one of
 * the reading: beside a date it is the other end of a range.
 */
export function endsRange(text: string, reading: Reading, language: string): boolean {
  if (reading.precision !== 'day') return false
  const words = calendarWordsOf(language)
  return withoutWeekday(text, words).some(({ rest, weekday }) => {
    const tokens = rest.match(/\d+|[\p{L}\p{M}'-]+|[^ ]/gu) ?? []
    const telling = tokens.filter((token) => !words.fillers.has(token) && !/^[.,،、日号號일]$/.test(token))
    if (telling.length === 0) return weekday !== null && !isOn(reading, weekday)
    const [day = ''] = telling
    return telling.length === 1 && /^\d{1,2}$/.test(day) && Number(day) <= 31
  })
}

/** The text as it is, then without the weekday that it begins or ends with. */
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

/** A month by its name, with numbers for the day and the year beside it. */
function namedDate(text: string, words: CalendarWords): CalendarDate | null {
  const parts = monthsJoined(text, words).replace(
    /(?<=\d)-(?=\p{L})|(?<=\p{L})-(?=\d)|[,،、]|(?<=\d)\./gu,
    ' ',
  )
  const tokens = parts.match(/\d+|[\p{L}\p{M}'-]+|[^ ]/gu) ?? []
  const telling = tokens.filter((token) => !words.fillers.has(token) || words.months.has(token))
  const at = telling.findIndex((token) => monthOf(token, words) !== null)
  const numbers = telling.filter((_, index) => index !== at)
  if (at < 0 || numbers.length > 2 || !numbers.every((token) => /^(\d{1,2}|\d{4})$/.test(token))) return null
  const year = numbers.find((token) => token.length === 4)
  const day = numbers.find((token) => token.length < 3)
  if (numbers.length !== [year, day].filter((part) => part !== undefined).length) return null
  const order: DayOrder = at === 0 ? 'month-day' : 'day-month'
  if (year === undefined && (day === undefined || !words.dayOrders.has(order))) return null
  return { year: numberOrNull(year), month: monthOf(telling[at] ?? '', words) ?? 0, day: numberOrNull(day) }
}

/** The text with the months of two words, as in the Levant, in one. */
function monthsJoined(text: string, { months }: CalendarWords): string {
  const name = [...months.keys()].find((name) => name.includes(' ') && text.includes(name))
  return name === undefined ? text : text.replace(name, name.replaceAll(' ', ''))
}

const englishStarts: ReadonlySet<string> = new Set(
  'jan feb mar apr may jun jul aug sep oct nov dec'.split(' '),
)

/** The month of a name or of its beginning, from three letters on, where no other month begins so. */
function monthOf(word: string, { months }: CalendarWords): number | null {
  const exact = months.get(word)
  if (exact !== undefined) return exact
  // What English begins so may be meant in any language: `Mar` is no November, though Finnish has its marraskuu.
  if (!/^\p{L}{3}/u.test(word) || englishStarts.has(word)) return null
  const found = new Set([...months].filter(([name]) => name.startsWith(word)).map(([, month]) => month))
  return found.size === 1 ? ([...found][0] ?? null) : null
}

/** Without the words after a date in numbers, such as the `г.` of Bulgarian. */
function trimmed(text: string, { fillers }: CalendarWords): string {
  return text.replace(/ ([\p{L}\p{M}]+)$/u, (end, word) => (fillers.has(word) ? '' : end))
}

function placed({ year, month, day }: CalendarDate, language: string, fetchedAt: number): Reading | null {
  if (year === null) return day === null ? null : latest(month, day, fetchedAt)
  // Thailand counts from 543 years earlier.
  const ours = language === 'th' && year > 2400 ? year - 543 : year
  const at = midnight(ours, month, day ?? 1)
  return at === null ? null : { at, precision: day === null ? 'month' : 'day', whole: day !== null }
}

/** The last such day, this year or the year before; a day ahead of the fetch it may be, for clocks differ. */
function latest(month: number, day: number, fetchedAt: number): Reading | null {
  const thisYear = new Date(fetchedAt).getUTCFullYear()
  for (const year of [thisYear + 1, thisYear, thisYear - 1]) {
    const at = midnight(year, month, day)
    if (at !== null && at <= fetchedAt + dayMs) return { at, precision: 'day', whole: false }
  }
  return null
}

/** The last such weekday. Today's and tomorrow's are not told: somewhere it may be today, or a week ago. */
function weekdayAlone(text: string, { longWeekdays }: CalendarWords, fetchedAt: number): Reading | null {
  const weekday = longWeekdays.get(text)
  if (weekday === undefined) return null
  const back = (new Date(fetchedAt).getUTCDay() - weekday + 7) % 7
  if (back === 0 || back === 6) return null
  return { at: Math.floor(fetchedAt / dayMs - back) * dayMs, precision: 'day', whole: false }
}

function isOn({ at, precision }: Reading, weekday: number): boolean {
  return precision === 'day' && new Date(at).getUTCDay() === weekday
}

function numberOrNull(text: string | undefined): number | null {
  return text === undefined ? null : Number(text)
}
