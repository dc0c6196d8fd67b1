import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isComparison, isPeriod } from '../../../src/model/settings.ts'
import { addDays, daysBetween } from '../../../src/model/time.ts'
import { reachOf, reportPeriod } from '../../../src/report/history/period.ts'
import { testTable } from '../../support/test-table.ts'

/** Every day from one to another. */
function each(from: string, until: string): readonly string[] {
  return Array.from({ length: daysBetween(from, until) + 1 }, (_, place) => addDays(from, place))
}

const year = each('2025-11-01', '2026-11-20')

describe('the days of a period and the day that it is compared with', () => {
  testTable([
    [null, null, '2026-10-24', '2026-11-20', '2026-10-23'],
    ['28d', null, '2026-10-24', '2026-11-20', '2026-10-23'],
    // Longer than the history: it begins with its first day.
    ['9999d', '7d', '2025-11-01', '2026-11-20', '2026-11-13'],
    ['4w', null, '2026-10-24', '2026-11-20', '2026-10-23'],
    ['7d', null, '2026-11-14', '2026-11-20', '2026-11-13'],
    ['1d', null, '2026-11-20', '2026-11-20', '2026-11-19'],
    ['month', null, '2026-11-01', '2026-11-20', '2026-10-31'],
    ['month', 'previous-period', '2026-11-01', '2026-11-20', '2026-10-20'],
    ['last-month', null, '2026-10-01', '2026-10-31', '2026-09-30'],
    ['last-month', 'previous-period', '2026-10-01', '2026-10-31', '2026-09-30'],
    ['quarter', null, '2026-10-01', '2026-11-20', '2026-09-30'],
    ['quarter', 'previous-period', '2026-10-01', '2026-11-20', '2026-08-20'],
    ['all', null, '2025-11-02', '2026-11-20', '2025-11-01'],
    ['2026-02-01..2026-02-28', null, '2026-02-01', '2026-02-28', '2026-01-31'],
    ['2026-11-01..2026-12-31', null, '2026-11-01', '2026-11-20', '2026-10-31'],
    ['28d', 'year', '2026-10-24', '2026-11-20', '2025-11-20'],
    ['28d', '2026-01-15', '2026-10-24', '2026-11-20', '2026-01-15'],
    ['28d', '7d', '2026-10-24', '2026-11-20', '2026-11-13'],
  ])('%s against %s', (period, compare, from, until, day) => {
    expect(reportPeriod(year, { period, compare })).toEqual({
      from,
      until,
      compare: { day, tolerance: expect.any(Number) },
    })
  })

  test('without a period, a history that is shorter is compared with its first day', () => {
    const days = each('2026-11-10', '2026-11-20')
    expect(reportPeriod(days, { period: null, compare: null })).toEqual({
      from: '2026-11-11',
      until: '2026-11-20',
      compare: { day: '2026-11-10', tolerance: 3 },
    })
  })

  test('one day has nothing to be compared with', () => {
    const asked = { period: null, compare: null }
    expect(reportPeriod(['2026-11-20'], asked)).toEqual({
      from: '2026-11-20',
      until: '2026-11-20',
      compare: null,
    })
    expect(reportPeriod([], asked)).toBeNull()
  })

  testTable([
    ['7d', null, 3],
    ['28d', null, 7],
    ['28d', 'year', 7],
    ['28d', '7d', 3],
    ['28d', '2026-01-15', 3],
    ['quarter', 'previous-period', 12],
  ])('%s against %s looks so far around the day: %i days', (period, compare, tolerance) => {
    expect(reportPeriod(year, { period, compare })?.compare?.tolerance).toBe(tolerance)
    expect(reportPeriod(year, { period, compare }, 1)?.compare?.tolerance).toBe(1)
  })

  test('the same point of a shorter month is its last day', () => {
    const days = each('2026-01-01', '2026-03-31')
    const asked = { period: 'month', compare: 'previous-period' }
    expect(reportPeriod(days, asked)?.compare?.day).toBe('2026-02-28')
  })

  test('a period never ends before it begins, and the compared day is before its end', () => {
    const day = fc.integer({ min: 0, max: 800 }).map((days) => addDays('2025-01-01', days))
    const period = fc.constantFrom(null, '1d', '7d', '28d', '400d', 'month', 'last-month', 'quarter', 'all')
    const compare = fc.constantFrom(null, 'previous-period', 'year', '7d')
    fc.assert(
      fc.property(fc.uniqueArray(day, { minLength: 1 }), period, compare, (all, period, compare) => {
        const found = reportPeriod(all.toSorted(), { period, compare })
        expect(found).not.toBeNull()
        if (found === null) return
        expect(found.from <= found.until).toBe(true)
        if (found.compare !== null) expect(found.compare.day < found.until).toBe(true)
      }),
    )
  })
})

describe('texts that name periods and comparisons', () => {
  testTable([
    ...['7d', '28d', '4w', 'month', 'last-month', 'quarter', 'all', '2026-10-01..2026-10-31'],
    '2026-10-01..2026-10-01',
  ])('%s is a period', (text) => {
    expect(isPeriod(text)).toBe(true)
  })

  testTable([
    ...['', '0d', '7', 'd', '-7d', 'week', 'Month', '2026-10-01', '2026-10-31..2026-10-01', '999999d'],
    ...['2026-02-30..2026-03-01', '2026-10-01..', '..2026-10-01', '2026-10-01..2026-10-02..2026-10-03'],
  ])('%j is no period', (text) => {
    expect(isPeriod(text)).toBe(false)
  })

  testTable([...['previous-period', 'year', '2026-10-01', '7d', '4w']])('%s is a comparison', (text) => {
    expect(isComparison(text)).toBe(true)
  })

  testTable([...['', 'month', '2026-02-30', '0d', 'yesterday']])('%j is no comparison', (text) => {
    expect(isComparison(text)).toBe(false)
  })
})

describe('how far a chart reaches back into what was imported', () => {
  const days = { from: '2026-11-02', until: '2026-11-20' }
  testTable<[string | null, string, string]>([
    [null, '2026-11-01', ''],
    [null, '2026-10-01', '2026-10-24'],
    ['all', '2026-10-01', ''],
    ['7d', '2026-11-01', '2026-11-14'],
    ['52w', '2026-11-01', '2025-11-22'],
    ['2020-01-01..2026-11-20', '2026-11-01', '2020-01-01'],
    ['month', '2026-11-01', '2026-11-02'],
  ])('%s with a first day %s: from %j on', (period, first, reach) => {
    expect(reachOf(period, days, [first])).toBe(reach)
  })
})
