import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readDate } from '../../src/catalog/normalise/dates/read-date.ts'

const fetchedAt = Date.parse('2026-03-31T12:34:56.789Z')

function publishedAt(date: string, fetchedAt: number): string | null {
  const read = readDate(date, { fetchedAt, language: 'en' })
  return read === null ? null : new Date(read.at).toISOString()
}

describe('ages count back from when the answer came', () => {
  test.each<[string, string]>([
    ['just now', '2026-03-31T12:34:56.789Z'],
    ['Now', '2026-03-31T12:34:56.789Z'],
    ['today', '2026-03-31T12:34:56.789Z'],
    ['0 minutes ago', '2026-03-31T12:34:56.789Z'],
    ['1 second ago', '2026-03-31T12:34:55.789Z'],
    ['45 seconds ago', '2026-03-31T12:34:11.789Z'],
    ['30 secs ago', '2026-03-31T12:34:26.789Z'],
    ['a minute ago', '2026-03-31T12:33:56.789Z'],
    ['one minute ago', '2026-03-31T12:33:56.789Z'],
    ['12 mins ago', '2026-03-31T12:22:56.789Z'],
    ['12 min ago', '2026-03-31T12:22:56.789Z'],
    ['12m', '2026-03-31T12:22:56.789Z'],
    ['90 minutes ago', '2026-03-31T11:04:56.789Z'],
    ['an hour ago', '2026-03-31T11:34:56.789Z'],
    ['An Hour Ago', '2026-03-31T11:34:56.789Z'],
    ['1 hour ago', '2026-03-31T11:34:56.789Z'],
    ['3 HOURS AGO', '2026-03-31T09:34:56.789Z'],
    ['3 hrs ago', '2026-03-31T09:34:56.789Z'],
    ['3h', '2026-03-31T09:34:56.789Z'],
    ['3h ago', '2026-03-31T09:34:56.789Z'],
    ['3\u00a0hours\u00a0ago', '2026-03-31T09:34:56.789Z'],
    ['3\u202fhours ago', '2026-03-31T09:34:56.789Z'],
    [' 3  hours\tago ', '2026-03-31T09:34:56.789Z'],
    ['3 hours ago -', '2026-03-31T09:34:56.789Z'],
    ['3 hours ago — ', '2026-03-31T09:34:56.789Z'],
    ['3 hours ago ·', '2026-03-31T09:34:56.789Z'],
    ['13 hours ago', '2026-03-30T23:34:56.789Z'],
    ['yesterday', '2026-03-30T12:34:56.789Z'],
    ['Yesterday', '2026-03-30T12:34:56.789Z'],
    ['a day ago', '2026-03-30T12:34:56.789Z'],
    ['2 days ago', '2026-03-29T12:34:56.789Z'],
    ['2d', '2026-03-29T12:34:56.789Z'],
    ['31 days ago', '2026-02-28T12:34:56.789Z'],
    ['1 week ago', '2026-03-24T12:34:56.789Z'],
    ['2 wks ago', '2026-03-17T12:34:56.789Z'],
    ['3w ago', '2026-03-10T12:34:56.789Z'],
    ['1 month ago', '2026-02-28T12:34:56.789Z'],
    ['2 months ago', '2026-01-31T12:34:56.789Z'],
    ['3 mo ago', '2025-12-31T12:34:56.789Z'],
    ['4 mos ago', '2025-11-30T12:34:56.789Z'],
    ['13 months ago', '2025-02-28T12:34:56.789Z'],
    ['25 months ago', '2024-02-29T12:34:56.789Z'],
    ['a year ago', '2025-03-31T12:34:56.789Z'],
    ['10 years ago', '2016-03-31T12:34:56.789Z'],
    ['2 yrs ago', '2024-03-31T12:34:56.789Z'],
    ['5y', '2021-03-31T12:34:56.789Z'],
  ])('%o -> %s', (date, instant) => {
    expect(publishedAt(date, fetchedAt)).toBe(instant)
  })
})

test.each([
  ['2028-02-29T00:00:00.000Z', '1 year ago', '2027-02-28T00:00:00.000Z'],
  ['2028-02-29T23:59:59.999Z', '4 years ago', '2024-02-29T23:59:59.999Z'],
  ['2028-03-01T00:00:00.000Z', '1 day ago', '2028-02-29T00:00:00.000Z'],
  ['2027-03-01T00:00:00.000Z', 'yesterday', '2027-02-28T00:00:00.000Z'],
  ['2028-03-30T06:00:00.000Z', '1 month ago', '2028-02-29T06:00:00.000Z'],
  ['2026-01-15T06:00:00.000Z', '1 month ago', '2025-12-15T06:00:00.000Z'],
  ['2026-12-31T06:00:00.000Z', '6 months ago', '2026-06-30T06:00:00.000Z'],
  ['2026-01-01T00:10:00.000Z', '11 minutes ago', '2025-12-31T23:59:00.000Z'],
])('at %s, %o is %s', (now, date, instant) => {
  expect(publishedAt(date, Date.parse(now))).toBe(instant)
})

describe('days of the calendar begin at midnight in UTC', () => {
  test.each<[string, string]>([
    ['Jan 5, 2026', '2026-01-05'],
    ['Jan 05, 2026', '2026-01-05'],
    ['January 5, 2026', '2026-01-05'],
    ['JANUARY 5, 2026', '2026-01-05'],
    ['jan 5 2026', '2026-01-05'],
    ['Jan. 5, 2026', '2026-01-05'],
    ['Jan\u00a05,\u00a02026', '2026-01-05'],
    ['Jan 5, 2026 —', '2026-01-05'],
    ['January 1st, 2026', '2026-01-01'],
    ['March 22nd, 2026', '2026-03-22'],
    ['May 3, 2025', '2025-05-03'],
    ['Sept 9, 2025', '2025-09-09'],
    ['Sep. 9, 2025', '2025-09-09'],
    ['Dec 31, 1999', '1999-12-31'],
    ['5 Jan 2026', '2026-01-05'],
    ['5 January 2026', '2026-01-05'],
    ['05 Jan. 2026', '2026-01-05'],
    ['5 Jan, 2026', '2026-01-05'],
    ['3rd May 2025', '2025-05-03'],
    ['12th August 2025', '2025-08-12'],
    ['31 Oct 2025', '2025-10-31'],
    ['Feb 29, 2024', '2024-02-29'],
    ['29 Feb 2000', '2000-02-29'],
    ['Mon, Jan 5, 2026', '2026-01-05'],
    ['2026/01/05', '2026-01-05'],
    ['2026-01-05', '2026-01-05'],
    ['2024-02-29', '2024-02-29'],
  ])('%o -> %s', (date, day) => {
    expect(publishedAt(date, fetchedAt)).toBe(`${day}T00:00:00.000Z`)
  })
})

test.each<[string, string]>([
  ['2026-01-05T10:20:30Z', '2026-01-05T10:20:30.000Z'],
  ['2026-01-05T10:20Z', '2026-01-05T10:20:00.000Z'],
  ['2026-01-05T10:20:30.5Z', '2026-01-05T10:20:30.500Z'],
  ['2026-01-05t10:20:30z', '2026-01-05T10:20:30.000Z'],
  ['2026-01-05T00:20:30+02:00', '2026-01-04T22:20:30.000Z'],
  ['2026-01-05T10:20:30-0530', '2026-01-05T15:50:30.000Z'],
])('the timestamp %s is %s', (date, instant) => {
  expect(publishedAt(date, fetchedAt)).toBe(instant)
})

test.each([
  [
    'days that are not in the calendar',
    [
      'Feb 30, 2026',
      'Feb 29, 2026',
      'Feb 29, 2100',
      'Feb 29, 1900',
      '31 April 2026',
      'Jan 0, 2026',
      'Jan 32, 2026',
      '2026-02-29',
      '2026-13-01',
      '2026-00-10',
      '2026-01-00',
    ],
  ],
  [
    'instants that are not on the clock',
    [
      '2026-02-30T10:00:00Z',
      '2026-04-31T10:00:00+02:00',
      '2026-01-05T25:00:00Z',
      '2026-01-05T10:60:00Z',
      '2026-01-05T10:00:00+99:99',
    ],
  ],
  [
    'days and months in an order that cannot be told',
    ['04/03/2025', '31/04/2026', '1/2/26', '04.03.2025', '04-03-2025'],
  ],
  ['a month or a year alone, a year that is short or long', ['May', '2026', 'Jan 5, 26', 'Jan 5, 12026']],
  [
    'other months',
    ['Mayo 5, 2025', 'Mars 5, 2025', '5 juin 2025', 'Foo 5, 2025', 'Ma 5, 2025', 'Decembre 5, 2025'],
  ],
  ['other languages', ['hace 3 horas', 'vor 3 Stunden', 'il y a 3 heures', '3 時間前', '5 ago']],
  [
    'words that look like ages',
    ['am', 'ad', 'as', 'any', 'ones', 'amin', '3 moons ago', '3 ago', 'ago', 'hours ago', '3 hoursago'],
  ],
  ['the future', ['in 3 hours', '3 hours from now', 'tomorrow', '-3 hours ago', 'May 5, 2026', '2026-04-03']],
  [
    'what is no number',
    ['1.5 hours ago', '½ hour ago', '3,000 hours ago', 'a few hours ago', 'two hours ago'],
  ],
  [
    'more than a date',
    [
      'Updated 3 hours ago',
      '3 hours ago by Ann',
      '3 hours and 2 minutes ago',
      'Tue, Jan 5, 2026',
      'yesterday at 5 pm',
      'soon',
      'LIVE',
      '-',
      ' ',
      '',
    ],
  ],
  [
    'years before there were any',
    [
      '2000 years ago',
      '9999 years ago',
      'Jan 5, 0076',
      '0076-01-05',
      '0076-01-05T00:00:00Z',
      '99999 days ago',
      `${'9'.repeat(150)} years ago`,
    ],
  ],
])('nothing is made of %s', (_, dates) => {
  const wrong = dates.filter((date) => publishedAt(date, fetchedAt) !== null)
  expect(wrong).toEqual([])
})

test('every day since 1990 is read in every calendar form', () => {
  const days = fc.integer({
    min: Date.UTC(1990, 0, 1) / 86_400_000,
    max: Date.UTC(2026, 2, 31) / 86_400_000,
  })
  fc.assert(
    fc.property(days, fc.constantFrom('short' as const, 'long' as const), (day, month) => {
      const date = new Date(day * 86_400_000)
      for (const locale of ['en-US', 'en-GB'])
        expect(
          publishedAt(
            date.toLocaleDateString(locale, {
              day: 'numeric',
              month,
              year: 'numeric',
              timeZone: 'UTC',
            }),
            fetchedAt,
          ),
        ).toBe(date.toISOString())
      expect(publishedAt(date.toISOString().slice(0, 10), fetchedAt)).toBe(date.toISOString())
      expect(publishedAt(date.toISOString(), fetchedAt)).toBe(date.toISOString())
    }),
  )
})

test('ages never lie in the future, and more of a unit is longer ago', () => {
  const units = fc.constantFrom('second', 'minute', 'hour', 'day', 'week', 'month', 'year')
  const now = fc.date({ min: new Date('2020-01-01Z'), max: new Date('2040-01-01Z'), noInvalidDate: true })
  fc.assert(
    fc.property(units, fc.integer({ min: 1, max: 25 }), now, (unit, amount, date) => {
      const less = publishedAt(`${amount} ${unit}s ago`, date.getTime()) ?? ''
      const more = publishedAt(`${amount + 1} ${unit}s ago`, date.getTime()) ?? ''
      expect(more < less && less < date.toISOString()).toBe(true)
    }),
  )
})

test('whatever is written, an instant is one of our time or none', () => {
  const pieces = fc.constantFrom(
    '3',
    '29',
    '0050',
    '2026',
    ' ',
    '-',
    ':',
    'T',
    'Z',
    'feb',
    'May',
    'h',
    'years',
    ' ago',
    'an',
    ',',
  )
  const dates = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 9 }).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(dates, (date) => {
      const instant = publishedAt(date, fetchedAt)
      if (instant !== null) expect(instant >= '1990' && instant < '2026-04-03').toBe(true)
    }),
    { numRuns: 500 },
  )
})
