import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dayColumns } from '../../../src/report/history/build-history.ts'
import { valueOn } from '../../../src/report/history/keyword-status.ts'
import { absentCell, dayValue, rankedCell, unknownCell } from '../../../src/report/history/rank-history.ts'
import type { ObservedRow } from '../../../src/store/sqlite/rankings/tracking.ts'

test.each([
  ['unknown', unknownCell, 0],
  ['rank 3', rankedCell(3, false), 3],
  ['an estimated rank 31', rankedCell(31, true), 31.5],
  ['absent from 30', absentCell(30, false), -31],
  ['absent from nothing, as estimated', absentCell(0, true), -1.5],
])('%s is a number', (_, cell, number) => {
  expect(cell).toBe(number)
})

test('the number says the same again', () => {
  fc.assert(
    fc.property(fc.nat(5_000), fc.boolean(), (size, isEstimated) => {
      const exactness = isEstimated ? 'estimated' : 'exact'
      expect(dayValue(rankedCell(size + 1, isEstimated), undefined)).toMatchObject({
        ...{ state: 'ranked', rank: size + 1, exactness, depth: null },
      })
      expect(dayValue(absentCell(size, isEstimated), undefined)).toMatchObject({
        ...{ state: 'absent', rank: null, exactness, depth: size },
      })
    }),
  )
  expect(dayValue(unknownCell, undefined)).toMatchObject({ state: 'unknown', rank: null, exactness: null })
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
  // The first of two series has other ranks on the same days.
  const series = dayColumns({ series: 2, days: 2, linkPlace: (id) => id })
  const absence: ObservedRow = [1, 1, null, 1, 40, 20, 50]
  for (const day of [0, 1]) {
    series.add(0, day, [1, 1, 3 + day, 0, 7, `[[${3 + day},7]]`])
    series.add(1, day, absence)
  }
  series.add(1, 1, [1, 1, 35, 0, 9, '[[35,9],[36,8]]'])
  const places = {
    1: [
      [35, 9],
      [36, 8],
    ],
  }
  expect(series.read(0, { lookedAtOnly: false })).toMatchObject({ cells: [3, 4] })
  expect(series.read(1, { lookedAtOnly: false })).toMatchObject({
    cells: [-41.5, 35],
    seen: { 0: 20 },
    absentDepths: [[0, 50]],
    links: [[1, 9]],
    places,
  })
})

test('a rank may have no link, be estimated, and speak for a day that another run found nothing on', () => {
  const series = dayColumns({ series: 2, days: 3, linkPlace: (id) => id })
  series.add(1, 0, [1, 1, null, 0, 40, 40, 40])
  series.addRank(1, 0, 2 * 4, 7)
  series.addRank(1, 1, 2 * 31 + 1, 0)
  series.addRank(1, 2, 2 * 31, 8)
  series.addRank(1, 2, 2 * 5 + 1, 0)
  expect(series.read(1, { lookedAtOnly: false })).toEqual({
    cells: [4, 31.5, 5.5],
    seen: {},
    absentDepths: [],
    links: [
      [0, 7],
      [1, null],
    ],
    places: {},
  })
})

test('absence counts with the depth that was asked for, from the day of a change on, or with what was looked at', () => {
  const series = dayColumns({ series: 2, days: 5, linkPlace: (id) => id })
  const ended = (depth: number, asked: number): ObservedRow => [1, 1, null, 0, depth, -1, asked]
  for (let day = 0; day < 5; day++) series.add(0, day, ended(9, 10 + day))
  series.add(1, 0, ended(3, 30))
  series.add(1, 1, ended(5, 30))
  series.add(1, 2, [1, 1, 2, 0, 9, null])
  series.add(1, 3, ended(4, 50))
  series.add(1, 4, [1, 1, null, null, 0, 0, 0])
  const [asked, looked] = [series.read(1, { lookedAtOnly: false }), series.read(1, { lookedAtOnly: true })]
  expect(asked.absentDepths).toEqual([
    [0, 30],
    [3, 50],
  ])
  const depths = (one: typeof asked) =>
    one.cells.map((_, day) => valueOn({ ...one, keyword: 0, target: 0 }, day)?.absentDepth)
  expect(depths(asked)).toEqual([30, 30, null, 50, 0])
  expect(depths(looked)).toEqual([3, 5, null, 4, 0])
})
