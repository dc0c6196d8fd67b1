import { describe, expect, test } from 'vitest'
import type { PagingPolicy } from '../../src/model/job.ts'
import {
  advanceQuery,
  type Page,
  type PageFailure,
  type PageOutcome,
  type QueryState,
  type QueryUpdate,
  scoreQuery,
} from '../../src/rank/paging.ts'
import { aTarget } from '../run/build.ts'
import { webPage } from '../store/answers.ts'
import { testTable } from '../support/test-table.ts'
import { pagesOf } from './build.ts'

const answered: PageOutcome = webPage('')
const last: PageOutcome = webPage('', { hasNextPage: false })
const failed = (how: PageFailure): PageOutcome => ({ failed: how })

function aQuery(pages: readonly string[], query: Partial<QueryState> = {}): QueryState {
  return {
    maxPages: pages.length,
    pageSize: 10,
    depth: null,
    targets: [{ ...aTarget('x.example'), id: 7 }],
    pages: pagesOf(...pages),
    end: null,
    history: () => new Map(),
    ...query,
  }
}

function follow(
  query: QueryState,
  page: number,
  end: PageOutcome,
  paging: PagingPolicy = 'all',
): QueryUpdate {
  return advanceQuery(query, page, end, { paging, until: 'own', deepEveryMs: 1, startedAt: 0 })
}

const stateOf = ({ observations }: QueryUpdate) => observations[0]?.state

describe('the page after one that ended', () => {
  testTable<[string, readonly string[], number, PageOutcome, QueryUpdate['paging']]>([
    ['answered', ['ab', '!open'], 1, answered, { next: 2 }],
    [
      'answered, and there is no next page',
      ['ab$', '!open'],
      1,
      last,
      { because: 'the service has no next page', kind: 'ended' },
    ],
    ['failed for a passing reason', ['!failed', '!open'], 1, failed('server-error'), { next: 2 }],
    ['was lost', ['!failed', '!open'], 1, failed('ambiguous'), { next: 2 }],
    ['was not understood', ['!failed', '!open'], 1, failed('malformed'), { next: 2 }],
    ['was a hole', ['ab', '!failed', '!open'], 2, failed('hole'), { next: 3 }],
    ['was a hole, and the first', ['!failed', '!open'], 1, failed('hole'), { next: 2 }],
    [
      'was a hole behind a hole',
      ['ab', '!failed', '!failed', '!open'],
      3,
      failed('hole'),
      { because: 'page 3 failed', kind: 'failed' },
    ],
    [
      'was refused for a reason that all share',
      ['!failed', '!open'],
      1,
      failed('rejected'),
      { because: 'page 1 failed', kind: 'failed' },
    ],
    [
      'was not found',
      ['!failed', '!open'],
      1,
      failed('not-found'),
      { because: 'page 1 failed', kind: 'failed' },
    ],
    [
      'failed as the last',
      ['ab', '!failed'],
      2,
      failed('server-error'),
      { because: 'the depth asked for was reached', kind: 'depth' },
    ],
  ])('that %s', (_, pages, page, end, paging) => {
    expect(follow(aQuery(pages), page, end).paging).toEqual(paging)
  })

  test('is decided by the pages up to it, not by later ones that came in an earlier try', () => {
    const query = aQuery(['ab', 'cx', 'ef'])
    expect(follow(query, 1, answered, 'until-found').paging).toEqual({ next: 2 })
    expect(follow(query, 2, answered, 'until-found').paging).toEqual({
      because: 'every target was found',
      kind: 'found',
    })
  })

  test('changes nothing where a lost page came later and those behind it had ended already', () => {
    const end = { because: 'the service has no next page', kind: 'ended' } as const
    const query = aQuery(['ab', 'cd', 'ef$'], { maxPages: 5, end })
    const consequences = follow(query, 2, answered)
    expect(consequences.paging).toBeNull()
    expect(consequences.observations).toMatchObject([{ state: 'absent', unbrokenPages: 5 }])
  })

  test('changes nothing either while another lost page is still to come, and nothing is absent', () => {
    const end = { because: 'the service has no next page', kind: 'ended' } as const
    const query = aQuery(['ab', '!open', 'ef$'], { maxPages: 5, end })
    const consequences = follow(query, 1, answered)
    expect(consequences.paging).toBeNull()
    expect(stateOf(consequences)).toBe('unknown')
    expect(scoreQuery(query).observations).toEqual(consequences.observations)
  })

  test('follows where the one that had ended the query is asked for again, too', () => {
    const end = { because: 'page 2 failed', kind: 'failed' } as const
    expect(follow(aQuery(['ab', '!open'], { end }), 1, answered).paging).toEqual({ next: 2 })
  })

  testTable(['until-found', 'smart'] as const)('is not bought for a target that came later: %s', (paging) => {
    const later = { ...aTarget('nowhere.example'), id: 8, backfilled: true } as const
    const query = aQuery(['abcdefghix', '!open'])
    const { paging: decided, observations } = follow(
      { ...query, targets: [...query.targets, later] },
      1,
      answered,
      paging,
    )
    expect(decided).toEqual({ because: 'every target was found', kind: 'found' })
    expect(observations.map(({ state }) => state)).toEqual(['ranked', 'absent'])
  })

  test('is asked for where no target is watched, whatever the policy', () => {
    const query = aQuery(['ab', '!open'], { targets: [] })
    expect(follow(query, 1, answered, 'until-found').paging).toEqual({ next: 2 })
  })
})

describe('what is observed', () => {
  testTable<[string, readonly string[], number, PageOutcome, string]>([
    [
      'is absent where the results ended, though pages were planned',
      ['ab$', '!open', '!open'],
      1,
      last,
      'absent',
    ],
    ['is unknown while a page follows', ['ab', '!open'], 1, answered, 'unknown'],
    ['is unknown where a page was refused', ['ab', '!failed', '!open'], 2, failed('rejected'), 'unknown'],
    ['is a rank as soon as an answer shows it', ['ax', '!open'], 1, answered, 'ranked'],
    ['is absent where the last page was looked at', ['ab', 'cd'], 2, answered, 'absent'],
  ])('%s', (_, pages, page, end, state) => {
    expect(stateOf(follow(aQuery(pages), page, end))).toBe(state)
  })

  test('is unknown while a page follows that an earlier end had passed over', () => {
    const consequences = follow(aQuery(['ab', '!ended', '!ended']), 1, answered)
    expect(consequences.paging).toEqual({ next: 2 })
    expect(consequences.observations).toMatchObject([{ state: 'unknown', unbrokenPages: 1 }])
  })

  testTable<[string, number]>([
    ['the last page', 5],
    ['a page in the middle', 9],
  ])(
    'is unknown where %s repeats the first and pages between them are still to be looked at',
    (_, maxPages) => {
      const pages = pagesOf('abcdefghij', '', '', '', 'abcdefghij').filter(({ page }) => page % 4 === 1)
      const query = aQuery([], { pages, maxPages })
      const consequences = follow(query, 5, answered, 'smart')
      expect(consequences.paging).toEqual({ next: 2 })
      expect(stateOf(consequences)).toBe('unknown')
    },
  )

  test('is unknown while a page that nobody has planned yet follows', () => {
    const query = aQuery(['ab'], { maxPages: 3 })
    const consequences = follow(query, 1, answered)
    expect(consequences.paging).toEqual({ next: 2 })
    expect(stateOf(consequences)).toBe('unknown')
  })
})

test('the ranks of all pages follow from each page that ends', () => {
  const { ranks } = follow(aQuery(['ab', '!failed', 'bc', '!open']), 3, answered)
  expect(ranks).toEqual([
    { page: 1, base: 0, ranks: [1, 2] },
    { page: 3, base: 12, ranks: [2, 13] },
  ])
})

test('what is stored is weighed for every target of its own', () => {
  const targets = ['x.example', 'a.example', 'nowhere.example'].map((site, id) => ({ ...aTarget(site), id }))
  const pages: readonly Page[] = pagesOf('abx')
  const { observations } = scoreQuery(aQuery([], { targets, pages }))
  expect(observations.map(({ targetId, state, rank }) => [targetId, state, rank])).toEqual([
    [0, 'ranked', 3],
    [1, 'ranked', 1],
    [2, 'absent', null],
  ])
})

describe('pages of which one answers another question', () => {
  const mismatched = (pages: readonly string[], which: readonly number[]): readonly Page[] =>
    pagesOf(...pages).map((page) => (which.includes(page.page) ? { ...page, mismatched: true } : page))
  const observed = (pages: readonly string[], which: readonly number[], strict = false) => {
    const query = aQuery(pages, { pages: mismatched(pages, which), ...(strict ? { strictEcho: true } : {}) })
    const [one] = scoreQuery(query, { because: 'depth', kind: 'depth' }).observations
    return [one?.state, one?.rank ?? null, one?.exactness ?? null, one?.suspect ?? false]
  }

  testTable<[string, readonly string[], readonly number[], unknown, unknown]>([
    ['none does', ['ax', 'bc'], [], ['ranked', 2, 'exact', false], ['ranked', 2, 'exact', false]],
    ['the rank is on it', ['ax', 'bc'], [1], ['ranked', 2, 'exact', true], ['unknown', null, null, true]],
    [
      'the rank is before it',
      ['ax', 'bc'],
      [2],
      ['ranked', 2, 'exact', false],
      ['ranked', 2, 'exact', false],
    ],
    [
      'the rank is behind it',
      ['ab', 'cx'],
      [1],
      ['ranked', 4, 'exact', true],
      ['ranked', 12, 'estimated', false],
    ],
    ['nothing ranks', ['ab', 'cd'], [2], ['absent', null, 'exact', true], ['unknown', null, null, true]],
    [
      'one behind failed',
      ['ab', '!failed'],
      [1],
      ['unknown', null, null, true],
      ['unknown', null, null, true],
    ],
  ])('%s', (_, pages, which, loosely, strictly) => {
    expect(observed(pages, which)).toEqual(loosely)
    expect(observed(pages, which, true)).toEqual(strictly)
  })

  test('what it says ends the search, unless that is strict', () => {
    const pages = ['xb', '!open']
    const query = aQuery(pages, { pages: mismatched(pages, [1]) })
    expect(follow(query, 1, last, 'until-found').paging).toMatchObject({ kind: 'found' })
    expect(follow({ ...query, strictEcho: true }, 1, last, 'until-found').paging).toEqual({ next: 2 })
  })
})
