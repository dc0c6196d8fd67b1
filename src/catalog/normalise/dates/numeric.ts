/** A date of the calendar as a text has it; what it does not say is null. Months count from 1. */
export interface CalendarDate {
  readonly year: number | null
  readonly month: number
  readonly day: number | null
}

/** How dates are written in numbers; a null order cannot be told. */
interface Style {
  readonly order: 'dmy' | 'mdy' | 'ymd' | null
  readonly separators: string
}

const dayFirst: Style = { order: 'dmy', separators: '/.-' }
const unknown: Style = { order: null, separators: '' }

/** Where English is at home and its order is beyond doubt; Intl has an order for everywhere. */
const english: Readonly<Record<string, Style>> = {
  AU: dayFirst,
  GB: dayFirst,
  IE: dayFirst,
  IN: dayFirst,
  KE: dayFirst,
  NG: dayFirst,
  NZ: dayFirst,
  PK: dayFirst,
  SG: dayFirst,
  US: { order: 'mdy', separators: '/-' },
}

/** Where people of a language live among others who write another order. */
const mixed: readonly string[] = ['es-US']

/** Languages whose years of two digits may be those of another calendar. */
const otherCalendars: readonly string[] = ['ar', 'fa', 'th']

const yearFirst = /^(\d{4})(?<separator>[-/]|\. ?)(\d{1,2})\k<separator>(\d{1,2})\.?$/
const yearLast = /^(\d{1,2})(?<separator>[-/]|\. ?)(\d{1,2})\k<separator>(\d{4}|\d{2})\.?$/

/** A date in numbers, where its order is certain: by itself, or by the language and the region of the text. */
export function numericDate(text: string, language: string, region: string | null): CalendarDate | null {
  const iso = text.match(yearFirst)
  if (iso !== null) return { year: Number(iso[1]), month: Number(iso[3]), day: Number(iso[4]) }
  const [, first = '', separator = '', second = '', year = ''] = text.match(yearLast) ?? []
  if (year === '') return null
  const style = styleOf(language, region)
  const own = style.separators.includes(separator.trim()) ? style.order : null
  if (year.length === 4) return inOrder(Number(first), Number(second), Number(year), own)
  const isSure = own !== null && own !== 'ymd' && separator !== '-' && !otherCalendars.includes(language)
  // Nothing that is found on the web was published before 1990.
  const century = Number(year) < 90 ? 2000 : 1900
  return isSure ? ordered(Number(first), Number(second), century + Number(year), own) : null
}

function inOrder(first: number, second: number, year: number, own: Style['order']): CalendarDate | null {
  if (first === second || (first > 12 && second <= 12)) return ordered(first, second, year, 'dmy')
  if (second > 12) return ordered(first, second, year, 'mdy')
  return own === null || own === 'ymd' ? null : ordered(first, second, year, own)
}

function ordered(first: number, second: number, year: number, order: 'dmy' | 'mdy'): CalendarDate {
  const [day, month] = order === 'dmy' ? [first, second] : [second, first]
  return { year, month, day }
}

/** The style of a language in a region, where that is the one of the language everywhere. */
function styleOf(language: string, region: string | null): Style {
  if (language === 'en') return english[region ?? ''] ?? unknown
  const places = region === null ? [language] : [language, `${language}-${region}`]
  const styles = places.map((place) => intlStyle(`${place}-u-ca-gregory-nu-latn`))
  const orders = new Set(styles.map(({ order }) => order))
  const [order] = orders
  if (orders.size !== 1 || order === undefined || mixed.includes(`${language}-${region}`)) return unknown
  const separators = styles.map((style) => style.separators).join('')
  // A slash may be American anywhere; dots and dashes are not.
  return { order, separators: order === 'dmy' ? `${separators}.-` : separators }
}

function intlStyle(locale: string): Style {
  const parts = new Intl.DateTimeFormat(locale, { timeZone: 'UTC' }).formatToParts(0)
  const order = parts.map(({ type }) => ({ day: 'd', month: 'm', year: 'y' })[type as string] ?? '').join('')
  const separators = parts.map(({ type, value }) => (type === 'literal' ? value.trim() : '')).join('')
  return { order: order as Style['order'], separators }
}
