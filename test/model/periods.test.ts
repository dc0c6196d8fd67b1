import fc from 'fast-check'
import { expect, test } from 'vitest'
import { localDay, type Period, periodAt, startOfDay } from '../../src/model/time.ts'

test.each<[instant: string, period: Period, timezone: string, from: string, until: string]>([
  ['2026-06-15T12:00:00Z', 'day', 'UTC', '2026-06-15T00:00:00Z', '2026-06-16T00:00:00Z'],
  ['2026-06-15T00:00:00Z', 'day', 'UTC', '2026-06-15T00:00:00Z', '2026-06-16T00:00:00Z'],
  ['2026-06-15T22:30:00Z', 'day', 'Europe/Berlin', '2026-06-15T22:00:00Z', '2026-06-16T22:00:00Z'],
  ['2026-06-15T12:00:00Z', 'day', 'Pacific/Kiritimati', '2026-06-15T10:00:00Z', '2026-06-16T10:00:00Z'],
  ['2026-03-29T12:00:00Z', 'day', 'Europe/Berlin', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
  ['2026-10-25T12:00:00Z', 'day', 'Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
  // Midnight does not exist on this day.
  ['2026-09-06T12:00:00Z', 'day', 'America/Santiago', '2026-09-06T04:00:00Z', '2026-09-07T03:00:00Z'],
  ['2026-02-28T23:59:59.999Z', 'month', 'UTC', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'],
  ['2026-12-31T23:30:00Z', 'month', 'Europe/Berlin', '2026-12-31T23:00:00Z', '2027-01-31T23:00:00Z'],
  ['2028-02-29T10:00:00Z', 'month', 'America/New_York', '2028-02-01T05:00:00Z', '2028-03-01T05:00:00Z'],
])('%s lies in a %s of %s that begins at %s and ends at %s', (instant, period, timezone, from, until) => {
  const span = periodAt(period, Date.parse(instant), timezone)
  expect(new Date(span.from).toISOString()).toBe(new Date(from).toISOString())
  expect(new Date(span.until).toISOString()).toBe(new Date(until).toISOString())
})

test('every instant lies in its period, and the next one begins where it ends', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu']
  const instants = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0) })
  fc.assert(
    fc.property(instants, fc.constantFrom(...zones), (instant, timezone) => {
      for (const period of ['day', 'month'] as const) {
        const { from, until } = periodAt(period, instant, timezone)
        expect(from <= instant && instant < until).toBe(true)
        expect(periodAt(period, until, timezone).from).toBe(until)
        expect(periodAt(period, from - 1, timezone).until).toBe(from)
      }
      const day = localDay(instant, timezone)
      expect(localDay(startOfDay(day, timezone) - 1, timezone) < day).toBe(true)
    }),
    { numRuns: 60 },
  )
})
