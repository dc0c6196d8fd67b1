import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { daily } from '../../../src/report/daily.ts'
import { headline } from '../../../src/report/headline.ts'
import { keywordStatuses, valueOn } from '../../../src/report/history/keyword-status.ts'
import { type DayCell, dayValue, type Keyword, unknown } from '../../../src/report/history/rank-history.ts'
import type { Sample } from '../../../src/report/metrics/figure.ts'
import { netGain, winnersAndLosers } from '../../../src/report/metrics/movements.ts'
import { clicks, clicksOf } from '../../../src/report/metrics/positions.ts'
import { statusesByTarget } from '../../../src/report/summary.ts'
import { testTable } from '../../support/test-table.ts'
import { aHistory, curve, histories } from './history.ts'

type One = readonly [cell: DayCell, volume: number | null, kind?: Keyword['kind']]

const sampleOf = ([cell, volume, kind = 'organic']: One): Sample => ({
  value: dayValue(cell, undefined) ?? unknown,
  kind,
  ranks: [],
  volume,
})

describe('estimated clicks a month', () => {
  testTable<[string, readonly One[], number | null, number]>([
    [
      'are volume x CTR(rank): 100 x 0.5 + 400 x 0.1',
      [
        [1, 100],
        [3, 400],
      ],
      90,
      0,
    ],
    ['an estimated rank is a rank: 100 x 0.2', [[2.5, 100]], 20, 0],
    [
      'absent has none, and is counted',
      [
        [1, 100],
        [-31, 1000],
      ],
      50,
      0,
    ],
    ['nothing ranks: no clicks, which is known', [[-31, 1000]], 0, 0],
    ['rank 4 is below the curve', [[4, 1000]], 0, 0],
    [
      'unknown is not counted',
      [
        [1, 100],
        [0, 1000],
      ],
      50,
      0,
    ],
    [
      'a keyword without volume is left out, and said to be',
      [
        [1, 100],
        [1, null],
      ],
      50,
      1,
    ],
    ['without any volume nothing is known', [[1, null]], null, 1],
    ['nor of references in AI answers', [[1, 100, 'reference']], null, 1],
    ['of news is not told by a web volume', [[1, 100, 'news']], null, 1],
    ['of nothing', [], null, 0],
  ])('%s', (_, all, value, uncounted) => {
    const figure = clicks.compute(all.map(sampleOf), { curve })
    expect(figure).toMatchObject({ value, denominator: null, uncounted })
  })

  test('the best rank counts, further results do not', () => {
    const places = {
      0: [
        [1, 0],
        [3, 1],
      ],
    } as const
    const history = aHistory([{ volume: 100, cells: [1], places }])
    expect(daily(history, 0, { curve })[0]?.figures.clicks).toEqual({
      value: 50,
      numerator: 50,
      denominator: null,
      coverage: { ranked: 1, observed: 1, expected: 1 },
      uncounted: 0,
    })
  })
})

const rounded = (value: number | null | undefined) => (value == null ? value : Number(value.toFixed(6)))

test('the clicks of a day are those of its keywords together', () => {
  fc.assert(
    fc.property(histories(), (history) => {
      for (const target of history.targets.keys())
        for (const [day, { figures }] of daily(history, target, { curve }).entries()) {
          const known = history.series.flatMap((series) => {
            const keyword = history.keywords[series.keyword] as Keyword
            if (series.target !== target) return []
            return clicksOf(keyword, valueOn(series, day) ?? unknown, curve) ?? []
          })
          const sum = known.length === 0 ? null : known.reduce((all, one) => all + one, 0)
          expect(rounded(figures.clicks.value)).toEqual(rounded(sum))
        }
    }),
  )
})

test('what winners and losers gain together is the change of the clicks', () => {
  fc.assert(
    fc.property(histories(), (history) => {
      for (const [, statuses] of statusesByTarget(keywordStatuses(history, null))) {
        const { winners, losers } = winnersAndLosers(statuses, curve)
        const change = headline(statuses, { curve }).clicks.cohort?.delta ?? 0
        expect(rounded(netGain([...winners, ...losers]) ?? 0)).toBe(rounded(change))
      }
    }),
  )
})

testTable<[string, readonly (number | null)[], number | null]>([
  ['adds gains and losses', [40, -15], 25],
  ['leaves out what is not known', [40, null], 40],
  ['is not known if nothing is', [null], null],
  ['is not known without any', [], null],
])('a net gain %s', (_, gains, net) => {
  expect(netGain(gains.map((gain) => ({ gain })))).toBe(net)
})
