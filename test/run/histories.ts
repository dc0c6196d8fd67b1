import type { PagingPolicy } from '../../src/model/job.ts'
import type { PagingRules, QueryState } from '../../src/rank/paging.ts'
import type { Day } from '../../src/run/backtest.ts'
import { pagesOf } from '../rank/build.ts'
import { aTarget } from './build.ts'

export const day = 86_400_000

/** A query as `paging: all` stores it: what the results do not reach is passed over. The target is `x.example`. */
export function storedQuery(pages: readonly string[], query: Partial<QueryState> = {}): QueryState {
  const { maxPages = pages.length } = query
  const ended = pages.length < maxPages || pages.at(-1)?.endsWith('$') || pages.at(-1) === ''
  const passed = Array.from({ length: maxPages - pages.length }, () => '!ended')
  return {
    maxPages,
    pageSize: 10,
    depth: null,
    targets: [{ ...aTarget('x.example'), id: 1 }],
    pages: pagesOf(...pages, ...passed),
    end: ended
      ? { because: 'the service has no next page', kind: 'ended' }
      : { because: 'the depth asked for was reached', kind: 'depth' },
    history: () => {
      throw new Error('the memory of the store must not get in')
    },
    ...query,
  }
}

/** Days of one query, from the first on, each at noon. */
export function history(
  days: readonly (readonly string[])[],
  query: Partial<QueryState> = {},
): readonly Day[] {
  return days.map((pages, index) => ({
    startedAt: index * day,
    credits: 2,
    query: storedQuery(pages, query),
  }))
}

export function rules(paging: PagingPolicy, startedAt = 0): PagingRules {
  return { paging, until: 'own', deepEveryMs: 7 * day, startedAt }
}
