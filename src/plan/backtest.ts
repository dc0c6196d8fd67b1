import type { JobSettings, PagingPolicy } from '../model/job.ts'
import type { Observation } from '../model/result.ts'
import { nextPage, type PagingRules, type QueryState, scoreQuery } from '../rank/advance.ts'
import type { TargetHistory } from '../rank/paging.ts'
import { distinctResults, type Page, unbrokenPages } from '../rank/ranks.ts'

/** One query on one day of its history. */
export interface Day {
  /** When its run started, epoch milliseconds. */
  readonly startedAt: number
  readonly query: QueryState
  /** Credits of one page. */
  readonly credits: number
}

/** What a policy would have cost over a history, and what it would have missed. */
export interface PolicyOutcome {
  readonly policy: PagingPolicy
  readonly pages: number
  readonly credits: number
  /** Observations, of the targets that the policy waits for, that are ranked when every page is looked at. */
  readonly ranked: number
  /** Of these: not found. */
  readonly missed: number
  /** Of these: found, and marked as an estimate. */
  readonly estimated: number
  /** Said to be exact, and not what every page shows: there is no right number but 0. */
  readonly wrong: number
  /** Days on which a rank within the first ten, or one that left them, was not that of the day before. */
  readonly topChanges: number
  /** Of these: not seen on that day. */
  readonly topChangesMissed: number
}

export interface Backtest {
  readonly outcomes: readonly PolicyOutcome[]
  /** Looks that were replayed, one for each query and day. */
  readonly looks: number
  /** Looks of which not every page is stored: what they would have shown is not known. */
  readonly leftOut: number
}

type Total = { -readonly [K in keyof PolicyOutcome]: PolicyOutcome[K] }

const policies: readonly PagingPolicy[] = ['all', 'until-found', 'smart']
/** The first page of results, as people speak of it. */
const top = 10

/**
 * Replays every policy over what is stored, as if it had been in use from the first day on.
 *
 * @param histories days of one query after the other, each in the order of time
 */
export function backtest(
  histories: Iterable<readonly Day[]>,
  settings: Pick<JobSettings, 'until' | 'deepEveryMs'>,
): Backtest {
  const totals = policies.map((policy): Total => ({ policy, ...nothing }))
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
  return { outcomes: totals, looks, leftOut }
}

const nothing = {
  pages: 0,
  credits: 0,
  ranked: 0,
  missed: 0,
  estimated: 0,
  wrong: 0,
  topChanges: 0,
  topChangesMissed: 0,
}

function replayDays(
  days: readonly Day[],
  truths: readonly Replay[],
  settings: Pick<PagingRules, 'until' | 'deepEveryMs'>,
  total: Total,
): void {
  let memory: SeenTargets = new Map()
  for (const [index, { query, startedAt, credits }] of days.entries()) {
    const seen = replay(query, rulesOf(total.policy, settings, startedAt), memory)
    memory = afterLook(memory, seen, startedAt)
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

/** What a job says of its own policy must not get in. */
function rulesOf(
  paging: PagingPolicy,
  { until, deepEveryMs }: Pick<PagingRules, 'until' | 'deepEveryMs'>,
  startedAt: number,
): PagingRules {
  return { paging, until, deepEveryMs, startedAt }
}

interface Sight {
  /** What every page shows. */
  readonly truth: Observation
  /** What every page showed the day before. */
  readonly before: Observation | undefined
  /** What the policy saw. */
  readonly seen: Observation
}

function judge(total: Total, { truth, before, seen }: Sight): void {
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

/** Says for certain what is not so: another rank, or none within the results that it looked at. */
function isWrong(truth: Observation, { rank, state, exactness, unbrokenDepth }: Observation): boolean {
  if (exactness !== 'exact') return false
  if (state === 'ranked') return rank !== truth.rank
  return truth.rank !== null && truth.rank <= unbrokenDepth
}

/** Shows the rank within the first ten, or that it is not among them. */
function tellsTop(truth: Observation, seen: Observation): boolean {
  if (isTop(truth)) return seen.rank === truth.rank
  if (seen.rank !== null) return seen.rank > top
  // There may be fewer results than ten.
  return seen.unbrokenDepth >= Math.min(top, truth.unbrokenDepth)
}

/** What a paging policy would have made of a query of one run. */
export interface Replay {
  /** Pages that it would have bought. */
  readonly pages: number
  readonly observations: ReadonlyMap<number, Observation>
}

/** What earlier replays saw of each target, by its number. */
export type SeenTargets = ReadonlyMap<number, SeenTarget>

interface SeenTarget extends Omit<TargetHistory, 'lastDeepAt'> {
  /** When so many pages were looked at without a gap: the newest look of any depth, the deepest first. */
  readonly looks: readonly { readonly at: number; readonly pages: number }[]
}

/** Whether everything is stored that any policy could ask for: no page is missing before the end. */
export function isFullyStored({ pages, maxPages, depth, end }: QueryState): boolean {
  const whole = unbrokenPages(pages)
  if (whole.length === 0) return false
  const restEnded = pages.slice(whole.length).every(({ state }) => state === 'ended')
  if (depth !== null && distinctResults(whole) >= depth) return true
  return whole.length >= maxPages || (end?.kind === 'ended' && restEnded)
}

/** Buys the stored pages of a whole query again, by other rules and without a call. */
export function replay(stored: QueryState, rules: PagingRules, memory: SeenTargets): Replay {
  const byNumber = new Map(unbrokenPages(stored.pages).map((page) => [page.page, page]))
  const history = targetHistoryOf(memory, stored.maxPages)
  // As if it had been watched for all of them from the first day on.
  const targets = stored.targets.map(({ backfilled: _, ...target }) => target)
  let query: QueryState = { ...stored, targets, pages: [], end: null, history: () => history }
  let next = 1
  for (;;) {
    // A page behind the end is empty.
    const page = byNumber.get(next) ?? { page: next, state: 'done', items: [] }
    query = { ...query, pages: [...query.pages, page].sort((a, b) => a.page - b.page) }
    const decision = nextPage(query, next, { facts: factsOf(page) }, rules)
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

function factsOf({ isLast }: Page) {
  return { hasNextPage: isLast ? false : null, nextPage: null, currentPage: null }
}

/** What is known of the targets of a query after one more look at it. */
export function afterLook(memory: SeenTargets, { observations }: Replay, at: number): SeenTargets {
  return new Map([
    ...memory,
    ...[...observations].map(
      ([target, observed]) => [target, seen(memory.get(target), observed, at)] as const,
    ),
  ])
}

const nothingSeen: SeenTarget = { lastPage: null, lastRankedAt: null, firstAt: null, looks: [] }

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
    looks: [...before.looks.filter((look) => look.pages > pages), { at, pages }],
  }
}

/** What is remembered, where so many pages are asked for. */
export function targetHistoryOf(memory: SeenTargets, maxPages: number): ReadonlyMap<number, TargetHistory> {
  return new Map(
    [...memory].map(([target, { looks, ...known }]) => [
      target,
      { ...known, lastDeepAt: looks.findLast(({ pages }) => pages >= maxPages)?.at ?? null },
    ]),
  )
}
