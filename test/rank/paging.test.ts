import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decidePaging, type PagingDecision } from '../../src/rank/paging.ts'
import { pagesOf } from './build.ts'

type PagingState = Parameters<typeof decidePaging>[0]

function decide(pages: readonly string[], state: Partial<PagingState> = {}): PagingDecision {
  return decidePaging({
    policy: 'all',
    maxPages: 5,
    depth: null,
    hasNextPage: null,
    nextPage: null,
    currentPage: null,
    wanted: [],
    ...state,
    page: pages.length,
    pages: pagesOf(...pages),
  })
}

const seen = [{ found: true, lastPage: null, dormant: false }]
const unseen = [{ found: false, lastPage: null, dormant: false }]

const depthReached: PagingDecision = { because: 'the depth asked for was reached', kind: 'depth' }
const found: PagingDecision = { because: 'every target was found', kind: 'found' }
const noNext: PagingDecision = { because: 'the service has no next page', kind: 'ended' }
const namesNone: PagingDecision = { because: 'the service names no page after it', kind: 'broke' }
const notLater: PagingDecision = {
  because: 'the next page that the service names is not a later one',
  kind: 'broke',
}
const empty: PagingDecision = { because: 'the page is empty', kind: 'ended' }

describe('the page after an answered one', () => {
  test.each<[string, readonly string[], Partial<PagingState>, PagingDecision]>([
    ['nothing asked yet', [], {}, { next: 1 }],
    ['a full page', ['abcdefghij'], {}, { next: 2 }],
    ['a short page is no reason to stop', ['a'], {}, { next: 2 }],
    ['a page behind a failed one', ['ab', '!failed', 'cd'], {}, { next: 4 }],
    ['pages that overlap', ['abc', 'bcd'], {}, { next: 3 }],
    ['an empty page', ['ab', ''], {}, empty],
    ['an empty first page', [''], {}, empty],
    ['the last page asked for', ['a', 'b'], { maxPages: 2 }, depthReached],
    ['one page asked for', ['a'], { maxPages: 1 }, depthReached],
    ['enough distinct results', ['abc', 'cde'], { depth: 5 }, depthReached],
    ['not enough distinct results', ['abc', 'bcd'], { depth: 5 }, { next: 3 }],
    ['the service has no next page', ['ab$'], { hasNextPage: false, nextPage: 2 }, noNext],
    ['it has one', ['ab'], { hasNextPage: true, nextPage: 2, currentPage: 1 }, { next: 2 }],
    ['it has one but names none', ['ab'], { hasNextPage: true, nextPage: null }, namesNone],
    ['it names this one', ['ab', 'cd'], { hasNextPage: true, nextPage: 2, currentPage: 2 }, notLater],
    ['it names one before', ['ab', 'cd'], { hasNextPage: true, nextPage: 1, currentPage: 2 }, notLater],
    [
      'it counts results, not pages',
      ['ab', 'cd'],
      { hasNextPage: true, nextPage: 3, currentPage: 10 },
      { next: 3 },
    ],
    ['it counts pages from 0', ['ab', 'cd'], { hasNextPage: true, nextPage: 2, currentPage: 1 }, { next: 3 }],
    ['an empty page that is said to have one after it', ['ab', ''], { hasNextPage: true }, empty],
    ['a last page that names itself', ['ab$'], { hasNextPage: false, nextPage: 1, currentPage: 1 }, noNext],
    ['it does not say where it is', ['ab'], { hasNextPage: true, nextPage: 2 }, { next: 2 }],
    ['it says nothing of paging', ['ab'], { nextPage: null, currentPage: 1 }, { next: 2 }],
    [
      'a page that repeats the one before',
      ['ab', 'ab'],
      {},
      { because: 'page 2 repeats page 1', kind: 'broke' },
    ],
    [
      'a page that repeats an older one',
      ['ab', 'cd', 'ab'],
      {},
      { because: 'page 3 repeats page 1', kind: 'broke' },
    ],
    ['the same results in another order', ['ab', 'ba'], {}, { next: 3 }],
    ['results without links twice', ['  ', '  '], {}, { next: 3 }],
    ['all pages, and the target was found', ['ab'], { wanted: seen }, { next: 2 }],
    ['until found, and it was', ['ab'], { wanted: seen, policy: 'until-found' }, found],
    ['until found, and it was not', ['ab'], { wanted: unseen, policy: 'until-found' }, { next: 2 }],
    ['smart, and it was found', ['ab'], { wanted: seen, policy: 'smart' }, found],
    ['found on the last page asked for', ['a'], { wanted: seen, policy: 'until-found', maxPages: 1 }, found],
    [
      'until found, and it was where the results end',
      ['ab$'],
      { wanted: seen, policy: 'until-found' },
      noNext,
    ],
    ['smart, and it was found where the results end', ['ab$'], { wanted: seen, policy: 'smart' }, noNext],
    ['the results ended on the last page asked for', ['a$'], { hasNextPage: false, maxPages: 1 }, noNext],
  ])('%s', (_, pages, state, decision) => {
    expect(decide(pages, state)).toEqual(decision)
  })
})

describe('smart, the page after a jump', () => {
  const ten = 'abcdefghij'
  const lastKnown = [{ found: false, lastPage: 5, dormant: false }]
  const left = [{ found: false, lastPage: 5, dormant: true }]
  const allDormant: PagingDecision = {
    because: 'the targets were not found for a while, and are looked for in depth only now and then',
    kind: 'dormant',
  }

  test.each<[string, readonly string[], number, Partial<PagingState>, PagingDecision]>([
    ['to a page without it', [ten, '', '', '', 'k'], 5, {}, { next: 4 }],
    ['to a page with it', [ten, '', '', '', 'k'], 5, { wanted: seen }, found],
    ['to a page that repeats the first goes on below it', [ten, '', '', '', ten], 5, {}, { next: 4 }],
    ['to the last page once more goes on below it', [ten, '', '', 'kl', 'kl'], 4, {}, { next: 3 }],
    [
      'to pages that all repeat the first ends at the second',
      [ten, ten, ten, ten, ten],
      2,
      {},
      { because: 'page 2 repeats page 1', kind: 'broke' },
    ],
    [
      'to pages that all repeat the last ends there',
      [ten, 'kl', 'mn', 'mn', 'mn'],
      2,
      {},
      { because: 'page 4 repeats page 3', kind: 'broke' },
    ],
    ['to an empty page goes on below it', [ten, '', '', '', 'EMPTY'], 5, {}, { next: 4 }],
    ['below an empty page never goes behind it', [ten, '', '', 'k', 'EMPTY'], 4, {}, { next: 3 }],
    ['to the last page goes on below it', [ten, '', '', '', 'k$'], 5, { hasNextPage: false }, { next: 4 }],
    ['between the first page and the last ends', [ten, 'k', 'EMPTY'], 2, {}, empty],
    ['between the first page and one said to be the last ends', [ten, 'k', 'l$'], 2, {}, noNext],
    ['to a page that failed goes on around it', [ten, '', '', '', '!failed'], 5, {}, { next: 4 }],
    ['around a page that failed goes on behind it', [ten, '', '', 'k', '!failed'], 4, {}, { next: 6 }],
    ['to a page that names none after it', [ten, '', '', '', 'k'], 5, { hasNextPage: true }, namesNone],
    [
      'to a page that names an earlier one',
      [ten, '', '', '', 'k'],
      5,
      { hasNextPage: true, nextPage: 2, currentPage: 5 },
      notLater,
    ],
    [
      'ends with as many results as were asked for',
      [ten, '', '', '', 'klmno'],
      5,
      { depth: 15 },
      depthReached,
    ],
    ['goes on while there are fewer', [ten, '', '', '', 'klmn'], 5, { depth: 15 }, { next: 4 }],
    ['ends where everything was asked for', [ten, 'k', '!failed'], 2, { maxPages: 3 }, depthReached],
    ['is not bought for targets that are left alone', [ten], 1, { wanted: left }, allDormant],
    ['is bought for those where ten results are not there yet', ['abc'], 1, { wanted: left }, { next: 2 }],
    ['follows in order where no target is watched', [ten], 1, { wanted: [] }, { next: 2 }],
  ])('%s', (_, written, page, state, decision) => {
    const pages = pagesOf(...written.map((text) => text.replace('EMPTY', '')))
    // What stands empty above was not asked for.
    const asked = pages.filter((_, index) => written[index] !== '')
    const whole = { policy: 'smart', maxPages: 9, wanted: lastKnown, ...state } as const
    expect(
      decidePaging({
        depth: null,
        hasNextPage: null,
        nextPage: null,
        currentPage: null,
        ...whole,
        page,
        pages: asked,
      }),
    ).toEqual(decision)
  })
})

test('asking page by page ends: never more pages than allowed, and each the one after the last', () => {
  const page = fc.string({ unit: fc.constantFrom(...'abcdef '), maxLength: 5 })
  fc.assert(
    fc.property(
      fc.array(page, { minLength: 12, maxLength: 12 }),
      fc.integer({ min: 1, max: 10 }),
      fc.option(fc.integer({ min: 1, max: 20 })),
      (answers, maxPages, depth) => {
        const asked: number[] = []
        for (;;) {
          const decision = decide(answers.slice(0, asked.length), { maxPages, depth })
          if (!('next' in decision)) break
          asked.push(decision.next)
        }
        expect(asked).toEqual(asked.map((_, index) => index + 1))
        expect(asked.length).toBeLessThanOrEqual(maxPages)
        expect(asked.length).toBeGreaterThan(0)
      },
    ),
  )
})
