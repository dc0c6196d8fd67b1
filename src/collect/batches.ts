import type { ApiClient } from '../api/client.ts'
import { type CreditBudget, limitReports, quotaUsage, type SpendingLimit } from '../ledger/budget.ts'
import type { Account, RateLimits } from '../model/call.ts'
import type { Run, Task } from '../model/run.ts'
import { eachOnce } from '../model/text.ts'
import { type Clock, freshSpan } from '../model/time.ts'
import type { LeaseRequest, SkippedQueries } from '../store/journal.ts'
import type { CollectStore } from '../store/sqlite/open.ts'
import { type AccountReading, accountStop, fetchUsage, unreadLines } from './account.ts'
import { StopRequested, type StopSignal } from './stop.ts'

export interface BatchOptions {
  readonly store: CollectStore
  readonly service: ApiClient
  readonly clock: Clock
  readonly random: () => number
  readonly keyHash: string
  readonly stop: StopSignal
  /** Aborted when nothing more will be leased. */
  readonly signal: AbortSignal
  readonly notice: (message: string) => void
  /** Limits of the budget that were reported: each is reported once in its period. */
  readonly reported?: Set<string> | undefined
  /** How long a service that is down is waited for. */
  readonly maxOutageMs: number
  /** How long rate-limit responses are waited out. */
  readonly maxThrottlingMs: number
  /** Reads the account where another process reads the usage record. */
  readonly readAccount?: (() => Promise<AccountReading>) | undefined
  /** The usage record as it was read just before. */
  readonly opening?: Parameters<typeof fetchUsage>[0]['opening']
}

/** Seconds of work in a batch; unlimited accounts get the largest. */
const batchSeconds = 10
const smallestBatch = 100
const largestBatch = 2_000
const largestLease = 256
/** Time that a last reading may take. */
const lastReadingTimeoutMs = 1_900

/** Leases tasks in batches, some after each reading of the account, and reserves their credits. */
export type Batches = ReturnType<typeof openBatches>

export function openBatches(options: BatchOptions, runs: readonly Run[], budget: CreditBudget) {
  const { store, clock, keyHash } = options
  const runIds = runs.map(({ id }) => id)
  const firstRun = runIds[0] ?? null
  /** Whether other runs of a group may have answers. */
  let shared = false
  let account: Account | null = null
  let balanceBefore: number | null = null
  let quotas: Awaited<ReturnType<typeof quotaUsage>> | null = null
  /** Tasks that may be leased before the account is read again. */
  let left = 0
  let reading: Promise<void> | null = null
  /** The last reading of the account did not come in time. */
  let isLate = false
  const limits = new Map<number, SpendingLimit>()
  const reported = options.reported ?? new Set<string>()
  const reports = limitReports(options.notice, reported)
  const noticeOnce = eachOnce(options.notice, reported)

  const read = async (): Promise<void> => {
    const take = budget.ask()
    // Once the run has begun, the usage record is waited for as answers are.
    const retryForMs = account === null ? 0 : options.maxOutageMs
    const usage = await readAccount(options, firstRun, retryForMs)
    account = usage
    for (const line of unreadLines(usage)) noticeOnce(line)
    take(usage)
    const cause = accountStop(usage, usage.at)
    if (cause !== null) {
      options.stop.request(cause)
      throw new StopRequested()
    }
    quotas = await quotaUsage(store, keyHash, usage, clock.wall())
    budget.quota(quotas.left - (await store.openJobsOfOthers(runIds)).calls)
    left = batchSize(usage.limits)
  }
  /** Reads the account, or waits for a reading that is under way. */
  const readOnce = (): Promise<void> => {
    reading ??= read().finally(() => {
      reading = null
    })
    return reading
  }
  /** Whether the account was read within the time that a last reading may take. */
  const readSoon = async (): Promise<boolean> => {
    let cancel = (): void => {}
    const timeout = new Promise<false>((resolve) => {
      cancel = clock.after(lastReadingTimeoutMs, () => resolve(false))
    })
    isLate = !(await Promise.race([readOnce().then(() => true), timeout]).finally(() => cancel()))
    return !isLate
  }
  const funds = (): LeaseRequest['runs'] =>
    runs.map(({ id, settings }) => ({
      runId: id,
      budget: budget.budgetLeft(id),
      keep: settings.budget.keep ?? 0,
      fresh: freshSpan(settings.freshnessMs, clock.wall()),
    }))
  const lease = async (
    operations: readonly string[],
    limit: number,
    roomFor: (operation: string) => number = () => Number.POSITIVE_INFINITY,
  ): Promise<readonly Task[]> => {
    const leased = budget.leasing(limit)
    const allRooms = operations.map((operation) => [operation, roomFor(operation)] as const)
    const rooms = new Map(allRooms.filter(([, room]) => Number.isFinite(room)))
    try {
      const credits = budget.availableCredits()
      const calls = budget.availableCalls()
      const own = { runs: funds(), limits: budget.sharedLimits() }
      const tasks = await store.lease({ ...own, operations, credits, calls, limit, shared, rooms })
      left -= tasks.length
      // Before anything else is awaited: a call that is lost meanwhile may not be retried with the same credits.
      for (const task of tasks) if (task.reusable === null) budget.reserve(task)
      return tasks
    } finally {
      leased()
    }
  }

  const next = async (
    operations: readonly string[],
    busy: () => boolean,
    roomFor?: (operation: string) => number,
  ): Promise<readonly Task[] | null> => {
    // Reading the account is a call, too: none where no task is pending.
    if (left <= 0 && (await store.hasPending(runIds))) await readOnce()
    const limit = Math.min(left, largestLease)
    const tasks = await lease(operations, limit, roomFor)
    // Before the credits are used up, so that no task waits for the reading.
    const isEarly = account !== null && left < batchSize(account.limits) / 3
    if (isEarly && tasks.length === limit && (await store.hasPending(runIds))) readOnce().catch(() => {})
    if (tasks.length > 0 || busy()) return tasks
    if ((await store.cheapestPending(runIds, operations)) === null) return null
    // What was at work a moment ago may wait again.
    const released = await lease(operations, limit, roomFor)
    if (released.length > 0) return released
    // The account may have been topped up: only a new reading shows that nothing more is covered.
    if (await readSoon()) {
      const again = await lease(operations, Math.min(left, largestLease), roomFor)
      if (again.length > 0) return again
    }
    for (const id of runIds) {
      const cheapest = await store.cheapestPending([id], operations)
      if (cheapest === null) continue
      limits.set(id, budget.limitReached(id, cheapest))
      for (const standing of budget.budgetsReached(id, cheapest)) reports.note(id, standing, cheapest)
      for (const tag of budget.limitedTags(id)) {
        const price = (await store.cheapestPending([id], operations, tag)) ?? 0
        for (const standing of budget.budgetsReached(id, price, [tag])) reports.note(id, standing, price)
      }
    }
    if ([...limits.values()].includes('quota')) options.notice(quotas?.message ?? '')
    return null
  }

  return {
    /** Reads the account for the first batch. */
    start: async (): Promise<void> => {
      const sizes = await Promise.all(runs.map(({ groupId }) => store.groupSize(groupId)))
      shared = sizes.some((size) => size > 1)
      await readOnce()
      balanceBefore = account?.remaining ?? null
    },
    /** Leaves out of the runs what is worth least, until the rest is covered. */
    fit: (): Promise<readonly SkippedQueries[]> =>
      store.fit({
        runs: funds(),
        limits: budget.sharedLimits(),
        credits: budget.availableCredits(),
        calls: budget.availableCalls(),
      }),
    /**
     * Tasks of these operations that may be sent, of each no more than it has room for; none while all that is left waits for
     * others; null when nothing is left or covered.
     */
    next,
    /** One task of these operations, if there is one that is covered. */
    one: async (operations: readonly string[]): Promise<Task | null> =>
      (await lease(operations, 1))[0] ?? null,
    /** Tasks at work that the rate limits need. */
    concurrency: () => concurrencyFor(account?.limits ?? { perSecond: null, perMinute: null }),
    /** Which limit keeps runs from buying what they still lack. */
    limits: (): ReadonlyMap<number, SpendingLimit> => limits,
    /** Limits of the budget that runs have reached, each by its name. */
    reached: reports.reached,
    /** A line for each limit that is mostly used, where it was not reported before. */
    warnings: (): readonly string[] => reports.warnings(budget.standings()),
    /** The name of the quota that may be why the service throttles every call, by the last reading. */
    quota: (): string | null => quotas?.exhausted?.name ?? null,
    /** Reads the account in the background. */
    refreshAccount: (): void => {
      readOnce().catch(() => {})
    },
    /** Reads the account for the last time. */
    end: async (): Promise<{
      readonly balanceBefore: number | null
      readonly balanceAfter: number | null
    }> => {
      await reading?.catch(() => {})
      const balanceAfter = account === null || isLate ? null : await lastBalance(options, firstRun)
      return { balanceBefore, balanceAfter }
    },
  }
}

async function readAccount(
  options: BatchOptions,
  runId: number | null,
  retryForMs: number,
): Promise<AccountReading> {
  return (await options.readAccount?.()) ?? (await fetchUsage({ ...options, retryForMs }, runId))
}

async function lastBalance(options: BatchOptions, runId: number | null): Promise<number | null> {
  const reason = options.stop.cause()?.reason
  if (reason === 'auth' || reason === 'unavailable' || reason === 'crashed') return null
  const patience = new AbortController()
  const cancel = options.clock.after(lastReadingTimeoutMs, () => patience.abort(new StopRequested()))
  try {
    return (await readAccount({ ...options, signal: patience.signal }, runId, 0)).remaining
  } catch {
    // The ledger is complete without it; a later reading shows what the service counted.
    return null
  } finally {
    cancel()
  }
}

/** Tasks that are leased after one reading of the account: some seconds of work, so that readings are few and fresh. */
export function batchSize({ perSecond, perMinute }: RateLimits): number {
  const perSecondAtMost = Math.min(
    perSecond ?? Number.POSITIVE_INFINITY,
    perMinute === null ? Number.POSITIVE_INFINITY : perMinute / 60,
  )
  return Math.round(Math.min(largestBatch, Math.max(smallestBatch, perSecondAtMost * batchSeconds)))
}

/** More than are on the wire: some wait for the commit before they are sent. */
const inTheAirWhenUnlimited = 80
/** Those whose answers are being stored are at work, too, where the disk has room for so many. */
const atWorkWhenUnlimited = 128
const fewestCalls = 16
const mostCalls = 256
/** Seconds that an answer usually takes at most. */
const usualAnswerSeconds = 5

/** How many tasks at work the rate limits need. How many of them now is seen from the calls on their way. */
export function concurrencyFor({ perSecond, perMinute }: RateLimits) {
  if (perSecond === null && perMinute === null)
    return { usual: inTheAirWhenUnlimited, most: atWorkWhenUnlimited, inTheAir: inTheAirWhenUnlimited }
  const wanted = perSecond === null ? (perMinute as number) : perSecond * usualAnswerSeconds
  return {
    /** As many as the limits need where answers take no longer than usual. */
    usual: Math.min(mostCalls, Math.max(fewestCalls, wanted)),
    /** As many as there may be where answers take longer. */
    most: mostCalls,
    /** As many of them as may be in the air: begun and not answered. */
    inTheAir: mostCalls,
  }
}
