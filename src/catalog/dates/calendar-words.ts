import { memoized } from '../../model/memo.ts'
import { fold, localesOf } from './languages.ts'
import { wordsOf } from './words.ts'

/** Order of day and month in a date without a year. */
export type DayOrder = 'day-month' | 'month-day'

/** The words in dates of a language, folded. */
export type CalendarWords = ReturnType<typeof build>

export const calendarWordsOf = memoized(build)

function build(language: string) {
  const locales = localesOf(language)
  const months = new Names()
  const weekdays = new Names()
  const longWeekdays = new Names()
  const fillers = new Set(wordsOf(language, 'fillers')?.map(fold))
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
