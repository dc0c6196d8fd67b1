import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PagingPolicy } from '../../src/model/job.ts'
import type { Observation } from '../../src/model/result.ts'
import { type Page, scoreQuery } from '../../src/rank/paging.ts'
import {
  afterSearch,
  isFullyStored,
  replay,
  type SeenTargets,
  targetHistoryOf,
} from '../../src/run/backtest.ts'
import { pagesOf } from '../rank/build.ts'
import { neverSeen, services } from '../rank/looking.ts'
import { testTable } from '../support/test-table.ts'
import { aTarget } from './build.ts'
import { day, rules, storedQuery } from './histories.ts'

const ten = 'abcdefghij'

describe('a query is whole', () => {
  testTable<[string, readonly Page[], 'ended' | 'depth' | 'found' | 'broke' | null, boolean]>([
    ['where every page was answered', pagesOf('a', 'b', 'c'), 'depth', true],
    ['where the results ended', pagesOf('a', 'b$'), 'ended', true],
    ['where the pages behind the end were planned', pagesOf('a', 'b$', '!ended'), 'ended', true],
    ['where the first page is empty', pagesOf('', '!ended', '!ended'), 'ended', true],
    ['but not where the target was found before', pagesOf('a', 'x', '!ended'), 'found', false],
    ['nor where the service lost its way', pagesOf('a', 'a'), 'broke', false],
    ['nor where a page failed', pagesOf('a', '!failed', 'c'), 'depth', false],
    ['nor where one was passed over before the end', pagesOf('a', '!passed', 'c$'), 'ended', false],
    ['nor where it is not over', pagesOf('a', '!open', '!open'), null, false],
    ['nor where nothing came', pagesOf('!failed', '!ended'), 'ended', false],
  ])('%s', (_, pages, kind, whole) => {
    const end = kind === null ? null : { because: 'so it is', kind }
    expect(isFullyStored(storedQuery([], { pages, end, maxPages: 3 }))).toBe(whole)
  })
})

describe('replaying', () => {
  const rank = (
    pages: readonly string[],
    paging: PagingPolicy,
    memory: SeenTargets = new Map(),
    maxPages = 5,
  ) => {
    const { pages: bought, observations } = replay(storedQuery(pages, { maxPages }), rules(paging), memory)
    const { state, rank, exactness } = observations.get(1) ?? {}
    return [bought, state, rank, exactness]
  }
  const onPage = (lastPage: number): SeenTargets =>
    new Map([[1, { lastPage, lastRankedAt: -day, firstAt: -day, searches: [] }]])
  const five = [ten, 'k', 'lx', 'm', 'n']

  testTable<[string, readonly string[], PagingPolicy, SeenTargets, readonly unknown[]]>([
    ['all buys every page', five, 'all', new Map(), [5, 'ranked', 13, 'exact']],
    ['until-found stops at the target', five, 'until-found', new Map(), [3, 'ranked', 13, 'exact']],
    ['smart knows nothing at first', five, 'smart', new Map(), [3, 'ranked', 13, 'exact']],
    ['smart goes where it was seen', five, 'smart', onPage(3), [2, 'ranked', 22, 'estimated']],
    ['smart buys an empty page behind the end', [ten, 'kx$'], 'smart', onPage(4), [4, 'ranked', 12, 'exact']],
    ['smart stops at the last page', [ten, 'k', 'l$'], 'smart', onPage(3), [3, 'absent', null, 'exact']],
    ['all stops at the last page', [ten, 'kx$'], 'all', new Map(), [2, 'ranked', 12, 'exact']],
    ['until-found stops at an empty page', [ten, ''], 'until-found', new Map(), [2, 'absent', null, 'exact']],
  ])('%s', (_, pages, paging, memory, outcome) => {
    expect(rank(pages, paging, memory)).toEqual(outcome)
  })

  test('waits for targets that came later as if they had been watched all along', () => {
    const targets = [{ ...aTarget('x.example'), id: 1, adopted: true as const }]
    const { pages } = replay(storedQuery(five, { targets }), rules('until-found'), new Map())
    expect(pages).toBe(3)
  })

  test('`all` sees what is stored, for any pages', () => {
    fc.assert(
      fc.property(services, fc.integer({ min: 1, max: 8 }), (service, maxPages) => {
        const pages = service.slice(0, maxPages)
        const empty = pages.length < maxPages && !(pages.at(-1)?.endsWith('$') ?? false) ? [''] : []
        const query = storedQuery([...pages, ...empty], { maxPages })
        const { observations } = replay(query, rules('all'), new Map())
        const [{ targetId, ...stored } = { targetId: 0 }] = scoreQuery(query).observations
        expect(observations.get(targetId)).toEqual(stored)
      }),
    )
  })

  test('any policy ends, with what is stored alone, whatever is remembered', () => {
    const whatever = fc.record({
      lastPage: fc.option(fc.integer({ min: 1, max: 12 })),
      lastRankedAt: fc.constant(-day),
      firstAt: fc.constant(-9 * day),
      searches: fc.constantFrom([], [{ at: -day, pages: 9 }], [{ at: -30 * day, pages: 9 }]),
    })
    const policy = fc.constantFrom<PagingPolicy>('all', 'until-found', 'smart')
    fc.assert(
      fc.property(
        services,
        policy,
        whatever,
        fc.integer({ min: 1, max: 9 }),
        (service, paging, seen, maxPages) => {
          const whole = service.length < maxPages ? [...service, ''] : service.slice(0, maxPages)
          const query = storedQuery(whole, { maxPages })
          fc.pre(isFullyStored(query))
          expect(replay(query, rules(paging), new Map([[1, seen]])).pages).toBeLessThanOrEqual(maxPages)
        },
      ),
    )
  })
})

describe('what is remembered of a target', () => {
  const remembered = (
    days: readonly (readonly [paging: PagingPolicy, ...pages: string[]])[],
    maxPages = 3,
  ) => {
    const memory = days.reduce<SeenTargets>((memory, [paging, ...pages], index) => {
      const query = storedQuery(pages, { maxPages: 3 })
      return afterSearch(memory, replay(query, rules(paging), memory), index * day)
    }, new Map())
    return targetHistoryOf(memory, maxPages).get(1)
  }

  testTable<[string, readonly (readonly [PagingPolicy, ...string[]])[], object]>([
    [
      'its page, and when it ranked',
      [['until-found', ten, 'x', 'k']],
      { lastPage: 2, lastRankedAt: 0, firstAt: 0, lastDeepAt: null },
    ],
    [
      'that every page was looked at',
      [['all', ten, 'k', 'l']],
      { lastPage: null, lastRankedAt: null, firstAt: 0, lastDeepAt: 0 },
    ],
    [
      'that the results ended',
      [['all', ten, 'k$']],
      { lastPage: null, lastRankedAt: null, firstAt: 0, lastDeepAt: 0 },
    ],
    [
      'its page still when it is gone',
      [
        ['all', ten, 'x', 'k'],
        ['all', ten, 'k', 'l'],
      ],
      { lastPage: 2, lastRankedAt: 0, firstAt: 0, lastDeepAt: day },
    ],
    [
      'its newest page',
      [
        ['all', ten, 'k', 'x'],
        ['until-found', ten, 'x', 'l'],
      ],
      { lastPage: 2, lastRankedAt: day, firstAt: 0, lastDeepAt: 0 },
    ],
  ])('is %s', (_, days, seen) => {
    expect(remembered(days)).toEqual(seen)
  })

  test('is no look in depth where more pages are asked for since', () => {
    const days = [['all', ten, 'k', 'l']] as const
    expect(remembered(days, 3)).toMatchObject({ firstAt: 0, lastDeepAt: 0 })
    expect(remembered(days, 4)).toMatchObject({ firstAt: 0, lastDeepAt: null })
  })

  test('is nothing where nobody knows what was there', () => {
    const looked = { depth: 5, unbrokenDepth: 5, unbrokenPages: 3, places: [] }
    const observed: Observation = { state: 'unknown', rank: null, exactness: null, ...looked }
    const memory = afterSearch(new Map(), { pages: 1, observations: new Map([[1, observed]]) }, day)
    expect(targetHistoryOf(memory, 3).get(1)).toEqual(neverSeen)
  })
})
