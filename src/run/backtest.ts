import type { JobSettings, PagingPolicy } from '../model/job.ts'
import type { Observation } from '../model/observation.ts'
import type { StoredQuery } from '../store/answers.ts'
import type { PagingRules } from './follow.ts'
import { isWhole, type Memory, type Replay, remember, replay } from './replay.ts'

/** One query on one day of its history. */
export interface Day {
  /** When its run started, epoch milliseconds. */
  readonly startedAt: number
  readonly query: StoredQuery
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
  /** Looks of which not every page is stored, so that nobody knows what they would have shown. */
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
    const whole = days.filter(({ query }) => isWhole(query))
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
  let memory: Memory = new Map()
  for (const [index, { query, startedAt, credits }] of days.entries()) {
    const seen = replay(query, rulesOf(total.policy, settings, startedAt), memory)
    memory = remember(memory, seen, startedAt)
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
