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
import { observe, type Page, type PageRanks, rankPages, withGaps } from './ranks.ts'

/** What an answer says of the pages after it. */
export type PagingHints = Pick<AnswerFacts, 'hasNextPage' | 'nextPage' | 'currentPage'>

/** Why a page failed: its call did, its answer cannot be used, or it came empty and says that there are results. */
export type PageFailure = Outcome | 'malformed' | 'hole'

/** How a page ended: with an answer that says these facts, or failed. */
export type PageOutcome = { readonly facts: PagingHints } | { readonly failed: PageFailure }

/** How the pages of a query are bought. */
export type PagingRules = Pick<JobSettings, 'paging' | 'until' | 'deepEveryMs'> & {
  /** When the run started. */
  readonly startedAt: number
}

/** The rules by which a run buys pages. */
export function pagingRules({ settings, startedAt }: Pick<Run, 'settings' | 'startedAt'>): PagingRules {
  return { ...settings, startedAt }
}

/** Failures that later pages of the query would meet as well: paging ends there. */
const permanentFailures: ReadonlySet<string> = new Set(['rejected', 'not-found'])

/**
 * Decides what follows after a page of a query has ended: the ranks of all its pages, the observations of its targets,
 * and the next page. A page that failed for a temporary reason does not stop the next one.
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

/** Whether the next page was planned before and pages from it on have ended: this page came late, and paging is further on. */
function isUnderWay({ pages }: QueryState, next: number): boolean {
  const wasAsked = pages.some((page) => page.page === next && (isSettled(page) || page.state === 'open'))
  return wasAsked && pages.some((page) => page.page >= next && isSettled(page))
}

function isSettled({ state }: Page): boolean {
  return state === 'done' || state === 'failed'
}

/**
 * Ranks and observations of a query, from all its pages.
 *
 * @param paging what follows after these pages; by default the end that is stored
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

/** The pages that count: with `strict_echo`, an answer that repeats another question counts as failed. */
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
  if ('failed' in end && (permanentFailures.has(end.failed) || isSecondHole(stored, page, end.failed)))
    return { because: `page ${page} failed`, kind: 'failed' }
  const query = { ...stored, pages: trustedPages(stored, stored.pages) }
  const isTrusted = query.pages.find((one) => one.page === page)?.state === 'done'
  const { hasNextPage, nextPage, currentPage } = 'facts' in end && isTrusted ? end.facts : noHints
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

/** One hole may hide a page with results behind it. After two in a row every further page would be bought for nothing. */
function isSecondHole({ pages }: QueryState, page: number, failed: PageFailure): boolean {
  return failed === 'hole' && pages.some((before) => before.page === page - 1 && before.state === 'failed')
}

const noHints = { hasNextPage: null, nextPage: null, currentPage: null }
const neverSeen: TargetHistory = { lastPage: null, lastRankedAt: null, firstAt: null, lastDeepAt: null }

function wantedTargets(query: QueryState, page: number, rules: PagingRules): readonly WantedTarget[] {
  const { paging, until, startedAt, deepEveryMs } = rules
  const smart = paging === 'smart'
  const before = smart ? query.history() : new Map<number, TargetHistory>()
  // With `until-found`, pages after this one do not count yet, although an earlier attempt may have stored them.
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

/** The pages after this decision: the next page is open; after an end, pages that will not be bought are left out. */
function pagesAhead({ pages, maxPages }: QueryState, paging: PagingDecision | null): readonly Page[] {
  if (paging === null) return pages
  if ('next' in paging) {
    // Pages that an earlier end had skipped may be bought again.
    const asked = pages.filter(({ state }) => state !== 'ended')
    const planned = asked.some(({ page }) => page === paging.next)
    return planned ? asked : inOrder([...asked, { page: paging.next, state: 'open', items: [] }])
  }
  return atTheEnd(pages.filter(stillCounts(pages, paging)), maxPages, paging)
}

/** Open pages count as gaps; those after the last settled page do not where the results have ended. */
function stillCounts(pages: readonly Page[], { kind }: PagingEnd): (page: Page) => boolean {
  const last = kind === 'depth' || kind === 'failed' ? Infinity : (pages.findLast(isSettled)?.page ?? 0)
  return (page) => isSettled(page) || (page.state === 'open' && page.page < last)
}

function atTheEnd(known: readonly Page[], maxPages: number, { kind }: PagingEnd): readonly Page[] {
  // Results of a page that cannot be bought are unknown, not absent.
  if (kind === 'broke') return withLost(known, maxPages)
  const after = (known.at(-1)?.page ?? 0) + 1
  return kind === 'ended' && after <= maxPages
    ? [...known, { page: after, state: 'ended', items: [] }]
    : known
}

/** Adds the first page that was not asked for as failed. */
function withLost(known: readonly Page[], maxPages: number): readonly Page[] {
  const gap = known.findIndex(({ page }, index) => page !== index + 1)
  const lost = (gap < 0 ? known.length : gap) + 1
  return lost > maxPages ? known : inOrder([...known, { page: lost, state: 'failed', items: [] }])
}

function inOrder(pages: readonly Page[]): readonly Page[] {
  return [...pages].sort((a, b) => a.page - b.page)
}

/** A target whose rank is tracked for a query of a run. */
export interface WatchedTarget extends Target {
  readonly id: number
  /** It was added after the pages had been bought: it is looked up on them, and no page is bought for it. */
  readonly backfilled?: true
}

/** A query of a run: its paging, its targets, and the pages that are tasks. */
export interface QueryState extends QueryPaging {
  readonly targets: readonly WatchedTarget[]
  readonly pages: readonly Page[]
  /** The job has `strict_echo`: answers that repeat another question count as failed. */
  readonly strictEcho?: true
  /** Why no page follows any more; null while pages may follow. */
  readonly end: PagingEnd | null
  /** What earlier runs saw of each target for this query; read only when called. */
  readonly history: () => ReadonlyMap<number, TargetHistory>
}

/** What changes for a query after one of its pages has ended. */
export interface QueryUpdate {
  readonly ranks: readonly PageRanks[]
  readonly observations: readonly (Observation & { readonly targetId: number })[]
  /** The page that may be sent now, or why none follows; null where nothing changes. */
  readonly paging: PagingDecision | null
}
