import fc from 'fast-check'
import { expect, test } from 'vitest'
import { valueOn } from '../../../src/report/history/keyword-status.ts'
import { wasWithinDepth } from '../../../src/report/history/movement.ts'
import type { DayCell, RankHistory } from '../../../src/report/history/rank-history.ts'
import { overtakes } from '../../../src/report/metrics/overtakes.ts'
import { testTable } from '../../support/test-table.ts'
import { aHistory, curve, histories } from './history.ts'

const of = (history: RankHistory, target = 0) => overtakes(history, { target, curve })

const pair = (mine: readonly DayCell[], theirs: readonly DayCell[]) =>
  aHistory([{ cells: mine }, { cells: theirs, of: 'rival.com' }])

/** Not among the first thirty, not among the first ten. */
const [out, shallow] = [-31, -11]

testTable<[string, DayCell[], DayCell[], string | null]>([
  ['nothing happened', [4, 4, 4], [9, 9, 9], null],
  ['one day', [4], [9], null],
  ['they passed', [4, 4, 7], [9, 9, 5], 'other 2: 4/9 to 7/5'],
  ['they passed early', [4, 7, 8, 8], [9, 5, 5, 4], 'other 1: 4/9 to 7/5'],
  ['the target passed', [9, 5, 5], [7, 7, 7], 'target 1: 9/7 to 5/7'],
  ['the target did not move', [6, 6], [9, 3], 'other 1: 6/9 to 6/3'],
  ['to and fro, and back', [4, 8, 4], [6, 6, 6], null],
  ['to and fro, and passed for good', [4, 8, 4, 8, 9], [6, 6, 6, 6, 6], 'other 3: 4/6 to 8/6'],
  ['they entered before the target', [4, 4], [out, 2], 'other 1: 4/- to 4/2'],
  ['the target dropped out', [4, out], [9, 9], 'other 1: 4/9 to -/9'],
  ['the target came back in', [out, 4], [9, 9], 'target 1: -/9 to 4/9'],
  ['both were out at first', [out, 4], [out, 9], null],
  ['both are out at last', [4, 9, out], [9, 4, out], null],
  ['both were out in between', [4, out, 9], [9, out, 4], 'other 2: 4/9 to 9/4'],
  ['an unknown day says nothing', [4, 0, 7], [9, 3, 5], 'other 2: 4/9 to 7/5'],
  ['the other was unknown', [4, 7, 7], [9, 0, 5], 'other 2: 4/9 to 7/5'],
  ['nothing was asked in between', [4, null, 7], [9, null, 5], 'other 2: 4/9 to 7/5'],
  ['the last day is unknown', [4, 7, 0], [9, 5, 0], 'other 1: 4/9 to 7/5'],
  ['unknown from then on', [4, 0, 0], [9, 0, 0], null],
  ['all unknown', [0, 0], [0, 0], null],
  ['an absence that was too shallow', [4, shallow], [12, 12], null],
  ['an absence as deep as the rank', [4, shallow], [10, 10], 'other 1: 4/10 to -/10'],
  ['one result of both at last', [4, 5], [9, 5], null],
  ['one result of both in between', [4, 5, 6], [9, 5, 3], 'other 2: 4/9 to 6/3'],
  ['estimated ranks count', [4.5, 7.5], [9, 5.5], 'other 1: 4/9 to 7/5'],
])('%s', (_, mine, theirs, wanted) => {
  const rank = (value: { readonly rank: number | null }) => value.rank ?? '-'
  const said = of(pair(mine, theirs)).map(
    ({ ahead, day, from, to }) => `${ahead} ${day}: ${from.map(rank).join('/')} to ${to.map(rank).join('/')}`,
  )
  expect(said).toEqual(wanted === null ? [] : [wanted])
})

test('an absence that ended with the results was deep enough', () => {
  const history = aHistory([
    { cells: [4, shallow], seen: { 1: -1 } },
    { cells: [12, 12], of: 'rival.com' },
  ])
  expect(of(history)).toMatchObject([{ ahead: 'other', day: 1 }])
})

test("two targets of one's own do not compete", () => {
  const history = pair([4, 7], [9, 5])
  expect(of({ ...history, targets: history.targets.map((one) => ({ ...one, own: true })) })).toEqual([])
})

test('what happened before the period does not count', () => {
  const history = pair([4, 7, 8, 3], [9, 5, 5, 5])
  const since = (day: number) =>
    overtakes(history, { target: 0, curve, since: day }).map(({ ahead, day: on }) => [ahead, on])
  expect([0, 1, 3].map(since)).toEqual([[], [['target', 3]], []])
})

test('the most clicks at stake come first; a keyword without a volume, where others have one, has none', () => {
  const cells = { mine: [1, 3], theirs: [2, 1] }
  const history = aHistory(
    [
      ['small', 10],
      ['unknown', null],
      ['large', 1000],
    ].flatMap(([query, volume]) => {
      const keyword = { query: query as string, volume: volume as number | null }
      return [
        { ...keyword, cells: cells.mine },
        { ...keyword, cells: cells.theirs, of: 'rival.com' },
      ]
    }),
  )
  expect(of(history).map(({ keyword, clicks }) => [history.keywords[keyword]?.query, clicks])).toEqual([
    ['large', 400],
    ['small', 4],
    ['unknown', 0],
  ])
})

test('says what a look at every single day says', () => {
  fc.assert(
    fc.property(histories(undefined, { min: 1, max: 6 }), (history) => {
      const [mine, theirs] = [of(history), of(history, 1)]
      const said = mine.map(({ keyword, day, before, ahead }) => ({ keyword, day, before, ahead }))
      const plain = history.keywords.flatMap((_, keyword) => slowly(history, keyword))
      expect(said.toSorted((a, b) => a.keyword - b.keyword)).toEqual(plain)
      expect(theirs.map(({ keyword, day, ahead }) => `${keyword} ${day} ${ahead}`)).toEqual(
        mine.map(({ keyword, day, ahead }) => `${keyword} ${day} ${ahead === 'target' ? 'other' : 'target'}`),
      )
    }),
  )
})

/** The same for the first target and the second, by the values of all days. */
function slowly(history: RankHistory, keyword: number) {
  const [one, other] = [0, 1].map((target) =>
    history.series.find((series) => series.keyword === keyword && series.target === target),
  )
  if (one === undefined || other === undefined) return []
  const known = history.days.flatMap((_, day) => {
    const [a, b] = [valueOn(one, day), valueOn(other, day)]
    if (a === null || b === null || a.state === 'unknown' || b.state === 'unknown') return []
    if (a.rank === null && b.rank === null) return [{ day, order: 0 }]
    if (a.rank !== null && b.rank !== null) return [{ day, order: Math.sign(b.rank - a.rank) }]
    if (a.rank !== null) return wasWithinDepth(a.rank, b) ? [{ day, order: 1 }] : []
    return wasWithinDepth(b.rank ?? 0, a) ? [{ day, order: -1 }] : []
  })
  const decided = known.filter(({ order }) => order !== 0)
  const [first, last] = [decided[0], known.at(-1)]
  if (first === undefined || last === undefined || last.order === 0 || last.order === first.order) return []
  const before = decided.findLastIndex(({ order }) => order !== last.order)
  return [
    {
      keyword,
      day: decided[before + 1]?.day,
      before: decided[before]?.day,
      ahead: last.order > 0 ? 'target' : 'other',
    },
  ]
}

test('nothing says how often AI references are clicked', () => {
  const asked = { operation: 'alpha.ai', kind: 'reference', volume: 1000 } as const
  const history = aHistory([
    { ...asked, cells: [1, 3] },
    { ...asked, cells: [2, 1], of: 'rival.com' },
  ])
  expect(of(history).map(({ ahead, clicks }) => [ahead, clicks])).toEqual([['other', 0]])
})
