import type { PagingPolicy } from '../model/job.ts'
import { distinctResults, type Page, repeats, unbrokenPages } from './ranks.ts'

/** Why no page follows. */
export type EndKind =
  /** Every target that the policy waits for was seen. */
  | 'found'
  /** The results ended. */
  | 'ended'
  /** The service repeats pages, or contradicts itself. */
  | 'broke'
  /** The depth that was asked for is checked. */
  | 'depth'
  /** The targets were not found for a while, and no deep search is due today. */
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

/** The state of a query after one of its pages was answered. */
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
  readonly wanted: readonly WantedTarget[]
}

const depthReached: PagingEnd = { because: 'the depth asked for was reached', kind: 'depth' }
const allFound: PagingEnd = { because: 'every target was found', kind: 'found' }
const allDormant: PagingEnd = {
  because: 'the targets were not found for a while, and are looked for in depth only now and then',
  kind: 'dormant',
}

/** Decides on the page after one that was answered. A short page is not a reason to stop. */
export function decidePaging(state: PagingState): PagingDecision {
  const { policy, wanted } = state
  const pages = policy === 'smart' ? state.pages : state.pages.filter(({ page }) => page <= state.page)
  const last = pages.find(({ page }) => page === state.page)
  if (last === undefined) return { next: 1 }
  const broke = whyBroken(state, last)
  if (broke !== null && whyEnded(last) === null) return { because: broke, kind: 'broke' }
  const waits = policy !== 'all' && wanted.length > 0
  const next = policy === 'smart' && waits ? smart({ ...state, pages }) : inOrder({ ...state, pages }, last)
  if (waits && wanted.every(({ found }) => found))
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

function smart({ pages, maxPages, depth, wanted }: PagingState): PagingDecision {
  if (isDeepEnough(pages, depth)) return depthReached
  const end = pages.find((page) => whyEnded(page) !== null)
  const again = lowestRepetition(pages)
  const limit = Math.min(maxPages, end?.page ?? maxPages, again?.limit ?? maxPages)
  const next = smartPage(pages, limit, wanted)
  if (next === 'dormant') return allDormant
  if (next !== null) return { next }
  if (again !== null) return { because: again.because, kind: 'broke' }
  return end === undefined ? depthReached : { because: whyEnded(end) as string, kind: 'ended' }
}

interface Repetition {
  readonly because: string
  /** Pages after this one repeat others. */
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
  if (hasNextPage === true && nextPage === null) return 'the service names no page after it'
  // Where it counts results instead of pages, its numbers say nothing about ours.
  if (nextPage !== null && currentPage === last.page && nextPage <= last.page)
    return 'the next page that the service names is not a later one'
  return null
}

/** A target of a query, as paging needs it. */
export interface WantedTarget {
  /** It was seen on one of the pages. */
  readonly found: boolean
  /** Page on which it ranked last; null where it never did. */
  readonly lastPage: number | null
  /** Not found for a while, and not due to be looked for in depth. */
  readonly dormant: boolean
}

/** Earlier observations of a target, as epoch milliseconds; null where there are none. */
export interface TargetHistory {
  readonly lastPage: number | null
  readonly lastRankedAt: number | null
  /** The oldest observation. */
  readonly firstAt: number | null
  /** The newest one that checked every page which is planned now. */
  readonly lastDeepAt: number | null
}

/** The hour of a daily job wanders a little. */
const leewayMs = 12 * 3_600_000
/** Results that are always checked, however short the pages are. */
const alwaysLookedAt = 10

/**
 * Whether a target can be left alone below the first results for today: the longer it was not found, the more rarely it
 * is looked for in depth, at intervals that double up to `deepEveryMs`.
 *
 * @param now when the run started, so that it decides the same after an interruption
 */
export function isDormant(
  { lastRankedAt, firstAt, lastDeepAt }: TargetHistory,
  now: number,
  deepEveryMs: number,
): boolean {
  if (firstAt === null || lastDeepAt === null) return false
  const notFoundFor = now - (lastRankedAt ?? firstAt)
  const every = Math.min(deepEveryMs, notFoundFor / 2)
  return now - lastDeepAt < every - Math.min(leewayMs, every / 2)
}

/**
 * The page most worth buying: the first results always; then the page on which a missing target ranked last, and its
 * neighbours outward, the lower page first; one that never ranked is looked for from the first page on.
 *
 * @param end no page behind it is asked for
 * @returns null where no page is left, `dormant` where the missing targets are to be left alone
 */
export function smartPage(
  pages: readonly Page[],
  end: number,
  wanted: readonly WantedTarget[],
): number | 'dormant' | null {
  const asked = new Set(pages.flatMap(({ page, state }) => (state === 'passed' ? [] : [page])))
  const left = Array.from({ length: end }, (_, index) => index + 1).filter((page) => !asked.has(page))
  const [lowest] = left
  if (lowest === undefined) return null
  const whole = unbrokenPages(pages)
  if (lowest === whole.length + 1 && distinctResults(whole) < alwaysLookedAt) return lowest
  const anchors = wanted.flatMap(({ found, dormant, lastPage }) => (found || dormant ? [] : [lastPage ?? 1]))
  if (anchors.length === 0) return 'dormant'
  const distance = (page: number): number => Math.min(...anchors.map((anchor) => Math.abs(page - anchor)))
  return left.reduce((best, page) => (distance(page) < distance(best) ? page : best), lowest)
}
