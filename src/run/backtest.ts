import type { JobSettings, PagingPolicy } from '../model/job.ts'
import type { Observation } from '../model/result.ts'
import {
  distinctResults,
  nextPage,
  type PagingRules,
  type QueryState,
  scoreQuery,
  type TargetHistory,
  unbrokenPages,
} from '../rank/paging.ts'

/** One query on one day of its history. */
export interface Day {
  /** When its run started, epoch milliseconds. */
  readonly startedAt: number
  readonly query: QueryState
  /** Credits of one page. */
  readonly credits: number
}

/** The cost of a policy over a history, and what it would have missed. */
export type PolicyOutcome = Readonly<PolicyTotal>

type PolicyTotal = ReturnType<typeof noTotals>

const noTotals = (policy: PagingPolicy) => ({
  policy,
  pages: 0,
  credits: 0,
  /** Observations that are ranked when every page is bought, of targets that the policy waits for. */
  ranked: 0,
  /** Those of them that it did not find. */
  missed: 0,
  /** Those of them that it found and marked as an estimate. */
  estimated: 0,
  /** Observations marked as exact that differ from what all pages show. It must be 0. */
  wrong: 0,
  /** Days on which a rank among the first ten changed, entered or left. */
  topChanges: 0,
  /** Those of them that the policy did not see on that day. */
  topChangesMissed: 0,
})

const policies: readonly PagingPolicy[] = ['all', 'until-found', 'smart']
/** The ranks of the usual first page. */
const top = 10

/**
 * Replays every policy over stored answers, as if it had been used from the first day on.
 *
 * @param histories the days of each query, in the order of time
 */
export function backtest(
  histories: Iterable<readonly Day[]>,
  settings: Pick<JobSettings, 'until' | 'deepEveryMs'>,
) {
  const totals = policies.map(noTotals)
  let looks = 0
  let leftOut = 0
  for (const days of histories) {
    const whole = days.filter(({ query }) => isFullyStored(query))
    looks += whole.length
    leftOut += days.length - whole.length
    const truths = whole.map(({ query, startedAt }) =>
      replay(query, rulesOf('all', settings, startedAt), new Map()),
    )
    for (const total of totals) replayDays(whole, truths, settings, total)
  }
  return {
    outcomes: totals as readonly PolicyOutcome[],
    /** Replayed searches, one for each query and day. */
    looks,
    /** Searches that were left out because not every page is stored. */
    leftOut,
  }
}

function replayDays(
  days: readonly Day[],
  truths: readonly Replay[],
  settings: Pick<PagingRules, 'until' | 'deepEveryMs'>,
  total: PolicyTotal,
): void {
  let memory: SeenTargets = new Map()
  for (const [index, { query, startedAt, credits }] of days.entries()) {
    const seen = replay(query, rulesOf(total.policy, settings, startedAt), memory)
    memory = afterSearch(memory, seen, startedAt)
    total.pages += seen.pages
    total.credits += seen.pages * credits
    for (const { id, own } of query.targets)
      if (own || settings.until === 'all')
        judge(total, {
          truth: truths[index]?.observations.get(id) as Observation,
          before: truths[index - 1]?.observations.get(id),
          seen: seen.observations.get(id) as Observation,
        })
  }
}

/** The settings of the job with another policy. */
function rulesOf(
  paging: PagingPolicy,
  { until, deepEveryMs }: Pick<PagingRules, 'until' | 'deepEveryMs'>,
  startedAt: number,
): PagingRules {
  return { paging, until, deepEveryMs, startedAt }
}

function judge(
  total: PolicyTotal,
  {
    truth,
    before,
    seen,
  }: {
    /** The observation from every page. */
    readonly truth: Observation
    /** The observation from every page on the day before. */
    readonly before: Observation | undefined
    /** The observation by the policy. */
    readonly seen: Observation
  },
): void {
  if (truth.rank !== null) {
    total.ranked += 1
    if (seen.rank === null) total.missed += 1
    else if (seen.exactness === 'estimated') total.estimated += 1
  }
  if (isWrong(truth, seen)) total.wrong += 1
  if (before === undefined || before.rank === truth.rank || !(isTop(before) || isTop(truth))) return
  total.topChanges += 1
  if (!tellsTop(truth, seen)) total.topChangesMissed += 1
}

function isTop({ rank }: Observation): boolean {
  return rank !== null && rank <= top
}

/** Whether an exact observation is wrong: another rank, or `absent` from results that have the target. */
function isWrong(truth: Observation, { rank, state, exactness, unbrokenDepth }: Observation): boolean {
  if (exactness !== 'exact') return false
  if (state === 'ranked') return rank !== truth.rank
  return truth.rank !== null && truth.rank <= unbrokenDepth
}

/** Whether it shows the rank among the first ten, or that the target is not among them. */
function tellsTop(truth: Observation, seen: Observation): boolean {
  if (isTop(truth)) return seen.rank === truth.rank
  if (seen.rank !== null) return seen.rank > top
  // There may be less than ten results.
  return seen.unbrokenDepth >= Math.min(top, truth.unbrokenDepth)
}

/** The observations of earlier replays, by the number of the target. */
export type SeenTargets = ReadonlyMap<number, SeenTarget>

interface SeenTarget extends Omit<TargetHistory, 'lastDeepAt'> {
  /** The newest search for each depth (in pages without a gap), the deepest first. */
  readonly searches: readonly { readonly at: number; readonly pages: number }[]
}

/** Whether every page is stored that a policy could ask for: none is missing before the end. */
export function isFullyStored({ pages, maxPages, depth, end }: QueryState): boolean {
  const whole = unbrokenPages(pages)
  if (whole.length === 0) return false
  const restEnded = pages.slice(whole.length).every(({ state }) => state === 'ended')
  if (depth !== null && distinctResults(whole) >= depth) return true
  return whole.length >= maxPages || (end?.kind === 'ended' && restEnded)
}

/** A query of one run under another paging policy. */
type Replay = ReturnType<typeof replay>

/** Replays the stored pages of a query under other rules, without a call. */
export function replay(
  stored: QueryState,
  rules: PagingRules,
  memory: SeenTargets,
): {
  /** Pages that the policy would have bought. */
  readonly pages: number
  readonly observations: ReadonlyMap<number, Observation>
} {
  const byNumber = new Map(unbrokenPages(stored.pages).map((page) => [page.page, page]))
  const history = targetHistoryOf(memory, stored.maxPages)
  // As if all targets had been watched from the first day on.
  const targets = stored.targets.map(({ backfilled: _, ...target }) => target)
  let query: QueryState = { ...stored, targets, pages: [], end: null, history: () => history }
  let next = 1
  for (;;) {
    // A page beyond the end is empty.
    const page = byNumber.get(next) ?? { page: next, state: 'done', items: [] }
    query = { ...query, pages: [...query.pages, page].sort((a, b) => a.page - b.page) }
    const facts = { hasNextPage: page.isLast ? false : null, nextPage: null, currentPage: null }
    const decision = nextPage(query, next, { facts }, rules)
    if ('next' in decision) {
      next = decision.next
      continue
    }
    const { observations } = scoreQuery(query, decision)
    return {
      pages: query.pages.length,
      observations: new Map(observations.map(({ targetId, ...observed }) => [targetId, observed])),
    }
  }
}

/** The memory after one more search. */
export function afterSearch(memory: SeenTargets, { observations }: Replay, at: number): SeenTargets {
  return new Map([
    ...memory,
    ...[...observations].map(
      ([target, observed]) => [target, seen(memory.get(target), observed, at)] as const,
    ),
  ])
}

const nothingSeen: SeenTarget = { lastPage: null, lastRankedAt: null, firstAt: null, searches: [] }

function seen(
  before: SeenTarget = nothingSeen,
  { state, places, unbrokenPages: pages }: Observation,
  at: number,
): SeenTarget {
  if (state === 'unknown') return before
  return {
    lastPage: places[0]?.page ?? before.lastPage,
    lastRankedAt: state === 'ranked' ? at : before.lastRankedAt,
    firstAt: before.firstAt ?? at,
    searches: [...before.searches.filter((search) => search.pages > pages), { at, pages }],
  }
}

/** The history of targets from the memory, for a query with this number of pages. */
export function targetHistoryOf(memory: SeenTargets, maxPages: number): ReadonlyMap<number, TargetHistory> {
  return new Map(
    [...memory].map(([target, { searches, ...known }]) => [
      target,
      { ...known, lastDeepAt: searches.findLast(({ pages }) => pages >= maxPages)?.at ?? null },
    ]),
  )
}
