import { describe, expect, test } from 'vitest'
import { keywordStatuses } from '../../../src/report/history/keyword-status.ts'
import {
  countLanding,
  landingPages,
  pagesOf,
  rankingLink,
  rankingLinks,
  urlSwaps,
} from '../../../src/report/metrics/pages.ts'
import { type ASeries, aHistory } from './history.ts'

const [a, b, c, aPart] = [0, 1, 2, 3]
const links = [
  'https://acme.com/a',
  'https://acme.com/b',
  'https://acme.com/c',
  'https://ACME.com/a?utm_source=news#part',
]

test('links name the same page where they are equal as browsers parse them, but for the fragment and tokens', () => {
  expect(pagesOf([...links, 'https://acme.com/a/', 'https://acme.com/a?x=1', 'no link', 'no link'])).toEqual([
    0, 1, 2, 0, 4, 5, 6, 6,
  ])
})

test('the ranking link holds until it changes, on days on which something ranks', () => {
  const series = {
    ...{ keyword: 0, target: 0, seen: {}, absentDepths: [], places: {} },
    cells: [3, 3, 0, 4, -11, 5],
    links: [[0, a] as const, [3, b] as const, [4, null] as const, [5, c] as const],
  }
  expect(rankingLinks(series)).toEqual([a, a, null, b, null, c])
  expect(series.cells.map((_, day) => rankingLink(series, day))).toEqual(rankingLinks(series))
})

describe('cannibalisation', () => {
  const of = (...all: readonly ASeries[]) => urlSwaps(aHistory(all, { links }))

  test('as often and as long is told in the order of keywords, then of targets', () => {
    const flipping = {
      cells: [1, 1, 1],
      links: [
        [0, a],
        [1, b],
        [2, a],
      ],
    } as const
    const order = of(
      { query: 'p', ...flipping },
      { query: 'q', of: 'rival.com', ...flipping },
      { query: 'q', ...flipping },
      { query: 'p', of: 'rival.com', ...flipping },
    )
    expect(order.map(({ keyword, target }) => [keyword, target])).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ])
  })
  const pageOf: Readonly<Record<string, number | null>> = { a, b, c, A: aPart, '-': null }

  test.each<[string, number[], string, number | null]>([
    ['one page', [1, 1, 1], 'a', null],
    ['a page that follows another', [1, 1, 1], 'ab', null],
    ['three pages one after the other', [1, 1, 1], 'abc', null],
    ['there and back', [1, 1, 1], 'aba', 1],
    ['there, back and there again', [1, 1, 1, 1], 'abab', 2],
    ['back over a third', [1, 1, 1, 1], 'abca', 1],
    ['a day without a rank is no change', [1, -11, 1], 'a-a', null],
    ['nor is one of which nothing is known', [1, 0, 1], 'a-a', null],
    ['another place of the same page is no change', [1, 1, 1], 'aAa', null],
  ])('%s: flips %j', (_, cells, pages, flips) => {
    const links = [...pages].map((page, day): [number, number | null] => [day, pageOf[page] as number | null])
    const [found] = of({ cells, links })
    expect(found?.swaps ?? null).toBe(flips)
  })

  test('names the pages with their days', () => {
    const found = of({
      cells: [1, 2, 1, 1],
      links: [
        [0, a],
        [1, b],
        [2, a],
      ],
      places: {
        1: [
          [2, b],
          [5, a],
        ],
        3: [
          [1, a],
          [9, aPart],
        ],
      },
    })
    expect(found).toEqual([
      {
        keyword: 0,
        target: 0,
        pages: [
          { link: a, days: [0, 1, 2, 3], leading: 3 },
          { link: b, days: [1], leading: 1 },
        ],
        // On day 3 both places are of one page.
        together: [1],
        swaps: 1,
      },
    ])
  })

  test('shows what changes most first', () => {
    const together = {
      cells: [1],
      links: [[0, a]] as const,
      places: {
        0: [
          [1, a],
          [2, b],
        ] as const,
      },
    }
    const found = of(
      { query: 'still', cells: [1, 1, 1], links: [[0, a]] },
      { query: 'together', ...together },
      {
        query: 'flips',
        cells: [1, 1, 1],
        links: [
          [0, a],
          [1, b],
          [2, a],
        ],
      },
    )
    expect(found.map(({ keyword }) => keyword)).toEqual([2, 1])
  })
})

describe('landing page', () => {
  const url = 'https://acme.com/a'

  test.each<[string, ASeries, string, number | null]>([
    ['it ranks', { url, cells: [3], links: [[0, a]] }, 'right', 3],
    ['it ranks, with a token and a fragment', { url, cells: [3], links: [[0, aPart]] }, 'right', 3],
    ['another ranks', { url, cells: [3], links: [[0, b]] }, 'wrong page', null],
    [
      'another ranks before it',
      {
        url,
        cells: [3],
        links: [[0, b]],
        places: {
          0: [
            [3, b],
            [7, a],
          ],
        },
      },
      'wrong page',
      7,
    ],
    ['none ranks', { url, cells: [-11], links: [[0, null]] }, 'not ranked', null],
    ['nothing is known', { url, cells: [0], links: [] }, 'unknown', null],
    ['what ranks has no link', { url, cells: [3], links: [[0, null]] }, 'unknown', null],
    ['none is intended', { url: null, cells: [3], links: [[0, a]] }, 'none intended', null],
    [
      'it ranked yesterday',
      {
        url,
        cells: [3, 2],
        links: [
          [0, a],
          [1, b],
        ],
      },
      'wrong page',
      null,
    ],
  ])('%s', (_, series, state, intendedRank) => {
    const history = aHistory([series], { links })
    expect(landingPages(keywordStatuses(history, null), history)).toMatchObject([{ state, intendedRank }])
  })

  test('every keyword is in one state', () => {
    const history = aHistory(
      [
        { query: 'p', url, cells: [3], links: [[0, a]] },
        { query: 'q', url, cells: [3], links: [[0, b]] },
        { query: 'r', url, cells: [2], links: [[0, b]] },
        { query: 's', cells: [2], links: [[0, b]] },
      ],
      { links },
    )
    expect(countLanding(landingPages(keywordStatuses(history, null), history))).toEqual({
      right: 1,
      'wrong page': 2,
      'not ranked': 0,
      'none intended': 1,
      unknown: 0,
    })
  })
})
