import type { Observation } from '../model/observation.ts'
import { distinctResults, type Page, unbrokenPages } from '../rank/pages.ts'
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
export type Memory = ReadonlyMap<number, Remembered>

interface Remembered extends Omit<Sightings, 'lastDeepAt'> {
  /** When so many pages were looked at without a gap: the newest look of any depth, the deepest first. */
  readonly looks: readonly { readonly at: number; readonly pages: number }[]
}

/** Whether everything is stored that any policy could ask for: no page is missing before the end. */
export function isWhole({ pages, maxPages, depth, end }: StoredQuery): boolean {
  const whole = unbrokenPages(pages)
  if (whole.length === 0) return false
  const restEnded = pages.slice(whole.length).every(({ state }) => state === 'ended')
  if (depth !== null && distinctResults(whole) >= depth) return true
  return whole.length >= maxPages || (end?.kind === 'ended' && restEnded)
}

/** Buys the stored pages of a whole query again, by other rules and without a call. */
export function replay(stored: StoredQuery, rules: PagingRules, memory: Memory): Replay {
  const byNumber = new Map(unbrokenPages(stored.pages).map((page) => [page.page, page]))
  const sightings = sightingsOf(memory, stored.maxPages)
  // As if it had been watched for all of them from the first day on.
  const targets = stored.targets.map(({ adopted: _, ...target }) => target)
  let query: StoredQuery = { ...stored, targets, pages: [], end: null, sightings: () => sightings }
  let next = 1
  for (;;) {
    // Whoever asks for a page behind the end has it empty.
    const page = byNumber.get(next) ?? { page: next, state: 'done', items: [] }
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
export function remember(memory: Memory, { observations }: Replay, at: number): Memory {
  return new Map([
    ...memory,
    ...[...observations].map(
      ([target, observed]) => [target, seen(memory.get(target), observed, at)] as const,
    ),
  ])
}

const nothing: Remembered = { lastPage: null, lastRankedAt: null, firstAt: null, looks: [] }

function seen(
  before: Remembered = nothing,
  { state, places, unbrokenPages: pages }: Observation,
  at: number,
): Remembered {
  if (state === 'unknown') return before
  return {
    lastPage: places[0]?.page ?? before.lastPage,
    lastRankedAt: state === 'ranked' ? at : before.lastRankedAt,
    firstAt: before.firstAt ?? at,
    looks: [...before.looks.filter((look) => look.pages > pages), { at, pages }],
  }
}

/** What is remembered, where so many pages are asked for. */
export function sightingsOf(memory: Memory, maxPages: number): ReadonlyMap<number, Sightings> {
  return new Map(
    [...memory].map(([target, { looks, ...known }]) => [
      target,
      { ...known, lastDeepAt: looks.findLast(({ pages }) => pages >= maxPages)?.at ?? null },
    ]),
  )
}
