import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Observation } from '../../src/model/observation.ts'
import { observe } from '../../src/rank/observe.ts'
import { distinctResults, rankPages } from '../../src/rank/pages.ts'
import { pagesOf } from './build.ts'

/** Is the target the site of this letter? */
const site = (letter: string) => (link: string) => link === `https://${letter}.example/`

const ranked = (rank: number, depth: number, page: number, place: number): Observation => ({
  state: 'ranked',
  rank,
  exactness: 'exact',
  depth,
  found: { page, place },
})
const estimated = (...args: Parameters<typeof ranked>): Observation => ({
  ...ranked(...args),
  exactness: 'estimated',
})
const absent = (depth: number, exactness: 'exact' | 'estimated' = 'exact'): Observation => ({
  state: 'absent',
  rank: null,
  exactness,
  depth,
  found: null,
})
const unknown = (depth: number): Observation => ({
  state: 'unknown',
  rank: null,
  exactness: null,
  depth,
  found: null,
})

describe('what the pages say of a target', () => {
  test.each<[string, readonly string[], Observation]>([
    ['it ranks on the first page', ['abxc'], ranked(3, 4, 1, 2)],
    ['it ranks on a later page', ['abc', 'dx'], ranked(5, 5, 2, 1)],
    ['it ranks behind a short page', ['a', 'bx'], ranked(3, 3, 2, 1)],
    ['it ranks behind an overlap', ['abc', 'bcx'], ranked(4, 4, 2, 2)],
    ['its best place counts where it is twice on a page', ['axbx'], ranked(2, 3, 1, 1)],
    ['its best place counts where it returns', ['axb', 'xc'], ranked(2, 4, 1, 1)],
    ['it ranks, and what follows does not matter', ['ax', '!failed', '!open'], ranked(2, 2, 1, 1)],
    ['it ranks below a failed page', ['ab', '!failed', 'cx'], estimated(14, 4, 3, 1)],
    ['it ranks below a page that was passed over', ['ab', '!passed', 'x'], estimated(13, 3, 3, 0)],
    ['it ranks below an open page', ['!open', 'x'], estimated(11, 1, 2, 0)],
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
    expect(observe(pagesOf(...pages), 10, site('x'))).toEqual(observation)
  })

  test('a missing page counts with its documented size', () => {
    expect(observe(pagesOf('!failed', 'x'), 50, site('x'))).toEqual(estimated(51, 1, 2, 0))
  })
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
        const { state, rank, found } = observe(pages, 10, site('x'))
        const ranks = rankPages(pages, 10).flatMap(({ ranks }, index) =>
          ranks.filter((_, place) => site('x')(pages[index]?.items[place]?.link ?? '')),
        )
        expect(state === 'ranked').toBe(ranks.length > 0)
        expect(rank).toBe(ranks.length === 0 ? null : Math.min(...ranks))
        expect(found === null).toBe(ranks.length === 0)
      }),
    )
  })

  test('a failure is never `absent`', () => {
    fc.assert(
      fc.property(anyPages, (pages) => {
        const { state, exactness } = observe(pages, 10, site('x'))
        if (state !== 'absent') return
        expect(pages.every(({ state }) => state !== 'failed' && state !== 'open')).toBe(true)
        expect(exactness).toBe(pages.some(({ state }) => state === 'passed') ? 'estimated' : 'exact')
      }),
    )
  })

  test('the depth is what was really looked at, found or not', () => {
    fc.assert(
      fc.property(anyPages, (pages) => {
        expect(observe(pages, 10, site('x')).depth).toBe(distinctResults(pages))
      }),
    )
  })

  test('a rank is exact only where every page above it was answered', () => {
    fc.assert(
      fc.property(anyPages, (pages) => {
        const { exactness, found } = observe(pages, 10, site('x'))
        if (found === null) return
        const gap = pages.slice(0, found.page).some(({ state }) => state !== 'done')
        expect(exactness).toBe(gap ? 'estimated' : 'exact')
      }),
    )
  })
})
