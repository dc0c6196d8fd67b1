import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { distinctResults, type Page, rankPages, repeats } from '../../src/rank/paging.ts'
import { testTable } from '../support/test-table.ts'
import { donePage, pagesOf } from './build.ts'

const ranksOf = (pages: readonly Page[], pageSize: number | null = 10) =>
  rankPages(pages, pageSize).map(({ ranks }) => ranks)

describe('the rank of a result is 1 + the number of distinct results before it', () => {
  test.each<[string, readonly string[], readonly (readonly number[])[]]>([
    ['one page', ['abc'], [[1, 2, 3]]],
    ['an empty page', [''], [[]]],
    ['nothing', [], []],
    [
      'pages that count on',
      ['abc', 'def'],
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
    ],
    ['a short first page', ['a', 'bcd'], [[1], [2, 3, 4]]],
    ['an empty page in between', ['ab', '', 'cd'], [[1, 2], [], [3, 4]]],
    [
      'pages that overlap',
      ['abc', 'bcd'],
      [
        [1, 2, 3],
        [2, 3, 4],
      ],
    ],
    [
      'a page that repeats the one before',
      ['abc', 'abc', 'def'],
      [
        [1, 2, 3],
        [1, 2, 3],
        [4, 5, 6],
      ],
    ],
    ['a result that returns on its own page', ['abab'], [[1, 2, 1, 2]]],
    [
      'a result that returns two pages later',
      ['ab', 'cd', 'ae'],
      [
        [1, 2],
        [3, 4],
        [1, 5],
      ],
    ],
    ['results without a link, each its own', ['a  b', ' '], [[1, 2, 3, 4], [5]]],
    ['a failed page counts with its documented size', ['abc', '!failed', 'de'], [[1, 2, 3], [], [14, 15]]],
    ['so does one that is open', ['!open', 'ab'], [[], [11, 12]]],
    ['and one that was passed over', ['a', '!passed', '!passed', 'b'], [[1], [], [], [22]]],
    ['a result before a gap keeps its rank behind it', ['abc', '!failed', 'ca'], [[1, 2, 3], [], [3, 1]]],
  ])('%s', (_, pages, ranks) => {
    expect(ranksOf(pagesOf(...pages))).toEqual(ranks)
  })

  test('a missing page counts with the size that is documented for the operation, or with ten', () => {
    expect(ranksOf(pagesOf('!failed', 'a'), 50)).toEqual([[], [51]])
    expect(ranksOf(pagesOf('!failed', 'a'), null)).toEqual([[], [11]])
  })

  test('the base of a page is the number of distinct results before it', () => {
    const bases = rankPages(pagesOf('abc', 'bcd', '!failed', 'e'), 10).map(({ page, base }) => [page, base])
    expect(bases).toEqual([
      [1, 0],
      [2, 3],
      [3, 4],
      [4, 14],
    ])
  })
})

const letters = fc.string({ unit: fc.constantFrom(...'abcdefgh '), maxLength: 8 })
const anyPages = fc
  .array(
    fc.oneof({ weight: 5, arbitrary: letters }, fc.constantFrom('!failed', '!open', '!passed', '!ended')),
    {
      maxLength: 6,
    },
  )
  .map((pages) => pagesOf(...pages))
const pageSizes = fc.option(fc.integer({ min: 1, max: 50 }))

test('ranks are those that counting one by one gives, for any pages', () => {
  fc.assert(
    fc.property(anyPages, pageSizes, (pages, pageSize) => {
      expect(ranksOf(pages, pageSize)).toEqual(countedRanks(pages, pageSize))
    }),
  )
})

/** Ranks by writing all results in one line, missing ones as somebody nobody knows, and counting those before. */
function countedRanks(pages: readonly Page[], pageSize: number | null): number[][] {
  const line: { readonly page: number; readonly who: string }[] = []
  for (const { page, state, items } of pages) {
    const many = state === 'done' ? items.length : (pageSize ?? 10)
    for (let n = 0; n < many; n++) {
      const sameAs = state === 'done' ? items[n]?.sameAs : null
      line.push({ page: state === 'done' ? page : 0, who: sameAs == null ? `${page}/${n}` : `=${sameAs}` })
    }
  }
  const rank = (who: string): number => {
    const first = line.findIndex((one) => one.who === who)
    return 1 + new Set(line.slice(0, first).map((one) => one.who)).size
  }
  return pages.map(({ page }) => line.filter((one) => one.page === page).map(({ who }) => rank(who)))
}

describe('laws of ranks', () => {
  test('the same link has the same rank wherever it stands, and no two links share one', () => {
    fc.assert(
      fc.property(anyPages, pageSizes, (pages, pageSize) => {
        const rankOf = new Map<number, number>()
        for (const [index, ranks] of ranksOf(pages, pageSize).entries())
          for (const [place, rank] of ranks.entries()) {
            const sameAs = pages[index]?.items[place]?.sameAs ?? null
            if (sameAs === null) continue
            expect(rankOf.get(sameAs) ?? rank).toBe(rank)
            rankOf.set(sameAs, rank)
          }
        expect(new Set(rankOf.values()).size).toBe(rankOf.size)
      }),
    )
  })

  test('what comes after a page never changes its ranks', () => {
    fc.assert(
      fc.property(anyPages, anyPages, pageSizes, (pages, more, pageSize) => {
        expect(ranksOf([...pages, ...more], pageSize).slice(0, pages.length)).toEqual(
          ranksOf(pages, pageSize),
        )
      }),
    )
  })

  test('without gaps the highest rank is the number of distinct results', () => {
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 5 }), (texts) => {
        const pages = pagesOf(...texts)
        expect(Math.max(0, ...ranksOf(pages).flat())).toBe(distinctResults(pages))
      }),
    )
  })
})

describe('distinct results', () => {
  testTable<[readonly string[], number]>([
    [[], 0],
    [['abc', 'bcd'], 4],
    [['a a', ' a'], 3],
    [['ab', '!failed', 'bc'], 3],
    [['!open'], 0],
  ])('of %j are %i', (pages, distinct) => {
    expect(distinctResults(pagesOf(...pages))).toBe(distinct)
  })
})

describe('a page repeats another', () => {
  testTable<[string, string, boolean]>([
    ['abc', 'abc', true],
    ['abc', 'acb', false],
    ['abc', 'ab', false],
    ['ab', 'abc', false],
    ['', '', false],
    ['abc', 'abd', false],
    ['a b', 'a b', false],
    ['a', 'a', true],
  ])('of %j the page %j: %s', (earlier, later, repeating) => {
    expect(repeats(donePage(1, earlier), donePage(2, later))).toBe(repeating)
  })
})
