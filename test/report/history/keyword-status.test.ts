import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Row } from '../../../src/model/result.ts'
import { alignDepths, keywordStatuses } from '../../../src/report/history/keyword-status.ts'
import { type ComparisonDay, compare } from '../../../src/report/history/movement.ts'
import { type DayValue, dayValue, type RankHistory } from '../../../src/report/history/rank-history.ts'
import { bestRank } from '../../../src/report/metrics/positions.ts'
import { aRanking, unknown } from '../build.ts'
import { aHistory, aKnownCell, averageOf, histories, march } from '../metrics/history.ts'
import { reportOn } from '../reporting.ts'

const value = (cell: number, seen?: number): DayValue => dayValue(cell, seen) as DayValue

/** The rows of the `rankings` view that a history stands for. */
function rowsOf({ series, keywords, targets, days }: RankHistory): readonly Row[] {
  return days.flatMap((date, day) =>
    series.flatMap((one): readonly Row[] => {
      const observed = dayValue(one.cells[day] ?? null, one.seen[day])
      if (observed === null) return []
      const { unbrokenDepth } = observed
      return [
        aRanking({
          ...identity(keywords[one.keyword]?.query, targets[one.target]?.label),
          date,
          state: observed.state,
          rank: observed.rank,
          depth: observed.depth,
          unbroken_depth: Number.isFinite(unbrokenDepth) ? unbrokenDepth : null,
          results_ended: Number.isFinite(unbrokenDepth) ? 0 : 1,
        }),
      ]
    }),
  )
}

function identity(query = '', target = ''): Row {
  return { query, target, target_site: target }
}

const asked: fc.Arbitrary<ComparisonDay | null> = fc.option(
  fc.record({ day: fc.integer({ min: -3, max: 4 }).map(march), tolerance: fc.nat(3) }),
  { nil: null },
)

function byName(rows: readonly object[]): Readonly<Record<string, object>> {
  return Object.fromEntries(
    rows.map((row) => ['query' in row && 'target' in row ? `${row.query} ${row.target}` : '', row]),
  )
}

test('what a history comes to is what the rank table says of the same observations', () => {
  fc.assert(
    fc.property(histories(), asked, (history, compared) => {
      const { keywords, targets, series, days } = history
      const last = days.at(-1) as string
      const wanted = series.map((one) =>
        aRanking({
          ...unknown,
          ...identity(keywords[one.keyword]?.query, targets[one.target]?.label),
          date: last,
        }),
      )
      const { rows } = reportOn(rowsOf(history), { asked: wanted, compare: compared })
      const said = keywordStatuses(history, compared).map(({ series: one, current, baseline, change }) => {
        const best = bestRank(one.cells)
        return {
          ...identity(keywords[one.keyword]?.query, targets[one.target]?.label),
          date: last,
          state: current.state,
          rank: current.rank,
          previous_date: baseline === null ? null : days[baseline.day],
          previous_state: baseline?.value.state ?? null,
          previous_rank: baseline?.value.rank ?? null,
          ...change,
          best_rank: best?.rank ?? null,
          best_date: best === null ? null : days[best.day],
        }
      })
      const shown = rows.map((row) =>
        Object.fromEntries(Object.keys(said[0] ?? {}).map((key) => [key, row[key]])),
      )
      expect(byName(said)).toEqual(byName(shown))
    }),
  )
})

test('where nothing stands on the last day it is unknown, and yesterday does not stand in for it', () => {
  const [one] = keywordStatuses(aHistory([{ cells: [3, null] }]), null)
  expect(one).toMatchObject({
    current: { state: 'unknown', rank: null },
    baseline: { day: 0, value: { rank: 3 } },
    change: { movement: 'unknown', change: null },
  })
})

describe('two days, as far down as both looked', () => {
  test.each<[string, DayValue, DayValue, readonly [number, number]]>([
    ['ranks stay', value(35), value(3), [35, 3]],
    ['a rank that the other day could not see is absent on both: 20 + 1', value(35), value(-21), [21, 21]],
    ['a rank that the other day would have seen stays', value(8), value(-21), [8, 21]],
    ['in a gap it would not have been seen', value(15), value(-21, 10), [11, 11]],
    ['absent is as deep as the shallower look', value(-31), value(-11), [11, 11]],
    [
      'where the results ended, absent is absent from the rank that was left',
      value(35),
      value(-8, -1),
      [35, 36],
    ],
    ['and elsewhere as deep as was looked', value(3), value(-8, -1), [3, 8]],
  ])('%s', (_, a, b, places) => {
    const of = (one: DayValue) => averageOf([one])
    expect(alignDepths(a, b).map(of)).toEqual(places)
    expect(alignDepths(b, a).map(of)).toEqual(places.toReversed())
  })

  test('unknown stays unknown', () => {
    expect(alignDepths(value(3), value(0))).toEqual([value(3), value(0)])
  })

  test('then nothing is left that cannot be compared, and what moved, moved so before', () => {
    const aValue = fc.tuple(aKnownCell, fc.integer({ min: -1, max: 60 })).map(([cell, seen]) =>
      // Without a gap nobody looks farther than he looks.
      value(cell, cell < 0 ? Math.min(seen, -Math.trunc(cell) - 1) : undefined),
    )
    fc.assert(
      fc.property(aValue, aValue, (current, previous) => {
        const [now, before] = alignDepths(current, previous)
        const { movement } = compare(current, previous)
        expect(compare(now, before).movement).toBe(movement === 'unknown' ? 'same' : movement)
      }),
    )
  })
})
