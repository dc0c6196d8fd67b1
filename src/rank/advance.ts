import type { Outcome } from '../model/call.ts'
import type { JobSettings } from '../model/job.ts'
import type { QueryPaging } from '../model/query.ts'
import type { AnswerFacts, Observation } from '../model/result.ts'
import type { Run } from '../model/run.ts'
import type { Target } from '../model/target.ts'
import { matcherOf } from './match.ts'
import {
  decidePaging,
  isDormant,
  type PagingDecision,
  type PagingEnd,
  type TargetHistory,
  type WantedTarget,
} from './paging.ts'
import { observe, type Page, rankPages, withGaps } from './ranks.ts'

/** What an answer says of the pages after it. */
export type PagingHints = Pick<AnswerFacts, 'hasNextPage' | 'nextPage' | 'currentPage'>

/** How a page ended: with an answer that says these facts, or failed. */
export type PageOutcome = { readonly facts: PagingHints } | { readonly failed: Outcome | 'malformed' }

/** How the pages of a query are bought. */
export type PagingRules = Pick<JobSettings, 'paging' | 'until' | 'deepEveryMs'> & {
  /** When the run started. */
  readonly startedAt: number
}

/** The rules by which a run buys pages. */
export function pagingRules({ settings, startedAt }: Pick<Run, 'settings' | 'startedAt'>): PagingRules {
  return { ...settings, startedAt }
}

/** Pages that would fail for the same reason are not worth asking for. */
const permanentFailures: ReadonlySet<string> = new Set(['rejected', 'not-found'])

/**
 * What follows for a query once one of its pages ended: the ranks of all its pages, what is observed of its
 * targets, and the next page. A page that failed for a passing reason does not keep the next one back.
 */
export function advanceQuery(
  query: QueryState,
  page: number,
  end: PageOutcome,
  rules: PagingRules,
): QueryUpdate {
  const paging = nextPage(query, page, end, rules)
  if (query.end !== null && 'next' in paging && isUnderWay(query, paging.next))
    return { ...scoreQuery(query), paging: null }
  return { ...scoreQuery(query, paging), paging }
}

/** Lost pages may come when those behind them have ended already. */
function isUnderWay({ pages }: QueryState, next: number): boolean {
  const wasAsked = pages.some((page) => page.page === next && (isSettled(page) || page.state === 'open'))
  return wasAsked && pages.some((page) => page.page >= next && isSettled(page))
}

function isSettled({ state }: Page): boolean {
  return state === 'done' || state === 'failed'
}

/**
 * What the pages of a query come to.
 *
 * @param paging what follows after them; as it was stored where nothing new came
 */
export function scoreQuery(
  query: QueryState,
  paging: PagingDecision | null = query.end,
): Pick<QueryUpdate, 'ranks' | 'observations'> {
  const { pageSize, maxPages, depth } = query
  const pages = withGaps(pagesAhead(query, paging))
  const trusted = trustedPages(query, pages)
  return {
    ranks: rankPages(pages, pageSize).filter(({ ranks }) => ranks.length > 0),
    observations: query.targets.map((target) => ({
      targetId: target.id,
      ...observe({ pages: trusted, pageSize, maxPages, depth }, matcherOf(target)),
    })),
  }
}

/** The pages as they count: with `strict_echo`, an answer to another question is no answer. */
function trustedPages({ strictEcho }: QueryState, pages: readonly Page[]): readonly Page[] {
  if (strictEcho !== true) return pages
  return pages.map((page) =>
    page.mismatched ? { page: page.page, state: 'failed', items: [], mismatched: true } : page,
  )
}

/** The page that is bought after one that ended, or why none is. */
export function nextPage(
  stored: QueryState,
  page: number,
  end: PageOutcome,
  rules: PagingRules,
): PagingDecision {
  if ('failed' in end && permanentFailures.has(end.failed))
    return { because: `page ${page} failed`, kind: 'failed' }
  const query = { ...stored, pages: trustedPages(stored, stored.pages) }
  const isTrusted = query.pages.find((one) => one.page === page)?.state === 'done'
  const { hasNextPage, nextPage, currentPage } = 'facts' in end && isTrusted ? end.facts : saysNothing
  const { pages, maxPages, depth } = query
  return decidePaging({
    policy: rules.paging,
    page,
    pages,
    maxPages,
    depth,
    hasNextPage,
    nextPage,
    currentPage,
    wanted: rules.paging === 'all' ? [] : wantedTargets(query, page, rules),
  })
}

const saysNothing = { hasNextPage: null, nextPage: null, currentPage: null }
const neverSeen: TargetHistory = { lastPage: null, lastRankedAt: null, firstAt: null, lastDeepAt: null }

function wantedTargets(query: QueryState, page: number, rules: PagingRules): readonly WantedTarget[] {
  const { paging, until, startedAt, deepEveryMs } = rules
  const smart = paging === 'smart'
  const before = smart ? query.history() : new Map<number, TargetHistory>()
  // Later pages that came in an earlier try are not looked at yet where pages follow in order.
  const looked = query.pages.filter((one) => smart || one.page <= page)
  const links = looked.flatMap(({ items }) => items.flatMap(({ link }) => (link === null ? [] : [link])))
  return query.targets
    .filter(({ own, backfilled: isBackfilled }) => isBackfilled !== true && (own || until === 'all'))
    .map((target) => {
      const seen = before.get(target.id) ?? neverSeen
      return {
        found: links.some(matcherOf(target)),
        lastPage: seen.lastPage,
        dormant: isDormant(seen, startedAt, deepEveryMs),
      }
    })
}

/** The pages as they will be: those that are passed over no longer open, the next one open. */
function pagesAhead({ pages, maxPages }: QueryState, paging: PagingDecision | null): readonly Page[] {
  if (paging === null) return pages
  if ('next' in paging) {
    // What an earlier end had passed over is to come again.
    const asked = pages.filter(({ state }) => state !== 'ended')
    const planned = asked.some(({ page }) => page === paging.next)
    return planned ? asked : inOrder([...asked, { page: paging.next, state: 'open', items: [] }])
  }
  return atTheEnd(pages.filter(stillCounts(pages, paging)), maxPages, paging)
}

/** Lost pages that are asked for again count as such, but for those behind an end that others have shown. */
function stillCounts(pages: readonly Page[], { kind }: PagingEnd): (page: Page) => boolean {
  const last = kind === 'depth' || kind === 'failed' ? Infinity : (pages.findLast(isSettled)?.page ?? 0)
  return (page) => isSettled(page) || (page.state === 'open' && page.page < last)
}

function atTheEnd(known: readonly Page[], maxPages: number, { kind }: PagingEnd): readonly Page[] {
  // What a page would have brought that cannot be had is not known.
  if (kind === 'broke') return withLost(known, maxPages)
  const after = (known.at(-1)?.page ?? 0) + 1
  return kind === 'ended' && after <= maxPages
    ? [...known, { page: after, state: 'ended', items: [] }]
    : known
}

/** The first page that was not asked for cannot be had. */
function withLost(known: readonly Page[], maxPages: number): readonly Page[] {
  const gap = known.findIndex(({ page }, index) => page !== index + 1)
  const lost = (gap < 0 ? known.length : gap) + 1
  return lost > maxPages ? known : inOrder([...known, { page: lost, state: 'failed', items: [] }])
}

function inOrder(pages: readonly Page[]): readonly Page[] {
  return [...pages].sort((a, b) => a.page - b.page)
}

/** A target that a query of a run is watched for. */
export interface WatchedTarget extends Target {
  readonly id: number
  /** It came when the query had its pages: it is seen on them, and none is bought for it. */
  readonly backfilled?: true
}

/** A query of a run: how it is paged, its targets, and its pages as far as they are tasks. */
export interface QueryState extends QueryPaging {
  readonly targets: readonly WatchedTarget[]
  readonly pages: readonly Page[]
  /** Its job takes no answer that repeats another question than asked. */
  readonly strictEcho?: true
  /** Why no page follows any more; null while pages may follow. */
  readonly end: PagingEnd | null
  /** What runs before this one saw of each target for the same query; read when it is asked for. */
  readonly history: () => ReadonlyMap<number, TargetHistory>
}

/** What the pages of a query, the new one among them, come to. */
export interface QueryUpdate {
  readonly ranks: readonly {
    readonly page: number
    readonly base: number
    readonly ranks: readonly number[]
  }[]
  readonly observations: readonly (Observation & { readonly targetId: number })[]
  /** The page that may be sent now; or why no further page is; or null where nothing changes. */
  readonly paging: PagingDecision | null
}
