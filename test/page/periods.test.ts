import { describe, expect, test } from 'vitest'
import { addDays } from '../../src/model/time.ts'
import { knownComparison, knownPeriod, periodOf, periodsIn, rangeOf } from '../../src/report/choice.ts'
import { reportPeriod } from '../../src/report/history/period.ts'
import { testTable } from '../support/test-table.ts'

/** Every second day of a year, so that some days have no run. */
const days = Array.from({ length: 183 }, (_, place) => addDays('2025-11-21', 2 * place))
const last = '2026-11-20'

describe('days that are chosen freely', () => {
  testTable<[string, string, string | null]>([
    ['2026-11-02', '2026-11-10', '2026-11-02 to 2026-11-10'],
    ['2026-11-10', '2026-11-02', '2026-11-02 to 2026-11-10'],
    ['2020-01-01', '2026-01-01', '2025-11-21 to 2026-01-01'],
    ['2026-11-01', '2030-01-01', `2026-11-01 to ${last}`],
    ['2026-11-03', '2026-11-03', '2026-11-02 to 2026-11-03'],
    ['2019-01-01', '2019-12-31', null],
  ])('from %s until %s are a range with something in it: %s', (from, until, expected) => {
    const range = rangeOf(days, from, until)
    expect(range === null ? null : `${range.from} to ${range.until}`).toBe(expected)
  })

  testTable<[string, string]>([
    ['28d', '28d'],
    ['2026-11-10..2026-11-02', ''],
    ['2026-11-02..2030-01-01', `2026-11-02..${last}`],
    ['1999-01-01..1999-02-01', ''],
    ['soon', ''],
  ])('a period %j of the address is shown as %j', (text, known) => {
    expect(knownPeriod(text, days)).toBe(known)
  })

  testTable<[string, string]>([
    ['1d', '1d'],
    ['2026-01-01', '2026-01-01'],
    [last, ''],
    ['2019-01-01', ''],
    ['soon', ''],
  ])('a comparison %j of the address is shown as %j', (text, known) => {
    expect(knownComparison(text, days)).toBe(known)
  })
})

test('periods are offered for which there is a day to compare with', () => {
  expect(periodsIn(days)).toEqual(['7d', '28d', '30d', 'month', 'last-month', 'quarter', 'all'])
  expect(periodsIn(days.slice(-6))).toEqual(['7d', 'all'])
  expect(periodsIn([])).toEqual([])
})

describe('what is chosen on a page', () => {
  const reportOf = (period: string | null, compare: string | null, until = last) => {
    const requestedPeriod = { period, compare }
    const history = { days: days.filter((day) => day <= until) }
    return { requestedPeriod, history, period: reportPeriod(history.days, requestedPeriod) }
  }

  testTable<[string | null, string | null, string, string, string, string]>([
    [null, null, '', '', '2026-10-24', '2026-10-23'],
    [null, null, '7d', '', '2026-11-14', '2026-11-13'],
    [null, null, '', '1d', '2026-10-24', '2026-11-19'],
    [null, 'year', '7d', '', '2026-11-14', '2025-11-20'],
    ['month', null, '', 'previous-period', '2026-11-01', '2026-10-20'],
    [null, null, '2026-08-01..2026-08-31', '', '2026-08-01', '2026-07-31'],
    [null, '2026-09-01', '2026-08-01..2026-08-31', '', '2026-08-01', '2026-07-31'],
  ])('of a report of %s against %s, %j against %j is from %s, compared with %s', (...row) => {
    const [ofReport, compareOfReport, period, compare, from, day] = row
    const found = periodOf(reportOf(ofReport, compareOfReport), { period, compare })
    expect([found?.from, found?.compare?.day]).toEqual([from, day])
  })

  test('a report of the last month stays of that month, though its days end with it', () => {
    const data = { ...reportOf('last-month', null), history: { days: days.filter((day) => day < '2026-11') } }
    expect(periodOf(data, { period: '', compare: '1d' })).toMatchObject({
      from: '2026-10-01',
      until: '2026-10-31',
    })
  })
})
