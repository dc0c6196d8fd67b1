import type { Account } from '../api/account.ts'
import type { RateLimits } from '../api/windows.ts'
import type { Clock } from '../model/clock.ts'
import type { Run } from '../model/run.ts'
import type { Task } from '../model/task.ts'
import type { LeaseRequest, LeftOut } from '../store/calls.ts'
import type { CollectStore } from '../store/store.ts'
import type { Books, MoneyLimit } from './books.ts'
import { explainingQuota, type QuotaUse, quotaLeft, quotaReached, quotaUses, quotaWords } from './quotas.ts'
import { readUsage } from './read-account.ts'
import type { Service } from './service.ts'
import { type Stop, Stopped } from './stop.ts'
import { accountStop } from './stop-causes.ts'

export interface BatchParts {
  readonly store: CollectStore
  readonly service: Service
  readonly clock: Clock
  readonly random: () => number
  readonly keyHash: string
  readonly stop: Stop
  /** Aborted when nothing more will be let through. */
  readonly signal: AbortSignal
  readonly notice: (words: string) => void
  /** How long a service that is down is waited for. */
  readonly maxOutageMs: number
  /** How long refusals of the rate are waited out. */
  readonly maxThrottlingMs: number
}

/** Lets tasks through, a batch after each reading of the account; what has to be bought for them is reserved then. */
export interface Batches {
  /** Reads the account for the first batch. */
  start(): Promise<void>
  /** Leaves out of the runs what is worth least, until the rest is covered. */
  fit(): Promise<readonly LeftOut[]>
  /** Tasks of these operations that may be sent; none while all that is left waits for others; null when nothing is left or covered. */
  next(operations: readonly string[], busy: () => boolean): Promise<readonly Task[] | null>
  /** One task of these operations, if there is one that is covered. */
  one(operations: readonly string[]): Promise<Task | null>
  /** Calls in the air at once that the limits make sense of. */
  concurrency(): number
  /** Which limit keeps runs from buying what they still lack. */
  limits(): ReadonlyMap<number, MoneyLimit>
  /** The quota that may be why the service refuses everything, in words, by the last reading. */
  quota(): string | null
  /** Takes a reading beside everything else. */
  readAgain(): void
  /** Reads the account for the last time. */
  end(): Promise<{ readonly balanceBefore: number | null; readonly balanceAfter: number | null }>
}

/** Seconds of work in a batch; unlimited accounts get the largest. */
const batchSeconds = 10
const smallestBatch = 100
const largestBatch = 2_000
const largestLease = 256
/** Time that a last reading may take. */
const lastReadingPatienceMs = 1_900

export function openBatches(parts: BatchParts, runs: readonly Run[], books: Books): Batches {
  const { store, clock, keyHash } = parts
  /** Whether other runs of a group may have answers. */
  let shared = false
  const runIds = runs.map(({ id }) => id)
  let account: Account | null = null
  let balanceBefore: number | null = null
  let quotas: readonly QuotaUse[] = []
  /** Tasks that the last reading still lets through. */
  let left = 0
  let reading: Promise<void> | null = null
  /** A reading was waited for at the end, and did not come. */
  let isLate = false
  const limits = new Map<number, MoneyLimit>()

  const read = async (): Promise<void> => {
    const take = books.ask()
    // Once it runs, it waits for the usage record as it waits for answers.
    const patienceMs = account === null ? 0 : parts.maxOutageMs
    const said = await readUsage({ ...parts, patienceMs }, runs[0]?.id ?? null)
    account = said
    take(account)
    const cause = accountStop(account, said.at)
    if (cause !== null) {
      parts.stop.request(cause)
      throw new Stopped()
    }
    quotas = await quotaUses(store, keyHash, account, clock.wall())
    books.quota(quotaLeft(quotas) - (await store.openJobsBeside(runIds)).calls)
    left = batchSize(account.limits)
  }
  /** One reading at a time; whoever needs it waits for the same one. */
  const readOnce = (): Promise<void> => {
    reading ??= read().finally(() => {
      reading = null
    })
    return reading
  }
  /** Whether a reading came in the time that the last one may take; one that does not is not asked for again. */
  const readSoon = async (): Promise<boolean> => {
    let cancel = (): void => {}
    const tooLate = new Promise<false>((resolve) => {
      cancel = clock.after(lastReadingPatienceMs, () => resolve(false))
    })
    isLate = !(await Promise.race([readOnce().then(() => true), tooLate]).finally(() => cancel()))
    return !isLate
  }
  const means = (): LeaseRequest['runs'] =>
    runs.map(({ id, settings }) => ({
      runId: id,
      budget: books.budgetFor(id),
      keep: settings.budget.keep ?? 0,
      freshSince: settings.freshnessMs === null ? null : clock.wall() - settings.freshnessMs,
    }))
  const lease = async (operations: readonly string[], limit: number): Promise<readonly Task[]> => {
    const letThrough = books.letting(limit)
    try {
      const tasks = await store.lease({
        operations,
        runs: means(),
        credits: books.covered(),
        calls: books.coveredCalls(),
        limit,
        shared,
      })
      left -= tasks.length
      // Before anything else is awaited: a call that is lost meanwhile may not be sent again with the same credits.
      for (const task of tasks) if (task.reusable === null) books.reserve(task)
      return tasks
    } finally {
      letThrough()
    }
  }

  const next: Batches['next'] = async (operations, busy) => {
    // A reading is a call, too: none for a batch that nobody waits for.
    if (left <= 0 && (await store.hasPending(runIds))) await readOnce()
    const limit = Math.min(left, largestLease)
    const tasks = await lease(operations, limit)
    // Early, so that the queue never waits for it.
    const early = account !== null && left < batchSize(account.limits) / 3
    if (early && tasks.length === limit && (await store.hasPending(runIds))) readOnce().catch(() => {})
    if (tasks.length > 0 || busy()) return tasks
    if ((await store.cheapestPending(runIds, operations)) === null) return null
    // Somebody may have topped up: only a new reading says that nothing is covered. Nothing else is left to wait for.
    if (await readSoon()) {
      const again = await lease(operations, Math.min(left, largestLease))
      if (again.length > 0) return again
    }
    for (const id of runIds) {
      const cheapest = await store.cheapestPending([id], operations)
      if (cheapest !== null) limits.set(id, books.limitOf(id, cheapest))
    }
    if ([...limits.values()].includes('quota')) parts.notice(quotaReached(quotas))
    return null
  }

  return {
    start: async () => {
      shared = await groupsShared(store, runs)
      await readOnce()
      balanceBefore = account?.remaining ?? null
    },
    fit: () => store.fit({ runs: means(), credits: books.covered(), calls: books.coveredCalls() }),
    next,
    one: async (operations) => (await lease(operations, 1))[0] ?? null,
    concurrency: () => sensibleConcurrency(account?.limits ?? { perSecond: null, perMinute: null }),
    limits: () => limits,
    quota: () => {
      const use = explainingQuota(quotas)
      return use === null ? null : quotaWords(use)
    },
    readAgain: () => {
      readOnce().catch(() => {})
    },
    end: async () => {
      await reading?.catch(() => {})
      const balanceAfter = account === null || isLate ? null : await lastReading(parts, runs[0]?.id ?? null)
      return { balanceBefore, balanceAfter }
    },
  }
}

/** Whether any of the runs has others in its group, with answers that it may use. */
async function groupsShared(store: CollectStore, runs: readonly Run[]): Promise<boolean> {
  const sizes = await Promise.all(runs.map(({ groupId }) => store.groupSize(groupId)))
  return sizes.some((size) => size > 1)
}

async function lastReading(parts: BatchParts, runId: number | null): Promise<number | null> {
  const asked = parts.stop.cause()?.reason
  if (asked === 'auth' || asked === 'unavailable' || asked === 'crashed') return null
  const patience = new AbortController()
  const cancel = parts.clock.after(lastReadingPatienceMs, () => patience.abort(new Stopped()))
  try {
    return (await readUsage({ ...parts, signal: patience.signal }, runId)).remaining
  } catch {
    // The run is over and its books are whole without it: a later reading says what the service counted.
    return null
  } finally {
    cancel()
  }
}

/** Tasks that one reading of the account lets through: some seconds of work, so that readings are few and fresh. */
export function batchSize({ perSecond, perMinute }: RateLimits): number {
  const perSecondAtMost = Math.min(
    perSecond ?? Number.POSITIVE_INFINITY,
    perMinute === null ? Number.POSITIVE_INFINITY : perMinute / 60,
  )
  return Math.round(Math.min(largestBatch, Math.max(smallestBatch, perSecondAtMost * batchSeconds)))
}

const callsWhenUnlimited = 64
const fewestCalls = 16
const mostCalls = 256
/** Seconds that an answer may take without the rate limit going to waste. */
const longestAnswerSeconds = 5

/** As many calls at once as the limits allow to be started while slow ones are still awaited. */
export function sensibleConcurrency({ perSecond, perMinute }: RateLimits): number {
  if (perSecond === null && perMinute === null) return callsWhenUnlimited
  const wanted = perSecond === null ? (perMinute as number) : perSecond * longestAnswerSeconds
  return Math.min(mostCalls, Math.max(fewestCalls, wanted))
}
