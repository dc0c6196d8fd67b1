import { describe, expect, test } from 'vitest'
import { addDays, daysBetween } from '../../src/model/time.ts'
import { serpDays, serpDaysOf } from '../../src/report/build-data.ts'
import { offeredComparisons, offeredPeriods } from '../../src/report/data.ts'
import { reportPeriod } from '../../src/report/history/period.ts'
import { testTable } from '../support/test-table.ts'

const days = Array.from({ length: 400 }, (_, place) => addDays('2026-11-20', place - 399))
const keywords = 10

function shown(
  compare: string | null,
  { unknown = [], isPage = true, recent = 0, count = keywords, of = days } = {} as {
    unknown?: readonly string[]
    isPage?: boolean
    recent?: number
    count?: number
    of?: readonly string[]
  },
): readonly string[] {
  const asked = compare === null ? null : { day: compare, tolerance: 3 }
  const wanted = serpDays(of, asked, count, { isPage, serpDays: recent })
  const isKnown = (day: number) => !unknown.includes(of[day] as string)
  return serpDaysOf(wanted)(isKnown).map(({ day, isOffered }) => `${of[day]}${isOffered ? ' offered' : ''}`)
}

describe('the days whose SERPs a report has', () => {
  test('are the last and the compared one', () => {
    expect(shown('2026-10-23', { isPage: false })).toEqual(['2026-10-23', '2026-11-20'])
    expect(shown(null, { isPage: false })).toEqual(['2026-11-19', '2026-11-20'])
  })

  test('of a keyword that was not known on the compared day, the nearest one', () => {
    expect(shown('2026-10-23', { isPage: false, unknown: ['2026-10-23'] })).toEqual([
      '2026-10-22',
      '2026-11-20',
    ])
  })

  test('and those that were asked for', () => {
    expect(shown('2026-10-23', { isPage: false, recent: 3 })).toEqual([
      ...['2026-10-23', '2026-11-18', '2026-11-19', '2026-11-20'],
    ])
  })

  test('a page of very many keywords offers no more than that', () => {
    expect(shown('2026-10-23', { count: 12_001 })).toEqual(['2026-10-23', '2026-11-20'])
    expect(shown('2026-10-23', { count: 6000 })).toHaveLength(4)
  })

  test('a job with one day has it once, one that has not run has none', () => {
    expect(shown(null, { of: days.slice(-1) })).toEqual(['2026-11-20'])
    expect(shown(null, { of: [] })).toEqual([])
  })

  const all = new Set(shown('2026-10-23').map((day) => day.replace(' offered', '')))

  testTable(
    [null, ...offeredComparisons].flatMap((compare) =>
      offeredPeriods.map((period) => [period, compare] as const),
    ),
  )('%s against %s has both of its days on a page', (period, compare) => {
    const asked = reportPeriod(days, { period, compare })
    const nearest = days
      .filter((day) => day < (asked?.until ?? ''))
      .toSorted((a, b) => distance(a) - distance(b))[0]
    expect([...all]).toContain(asked?.until)
    expect([...all]).toContain(nearest)

    function distance(day: string): number {
      return Math.abs(daysBetween(day, asked?.compare?.day ?? ''))
    }
  })
})
