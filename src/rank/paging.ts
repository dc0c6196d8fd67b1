import type { PagingPolicy } from '../model/job.ts'
import { distinctResults, type Page, repeats } from './pages.ts'
import { type Sought, smartPage } from './smart.ts'

/** Why no page follows. */
export type EndKind =
  /** Every target that the policy waits for was seen. */
  | 'found'
  /** The results ended. */
  | 'ended'
  /** The service no longer tells its pages apart. */
  | 'broke'
  /** As much was looked at as was asked for. */
  | 'depth'
  /** The targets were not found for a while, and are not looked for in depth today. */
  | 'dormant'
  /** A page failed for a reason that all others share. */
  | 'failed'

/** Whether a deeper plan would still ask for nothing. */
export const isFinal: Readonly<Record<EndKind, boolean>> = {
  found: true,
  ended: true,
  broke: true,
  depth: false,
  dormant: true,
  failed: true,
}

/** The end of a query's pages, in words for people. */
export interface PagingEnd {
  readonly because: string
  readonly kind: EndKind
}

/** What follows after an answered page: the next one; or why none does. */
export type PagingDecision = { readonly next: number } | PagingEnd

/** What is known of a query when one of its pages was answered. */
export interface PagingState {
  readonly policy: PagingPolicy
  /** The page that was answered. */
  readonly page: number
  /** All pages of the query that were asked for, in order. */
  readonly pages: readonly Page[]
  /** Pages at most. */
  readonly maxPages: number
  /** Results to look at where the service documents no page size; null where the number of pages says all. */
  readonly depth: number | null
  /** What the answer says of the page after it; null where it says nothing. */
  readonly hasNextPage: boolean | null
  readonly nextPage: number | null
  readonly currentPage: number | null
  /** The targets that the policy waits for. */
  readonly sought: readonly Sought[]
}

const depthReached: PagingEnd = { because: 'the depth asked for was reached', kind: 'depth' }
const allFound: PagingEnd = { because: 'every target was found', kind: 'found' }
const allDormant: PagingEnd = {
  because: 'the targets were not found for a while, and are looked for in depth only now and then',
  kind: 'dormant',
}

/** Decides on the page after one that was answered. A short page is no reason to stop. */
export function decidePaging(state: PagingState): PagingDecision {
  const { policy, sought } = state
  const pages = policy === 'smart' ? state.pages : state.pages.filter(({ page }) => page <= state.page)
  const last = pages.find(({ page }) => page === state.page)
  if (last === undefined) return { next: 1 }
  const broke = whyBroken(state, last)
  if (broke !== null && whyEnded(last) === null) return { because: broke, kind: 'broke' }
  const waits = policy !== 'all' && sought.length > 0
  const next = policy === 'smart' && waits ? smart({ ...state, pages }) : inOrder({ ...state, pages }, last)
  if (waits && sought.every(({ found }) => found))
    return 'kind' in next && next.kind === 'ended' ? next : allFound
  return next
}

function inOrder({ pages, maxPages, depth }: PagingState, last: Page): PagingDecision {
  const ended = whyEnded(last)
  if (ended !== null) return { because: ended, kind: 'ended' }
  const again = repetition(
    pages.filter((page) => page !== last),
    last,
  )
  if (again !== null) return { because: again.because, kind: 'broke' }
  if (last.page >= maxPages || isDeepEnough(pages, depth)) return depthReached
  return { next: last.page + 1 }
}

function smart({ pages, maxPages, depth, sought }: PagingState): PagingDecision {
  if (isDeepEnough(pages, depth)) return depthReached
  const end = pages.find((page) => whyEnded(page) !== null)
  const again = lowestRepetition(pages)
  const limit = Math.min(maxPages, end?.page ?? maxPages, again?.limit ?? maxPages)
  const next = smartPage(pages, limit, sought)
  if (next === 'dormant') return allDormant
  if (next !== null) return { next }
  if (again !== null) return { because: again.because, kind: 'broke' }
  return end === undefined ? depthReached : { because: whyEnded(end) as string, kind: 'ended' }
}

interface Repetition {
  readonly because: string
  /** No page behind that tells anything new. */
  readonly limit: number
}

/** After a jump, pages behind the end may all be the last one again, or the first: those before them may still differ. */
function lowestRepetition(pages: readonly Page[]): Repetition | null {
  const found = pages.flatMap((page, index) => repetition(pages.slice(0, index), page) ?? [])
  return found.reduce<Repetition | null>(
    (lowest, one) => (lowest === null || one.limit < lowest.limit ? one : lowest),
    null,
  )
}

function repetition(others: readonly Page[], later: Page): Repetition | null {
  const same = others.find((page) => page.state === 'done' && repeats(page, later))
  if (same === undefined) return null
  const limit = same.page === 1 && later.page > 2 ? later.page - 1 : same.page
  return { because: `page ${later.page} repeats page ${same.page}`, limit }
}

function isDeepEnough(pages: readonly Page[], depth: number | null): boolean {
  return depth !== null && distinctResults(pages) >= depth
}

function whyEnded({ state, items, isLast }: Page): string | null {
  if (state !== 'done') return null
  if (items.length === 0) return 'the page is empty'
  return isLast ? 'the service has no next page' : null
}

function whyBroken({ hasNextPage, nextPage, currentPage }: PagingState, last: Page): string | null {
  // Only an answer that speaks of paging at all can be held to its word.
  if (hasNextPage === true && nextPage === null) return 'the service names no page after it'
  // Where it counts results instead of pages, its numbers say nothing about ours.
  if (nextPage !== null && currentPage === last.page && nextPage <= last.page)
    return 'the next page that the service names is no later one'
  return null
}
