import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PageSerp } from '../../../src/report/data.ts'
import { type ComparedSerp as DiffedSerp, diffSerps } from '../../../src/report/diff/serp-diff.ts'
import { keywordStatuses } from '../../../src/report/history/keyword-status.ts'
import { citationShare, ownership, serpPairs, volatility } from '../../../src/report/metrics/serps.ts'
import { discoverCompetitors, isGaining, serpShareOfVoice } from '../../../src/report/metrics/shares.ts'
import { testTable } from '../../support/test-table.ts'
import { aHistory, aSerp, curve } from './history.ts'

/** Keywords of two days, with their volumes. */
const keywords = (...volumes: readonly (number | null)[]) =>
  aHistory(volumes.map((volume, index) => ({ query: `q${index}`, volume, cells: [1, 1] })))

/** Site 7 is the target 0. */
const targets = { 7: [0] }
const ten = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
/** Every link is a page of its own. */
const pageOf = (link: number) => link

const discovered = (serps: readonly PageSerp[], ...volumes: readonly (number | null)[]) => {
  const history = keywords(...volumes)
  const { sites, ...rest } = discoverCompetitors(serpPairs(history, serps, null), { history, curve })
  const rounded = (share: number | null) => (share === null ? null : Number(share.toFixed(6)))
  return {
    ...rest,
    sites: sites.map((one) => ({
      ...one,
      share: rounded(one.share),
      shareBefore: rounded(one.shareBefore),
      change: rounded(one.change),
    })),
  }
}

describe('share of voice among the first ten results', () => {
  const shareOf = (serps: readonly PageSerp[], ...volumes: readonly (number | null)[]) =>
    serpShareOfVoice(serps, 0, { history: keywords(...volumes), curve })

  test('is own clicks by all clicks: (100 * 0.5 + 300 * 0.1) / (100 * 0.8 + 300 * 0.8) = 80 / 320', () => {
    const serps = [aSerp([7, 1, 2], { keyword: 0, targets }), aSerp([1, 2, 7], { keyword: 1, targets })]
    const share = shareOf(serps, 100, 300)
    expect(share).toMatchObject({
      coverage: { ranked: 2, observed: 2, expected: 2 },
      uncounted: 0,
      weight: 'volume',
    })
    expect([share.value, share.numerator, share.denominator].map((one) => Number(one?.toFixed(9)))).toEqual([
      0.25, 80, 320,
    ])
  })

  test('counts all results of the target: (0.5 + 0.2) / 0.8', () => {
    expect(shareOf([aSerp([7, 7, 1], { targets })], null).value).toBeCloseTo(0.7 / 0.8, 12)
  })

  test('counts a result for every target that it belongs to: 0.5 / 0.8 of the one, (0.5 + 0.2) / 0.8 of the other', () => {
    const serps = [aSerp([7, 8, 1], { targets: { 7: [0, 1], 8: [1] } })]
    const history = keywords(null)
    const shares = [0, 1].map((target) => serpShareOfVoice(serps, target, { history, curve }).value)
    expect(shares.map((share) => Number(share?.toFixed(9)))).toEqual([0.625, 0.875])
    expect(
      [0, 1].map((target) => ownership(keywordStatuses(history, null), target, serps)[0]?.firstTen.numerator),
    ).toEqual([1, 2])
    expect(
      discovered([...serps.map((one) => ({ ...one, day: 1 })), ...serps], null).sites.map(
        ({ targets: all }) => all,
      ),
    ).toEqual([[], [0, 1], [1]])
  })

  test('without any volume each keyword weighs the same: (0.5 + 0) / (0.8 + 0.8)', () => {
    const serps = [aSerp([7, 1, 2], { targets }), aSerp([1, 2, 3], { keyword: 1, targets })]
    expect(shareOf(serps, null, null)).toMatchObject({ weight: 'none', uncounted: 0 })
    expect(shareOf(serps, null, null).value).toBeCloseTo(0.5 / 1.6, 12)
  })

  test('where only some have a volume the others are not counted, and what was not looked at is unknown', () => {
    const serps = [aSerp([7, 1, 2], { targets }), aSerp([1, 2, 3], { keyword: 1 }), aSerp([], { keyword: 2 })]
    expect(shareOf(serps, 100, null, 100)).toMatchObject({
      value: 0.5 / 0.8,
      uncounted: 1,
      coverage: { ranked: 1, observed: 2, expected: 3 },
    })
  })

  test('the tenth result counts, and the eleventh does not', () => {
    const firstTen = (sites: readonly number[]) =>
      ownership(keywordStatuses(keywords(null), null), 0, [aSerp(sites, { targets })])[0]?.firstTen
    expect(firstTen([...ten.slice(0, 9).map(() => 1), 7])).toMatchObject({ numerator: 1, denominator: 10 })
    expect(firstTen([...ten.map(() => 1), 7])).toMatchObject({ numerator: 0, denominator: 10 })
  })

  test('nothing below a gap is counted: 0.5 / 0.5', () => {
    expect(shareOf([aSerp([7, 1, 2], { depth: 1, targets })], null).value).toBe(1)
  })
})

describe('turnover', () => {
  const turnover = (current: PageSerp, compared: PageSerp) =>
    volatility([{ keyword: 0, current, compared }], pageOf).value

  test.each<[string, readonly (number | null)[], readonly (number | null)[], number | null]>([
    ['nothing new', ten, ten, 0],
    ['only another order', ten.toReversed(), ten, 0],
    ['one of ten is new: 1 / 10', [11, ...ten.slice(1)], ten, 0.1],
    ['everything is new', ten.map((one) => one + 20), ten, 1],
    ['what has no link is no page: (10 - 8) / 10', [null, 11, ...ten.slice(2)], ten, 0.2],
    ['a page that comes twice is one: (10 - 9) / 10', [1, 1, ...ten.slice(2)], ten, 0.1],
    ['of a shorter list as much is missing: (10 - 8) / 10', ten, [null, null, ...ten.slice(2)], 0.2],
    ['of two as many as both days looked at: 1 / 2', [11, 2], ten, 0.5],
    ['of one as many, on the compared day: 0 / 1', ten, [1], 0],
    ['no result has a link', [null], [null], null],
  ])('%s', (_, now, before, value) => {
    expect(turnover(aSerp(now), aSerp(before))).toBe(value)
  })

  test('is what diff says of the same two days', () => {
    const diffed = ({ results, depth }: PageSerp): DiffedSerp => ({
      results: results.map(([rank, , link]) => ({
        ...{ rank, key: link ?? `0 ${rank}`, title: null, snippet: null },
        link: link === null ? null : `https://${link}.example/`,
      })),
      unbrokenDepth: depth,
      resultsEnded: false,
    })
    const sites = fc.array(fc.option(fc.nat(12), { nil: null }), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(sites, sites, (now, before) => {
        const [a, b] = [aSerp(now), aSerp(before)]
        expect(turnover(a, b)).toBe(diffSerps(diffed(b), diffed(a)).turnover)
      }),
    )
  })

  test('of all SERPs: (1 + 2 + 1) / (10 + 10 + 9), of three that can be compared among four', () => {
    const pair = (now: readonly number[], before: readonly number[] | null) => ({
      keyword: 0,
      current: aSerp(now),
      compared: before === null ? null : aSerp(before),
    })
    const all = [
      pair([11, ...ten.slice(1)], ten),
      pair([11, 12, ...ten.slice(2)], ten),
      pair(ten, ten.slice(1)),
      pair(ten, null),
    ]
    expect(volatility(all, pageOf)).toEqual({
      value: 4 / 29,
      numerator: 4,
      denominator: 29,
      compared: 3,
      serps: 4,
    })
  })

  test('is between 0 and 1', () => {
    const sites = fc.array(fc.option(fc.nat(30), { nil: null }), { minLength: 10, maxLength: 10 })
    fc.assert(
      fc.property(sites, sites, (now, before) => {
        const value = turnover(aSerp(now), aSerp(before)) ?? 0
        expect(value).toBeGreaterThanOrEqual(0)
        expect(value).toBeLessThanOrEqual(1)
      }),
    )
  })
})

test('SERPs of the last day stand beside those of the day that is compared with', () => {
  const history = aHistory([{ cells: [1, 1, 1, 1] }])
  const serps = [3, 1, 2].map((day) => aSerp([day], { day }))
  expect(serpPairs(history, serps, null)).toMatchObject([{ current: { day: 3 }, compared: { day: 2 } }])
  const asked = { day: history.days[0] as string, tolerance: 1 }
  expect(serpPairs(history, serps, asked)).toMatchObject([{ current: { day: 3 }, compared: { day: 1 } }])
  expect(serpPairs(history, [aSerp([1], { day: 2 })], null)).toEqual([])
  expect(serpPairs(history, [aSerp([1], { day: 3 }), aSerp([], { day: 2 })], null)).toMatchObject([
    { compared: null },
  ])
})

describe('competitor discovery', () => {
  testTable<[number | null, boolean]>([
    [null, false],
    [-0.01, false],
    [0, false],
    [0.0004, false],
    [0.0005, true],
  ])('a change of %d is a gain that is seen: %s', (change, expected) => {
    expect(isGaining({ change })).toBe(expected)
  })

  test('tells which sites gain, of the SERPs that were looked at on both days', () => {
    const serps = [
      aSerp([7, 1, 2], { day: 0, targets }),
      aSerp([3, 7, 1], { day: 1, targets }),
      // Another cohort: looked at on the last day alone.
      aSerp([9, 9, 9], { keyword: 1, day: 1 }),
    ]
    const none = { targets: [], appearances: 0, appearancesBefore: 0 }
    expect(discovered(serps, null, null)).toEqual({
      serps: 1,
      weight: 'none',
      uncounted: 0,
      sites: [
        // 0.5 / 0.8, of 0
        { ...none, site: 3, appearances: 1, share: 0.625, shareBefore: 0, change: 0.625 },
        // 0.1 / 0.8, of 0.2 / 0.8
        {
          ...none,
          site: 1,
          appearances: 1,
          appearancesBefore: 1,
          share: 0.125,
          shareBefore: 0.25,
          change: -0.125,
        },
        // Of 0.1 / 0.8
        { ...none, site: 2, appearancesBefore: 1, share: 0, shareBefore: 0.125, change: -0.125 },
        // 0.2 / 0.8, of 0.5 / 0.8
        {
          site: 7,
          targets: [0],
          appearances: 1,
          appearancesBefore: 1,
          share: 0.25,
          shareBefore: 0.625,
          change: -0.375,
        },
      ],
    })
  })

  test('compares as far down as both days looked, and weighs by volume', () => {
    const serps = [
      aSerp([1, 2, 3], { day: 0 }),
      aSerp([1, 4, 5], { day: 1, depth: 1 }),
      aSerp([2, 3], { keyword: 1, day: 0 }),
      aSerp([1, 1], { keyword: 1, day: 1 }),
      aSerp([6], { keyword: 2, day: 0 }),
      aSerp([6], { keyword: 2, day: 1 }),
    ]
    // Now 100 * 0.5 + 300 * (0.5 + 0.2), all of site 1; before as much, of which 50, 150 and 60. One has no volume.
    expect(discovered(serps, 100, 300, null)).toMatchObject({
      weight: 'volume',
      uncounted: 1,
      serps: 3,
      sites: [
        { site: 1, share: 1, shareBefore: 0.192308, appearances: 2, appearancesBefore: 1 },
        { site: 6, share: 0, shareBefore: 0, change: 0, appearances: 1, appearancesBefore: 1 },
        { site: 3, share: 0, shareBefore: 0.230769, change: -0.230769, appearancesBefore: 1 },
        { site: 2, share: 0, shareBefore: 0.576923, change: -0.576923, appearancesBefore: 1 },
      ],
    })
  })

  test.each([
    ['the last', 1, 3],
    ['the compared', 3, 1],
  ])('counts no result below the end of the shallower day, be it %s', (_, now, before) => {
    const serps = [aSerp([1, 2, 3], { day: 0, depth: before }), aSerp([1, 4, 5], { day: 1, depth: now })]
    expect(discovered(serps, null).sites).toMatchObject([{ site: 1, share: 1, shareBefore: 1, change: 0 }])
    expect(discovered(serps, null).sites).toHaveLength(1)
  })

  test('shares add up to everything, where every result has a site', () => {
    const sites = fc.array(fc.nat(5), { minLength: 1, maxLength: 10 })
    fc.assert(
      fc.property(sites, sites, (now, before) => {
        const { sites: all } = discovered([aSerp(before, { day: 0 }), aSerp(now, { day: 1 })], null)
        expect(all.reduce((sum, { share }) => sum + (share ?? 0), 0)).toBeCloseTo(1, 4)
        expect(all.reduce((sum, { change }) => sum + (change ?? 0), 0)).toBeCloseTo(0, 4)
      }),
    )
  })
})

describe('ownership', () => {
  test('is told for each kind of results', () => {
    const history = aHistory([
      { query: 'p', kind: 'organic', cells: [1] },
      { query: 'q', kind: 'organic', cells: [-11] },
      { query: 'r', kind: 'news', cells: [2] },
      { query: 's', kind: 'news', cells: [0] },
    ])
    const serps = [
      aSerp([7, 1, 7, 2], { keyword: 0, targets }),
      aSerp([1, 2, 3, 4], { keyword: 1 }),
      aSerp([1, 7], { keyword: 2, targets }),
      // Nothing was looked at.
      aSerp([], { keyword: 3 }),
    ]
    expect(ownership(keywordStatuses(history, null), 0, serps)).toEqual([
      {
        kind: 'news',
        coverage: { ranked: 1, observed: 1, expected: 2 },
        // 1 of 2 results
        firstTen: {
          value: 0.5,
          numerator: 1,
          denominator: 2,
          coverage: { ranked: 1, observed: 1, expected: 2 },
          uncounted: 0,
        },
      },
      {
        kind: 'organic',
        coverage: { ranked: 1, observed: 2, expected: 2 },
        // 2 of 4 + 4 results
        firstTen: {
          value: 0.25,
          numerator: 2,
          denominator: 8,
          coverage: { ranked: 1, observed: 2, expected: 2 },
          uncounted: 0,
        },
      },
    ])
  })
})

describe('citations of AI answers', () => {
  const answer = (references: number, ...indexes: readonly number[]) => ({
    keyword: 0,
    day: 0,
    references,
    cited: [
      { target: 0, indexes },
      { target: 1, indexes: [0] },
    ],
  })

  test('are counted by answer and by reference', () => {
    const share = citationShare([answer(5, 4, 1), answer(3, 2), answer(2)], 0, 4)
    const coverage = { ranked: 2, observed: 3, expected: 4 }
    expect(share).toEqual({
      // 2 of 3 answers
      answers: { value: 2 / 3, numerator: 2, denominator: 3, coverage, uncounted: 0 },
      // (1 + 4 + 2) / 3
      averageIndex: 7 / 3,
      // (1 + 2) / 2
      averageFirstIndex: 1.5,
      // 3 of 5 + 3 + 2 references
      citations: { value: 0.3, numerator: 3, denominator: 10, coverage, uncounted: 0 },
    })
  })

  test('have no index where there is none', () => {
    expect(citationShare([answer(2)], 0, 1)).toMatchObject({
      averageIndex: null,
      averageFirstIndex: null,
      answers: { value: 0 },
    })
    expect(citationShare([], 0, 1)).toMatchObject({ answers: { value: null }, citations: { value: null } })
  })
})
