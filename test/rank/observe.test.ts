import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Observation } from '../../src/model/result.ts'
import { distinctResults, observe, type Page, rankPages, unbrokenPages } from '../../src/rank/paging.ts'
import { pagesOf } from './build.ts'

/** Is the target the site of this letter? */
const site = (letter: string) => (link: string) => link === `https://${letter}.example/`

/** What is said of the target, without what holds for the query whatever the target. */
type Said = Pick<Observation, 'state' | 'rank' | 'exactness' | 'depth' | 'places'>

const look = (pages: readonly Page[], pageSize = 10): Observation =>
  observe({ pages, pageSize, maxPages: pages.length, depth: null }, site('x'))

const ranked = (
  depth: number,
  ...places: readonly (readonly [rank: number, page: number, place: number])[]
): Said => ({
  state: 'ranked',
  rank: places[0]?.[0] ?? null,
  exactness: 'exact',
  depth,
  places: places.map(([rank, page, place]) => ({ rank, page, place })),
})
const estimated = (...args: Parameters<typeof ranked>): Said => ({
  ...ranked(...args),
  exactness: 'estimated',
})
const absent = (depth: number, exactness: 'exact' | 'estimated' = 'exact'): Said => ({
  state: 'absent',
  rank: null,
  exactness,
  depth,
  places: [],
})
const unknown = (depth: number): Said => ({
  state: 'unknown',
  rank: null,
  exactness: null,
  depth,
  places: [],
})

describe('what the pages say of a target', () => {
  test.each<[string, readonly string[], Said]>([
    ['it ranks on the first page', ['abxc'], ranked(4, [3, 1, 2])],
    ['it ranks on a later page', ['abc', 'dx'], ranked(5, [5, 2, 1])],
    ['it ranks behind a short page', ['a', 'bx'], ranked(3, [3, 2, 1])],
    ['it ranks behind an overlap', ['abc', 'bcx'], ranked(4, [4, 2, 2])],
    ['its best place counts where it is twice on a page', ['axbx'], ranked(3, [2, 1, 1])],
    ['its best place counts where it returns', ['axb', 'xc'], ranked(4, [2, 1, 1])],
    ['it ranks, and what follows does not matter', ['ax', '!failed', '!open'], ranked(2, [2, 1, 1])],
    ['it ranks below a failed page', ['ab', '!failed', 'cx'], estimated(4, [14, 3, 1])],
    ['it ranks below a page that was passed over', ['ab', '!passed', 'x'], estimated(3, [13, 3, 0])],
    ['it ranks below an open page', ['!open', 'x'], estimated(1, [11, 2, 0])],
    ['every page was looked at', ['abc', 'de'], absent(5)],
    ['the results ended', ['abc', '!ended'], absent(3)],
    ['there are no results at all', [''], absent(0)],
    ['only results without a link', ['  '], absent(2)],
    ['a page was passed over', ['abc', '!passed'], absent(3, 'estimated')],
    ['a page failed', ['abc', '!failed'], unknown(3)],
    ['a page in between failed', ['abc', '!failed', 'de'], unknown(5)],
    ['a page is open', ['abc', '!open'], unknown(3)],
    ['a page was passed over and one failed', ['!passed', '!failed'], unknown(0)],
    ['nothing was asked', [], unknown(0)],
    ['every page failed', ['!failed', '!failed'], unknown(0)],
  ])('%s', (_, pages, observation) => {
    expect(look(pagesOf(...pages))).toMatchObject(observation)
  })

  test('a missing page counts with its documented size', () => {
    expect(look(pagesOf('!failed', 'x'), 50)).toMatchObject(estimated(1, [51, 2, 0]))
  })
})

test('all is looked at where as many results were seen as were asked for', () => {
  const deep = (depth: number) =>
    observe({ pages: pagesOf('abc', 'de'), pageSize: null, maxPages: 6, depth }, site('x')).unbrokenPages
  expect([deep(5), deep(6)]).toEqual([6, 2])
})

const anyPages = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.string({ unit: fc.constantFrom(...'abcxyz '), maxLength: 6 }) },
      fc.constantFrom('!failed', '!open', '!passed', '!ended'),
    ),
    { maxLength: 6 },
  )
  .map((pages) => pagesOf(...pages))

describe('for any pages', () => {
  test('only an answer makes a rank, and it is the lowest among the results that match', () => {
    fc.assert(
      fc.property(anyPages, (pages) => {
        const { state, rank, places } = look(pages)
        const ranks = rankPages(pages, 10).flatMap(({ ranks }, index) =>
          ranks.filter((_, place) => site('x')(pages[index]?.items[place]?.link ?? '')),
        )
        expect(state === 'ranked').toBe(ranks.length > 0)
        expect(rank).toBe(ranks.length === 0 ? null : Math.min(...ranks))
        expect(places.map(({ rank }) => rank)).toEqual([...new Set(ranks)])
      }),
    )
  })

  test('a failure is never `absent`', () => {
    fc.assert(
      fc.property(anyPages, (pages) => {
        const { state, exactness } = look(pages)
        if (state !== 'absent') return
        expect(pages.every(({ state }) => state !== 'failed' && state !== 'open')).toBe(true)
        expect(exactness).toBe(pages.some(({ state }) => state === 'passed') ? 'estimated' : 'exact')
      }),
    )
  })

  test('the depth is what was really looked at, found or not', () => {
    fc.assert(
      fc.property(anyPages, (pages) => {
        expect(look(pages).depth).toBe(distinctResults(pages))
      }),
    )
  })

  test('what was looked at without a gap ends before the first page that was not answered', () => {
    fc.assert(
      fc.property(anyPages, fc.integer({ min: 0, max: 4 }), (pages, more) => {
        const maxPages = pages.length + more
        const observed = observe({ pages, pageSize: 10, maxPages, depth: null }, site('x'))
        const whole = unbrokenPages(pages)
        expect(whole.every(({ state }) => state === 'done')).toBe(true)
        expect(pages[whole.length]?.state).not.toBe('done')
        const ended = pages[whole.length]?.state === 'ended'
        expect(observed.unbrokenPages).toBe(ended ? maxPages : whole.length)
        expect(observed.unbrokenDepth).toBe(distinctResults(whole))
        expect(observed.unbrokenDepth).toBeLessThanOrEqual(observed.depth)
      }),
    )
  })

  test('a rank is exact only where every page above it was answered', () => {
    fc.assert(
      fc.property(anyPages, (pages) => {
        const { exactness, places } = look(pages)
        const [best] = places
        if (best === undefined) return
        const gap = pages.slice(0, best.page).some(({ state }) => state !== 'done')
        expect(exactness).toBe(gap ? 'estimated' : 'exact')
      }),
    )
  })
})
