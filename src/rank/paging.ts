import type { PagingPolicy } from '../model/job.ts'
import { distinctResults, type Page, repeats } from './pages.ts'

/** What is known of a query when one of its pages was answered. */
export interface PagingState {
  readonly policy: PagingPolicy
  /** Pages from 1 to the one just answered, in order. */
  readonly pages: readonly Page[]
  /** Pages at most. */
  readonly maxPages: number
  /** Results to look at where the service documents no page size; null where the number of pages says all. */
  readonly depth: number | null
  /** What the answer says of the page after it; null where it says nothing. */
  readonly hasNextPage: boolean | null
  readonly nextPage: number | null
  readonly currentPage: number | null
  /** Every target that the policy waits for was seen. */
  readonly found: boolean
}

/** What follows after an answered page: the next one; or why none does, `final` where a deeper plan would not change it. */
export type PagingDecision =
  | { readonly next: number }
  /** `broke`: not because the results ended, but because the service no longer tells its pages apart. */
  | { readonly because: string; readonly final: boolean; readonly broke?: true }

const depthReached = 'the depth asked for was reached'

/** Decides on the page after the last of `pages`. A short page is no reason to stop. */
export function decidePaging(state: PagingState): PagingDecision {
  const last = state.pages.at(-1)
  if (last === undefined) return { next: 1 }
  const ended = whyEnded(state, last)
  if (ended !== null) return { because: ended, final: true }
  const broke = whyBroken(state, last)
  if (broke !== null) return { because: broke, final: true, broke: true }
  if (state.policy !== 'all' && state.found) return { because: 'every target was found', final: true }
  if (last.page >= state.maxPages) return { because: depthReached, final: false }
  if (state.depth !== null && distinctResults(state.pages) >= state.depth)
    return { because: depthReached, final: false }
  return { next: last.page + 1 }
}

function whyEnded({ hasNextPage }: PagingState, last: Page): string | null {
  if (last.items.length === 0) return 'the page is empty'
  return hasNextPage === false ? 'the service has no next page' : null
}

function whyBroken({ pages, hasNextPage, nextPage, currentPage }: PagingState, last: Page): string | null {
  // Only an answer that speaks of paging at all can be held to its word.
  if (hasNextPage === true && nextPage === null) return 'the service names no page after it'
  // Where it counts results instead of pages, its numbers say nothing about ours.
  if (nextPage !== null && currentPage === last.page && nextPage <= last.page)
    return 'the next page that the service names is no later one'
  const again = pages.find((page) => page !== last && page.state === 'done' && repeats(page, last))
  return again === undefined ? null : `the page repeats page ${again.page}`
}
