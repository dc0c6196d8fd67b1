import type { PagingPolicy } from '../model/job.ts'
import { distinctResults, type Page, repeats, unbrokenPages } from './ranks.ts'

/** Why no page follows. */
export type EndKind =
  /** Every target that the policy waits for was found. */
  | 'found'
  /** The results ended. */
  | 'ended'
  /** The service repeats pages, or contradicts itself. */
  | 'broke'
  /** The requested depth was checked. */
  | 'depth'
  /** The targets were not found for some time, and no deep search is due today. */
  | 'dormant'
  /** A page failed for a reason that all others share. */
  | 'failed'

/** Whether paging stays ended when a later plan asks for a greater depth. */
export const isFinal: Readonly<Record<EndKind, boolean>> = {
  found: true,
  ended: true,
  broke: true,
  depth: false,
  dormant: true,
  failed: true,
}

/** Why the paging of a query ended, in words. */
export interface PagingEnd {
  readonly because: string
  readonly kind: EndKind
}

/** The page after an answered one, or why none follows. */
export type PagingDecision = { readonly next: number } | PagingEnd

/** The state of a query after one of its pages was answered. */
export interface PagingState {
  readonly policy: PagingPolicy
  /** The page that was answered. */
  readonly page: number
  /** All requested pages of the query, in order. */
  readonly pages: readonly Page[]
  /** Pages at most. */
  readonly maxPages: number
  /** Results to check if the service documents no page size; null if the number of pages is the limit. */
  readonly depth: number | null
  /** What the answer says about the next page; null if it says nothing. */
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

/** After a jump, pages beyond the end may all repeat the last page, or the first. Pages before them may still differ. */
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
  // If it counts results instead of pages, its numbers cannot be compared with ours.
  if (nextPage !== null && currentPage === last.page && nextPage <= last.page)
    return 'the next page that the service names is not a later one'
  return null
}

/** A target that the policy waits for. */
export interface WantedTarget {
  /** It was found on one of the pages. */
  readonly found: boolean
  /** The page on which it ranked last; null if it never ranked. */
  readonly lastPage: number | null
  /** Not found for some time, and no deep search is due. */
  readonly dormant: boolean
}

/** Earlier observations of a target, as epoch milliseconds; null if there are none. */
export interface TargetHistory {
  readonly lastPage: number | null
  readonly lastRankedAt: number | null
  /** The oldest observation. */
  readonly firstAt: number | null
  /** The newest observation that checked every page that is planned now. */
  readonly lastDeepAt: number | null
}

/** Daily jobs do not start at exactly the same hour. */
const leewayMs = 12 * 3_600_000
/** Results that are always checked. */
const alwaysLookedAt = 10

/**
 * Whether no deep search for a target is due today. The longer it was not found, the rarer deep searches are: at intervals
 * that double up to `deepEveryMs`.
 *
 * @param now when the run started, so that the decision is the same after an interruption
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
 * The page to buy next: the first results always; then the page on which a missing target ranked last and its neighbours, the
 * lower page first. A target that never ranked is looked for from the first page on.
 *
 * @param end the last page that may be bought
 * @returns null if no page is left, `dormant` if no missing target is looked for today
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
