import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Row } from '../../../src/model/result.ts'
import { addDays, daysBetween } from '../../../src/model/time.ts'
import { testTable } from '../../support/test-table.ts'
import { absent, aRanking, unknown } from '../build.ts'
import { reportOn } from '../reporting.ts'

const march = (day: number): string => addDays('2026-03-01', day - 1)

/** The report on one query and target, compared with the 10th of March, three days off at most. */
function comparedWith10th(...rankings: readonly Row[]): Row {
  const compare = { day: march(10), tolerance: 3 }
  return reportOn(rankings.map(aRanking), { compare }).rows[0] as Row
}

const latest = { date: march(20), rank: 5 }
const on = (day: number, row: Row = {}): Row => ({ date: march(day), rank: 8, ...row })

describe('with an asked day', () => {
  test.each<[string, readonly Row[], string | null, string]>([
    ['that day', [on(9), on(10), on(11), latest], march(10), 'improved'],
    ['the day before it', [on(1), on(9), on(19), latest], march(9), 'improved'],
    ['the day after it', [on(1), on(11), on(19), latest], march(11), 'improved'],
    ['of two as near the earlier', [on(8), on(12), latest], march(8), 'improved'],
    ['the nearer of two', [on(7), on(12), latest], march(12), 'improved'],
    ['the first day of the tolerance', [on(7), latest], march(7), 'improved'],
    ['the last day of the tolerance', [on(13), latest], march(13), 'improved'],
    ['none just before it', [on(6), latest], null, 'unknown'],
    ['none just after it, and it is new', [on(14), latest], null, 'new'],
    ['none, where it was observed before and after', [on(6), on(14), latest], null, 'unknown'],
    ['none, where it was never observed before', [latest], null, 'new'],
    ['none, where it is observed for the first time just before it', [on(8)], null, 'new'],
    ['a farther day where the nearest is unknown', [on(8), on(10, unknown), latest], march(8), 'improved'],
    ['unknown where nothing else is', [on(1), on(10, unknown), latest], march(10), 'unknown'],
    ['an absence', [on(9), on(10, { ...absent, depth: 10 }), latest], march(10), 'entered'],
    ['an absence of a shallow look', [on(10, { ...absent, depth: 4 }), latest], march(10), 'unknown'],
    ['a day before the current one alone', [on(10, unknown)], null, 'unknown'],
  ])('it is compared with %s', (_, rankings, previous, movement) => {
    expect(comparedWith10th(...rankings)).toMatchObject({ previous_date: previous, movement })
  })

  test('nothing is carried forward into a day without an observation', () => {
    expect(comparedWith10th(on(6), latest)).toMatchObject({
      previous_date: null,
      previous_state: null,
      previous_rank: null,
      change: null,
    })
  })

  test('the best ever is the best of all days, compared or not', () => {
    expect(comparedWith10th(on(2, { rank: 1 }), on(10), latest)).toMatchObject({
      best_rank: 1,
      best_date: march(2),
    })
  })
})

const days = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 })
const state = fc.constantFrom<Row>({}, absent, unknown)

test('the day compared with is an earlier one, within the tolerance, and none that is known is nearer', () => {
  fc.assert(
    fc.property(
      days,
      fc.array(state, { minLength: 12, maxLength: 12 }),
      fc.nat(45),
      fc.nat(9),
      (some, states, day, tolerance) => {
        const sorted = some.toSorted((a, b) => a - b).map((one, index) => on(one, states[index]))
        const asked = march(day)
        const [row] = reportOn(sorted.map(aRanking), { compare: { day: asked, tolerance } }).rows
        const away = ({ date }: Row): number => Math.abs(daysBetween(asked, String(date)))
        const possible = sorted.slice(0, -1).filter((one) => away(one) <= tolerance)
        const known = possible.filter((one) => one.state !== 'unknown')
        const nearest = Math.min(...(known.length > 0 ? known : possible).map(away))
        if (possible.length === 0) expect(row?.previous_date).toBeNull()
        else expect(away({ date: row?.previous_date ?? null })).toBe(nearest)
      },
    ),
  )
})

describe('local days', () => {
  testTable([
    ['2026-03-07', '2026-03-09', 2],
    ['2026-10-31', '2026-11-02', 2],
    ['2024-02-28', '2024-03-01', 2],
    ['2026-01-01', '2025-12-31', -1],
    ['2026-01-01', '2026-01-01', 0],
  ])('from %s to %s are %i', (from, to, count) => {
    expect(daysBetween(from, to)).toBe(count)
    expect(addDays(from, count)).toBe(to)
  })
})
