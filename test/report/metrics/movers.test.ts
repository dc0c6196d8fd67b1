import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { keywordStatuses } from '../../../src/report/history/keyword-status.ts'
import type { RankHistory } from '../../../src/report/history/rank-history.ts'
import {
  byWorthOfMovement,
  countMovements,
  type Mover,
  movementNames,
  winnersAndLosers,
} from '../../../src/report/metrics/movements.ts'
import { headToHead } from '../../../src/report/metrics/shares.ts'
import { statusesByTarget } from '../../../src/report/summary.ts'
import { type ASeries, aCell, aHistory, curve, histories } from './history.ts'

const counted = (history: RankHistory) =>
  countMovements(keywordStatuses(history, null).map(({ change }) => change))

describe('movements', () => {
  test('are counted by what they are', () => {
    const cells = [
      [5, 3],
      [3, 5],
      [4, 4],
      [-11, 8],
      [8, -11],
      [null, 2],
      [0, 2],
      [-11, 35],
    ]
    const all = cells.map((one, index): ASeries => ({ query: `q${index}`, cells: one }))
    expect(counted(aHistory(all))).toEqual({
      improved: 1,
      declined: 1,
      same: 1,
      entered: 1,
      left: 1,
      new: 1,
      // Unknown the day before, and deeper than was looked the day before.
      unknown: 2,
    })
  })

  test('add up to all, and turn round when the days do', () => {
    const observed = aCell.filter((cell) => cell !== null)
    fc.assert(
      fc.property(histories(observed, { min: 2, max: 2 }), (history) => {
        const [there, back] = [counted(history), counted(turned(history))]
        expect(movementNames.reduce((sum, name) => sum + there[name], 0)).toBe(history.series.length)
        expect(back).toEqual({
          ...there,
          improved: there.declined,
          declined: there.improved,
          entered: there.left,
          left: there.entered,
        })
      }),
    )
  })
})

/** Both days exchanged. */
function turned(history: RankHistory): RankHistory {
  return {
    ...history,
    series: history.series.map((one) => ({
      ...one,
      cells: one.cells.toReversed(),
      seen: Object.fromEntries(Object.entries(one.seen).map(([day, seen]) => [1 - Number(day), seen])),
    })),
  }
}

describe('winners and losers', () => {
  const movers = (...all: readonly ASeries[]) => {
    const { winners, losers } = winnersAndLosers(keywordStatuses(aHistory(all), null), curve)
    const told = ({ status, gain }: Mover) => [
      status.keyword.query,
      gain === null ? null : Number(gain.toFixed(9)),
    ]
    return { winners: winners.map(told), losers: losers.map(told) }
  }

  test('are sorted by clicks: CTR now minus CTR before, times volume', () => {
    expect(
      movers(
        // (0.5 - 0.2) * 100
        { query: 'small, to the top', volume: 100, cells: [2, 1] },
        // (0.2 - 0.1) * 1000
        { query: 'large, to the second', volume: 1000, cells: [3, 2] },
        // (0.1 - 0) * 500
        { query: 'entered', volume: 500, cells: [-11, 3] },
        // 0 - 0.5 * 10
        { query: 'left from the top', volume: 10, cells: [1, -11] },
        // (0.1 - 0.2) * 100
        { query: 'from the second', volume: 100, cells: [2, 3] },
        { query: 'same', volume: 100, cells: [1, 1] },
        { query: 'new', volume: 100, cells: [null, 1] },
        { query: 'unknown', volume: 100, cells: [1, 0] },
      ),
    ).toEqual({
      winners: [
        ['large, to the second', 100],
        ['entered', 50],
        ['small, to the top', 30],
      ],
      losers: [
        ['from the second', -10],
        ['left from the top', -5],
      ],
    })
  })

  test('without volumes, rank 2 lost comes before rank 40 lost, and below the curve the better rank', () => {
    expect(
      movers(
        { query: 'far below', cells: [40, -51] },
        { query: 'a step from 12', cells: [12, 13] },
        { query: 'many steps from 12', cells: [12, 30] },
        // 0 - 0.2
        { query: 'from the second', cells: [2, -51] },
        { query: 'out from 12', cells: [12, -51] },
      ).losers,
    ).toEqual([
      ['from the second', null],
      ['out from 12', null],
      ['many steps from 12', null],
      ['a step from 12', null],
      ['far below', null],
    ])
  })

  test('what has no volume comes after all that has one, for clicks and the clicks of one search are not mixed', () => {
    expect(
      movers(
        { query: 'no volume, to the top', cells: [-11, 1] },
        { query: 'few searches', volume: 1, cells: [3, 2] },
        { query: 'no searches', volume: 0, cells: [2, 1] },
      ).winners,
    ).toEqual([
      ['few searches', 0.1],
      ['no searches', 0],
      ['no volume, to the top', null],
    ])
  })
})

describe('keywords by what their movements are worth', () => {
  const inOrder = (...all: readonly ASeries[]) => {
    const { ordered, moved } = byWorthOfMovement(keywordStatuses(aHistory(all), null), curve)
    return { order: ordered.map(({ keyword }) => keyword.query), moved }
  }

  test('gains and losses alike, then those with the most searches, then those with the best ranks', () => {
    expect(
      inOrder(
        { query: 'same, few searches', volume: 10, cells: [1, 1] },
        { query: 'below the curve', volume: 900, cells: [20, 12] },
        { query: 'new', volume: 800, cells: [null, 1] },
        { query: 'failed today', volume: 700, cells: [1, 0] },
        { query: 'loses 30', volume: 100, cells: [1, 2] },
        { query: 'gains 50', volume: 500, cells: [-11, 3] },
        { query: 'as few, a worse rank', volume: 10, cells: [2, 2] },
      ),
    ).toEqual({
      order: [
        ...['gains 50', 'loses 30', 'below the curve', 'new', 'failed today'],
        ...['same, few searches', 'as few, a worse rank'],
      ],
      moved: 2,
    })
  })

  test('without volumes by the clicks of one search', () => {
    expect(
      inOrder(
        { query: 'stays', cells: [1, 1] },
        { query: 'a small step', cells: [3, 2] },
        { query: 'a large step', cells: [2, 1] },
      ),
    ).toEqual({ order: ['a large step', 'a small step', 'stays'], moved: 2 })
  })
})

describe('head to head', () => {
  test.each<[string, number, number, string]>([
    ['the better rank wins', 3, 5, 'won'],
    ['and loses otherwise', 5, 3, 'lost'],
    ['a result of both is nobody’s gain', 4, 4.5, 'tied'],
    ['alone it wins, where the other would have been seen', 8, -11, 'won'],
    ['and loses likewise', -11, 8, 'lost'],
    ['not where the other was not looked for as deep', 35, -11, 'undecided'],
    ['nor where nothing is known', 3, 0, 'undecided'],
    ['neither ranks', -11, -31, 'neither'],
  ])('%s', (_, one, other, outcome) => {
    const history = aHistory([{ cells: [one] }, { of: 'rival.com', cells: [other] }])
    const [own = [], theirs = []] = [...statusesByTarget(keywordStatuses(history, null)).values()]
    const none = { won: 0, lost: 0, tied: 0, neither: 0, undecided: 0 }
    expect(headToHead(own, theirs)).toEqual({ ...none, [outcome]: 1 })
  })

  test('only keywords tracked for both count, and what one wins the other loses', () => {
    fc.assert(
      fc.property(histories(), fc.nat(5), (history, left) => {
        const some = { ...history, series: history.series.filter((_, index) => index !== left) }
        const all = statusesByTarget(keywordStatuses(some, null))
        const [own, theirs] = [all.get(0) ?? [], all.get(1) ?? []]
        const [there, back] = [headToHead(own, theirs), headToHead(theirs, own)]
        expect(back).toEqual({ ...there, won: there.lost, lost: there.won })
        const common = own.filter(({ series }) => theirs.some((one) => one.series.keyword === series.keyword))
        expect(Object.values(there).reduce((sum, one) => sum + one, 0)).toBe(common.length)
      }),
    )
  })
})
