import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { languages, localesOf } from '../../src/catalog/normalise/dates/languages.ts'
import { readDate } from '../../src/catalog/normalise/dates/read-date.ts'

const fetchedAt = Date.parse('2026-03-17T12:00:00Z')
const dayMs = 86_400_000

const ms: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: dayMs,
  week: 7 * dayMs,
}
const units = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'] as const

/** Where the language of Intl is unclear itself: its words for a past month in Arabic are those for the future. */
const every = languages.flatMap((language) =>
  localesOf(language).map((locale) => [language, locale] as const),
)

function agoOf(amount: number, unit: (typeof units)[number]): number {
  const length = ms[unit]
  if (length !== undefined) return fetchedAt - amount * length
  const date = new Date(fetchedAt)
  // The 17th is a day of every month.
  return unit === 'year'
    ? date.setUTCFullYear(date.getUTCFullYear() - amount)
    : date.setUTCMonth(date.getUTCMonth() - amount)
}

describe.each(every)('%s of %s', (language, locale) => {
  const unit = fc.constantFrom(...units)
  const amount = fc.integer({ min: 1, max: 36 })

  test('an age in words is read back', () => {
    const format = new Intl.RelativeTimeFormat(locale, { numeric: 'always' })
    fc.assert(
      fc.property(unit, amount, (unit, amount) => {
        const text = format.format(-amount, unit)
        expect([text, readDate(text, { fetchedAt, language })]).toEqual([
          text,
          { at: agoOf(amount, unit), precision: unit },
        ])
      }),
    )
  })

  test('an age in short words is read back, or not at all', () => {
    const style = fc.constantFrom('short' as const, 'narrow' as const, 'long' as const)
    const numeric = fc.constantFrom('always' as const, 'auto' as const)
    fc.assert(
      fc.property(unit, amount, style, numeric, (unit, amount, style, numeric) => {
        const text = new Intl.RelativeTimeFormat(locale, { style, numeric }).format(-amount, unit)
        const read = readDate(text, { fetchedAt, language })
        if (read !== null) expect([text, read]).toEqual([text, { at: agoOf(amount, unit), precision: unit }])
      }),
    )
  })

  test('what lies ahead is no date', () => {
    const style = fc.constantFrom('short' as const, 'narrow' as const, 'long' as const)
    fc.assert(
      fc.property(unit, amount, style, (unit, amount, style) => {
        const text = new Intl.RelativeTimeFormat(locale, { style, numeric: 'auto' }).format(amount, unit)
        expect([text, readDate(text, { fetchedAt, language })]).toEqual([text, null])
      }),
    )
  })

  test('a day of the calendar is read back', () => {
    const days = fc.integer({ min: Date.UTC(1990, 0, 1) / dayMs, max: Math.floor(fetchedAt / dayMs) })
    const style = fc.constantFrom('medium' as const, 'long' as const, 'full' as const)
    fc.assert(
      fc.property(days, style, (day, dateStyle) => {
        const text = new Intl.DateTimeFormat(locale, { dateStyle, timeZone: 'UTC' }).format(day * dayMs)
        // In numbers it is a matter of the region, and may be none of certainty.
        const language_ = /\p{L}/u.test(text) ? language : locale.replace(/-u-.*/, '')
        expect([text, readDate(text, { fetchedAt, language: language_ })]).toEqual([
          text,
          { at: day * dayMs, precision: 'day' },
        ])
      }),
    )
  })

  test('a date with a time is its day, or none', () => {
    const instants = fc.integer({ min: Date.UTC(1990, 0, 1) / 60_000, max: Math.floor(fetchedAt / 60_000) })
    const dates = fc.constantFrom('medium' as const, 'long' as const, 'full' as const)
    const times = fc.constantFrom('short' as const, 'medium' as const)
    fc.assert(
      fc.property(instants, dates, times, (minutes, dateStyle, timeStyle) => {
        const at = minutes * 60_000
        const text = new Intl.DateTimeFormat(locale, { dateStyle, timeStyle, timeZone: 'UTC' }).format(at)
        const read = readDate(text, { fetchedAt, language })
        const day = { at: Math.floor(at / dayMs) * dayMs, precision: 'day' }
        if (read !== null) expect([text, read]).toEqual([text, day])
        if (/\p{L}{3}/u.test(text)) expect([text, read]).toEqual([text, day])
      }),
    )
  })
})

test('nothing makes it throw, and no date lies far ahead or far back', () => {
  const pieces = fc.constantFrom(
    ...[
      '3',
      '12',
      '2025',
      '٣',
      '2568',
      ' ',
      '\u00a0',
      '.',
      ',',
      '/',
      '-',
      '–',
      ' · ',
      '(',
      'h',
      'ago',
      'vor',
    ],
    ...[
      'Tagen',
      'il y a',
      'heures',
      'Mar',
      'mars',
      '年',
      '月',
      '日',
      '前',
      'мая',
      'г.',
      'назад',
      'Monday',
      'T',
      'Z',
    ],
  )
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(pieces, { maxLength: 9 }).map((parts) => parts.join('')),
  )
  const codes = fc.oneof(fc.constantFrom(null, '', 'xx', 'zh-TW', 'en-US', ...languages), fc.string())
  const countries = fc.oneof(fc.constantFrom(null, 'us', 'DE'), fc.string())
  fc.assert(
    fc.property(texts, codes, countries, (text, language, country) => {
      const read = readDate(text, { fetchedAt, language, country })
      if (read === null) return
      expect(read.at >= Date.UTC(1990, 0, 1) && read.at <= fetchedAt + 2 * dayMs).toBe(true)
      expect(units).toContain(read.precision)
    }),
    { numRuns: 1500 },
  )
})
