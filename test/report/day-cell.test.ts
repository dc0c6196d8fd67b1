import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dayCell, dayValue } from '../../src/report/day-cell.ts'
import { seriesDraft } from '../../src/report/series-draft.ts'
import type { ObservedRow } from '../../src/store/tracking.ts'

const exactness = fc.constantFrom('exact', 'estimated')
const ranked = fc.record({
  state: fc.constant('ranked'),
  rank: fc.integer({ min: 1, max: 5_000 }),
  exactness,
  depth: fc.nat(5_000),
})
const absent = fc.record({
  state: fc.constant('absent'),
  rank: fc.constant(null),
  exactness,
  depth: fc.nat(5_000),
})

test.each([
  [{ state: 'unknown', rank: null, exactness: null, depth: 7 }, 0],
  [{ state: 'ranked', rank: 3, exactness: 'exact', depth: 30 }, 3],
  [{ state: 'ranked', rank: 31, exactness: 'estimated', depth: 20 }, 31.5],
  [{ state: 'absent', rank: null, exactness: 'exact', depth: 30 }, -31],
  [{ state: 'absent', rank: null, exactness: 'estimated', depth: 0 }, -1.5],
] as const)('%j is %d', (observed, cell) => {
  expect(dayCell(observed)).toBe(cell)
})

test('a number says the same again, but for what it does not hold', () => {
  fc.assert(
    fc.property(fc.oneof(ranked, absent), (observed) => {
      const { state, rank, exactness, depth } = observed
      expect(dayValue(dayCell(observed), undefined)).toMatchObject({
        state,
        rank,
        exactness,
        depth: state === 'ranked' ? null : depth,
      })
    }),
  )
})

test.each([
  [undefined, 30],
  [20, 20],
  [0, 0],
  [-1, Number.POSITIVE_INFINITY],
])('of an absence that was seen to %s nothing better than %d was missed', (seen, unbrokenDepth) => {
  expect(dayValue(-31, seen)).toMatchObject({ depth: 30, unbrokenDepth })
})

test('nothing is said of a day on which nothing was observed', () => {
  expect(dayValue(null, 20)).toBeNull()
})

test('an absence keeps how far it was seen without a gap, until another speaks for its day', () => {
  const series = seriesDraft(0, 0, 2)
  const absence: ObservedRow = [1, 1, null, 1, 40, 20]
  series.add(0, absence)
  series.add(1, absence)
  series.add(1, [1, 1, 35, 0, 9, '[[35,9],[36,8]]'])
  const places = {
    1: [
      [35, 9],
      [36, 8],
    ],
  }
  expect(series.finish((id) => id)).toMatchObject({
    cells: [-41.5, 35],
    seen: { 0: 20 },
    links: [[1, 9]],
    places,
  })
})
