/** English dates of results, relative and absolute. */

type Unit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year'

const fixedMs: Partial<Record<Unit, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
}

const units: Readonly<Record<string, Unit>> = {
  s: 'second',
  sec: 'second',
  second: 'second',
  m: 'minute',
  min: 'minute',
  minute: 'minute',
  h: 'hour',
  hr: 'hour',
  hour: 'hour',
  d: 'day',
  day: 'day',
  w: 'week',
  wk: 'week',
  week: 'week',
  mo: 'month',
  month: 'month',
  y: 'year',
  yr: 'year',
  year: 'year',
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/**
 * The instant that an English date of a result names, as ISO 8601 in UTC, or null where it cannot be told.
 * Relative dates count back from `fetchedAt` (epoch ms); a date without a time is its midnight in UTC.
 */
export function publishedAt(date: string | null, fetchedAt: number): string | null {
  if (date === null) return null
  const plain = date
    .replace(/[\s\u00a0\u202f]+/g, ' ')
    .replace(/[\s·–—-]+$/, '')
    .trim()
    .toLowerCase()
  const instant = relative(plain, fetchedAt) ?? calendar(plain) ?? timestamp(plain)
  return instant === null ? null : new Date(instant).toISOString()
}

function relative(text: string, fetchedAt: number): number | null {
  if (text === 'just now' || text === 'now') return fetchedAt
  if (text === 'yesterday') return fetchedAt - 86_400_000
  if (text === 'today') return fetchedAt
  // A word needs its space: `any` is no `an y`, and `am` no `a m`.
  const parts = text.match(/^(?:(\d{1,4}) ?|(?:an?|one) )([a-z]+?)s?(?: ago)?$/)
  if (parts === null) return null
  const [, amount = '1', word = ''] = parts
  const unit = units[word]
  // A bare `3h` is understood, but `1 may` must stay a date: only units that are in the table count.
  if (unit === undefined) return null
  return before(fetchedAt, Number(amount), unit)
}

function before(instant: number, amount: number, unit: Unit): number | null {
  const ms = fixedMs[unit]
  if (ms !== undefined) return instant - amount * ms
  const date = new Date(instant)
  const months = date.getUTCFullYear() * 12 + date.getUTCMonth() - amount * (unit === 'year' ? 12 : 1)
  const year = Math.floor(months / 12)
  const month = months - year * 12
  const day = Math.min(date.getUTCDate(), daysIn(year, month))
  const start = dateOf(year, month, day)
  return start === null ? null : start + (instant % 86_400_000)
}

function calendar(text: string): number | null {
  const monthFirst = text.match(/^([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/)
  if (monthFirst) return midnight(monthFirst[3], monthFirst[1], monthFirst[2])
  const dayFirst = text.match(/^(\d{1,2})(?:st|nd|rd|th)? ([a-z]{3,9})\.?,? (\d{4})$/)
  if (dayFirst) return midnight(dayFirst[3], dayFirst[2], dayFirst[1])
  const iso = text.match(/^(\d{4})-(\d{2})-(\d{2})$/)
  return iso ? dateOf(Number(iso[1]), Number(iso[2]) - 1, Number(iso[3])) : null
}

function midnight(year = '', monthName = '', day = ''): number | null {
  const month = months.indexOf(monthName.slice(0, 3))
  const spelled = new Date(Date.UTC(2000, Math.max(month, 0), 1)).toLocaleString('en-US', {
    month: 'long',
    timeZone: 'UTC',
  })
  if (month < 0 || !spelled.toLowerCase().startsWith(monthName)) return null
  return dateOf(Number(year), month, Number(day))
}

function dateOf(year: number, month: number, day: number): number | null {
  // Date.UTC takes a year of two digits for one of the last century.
  if (year < 1000 || month < 0 || month > 11 || day < 1 || day > daysIn(year, month)) return null
  return Date.UTC(year, month, day)
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
}

function timestamp(text: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}t\d{2}:\d{2}(:\d{2}(\.\d+)?)?(z|[+-]\d{2}:?\d{2})$/.test(text)) return null
  // Date.parse would make the 2nd of March of the 30th of February.
  if (calendar(text.slice(0, 10)) === null) return null
  const instant = Date.parse(text.toUpperCase())
  return Number.isNaN(instant) ? null : instant
}
