import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { latestSlot, nextSlot, slotsBetween } from '../../src/schedule/slots.ts'
import { testTable } from '../support/test-table.ts'
import { slotsByWalking, walk } from './wall-clock.ts'

const zones = [
  'America/New_York',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'America/St_Johns',
  'America/Havana',
  'Asia/Beirut',
  'Africa/Cairo',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'UTC',
]

const patterns = [
  '*/30 * * * *',
  '15 * * * *',
  '30 */2 * * *',
  '0 0-23 * * *',
  '*/20 0-3 * * *',
  '30 2 * * *',
  '0 0 * * *',
  '59 23 * * 7',
  '30 1,2,3 * 3,4,10,11 *',
  '0 0,12 1 * 5',
  '5-59/10 23-23 8,25-31 * 0-6/3',
  '0 * 1 * 1',
]

describe.each([
  ['spring', Date.UTC(2026, 1, 12), Date.UTC(2026, 4, 3)],
  ['autumn', Date.UTC(2026, 8, 29), Date.UTC(2026, 10, 7)],
])('slots are those that a walk through every minute of the %s of 2026 finds', (_, from, until) => {
  // The other zones keep one time all year.
  testTable(zones.slice(0, 8))('%s', (zone) => {
    const minutes = walk(zone, from, until)
    // Where the walk begins, nothing is known of the time before.
    const between = (slots: Iterable<number>): readonly number[] =>
      [...slots].filter((slot) => slot >= from + 86_400_000 && slot < until - 86_400_000)
    for (const pattern of patterns) {
      const walked = between(slotsByWalking(pattern, minutes))
      expect(walked.length).toBeGreaterThan(4)
      expect(between(slotsBetween(pattern, zone, from, until)), pattern).toEqual(walked)
    }
  })
})

/** Slots of days of UTC, without the year. */
function slots(pattern: string, zone: string, day: string, days = 1): string {
  const from = Date.parse(`${day}T00:00:00Z`)
  const found = [...slotsBetween(pattern, zone, from, from + days * 86_400_000)]
  return found.map((slot) => new Date(slot).toISOString().slice(5, 16).replace('T', ' ')).join(', ')
}

testTable([
  // New York loses 2:00 to 3:00 on 8 March, at 7:00 UTC, and sees 1:00 to 2:00 twice on 1 November, until 6:00 UTC.
  ['30 2 * * *', 'America/New_York', '2026-03-08', '03-08 07:00'],
  ['0,30 2 * * *', 'America/New_York', '2026-03-08', '03-08 07:00'],
  ['0 2,3 * * *', 'America/New_York', '2026-03-08', '03-08 07:00'],
  ['30 2,3 * * *', 'America/New_York', '2026-03-08', '03-08 07:00, 03-08 07:30'],
  ['30 1-3 * * *', 'America/New_York', '2026-03-08', '03-08 06:30, 03-08 07:00, 03-08 07:30'],
  ['30 1 * * *', 'America/New_York', '2026-11-01', '11-01 05:30'],
  ['30 1,2 * * *', 'America/New_York', '2026-11-01', '11-01 05:30, 11-01 07:30'],
  // Lord Howe is half an hour off.
  ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03', '10-03 15:30'],
  ['45 1 * * *', 'Australia/Lord_Howe', '2026-04-04', '04-04 14:45'],
  // Havana has no midnight on 8 March, and two on 1 November.
  ['0 0 * * *', 'America/Havana', '2026-03-08', '03-08 05:00'],
  ['0 0 8 3 *', 'America/Havana', '2026-03-08', '03-08 05:00'],
  ['30 0 * * *', 'America/Havana', '2026-11-01', '11-01 04:30'],
  ['0 0 * * *', 'Asia/Beirut', '2026-03-28', '03-28 22:00'],
  ['0 0 * * *', 'Africa/Cairo', '2026-04-23', '04-23 22:00'],
  ['0 6 * * *', 'Asia/Kathmandu', '2026-07-01', '07-01 00:15'],
  ['20 10 5 6 7 *', 'UTC', '2026-07-06', '07-06 05:10'],
  ['0 30 2 8 3 *', 'America/New_York', '2026-03-08', '03-08 07:00'],
])('%s in %s on %s', (pattern, zone, day, expected) => {
  expect(slots(pattern, zone, day)).toBe(expected)
})

test('an hour of every hour is each hour that exists: two in the repeated one, none made up in the gap', () => {
  const spring = slots('*/30 * * * *', 'America/New_York', '2026-03-08').split(', ')
  const autumn = slots('*/30 * * * *', 'America/New_York', '2026-11-01').split(', ')
  expect([spring.length, autumn.length]).toEqual([48, 48])
  expect(slots('15 * * * *', 'Australia/Lord_Howe', '2026-10-03').split(', ').slice(14, 16)).toEqual([
    '10-03 14:45',
    '10-03 16:15',
  ])
})

test('a day that a zone left out runs once, when the next begins', () => {
  expect(slots('0 6,18 * * *', 'Pacific/Apia', '2011-12-29', 3)).toBe(
    '12-29 04:00, 12-29 16:00, 12-30 04:00, 12-30 10:00, 12-30 16:00, 12-31 04:00, 12-31 16:00',
  )
  expect(slots('0 6 30 12 *', 'Pacific/Apia', '2011-12-29', 3)).toBe('12-30 10:00')
  expect(slots('0 */6 * * *', 'Pacific/Apia', '2011-12-30')).toBe(
    '12-30 04:00, 12-30 10:00, 12-30 16:00, 12-30 22:00',
  )
})

describe('laws of slots', () => {
  const numRuns = 75
  const field = (least: number, greatest: number): fc.Arbitrary<string> =>
    fc.oneof(
      fc.constant('*'),
      fc.integer({ min: least, max: greatest }).map(String),
      fc
        .tuple(fc.integer({ min: least, max: greatest }), fc.integer({ min: 0, max: 5 }))
        .map(([from, more]) =>
          more === 0 ? `*/${from + 1 - least}` : `${from}-${Math.min(from + more, greatest)}`,
        ),
    )
  const pattern = fc
    .tuple(
      fc.integer({ min: 0, max: 59 }).map(String),
      field(0, 23),
      fc.constantFrom('*', '*', '1-10', '28'),
      fc.constant('*'),
      fc.constantFrom('*', '*', '1', 'sun'),
    )
    .map((fields) => fields.join(' '))
  const zone = fc.constantFrom(...zones)
  const instant = fc.integer({ min: Date.UTC(2009, 0, 1), max: Date.UTC(2029, 0, 1) })
  const span = fc.integer({ min: 0, max: 10 * 86_400_000 })

  test('wherever a time is cut in two, its parts have the slots of the whole, each once and in order', () => {
    fc.assert(
      fc.property(pattern, zone, instant, span, span, (text, where, from, first, second) => {
        const whole = [...slotsBetween(text, where, from, from + first + second)]
        const parts = [
          ...slotsBetween(text, where, from, from + first),
          ...slotsBetween(text, where, from + first, from + first + second),
        ]
        expect(parts).toEqual(whole)
        expect([...new Set(whole)].sort((a, b) => a - b)).toEqual(whole)
      }),
      { numRuns },
    )
  })

  test('the latest slot and the next have none between them', () => {
    fc.assert(
      fc.property(pattern, zone, instant, (text, where, now) => {
        const latest = latestSlot(text, where, now) as number
        const next = nextSlot(text, where, now) as number
        expect(latest).toBeLessThanOrEqual(now)
        expect(next).toBeGreaterThan(now)
        expect([...slotsBetween(text, where, latest, next + 1)]).toEqual([latest, next])
      }),
      { numRuns },
    )
  })
})

test('a 29 February is found eight years away, and the second before a slot is not the slot', () => {
  const leap = Date.UTC(2104, 1, 29, 6)
  expect(nextSlot('0 6 29 2 *', 'UTC', Date.UTC(2096, 1, 29, 6))).toBe(leap)
  expect(latestSlot('0 6 29 2 *', 'UTC', leap - 1)).toBe(Date.UTC(2096, 1, 29, 6))
  expect(latestSlot('0 6 29 2 *', 'UTC', leap)).toBe(leap)
})
