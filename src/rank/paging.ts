import type { Outcome } from '../model/call.ts'
import type { JobSettings, PagingPolicy, Target } from '../model/job.ts'
import type { QueryPaging } from '../model/query.ts'
import type { AnswerFacts, Observation } from '../model/result.ts'
import type { Run } from '../model/run.ts'
import { type Matcher, matcherOf } from './match.ts'

/** The state of one page of a query. */
export type PageState =
  /** Answered: its results are known. */
  | 'done'
  /** Requested, without an answer. */
  | 'failed'
  /** Not requested yet. */
  | 'open'
  /** Not requested because of the paging policy. */
  | 'passed'
  /** The results ended before it. */
  | 'ended'

/** One result of a page, with the fields that ranks need. */
export interface RankedItem {
  /** The same number for all links of a page; null without a link. */
  readonly sameAs: number | null
  readonly link: string | null
}

/** One page of a query in one run. */
export interface Page {
  readonly page: number
  readonly state: PageState
  /** In the order of the page; empty without an answer. */
  readonly items: readonly RankedItem[]
  /** The service says that no page follows. */
  readonly isLast?: true
  /** Its answer repeats another query than the one sent. */
  readonly mismatched?: true
}

const assumedPageSize = 10

/**
 * Ranks over all pages of a query: 1 + the number of distinct results before a result. A result that repeats an earlier one
 * has the rank of the first. A page that was not fetched counts with its documented size.
 *
 * @param pages in order, from page 1, without holes
 * @param pageSize documented size of a page; ten is assumed if none is documented
 */
export function rankPages(
  pages: readonly Page[],
  pageSize: number | null,
): readonly {
  readonly page: number
  /** Distinct results before the page. */
  readonly base: number
  readonly ranks: readonly number[]
}[] {
  const seen = new Map<number, number>()
  let before = 0
  const ranked: ReturnType<typeof rankPages>[number][] = []
  for (const page of pages) {
    const base = before
    const ranks: number[] = []
    ranked.push({ page: page.page, base, ranks })
    if (page.state !== 'done') {
      before += pageSize ?? assumedPageSize
      continue
    }
    for (const { sameAs } of page.items) {
      const first = sameAs === null ? undefined : seen.get(sameAs)
      if (first === undefined) before += 1
      if (first === undefined && sameAs !== null) seen.set(sameAs, before)
      ranks.push(first ?? before)
    }
  }
  return ranked
}

/** All pages in order. Missing ones were passed over. */
function withGaps(pages: readonly Page[]): readonly Page[] {
  const all: Page[] = []
  for (const page of pages) {
    while (all.length + 1 < page.page) all.push({ page: all.length + 1, state: 'passed', items: [] })
    all.push(page)
  }
  return all
}

/** The pages from the first on that were all answered. */
export function unbrokenPages(pages: readonly Page[]): readonly Page[] {
  const gap = pages.findIndex(isGap)
  return gap < 0 ? pages : pages.slice(0, gap)
}

function isGap({ state, page }: Page, index: number): boolean {
  return state !== 'done' || page !== index + 1
}

/** Distinct results of the pages that were answered. */
export function distinctResults(pages: readonly Page[]): number {
  const seen = new Set<number>()
  let unlinked = 0
  for (const { items } of pages) {
    for (const { sameAs } of items) {
      if (sameAs === null) unlinked += 1
      else seen.add(sameAs)
    }
  }
  return seen.size + unlinked
}

/** Whether the later page has exactly the results of the earlier one, in the same order. */
export function repeats(earlier: Page, later: Page): boolean {
  return (
    later.items.length > 0 &&
    later.items.length === earlier.items.length &&
    later.items.every(
      ({ sameAs }, index) => sameAs !== null && sameAs === (earlier.items[index] as RankedItem).sameAs,
    )
  )
}

/**
 * The observation of one target from the pages of a query. Only answers make a rank. If the target was not found and a page
 * failed or is open, the state is `unknown`. A page that the policy passed over makes `absent` an estimate.
 */
export function observe(
  {
    pages,
    pageSize,
    maxPages,
    depth,
  }: {
    /** In order, from page 1, without holes. */
    readonly pages: readonly Page[]
    readonly pageSize: number | null
    /** Requested pages at most. */
    readonly maxPages: number
    /** Requested results if no page size is documented; null if the number of pages is the limit. */
    readonly depth: number | null
  },
  matches: Matcher,
): Observation {
  const whole = unbrokenPages(pages)
  const unbrokenDepth = distinctResults(whole)
  const isAll = pages[whole.length]?.state === 'ended' || (depth !== null && unbrokenDepth >= depth)
  const looked = {
    depth: distinctResults(pages),
    unbrokenDepth,
    unbrokenPages: isAll ? maxPages : whole.length,
    places: placesOf(pages, pageSize, matches),
  }
  const [best] = looked.places
  if (best !== undefined) {
    const exactness = best.page <= whole.length ? 'exact' : 'estimated'
    // Later pages do not change the rank.
    const suspect = pages.some((page) => page.state === 'done' && page.mismatched && page.page <= best.page)
    return { ...looked, ...marked(suspect), state: 'ranked', rank: best.rank, exactness }
  }
  const suspect = marked(pages.some(({ mismatched }) => mismatched))
  if (pages.length === 0 || pages.some(({ state }) => state === 'failed' || state === 'open'))
    return { ...looked, ...suspect, state: 'unknown', rank: null, exactness: null }
  const gap = pages.some(({ state }) => state === 'passed')
  return { ...looked, ...suspect, state: 'absent', rank: null, exactness: gap ? 'estimated' : 'exact' }
}

function marked(suspect: boolean): Pick<Observation, 'suspect'> {
  return suspect ? { suspect: true } : {}
}

/** Every result of the target once, the best first. Repeats on later pages are left out. */
function placesOf(pages: readonly Page[], pageSize: number | null, matches: Matcher): Observation['places'] {
  const ranks = rankPages(pages, pageSize)
  const places = new Map<number, Observation['places'][number]>()
  for (const [index, { page, items }] of pages.entries())
    for (const [place, { link }] of items.entries()) {
      const rank = ranks[index]?.ranks[place]
      if (rank === undefined || link === null || places.has(rank) || !matches(link)) continue
      places.set(rank, { rank, page, place })
    }
  return [...places.values()]
}

/** What an answer says of the pages after it. */
type PagingHints = Pick<AnswerFacts, 'hasNextPage' | 'nextPage' | 'currentPage'>

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

function wantedTargets(query: QueryState, page: number, rules: PagingRules) {
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
    return planned ? asked : byPage([...asked, { page: paging.next, state: 'open', items: [] }])
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
  return lost > maxPages ? known : byPage([...known, { page: lost, state: 'failed', items: [] }])
}

function byPage(pages: readonly Page[]): readonly Page[] {
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
  readonly ranks: ReturnType<typeof rankPages>
  readonly observations: readonly (Observation & { readonly targetId: number })[]
  /** The page that may be sent now, or why none follows; null where nothing changes. */
  readonly paging: PagingDecision | null
}

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
interface PagingEnd {
  readonly because: string
  readonly kind: EndKind
}

/** The page after an answered one, or why none follows. */
export type PagingDecision = { readonly next: number } | PagingEnd

/** The state of a query after one of its pages was answered. */
interface PagingState {
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
  readonly wanted: Parameters<typeof smartPage>[2]
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

/** The repetition that begins on the lowest page. After a jump, pages beyond the end may all repeat the last page or the first; earlier ones may still differ. */
function lowestRepetition(pages: readonly Page[]): ReturnType<typeof repetition> {
  const found = pages.flatMap((page, index) => repetition(pages.slice(0, index), page) ?? [])
  return found.reduce<ReturnType<typeof repetition>>(
    (lowest, one) => (lowest === null || one.limit < lowest.limit ? one : lowest),
    null,
  )
}

function repetition(
  others: readonly Page[],
  later: Page,
): {
  readonly because: string
  /** Pages after this one repeat others. */
  readonly limit: number
} | null {
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
const alwaysChecked = 10

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
 * @param wanted the targets that the policy waits for
 * @returns null if no page is left, `dormant` if no missing target is looked for today
 */
export function smartPage(
  pages: readonly Page[],
  end: number,
  wanted: readonly {
    /** It was found on one of the pages. */
    readonly found: boolean
    /** The page on which it ranked last; null if it never ranked. */
    readonly lastPage: number | null
    /** Not found for some time, and no deep search is due. */
    readonly dormant: boolean
  }[],
): number | 'dormant' | null {
  const asked = new Set(pages.flatMap(({ page, state }) => (state === 'passed' ? [] : [page])))
  const left = Array.from({ length: end }, (_, index) => index + 1).filter((page) => !asked.has(page))
  const [lowest] = left
  if (lowest === undefined) return null
  const whole = unbrokenPages(pages)
  if (lowest === whole.length + 1 && distinctResults(whole) < alwaysChecked) return lowest
  const anchors = wanted.flatMap(({ found, dormant, lastPage }) => (found || dormant ? [] : [lastPage ?? 1]))
  if (anchors.length === 0) return 'dormant'
  const distance = (page: number): number => Math.min(...anchors.map((anchor) => Math.abs(page - anchor)))
  return left.reduce((best, page) => (distance(page) < distance(best) ? page : best), lowest)
}
