import { highestPrice } from '../catalog/index.ts'
import { parseUsage } from '../collect/account.ts'
import type { CollectOptions } from '../collect/collect.ts'
import {
  type BudgetStanding,
  type CreditBudget,
  creditBudget,
  limitReports,
  quotaUsage,
  type SpendingLimit,
} from '../ledger/budget.ts'
import {
  countLimits,
  limitsOfJob,
  type PeriodLimit,
  type PeriodLimits,
  periodLimits,
} from '../ledger/period-limits.ts'
import type { Run, StopCause, Task } from '../model/run.ts'
import { freshSpan } from '../model/time.ts'
import type { SkippedQueries } from '../store/journal.ts'
import type { Store } from '../store/sqlite/open.ts'
import { type Grant, QueueDrained } from './journal.ts'
import type { SharedJournal } from './postgres/open.ts'
import type { SharedStandings, WaitingChunk } from './postgres/spending.ts'

/** The account is read again after so long, while chunks wait for credits. */
const readEveryMs = 10_000

/** Releases chunks as the budget of the key covers them. */
export function releaser(
  options: Pick<CollectOptions, 'keyHash' | 'clock' | 'notice' | 'sharedLimits' | 'reported'> & {
    readonly store: Store
    readonly journal: Pick<SharedJournal, 'spending'>
    readonly coordinator: string
  },
  byShared: ReadonlyMap<string, Run>,
  /** The newest reading of the account in the journal: milliseconds since it was read, and how to read it again. */
  reader: { readonly age: () => number; readonly again: () => Promise<unknown> },
) {
  const { store, journal, coordinator, keyHash, clock, notice, sharedLimits = [] } = options
  const runs = [...byShared.values()]
  const reports = limitReports(notice, options.reported ?? new Set())
  const ids = [...byShared.keys()]
  let quotas: Awaited<ReturnType<typeof quotaUsage>> | null = null
  let standing: readonly BudgetStanding[] = []

  const stateFrom = async (standings: SharedStandings) => {
    const account = standings.account === null ? null : parseUsage(Buffer.from(standings.account.record))
    const own = runs.flatMap(({ settings }) => limitsOfJob(settings))
    const shared = onAllHosts(sharedLimits, await standings.jobs())
    const counted = await countLimits(standings, [...own, ...shared], clock.wall())
    const periods = periodLimits(counted, runs, clock.wall)
    const byRun = new Map(
      [...byShared].map(([id, { id: here }]) => [
        here,
        standings.byRun.get(id) ?? { spent: 0, ambiguous: 0 },
      ]),
    )
    const elsewhere = standings.billedSince + standings.ambiguous + standings.reserved
    const before = { byRun, ambiguous: [{ credits: elsewhere, age: 0 }] }
    const budget = creditBudget(runs, before, highestPrice, clock, periods)
    if (account !== null) budget.ask()(account)
    quotas =
      account === null
        ? null
        : await quotaUsage(
            { ...store, chargedCalls: (_, span) => standings.chargedCalls(span) },
            keyHash,
            account,
            clock.wall(),
          )
    standing = budget.standings()
    return { budget, periods, quotaLeft: quotas?.left ?? Number.POSITIVE_INFINITY, runs: byShared }
  }

  const noteReached = ({ reached }: Release): void => {
    for (const [run, standings] of reached) for (const standing of standings) reports.note(run, standing, 1)
  }

  /** Inside the one turn in which budgets are read and chunks released. */
  const inTurn = async (
    most: number,
    decide: Parameters<SharedJournal['spending']['release']>[4],
  ): Promise<void> => {
    // What this database collected with former keys counts towards its limits of days and months.
    const keys = new Set((await store.ownJobs()).map((job) => job.keyHash))
    keys.delete(keyHash)
    await journal.spending.release(coordinator, keyHash, ids, most, decide, [...keys])
  }

  return {
    next: async (most: number): Promise<Release & { readonly stop: StopCause | null }> => {
      if (reader.age() > readEveryMs) await reader.again()
      let decided: Release & { readonly stop: StopCause | null } = { ...nothing, stop: null }
      await inTurn(most, async (waiting, standings) => {
        const stop = stopOf(waiting)
        decided = { ...nothing, stop }
        if (stop !== null) return []
        const release = decideRelease(waiting, await stateFrom(standings))
        const free = await freeGrants(waiting, release, standings)
        // What is left when that is done shows which limit is reached.
        decided =
          free.length === 0
            ? { ...release, stop }
            : { ...nothing, grants: [...release.grants, ...free], stop }
        return decided.grants
      })
      return decided
    },
    /** Leaves out of the runs what is worth least, until the rest is covered. */
    fit: async (): Promise<readonly SkippedQueries[]> => {
      let funds: Parameters<Store['fit']>[0] = { runs: [], credits: 0, calls: 0 }
      await inTurn(0, async (_, standings) => {
        const { budget, quotaLeft: calls } = await stateFrom(standings)
        const own = runs.map(({ id, settings }) => ({
          runId: id,
          budget: budget.budgetLeft(id),
          keep: settings.budget.keep ?? 0,
          fresh: freshSpan(settings.freshnessMs, clock.wall()),
        }))
        const limits = budget.sharedLimits()
        funds = { runs: own, limits, credits: budget.availableCredits(), calls }
        return []
      })
      return await store.fit(funds)
    },
    report: (limits: Release['limits']): void => {
      if ([...limits.values()].includes('quota')) notice(quotas?.message ?? '')
    },
    noteReached,
    reached: reports.reached,
    /** Reads how all limits stand, for their warnings. */
    count: async (): Promise<void> => {
      if (standing.length === 0) return
      const read = async (_: readonly WaitingChunk[], standings: SharedStandings) => {
        await stateFrom(standings)
        return []
      }
      await inTurn(0, read).catch((error) => {
        // A queue that is drained when all is bought has nothing to stop.
        if (!(error instanceof QueueDrained)) throw error
      })
    },
    /** A line for each limit that is mostly used, where it was not reported before. */
    warnings: (): readonly string[] => reports.warnings(standing),
  }
}

/** The same limits for the jobs of all hosts: what is not known here to lie in another folder counts to them. */
function onAllHosts(limits: readonly PeriodLimit[], jobs: readonly string[]): readonly PeriodLimit[] {
  return limits.map((limit) => {
    const others = jobs.filter((job) => !limit.elsewhere.includes(job))
    return { ...limit, jobs: [...new Set([...limit.jobs, ...others])] }
  })
}

/** What is not covered is released without credits where there is something to do that costs nothing. */
async function freeGrants(
  waiting: readonly WaitingChunk[],
  { grants }: Release,
  standings: SharedStandings,
): Promise<readonly Grant[]> {
  const covered = new Set(grants.map(({ chunk }) => chunk))
  const others = waiting.filter(({ id }) => !covered.has(id)).map(({ id }) => id)
  if (others.length === 0) return []
  return [...(await standings.withFreeWork(others))].map((chunk) => ({ chunk, credits: 0 }))
}

/** Which chunks are released, with how many credits, and which limit keeps runs from more. */
export type Release = Readonly<ReturnType<typeof decideRelease>>

const nothing: Release = { grants: [], limits: new Map(), reached: new Map() }

/** Why the worker that had a chunk last could not go on with the service. */
function stopOf(waiting: readonly WaitingChunk[]): StopCause | null {
  const said = waiting.find(({ stop }) => stop !== null)?.stop
  return said == null ? null : (JSON.parse(said) as StopCause)
}

/**
 * Reserves for each chunk, in their order, what it may need at most, or what is left where that covers at least its cheapest page. What is
 * reserved for one is not there for the next.
 */
export function decideRelease(
  waiting: readonly WaitingChunk[],
  {
    budget,
    periods,
    runs,
    ...state
  }: {
    /** What the budget of the key stands at; what is reserved for other chunks counts as possibly billed. */
    readonly budget: CreditBudget
    readonly periods: PeriodLimits
    /** Calls that the quotas of the key still allow. */
    readonly quotaLeft: number
    /** Runs here by their shared id. */
    readonly runs: ReadonlyMap<string, Run>
  },
) {
  let { quotaLeft } = state
  const grants: Grant[] = []
  const limits = new Map<number, SpendingLimit>()
  const reached = new Map<number, readonly BudgetStanding[]>()
  for (const chunk of waiting) {
    const run = runs.get(chunk.run)
    if (run === undefined) continue
    const byQuota = quotaLeft * chunk.leastCredits
    const left = Math.min(budget.availableFor(run.id), periods.left(run.id, chunk.tags), byQuota)
    const credits = Math.min(chunk.mostCredits, left)
    if (credits < chunk.leastCredits) {
      limits.set(
        run.id,
        byQuota < chunk.leastCredits ? 'quota' : budget.limitReached(run.id, chunk.leastCredits),
      )
      reached.set(run.id, budget.budgetsReached(run.id, chunk.leastCredits, chunk.tags))
      continue
    }
    budget.reserve(asTask(chunk, run.id, credits))
    quotaLeft -= Math.ceil(credits / chunk.leastCredits)
    grants.push({ chunk: chunk.id, credits })
  }
  return { grants, limits, reached }
}

/** A chunk is reserved for as if it were one task. */
function asTask({ id, tags, priority }: WaitingChunk, runId: number, credits: number): Task {
  return {
    id: Number(id),
    runId,
    queryId: 0,
    operation: '',
    text: '',
    params: {},
    page: 1,
    priority,
    credits,
    tries: 0,
    cause: null,
    reusable: null,
    tags,
  }
}
