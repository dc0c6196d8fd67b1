import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { localDay } from '../../src/model/time.ts'
import { testTable } from '../support/test-table.ts'

describe('the day on which an instant falls', () => {
  testTable([
    ['2026-03-01T00:00:00Z', 'UTC', '2026-03-01'],
    ['2026-03-01T23:59:59.999Z', 'UTC', '2026-03-01'],
    ['2026-03-01T04:59:59Z', 'America/New_York', '2026-02-28'],
    ['2026-03-01T05:00:00Z', 'America/New_York', '2026-03-01'],
    ['2026-02-28T15:00:00Z', 'Asia/Tokyo', '2026-03-01'],
    ['2026-02-28T18:30:00Z', 'Asia/Kolkata', '2026-03-01'],
    ['2026-02-28T18:29:59Z', 'Asia/Kolkata', '2026-02-28'],
    ['2026-02-28T18:15:00Z', 'Asia/Kathmandu', '2026-03-01'],
    ['2026-01-01T10:00:00Z', 'Pacific/Kiritimati', '2026-01-02'],
    ['2026-01-01T11:00:00Z', 'Pacific/Pago_Pago', '2026-01-01'],
    ['2026-01-01T10:59:59Z', 'Pacific/Pago_Pago', '2025-12-31'],
    ['2024-02-29T12:00:00Z', 'UTC', '2024-02-29'],
    ['2025-12-31T23:30:00Z', 'Europe/Berlin', '2026-01-01'],
  ])('%s in %s is %s', (instant, timezone, day) => {
    expect(localDay(Date.parse(instant), timezone)).toBe(day)
  })
})

const quarter = 15 * 60_000

describe('a day on which the clocks change', () => {
  testTable<[string, string, number]>([
    ['2026-03-08', 'America/New_York', 23],
    ['2026-11-01', 'America/New_York', 25],
    ['2026-03-29', 'Europe/Berlin', 23],
    ['2026-10-25', 'Europe/Berlin', 25],
    // Here it is midnight itself that is missing, or that comes twice.
    ['2026-09-06', 'America/Santiago', 23],
    ['2026-04-04', 'America/Santiago', 25],
    ['2026-10-04', 'Australia/Lord_Howe', 23.5],
    ['2026-06-01', 'America/New_York', 24],
  ])('%s in %s is one day of %d hours', (day, timezone, hours) => {
    const noon = Date.parse(`${day}T12:00:00Z`)
    const quarters = Array.from({ length: 4 * 24 * 4 }, (_, index) => noon + (index - 2 * 24 * 4) * quarter)
    const within = quarters.filter((instant) => localDay(instant, timezone) === day)
    expect(within.length / 4).toBe(hours)
    expect((within.at(-1) ?? 0) - (within[0] ?? 0)).toBe((within.length - 1) * quarter)
  })
})

test('days never go back, and are dates, wherever and whenever', () => {
  const zones = fc.constantFrom('UTC', 'America/New_York', 'Asia/Tokyo', 'Pacific/Apia', 'Africa/Casablanca')
  fc.assert(
    fc.property(zones, fc.integer({ min: 0, max: 4e12 }), fc.nat(2 * 86_400_000), (zone, instant, later) => {
      const day = localDay(instant, zone)
      expect(day).toMatch(/^\d{4}-\d\d-\d\d$/)
      expect(localDay(instant + later, zone) >= day).toBe(true)
      expect(Math.abs(Date.parse(day) - instant)).toBeLessThan(2 * 86_400_000)
    }),
  )
})
