import type { Observation } from '../model/observation.ts'
import { type Page, unbrokenPages } from '../rank/pages.ts'
import type { Sightings } from '../rank/smart.ts'
import type { StoredQuery } from '../store/answers.ts'
import { nextPage, type PagingRules, weigh } from './follow.ts'

/** What a paging policy would have made of a query of one run. */
export interface Replay {
  /** Pages that it would have bought. */
  readonly pages: number
  readonly observations: ReadonlyMap<number, Observation>
}

/** What earlier replays saw of each target, by its number. */
export type Memory = ReadonlyMap<number, Sightings>

/** Whether everything is stored that any policy could ask for: no page is missing before the end. */
export function isWhole({ pages, maxPages, end }: StoredQuery): boolean {
  const whole = unbrokenPages(pages)
  return (
    whole.length > 0 && (whole.length >= maxPages || (end?.kind === 'ended' && whole.length === pages.length))
  )
}

/** Buys the stored pages of a whole query again, by other rules and without a call. */
export function replay(stored: StoredQuery, rules: PagingRules, memory: Memory): Replay {
  const byNumber = new Map(stored.pages.map((page) => [page.page, page]))
  let query: StoredQuery = { ...stored, pages: [], end: null, sightings: () => memory }
  let next = 1
  for (;;) {
    const page = byNumber.get(next)
    if (page === undefined) throw new Error(`page ${next} is not stored`)
    query = { ...query, pages: [...query.pages, page].sort((a, b) => a.page - b.page) }
    const decision = nextPage(query, next, { facts: factsOf(page) }, rules)
    if ('next' in decision) {
      next = decision.next
      continue
    }
    const { observations } = weigh(query, decision)
    return {
      pages: query.pages.length,
      observations: new Map(observations.map(({ targetId, ...observed }) => [targetId, observed])),
    }
  }
}

function factsOf({ isLast }: Page) {
  return { hasNextPage: isLast ? false : null, nextPage: null, currentPage: null }
}

/** What is known of the targets of a query after one more look at it. */
export function remember(memory: Memory, { observations }: Replay, at: number, maxPages: number): Memory {
  return new Map([
    ...memory,
    ...[...observations].map(
      ([target, observed]) => [target, seen(memory.get(target), observed, at, maxPages)] as const,
    ),
  ])
}

const nothing: Sightings = { lastPage: null, lastRankedAt: null, firstAt: null, lastDeepAt: null }

function seen(
  before: Sightings = nothing,
  { state, places, unbrokenPages: pages }: Observation,
  at: number,
  maxPages: number,
): Sightings {
  if (state === 'unknown') return before
  return {
    lastPage: places[0]?.page ?? before.lastPage,
    lastRankedAt: state === 'ranked' ? at : before.lastRankedAt,
    firstAt: before.firstAt ?? at,
    lastDeepAt: pages >= maxPages ? at : before.lastDeepAt,
  }
}
