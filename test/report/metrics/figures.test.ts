import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { daily } from '../../../src/report/daily.ts'
import { headline } from '../../../src/report/headline.ts'
import { keywordStatuses, valueOn } from '../../../src/report/history/keyword-status.ts'
import { absentCell, type DayCell, dayValue } from '../../../src/report/history/rank-history.ts'
import type { Sample } from '../../../src/report/metrics/figure.ts'
import {
  averagePosition,
  bestRank,
  buckets,
  distribution,
  top,
  visibility,
} from '../../../src/report/metrics/positions.ts'
import { shareOfVoice } from '../../../src/report/metrics/shares.ts'
import { testTable } from '../../support/test-table.ts'
import { aHistory, aKnownCell, curve } from './history.ts'

const unknown = 0
const absentFrom = (depth: number): number => absentCell(depth, false)

/** Keywords by their cells, one result each, with their volumes. */
function seen(cells: readonly DayCell[], volumes: readonly (number | null)[] = []): readonly Sample[] {
  return cells.map((cell, index) => ({
    value: dayValue(cell, undefined) as Sample['value'],
    kind: 'organic',
    ranks: cell !== null && cell > 0 ? [Math.trunc(cell)] : [],
    volume: volumes[index] ?? null,
  }))
}

describe('average position', () => {
  test.each<[string, readonly DayCell[], number | null, number, number]>([
    ['of ranks: (1 + 2 + 6) / 3', [1, 2, 6], 3, 9, 3],
    ['an estimated rank is a rank: (4 + 2) / 2', [4.5, 2], 3, 6, 2],
    ['absent from 30 is 31: (1 + 31) / 2', [1, absentFrom(30)], 16, 32, 2],
    ['unknown is not counted: (3 + 5) / 2', [3, unknown, 5], 4, 8, 2],
    ['where no depth is known there is no place', [7, absentFrom(0)], 7, 7, 1],
    ['of nothing', [], null, 0, 0],
    ['of nothing but unknown', [unknown], null, 0, 0],
  ])('%s', (_, cells, value, numerator, denominator) => {
    expect(averagePosition.compute(seen(cells), { curve })).toMatchObject({ value, numerator, denominator })
  })

  test('does not reward short SERPs: absent from 3 results of the 30 asked for is 31: (1 + 31 + 31) / 3', () => {
    const short = [3, 0].map((results) => ({
      ...(seen([1])[0] as Sample),
      value: dayValue(absentFrom(results), -1, 30) as Sample['value'],
    }))
    expect(averagePosition.compute([...seen([1]), ...short], { curve })).toMatchObject({
      value: 21,
      denominator: 3,
    })
  })

  const all = seen([2, 4, absentFrom(30), unknown])

  test('of what ranks alone: (2 + 4) / 2, and one observed keyword is not counted', () => {
    expect(averagePosition.compute(all, { curve, absent: 'left out' })).toEqual({
      value: 3,
      numerator: 6,
      denominator: 2,
      coverage: { ranked: 2, observed: 3, expected: 4 },
      uncounted: 1,
    })
  })

  test('with a fixed number for what is absent: (2 + 4 + 101) / 3', () => {
    expect(averagePosition.compute(all, { curve, absent: 101 })).toMatchObject({
      value: 107 / 3,
      uncounted: 0,
    })
  })
})

describe('visibility', () => {
  test.each<[string, readonly DayCell[], number | null]>([
    ['rank 1 everywhere is all: (0.5 + 0.5) / (0.5 * 2)', [1, 1], 1],
    ['ranks 1 and 2: (0.5 + 0.2) / (0.5 * 2)', [1, 2], 0.7],
    ['absent has no clicks: 0.5 / (0.5 * 2)', [1, absentFrom(10)], 0.5],
    ['nor has what lies below the curve: 0.5 / (0.5 * 2)', [1, 4], 0.5],
    ['unknown is not counted: 0.2 / (0.5 * 1)', [2, unknown], 0.4],
    ['of nothing that was observed', [unknown], null],
  ])('%s', (_, cells, value) => {
    expect(visibility.compute(seen(cells), { curve }).value).toEqual(
      value === null ? null : expect.closeTo(value, 12),
    )
  })

  test('says what it is made of, and what it covers', () => {
    expect(visibility.compute(seen([1, absentFrom(10), unknown]), { curve })).toEqual({
      value: 0.5,
      numerator: 0.5,
      denominator: 1,
      coverage: { ranked: 1, observed: 2, expected: 3 },
      uncounted: 0,
    })
  })
})

describe('share of voice', () => {
  test('is the example that STAT gives: (100 * 20 % + 10,000 * 5 %) / 10,100 = 520 / 10,100', () => {
    const rates = [0.2, 0.15, 0.1, 0.07, 0.05]
    const all = seen([1, 5], [100, 10_000])
    expect(shareOfVoice.compute(all, { curve: { ...curve, rates } })).toMatchObject({
      numerator: 520,
      denominator: 10_100,
    })
    expect(shareOfVoice.compute(all, { curve: { ...curve, rates } }).value).toBeCloseTo(0.0515, 4)
  })

  test('counts all results of the target, as STAT does: 100 * (0.5 + 0.1) / 100', () => {
    const history = aHistory([
      {
        volume: 100,
        cells: [3, 1],
        places: {
          1: [
            [1, 0],
            [3, 1],
          ],
        },
      },
    ])
    const { share_of_voice: share } = headline(keywordStatuses(history, null), { curve })
    expect(share.value).toBeCloseTo(0.6, 12)
    expect(share.cohort).toMatchObject({ now: { numerator: 60 }, before: { numerator: 10 } })
    expect(daily(history, 0, { curve }).map(({ figures }) => figures.share_of_voice.numerator)).toEqual([
      10, 60,
    ])
  })

  test('of a further result that the other day could not see nothing counts in the comparison', () => {
    const places = {
      1: [
        [1, 0],
        [3, 1],
      ],
    } as const
    const [to, seenTo] = [-3, 2]
    const history = aHistory([{ volume: 100, cells: [to, 1], seen: { 0: seenTo }, places }])
    expect(headline(keywordStatuses(history, null), { curve }).share_of_voice).toMatchObject({
      numerator: 60,
      cohort: { now: { numerator: 50 }, before: { numerator: 0 } },
    })
  })

  test.each<[string, readonly DayCell[], readonly (number | null)[], number | null, number]>([
    ['absent has no clicks: 100 * 0.5 / (100 + 300)', [1, absentFrom(10)], [100, 300], 0.125, 0],
    ['unknown is not counted: 100 * 0.5 / 100', [1, unknown], [100, 300], 0.5, 0],
    ['nor is what has no volume: 100 * 0.5 / 100, one left out', [1, 1], [100, null], 0.5, 1],
    ['unknown without volume is not left out, for it was not observed', [1, unknown], [100, null], 0.5, 0],
    ['nobody searches', [1], [0], null, 0],
    ['no volume at all', [1, 2], [], null, 2],
  ])('%s', (_, cells, volumes, value, uncounted) => {
    expect(shareOfVoice.compute(seen(cells, volumes), { curve })).toMatchObject({ value, uncounted })
  })
})

describe('distribution', () => {
  testTable<[DayCell, string]>([
    [1, '1'],
    [2, '2-3'],
    [3.5, '2-3'],
    [4, '4-10'],
    [10, '4-10'],
    [11, '11-20'],
    [20, '11-20'],
    [21, '21-50'],
    [50, '21-50'],
    [51, '51-100'],
    [100, '51-100'],
    [101, '>100'],
    [absentFrom(100), 'absent'],
    [absentFrom(0), 'absent'],
    [unknown, 'unknown'],
  ])('%d is in the bucket %s alone', (cell, bucket) => {
    const none = Object.fromEntries(buckets.map((one) => [one, 0]))
    expect(distribution(seen([cell]).map(({ value }) => value))).toEqual({ ...none, [bucket]: 1 })
  })

  test('the top is added up', () => {
    const counts = distribution(seen([1, 2, 3, 4, 11, absentFrom(30)]).map(({ value }) => value))
    expect([top(counts, 1), top(counts, 3), top(counts, 10), top(counts, 100)]).toEqual([1, 3, 4, 5])
  })

  test('adds up to all keywords', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(aKnownCell, fc.constant(0))), (cells) => {
        const counts = distribution(seen(cells).map(({ value }) => value))
        expect(Object.values(counts).reduce((sum, one) => sum + one, 0)).toBe(cells.length)
      }),
    )
  })
})

describe('best rank', () => {
  test.each<[string, readonly DayCell[], ReturnType<typeof bestRank>]>([
    ['the lowest', [5, 3, 8], { rank: 3, day: 1 }],
    ['the first day with it', [5, 3, 4, 3], { rank: 3, day: 1 }],
    ['an estimated one, too', [5, 3.5], { rank: 3, day: 1 }],
    ['none of absence', [absentFrom(2), 9, 0, null], { rank: 9, day: 1 }],
    ['none where it never ranked', [absentFrom(2), 0, null], null],
  ])('is %s', (_, cells, best) => {
    expect(bestRank(cells)).toEqual(best)
  })
})

test('shares are between 0 and 1, and what is unknown changes nothing but what is expected', () => {
  const volumes = fc.option(fc.nat(1000), { nil: null })
  const keywords = fc.array(fc.tuple(fc.oneof(aKnownCell, fc.constant(0)), volumes))
  fc.assert(
    fc.property(keywords, volumes, (all, volume) => {
      const cells = all.map(([cell]) => cell)
      const some = seen(
        cells,
        all.map(([, one]) => one),
      )
      const more = [...some, ...seen([unknown], [volume])]
      for (const metric of [
        (one: readonly Sample[]) => visibility.compute(one, { curve }),
        (one: readonly Sample[]) => shareOfVoice.compute(one, { curve }),
        (one: readonly Sample[]) => averagePosition.compute(one, { curve }),
      ]) {
        const figure = metric(some)
        const { coverage } = figure
        expect(metric(more)).toEqual({ ...figure, coverage: { ...coverage, expected: all.length + 1 } })
        expect(coverage.ranked).toBeLessThanOrEqual(coverage.observed)
        expect(coverage.observed).toBeLessThanOrEqual(coverage.expected)
      }
      for (const { value } of [visibility.compute(some, { curve }), shareOfVoice.compute(some, { curve })]) {
        expect(value ?? 0).toBeGreaterThanOrEqual(0)
        expect(value ?? 0).toBeLessThanOrEqual(1)
      }
    }),
  )
})

test('an observation is as its cell says, on days that the series has', () => {
  const series = {
    keyword: 0,
    target: 0,
    cells: [3, -31],
    seen: { 1: -1 },
    absentDepths: [],
    links: [],
    places: {},
  }
  expect(valueOn(series, 0)).toMatchObject({ state: 'ranked', rank: 3 })
  expect(valueOn(series, 1)).toMatchObject({ state: 'absent', unbrokenDepth: Number.POSITIVE_INFINITY })
  expect(valueOn(series, 2)).toBeNull()
})
