import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dateLanguages, languages } from '../../src/catalog/dates/languages.ts'
import { readDate } from '../../src/catalog/dates/read-date.ts'
import { anyText } from '../support/any-text.ts'
import { testTable } from '../support/test-table.ts'

const fetchedAt = Date.parse('2026-03-17T12:00:00Z')
const dayMs = 86_400_000

type Row = readonly [text: string, said: string]

/** The tables of `dates.txt`: what is asked for -> its texts and what they say. */
const tables = readFileSync(new URL('dates.txt', import.meta.url), 'utf8')
  .split(/^\[/m)
  .slice(1)
  .map((section): [string, readonly Row[]] => {
    const [asked = '', ...lines] = section.trimEnd().split('\n')
    const rows = lines.flatMap((line) => {
      const [, said = '', texts = ''] = line.match(/^(.*?): (.*)$/) ?? []
      return texts.split(' ¦ ').map((text): Row => [unescaped(text), said])
    })
    return [asked.slice(0, -1), rows]
  })

function unescaped(text: string): string {
  return text.replace(/\\u(....)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

test.each(tables)('dates in %s say what they mean', (asked, rows) => {
  const [language] = asked.split(' ') as [string]
  const wrong = rows.flatMap(([text, said]) => {
    const read = readDate(text, { fetchedAt, language })
    const [instant, precision] = said.split(' ') as [string, string?]
    const wanted = said === 'none' ? null : { at: Date.parse(instantOf(instant)), precision }
    return read?.at === wanted?.at && read?.precision === wanted?.precision ? [] : [{ text, said, read }]
  })
  expect(wrong).toEqual([])
  expect(rows.length).toBeGreaterThan(0)
})

const instantOf = (text: string): string => (text.includes('T') ? `${text}Z` : text)

testTable([
  ['2026-03-31T12:34:56.789', '3h', '2026-03-31T09:34:56.789'],
  ['2026-03-31T12:34:56.789', '31 days ago', '2026-02-28T12:34:56.789'],
  ['2026-03-31T12:34:56.789', '1 month ago', '2026-02-28T12:34:56.789'],
  ['2026-03-31T12:34:56.789', '4 mos ago', '2025-11-30T12:34:56.789'],
  ['2026-03-31T12:34:56.789', '25 months ago', '2024-02-29T12:34:56.789'],
  ['2028-02-29T00:00:00', '1 year ago', '2027-02-28T00:00'],
  ['2028-02-29T23:59:59.999', '4 years ago', '2024-02-29T23:59:59.999'],
  ['2028-03-01T00:00:00', '1 day ago', '2028-02-29T00:00'],
  ['2027-03-01T00:00:00', 'yesterday', '2027-02-28T00:00'],
  ['2028-03-30T06:00:00', '1 month ago', '2028-02-29T06:00'],
  ['2026-01-15T06:00:00', '1 month ago', '2025-12-15T06:00'],
  ['2026-01-01T00:10:00', '11 minutes ago', '2025-12-31T23:59'],
])('at %s, %o is %s', (now, text, instant) => {
  const read = readDate(text, { fetchedAt: Date.parse(`${now}Z`), language: 'en' })
  expect(read?.at).toBe(Date.parse(`${instant}Z`))
})

testTable([
  ['en', 'us', '2025-04-03'],
  ['en', 'GB', '2025-03-04'],
  ['en', 'de', null],
  ['en', null, null],
  ['en-GB', 'us', '2025-03-04'],
  ['es', 'mx', '2025-03-04'],
  ['es', 'us', null],
  ['fr', 'ca', null],
  ['pt', 'br', '2025-03-04'],
  ['no', 'no', null],
  [null, 'us', null],
  [null, 'de', null],
  ['fr', 'nonsense', '2025-03-04'],
])(
  'the country decides where the language does not: 04/03/2025 in %s of %s is %s',
  (language, country, day) => {
    const read = readDate('04/03/2025', { fetchedAt, language, country })
    expect(read).toEqual(day === null ? null : { at: Date.parse(day), precision: 'day' })
  },
)

const ms: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: dayMs,
  week: 7 * dayMs,
}
const units = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'] as const

function agoOf(amount: number, unit: (typeof units)[number]): number {
  const length = ms[unit]
  if (length !== undefined) return fetchedAt - amount * length
  const date = new Date(fetchedAt)
  // The 17th is a day of every month.
  return unit === 'year'
    ? date.setUTCFullYear(date.getUTCFullYear() - amount)
    : date.setUTCMonth(date.getUTCMonth() - amount)
}

function memoised<Options, T>(make: (locale: string, options: Options) => T) {
  const made = new Map<string, T>()
  return (locale: string, options: Options): T => {
    const key = `${locale} ${JSON.stringify(options)}`
    const value = made.get(key) ?? make(locale, options)
    made.set(key, value)
    return value
  }
}

describe('as Intl writes it', () => {
  const locales = languages().flatMap((language) =>
    dateLanguages.locales(language).map((locale) => [language, locale] as const),
  )
  const runs = { numRuns: 15 }
  // To make a formatter takes longer than all else here.
  const agoIn = memoised(
    (locale, options: Intl.RelativeTimeFormatOptions) => new Intl.RelativeTimeFormat(locale, options),
  )
  const dateIn = memoised(
    (locale, options: Intl.DateTimeFormatOptions) =>
      new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' }),
  )
  const unit = fc.constantFrom(...units)
  const amount = fc.integer({ min: 1, max: 36 })
  const style = fc.constantFrom('short' as const, 'narrow' as const, 'long' as const)

  testTable(locales)('%s of %s: an age is read back; in short words, or none', (language, locale) => {
    const numeric = fc.constantFrom('always' as const, 'auto' as const)
    fc.assert(
      fc.property(unit, amount, style, numeric, (unit, amount, style, numeric) => {
        const long = agoIn(locale, { numeric: 'always' }).format(-amount, unit)
        const age = { at: agoOf(amount, unit), precision: unit }
        expect([long, readDate(long, { fetchedAt, language })]).toEqual([long, age])
        const text = agoIn(locale, { style, numeric }).format(-amount, unit)
        const read = readDate(text, { fetchedAt, language })
        if (read !== null) expect([text, read]).toEqual([text, age])
      }),
      runs,
    )
  })

  testTable(locales)('%s of %s: what lies ahead is no date', (language, locale) => {
    fc.assert(
      fc.property(unit, amount, style, (unit, amount, style) => {
        const text = agoIn(locale, { style, numeric: 'auto' }).format(amount, unit)
        expect([text, readDate(text, { fetchedAt, language })]).toEqual([text, null])
      }),
      runs,
    )
  })

  const since1990 = (unitMs: number, until = fetchedAt) =>
    fc.integer({ min: Date.UTC(1990, 0, 1) / unitMs, max: Math.floor(until / unitMs) })
  const dates = fc.constantFrom('medium' as const, 'long' as const, 'full' as const)

  testTable(locales)('%s of %s: a day of the calendar is read back', (language, locale) => {
    fc.assert(
      fc.property(since1990(dayMs), dates, (day, dateStyle) => {
        const text = dateIn(locale, { dateStyle }).format(day * dayMs)
        // In numbers it is a matter of the region, and may be none of certainty.
        const spoken = /\p{L}/u.test(text) ? language : locale.replace(/-u-.*/, '')
        const read = readDate(text, { fetchedAt, language: spoken })
        expect([text, read]).toEqual([text, { at: day * dayMs, precision: 'day' }])
      }),
      runs,
    )
  })

  testTable(locales)('%s of %s: a date with a time is its day, or none', (language, locale) => {
    const times = fc.constantFrom('short' as const, 'medium' as const)
    fc.assert(
      fc.property(since1990(60_000), dates, times, (minutes, dateStyle, timeStyle) => {
        const at = minutes * 60_000
        const text = dateIn(locale, { dateStyle, timeStyle }).format(at)
        const read = readDate(text, { fetchedAt, language })
        const day = { at: Math.floor(at / dayMs) * dayMs, precision: 'day' }
        if (read !== null || /\p{L}{3}/u.test(text)) expect([text, read]).toEqual([text, day])
      }),
      runs,
    )
  })
})

test('ages never lie in the future, and more of a unit is longer ago', () => {
  const now = fc.date({ min: new Date('2020-01-01Z'), max: new Date('2040-01-01Z'), noInvalidDate: true })
  fc.assert(
    fc.property(fc.constantFrom(...units), fc.integer({ min: 1, max: 25 }), now, (unit, amount, date) => {
      const [less = 0, more = 0] = [amount, amount + 1].map(
        (ago) => readDate(`${ago} ${unit}s ago`, { fetchedAt: date.getTime(), language: 'en' })?.at,
      )
      expect(0 < more && more < less && less < date.getTime()).toBe(true)
    }),
  )
})

test('nothing makes it throw, and no date lies far ahead or far back', () => {
  const pieces = fc.constantFrom(
    ...['3', '12', '2025', '0050', '٣', '2568', ' ', '\u00a0', '.', ',', '/', '-', '–', ':', ' · ', '('],
    ...[
      'h',
      'ago',
      'years',
      'an',
      'feb',
      'vor',
      'Tagen',
      'il y a',
      'heures',
      'Mar',
      'mars',
      '年',
      '月',
      '日',
    ],
    ...['前', 'мая', 'г.', 'назад', 'Monday', 'T', 'Z'],
  )
  const texts = fc.oneof(
    anyText(),
    fc.array(pieces, { maxLength: 9 }).map((parts) => parts.join('')),
    fc.constantFrom(`${'Reuters · '.repeat(30)}3 hours ago`, `${'9'.repeat(150)} years ago`),
  )
  const codes = fc.oneof(fc.constantFrom(null, '', 'xx', 'zh-TW', 'en-US', ...languages()), fc.string())
  const countries = fc.oneof(fc.constantFrom(null, 'us', 'DE'), fc.string())
  fc.assert(
    fc.property(texts, codes, countries, (text, language, country) => {
      const read = readDate(text, { fetchedAt, language, country })
      if (read === null) return
      expect(read.at >= Date.UTC(1990, 0, 1) && read.at <= fetchedAt + 2 * dayMs).toBe(true)
      expect(units).toContain(read.precision)
    }),
    { numRuns: 200 },
  )
})
