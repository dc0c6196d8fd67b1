import { type Account, settlingMs } from '../model/call.ts'
import type { Run, Task } from '../model/run.ts'
import type { Clock } from '../model/time.ts'

/** What may still be spent, exact to the credit between two readings of the account. */
export interface CreditBudget {
  /** Called when the account is asked for; the function that it answers takes the account when it came. */
  ask(): (account: Account) => void
  /** Credits that the last known balance covers beyond what is reserved. */
  availableCredits(): number
  /** Calls that the quotas of the key still allow beyond what is reserved, infinite without any. */
  availableCalls(): number
  /** Sets the calls that the quotas allow. */
  quota(left: number): void
  /** Credits that a run may spend: its budget, and the balance above what it keeps. */
  availableFor(runId: number): number
  /** Credits that a run's own budget still allows, infinite without one. */
  budgetLeft(runId: number): number
  /** Which limit of a run covers less than that, where one does. */
  limitReached(runId: number, credits: number): SpendingLimit
  /** Notes that so many tasks at most are being leased and not reserved yet; the function that it answers ends that. */
  leasing(tasks: number): () => void
  /** Whether one more call for a task is covered, whose last one was lost and may have been billed. */
  canAffordRetry(task: Task): boolean
  reserve(task: Task): void
  /** Gives back what is reserved for the task, if anything still is. */
  release(task: Task): void
  /** What was reserved was billed. */
  billed(task: Task): void
  /** A call was lost: it counts as spent, and the reservation stays for the next one. */
  ambiguous(task: Task): void
  readonly spent: () => number
  readonly balance: () => number | null
}

/** What keeps a run from buying more; the names are finish reasons. */
export type SpendingLimit = 'budget' | 'quota' | 'balance'

interface RunSpending {
  readonly run: Run
  spent: number
  ambiguous: number
  reserved: number
}

/** What earlier processes spent, by the ledger. */
export interface SpentBefore {
  /** By each run; `ambiguous` of it may have been. */
  readonly byRun: ReadonlyMap<number, { readonly spent: number; readonly ambiguous: number }>
  /** By ambiguous calls of any run, with the milliseconds since they ended. */
  readonly ambiguous: readonly { readonly credits: number; readonly age: number }[]
}

/** @param highestPrice credits of the most expensive call */
export function creditBudget(
  runs: readonly Run[],
  before: SpentBefore,
  highestPrice: number,
  clock: Pick<Clock, 'monotonic'>,
): CreditBudget {
  const spendings = new Map<number, RunSpending>(
    runs.map((run) => [
      run.id,
      { run, reserved: 0, ...(before.byRun.get(run.id) ?? { spent: 0, ambiguous: 0 }) },
    ]),
  )
  let remaining: number | null = null
  let billedTotal = 0
  let billedWhenAsked = 0
  let reserved = 0
  let quotaLeft = Number.POSITIVE_INFINITY
  /** Tasks that are being leased. */
  let leasingTasks = 0
  /** Tasks whose credits are reserved. */
  const reservedTasks = new Set<number>()
  let ambiguousCalls = before.ambiguous.map(({ credits, age }) => ({ credits, at: clock.monotonic() - age }))

  const spendingOf = (runId: number): RunSpending => spendings.get(runId) as RunSpending
  const covered = (): number =>
    leftByBalance({
      remaining: remaining ?? 0,
      billedSince: billedTotal - billedWhenAsked,
      ambiguous: ambiguousCalls.reduce((sum, { credits }) => sum + credits, 0),
      reserved,
    })
  const budgetOf = (runId: number): number => {
    const { run, ...state } = spendingOf(runId)
    return leftByBudget({ maxCredits: run.settings.budget.maxCredits, ...state })
  }
  const release = (task: Task): void => {
    if (!reservedTasks.delete(task.id)) return
    reserved -= task.credits
    spendingOf(task.runId).reserved -= task.credits
  }

  const reserve = (task: Task): void => {
    if (reservedTasks.has(task.id)) return
    reservedTasks.add(task.id)
    reserved += task.credits
    spendingOf(task.runId).reserved += task.credits
  }
  const availableFor = (runId: number): number =>
    Math.min(budgetOf(runId), Math.max(0, covered() - (spendingOf(runId).run.settings.budget.keep ?? 0)))
  const availableCalls = (): number => Math.max(0, quotaLeft - reservedTasks.size)

  return {
    ask: () => {
      const asked = billedTotal
      const askedAt = clock.monotonic()
      return (account) => {
        remaining = account.remaining
        billedWhenAsked = asked
        ambiguousCalls = ambiguousCalls.filter(({ at }) => at > askedAt - settlingMs)
      }
    },
    availableCredits: covered,
    availableCalls,
    quota: (left) => {
      quotaLeft = left
    },
    availableFor,
    budgetLeft: budgetOf,
    limitReached: (runId, credits) => {
      if (budgetOf(runId) < credits) return 'budget'
      return quotaLeft - reservedTasks.size < 1 ? 'quota' : 'balance'
    },
    leasing: (tasks) => {
      leasingTasks += tasks
      return () => {
        leasingTasks -= tasks
      }
    },
    canAffordRetry: (task) => {
      release(task)
      const credits = availableFor(task.runId) - leasingTasks * highestPrice
      const isCovered = credits >= task.credits && availableCalls() - leasingTasks >= 1
      reserve(task)
      return isCovered
    },
    reserve,
    release,
    billed: (task) => {
      release(task)
      billedTotal += task.credits
      quotaLeft -= 1
      spendingOf(task.runId).spent += task.credits
    },
    ambiguous: (task) => {
      ambiguousCalls.push({ credits: task.credits, at: clock.monotonic() })
      quotaLeft -= 1
      spendingOf(task.runId).ambiguous += task.credits
    },
    spent: () => [...spendings.values()].reduce((sum, { spent }) => sum + spent, 0),
    balance: () => (remaining === null ? null : remaining - (billedTotal - billedWhenAsked)),
  }
}

/** The account as last read, and what happened since. */
export interface BalanceState {
  /** Left when the account was asked for; what was billed after may or may not be in it. */
  readonly remaining: number
  /** Billed by calls that ended after that. */
  readonly billedSince: number
  /** Of ambiguous calls that the account may not hold yet. */
  readonly ambiguous: number
  /** Of leased tasks and calls in flight. */
  readonly reserved: number
}

/** What the balance still covers, never less than 0. */
export function leftByBalance({ remaining, billedSince, ambiguous, reserved }: BalanceState): number {
  return Math.max(0, remaining - billedSince - ambiguous - reserved)
}

/** A run's own limits and what it came to so far. */
export interface BudgetState {
  readonly maxCredits: number | null
  readonly spent: number
  readonly ambiguous: number
  readonly reserved: number
}

/** What the run's budget still covers, infinite without one; what may have been billed counts as spent. */
export function leftByBudget({ maxCredits, spent, ambiguous, reserved }: BudgetState): number {
  if (maxCredits === null) return Number.POSITIVE_INFINITY
  return Math.max(0, maxCredits - spent - ambiguous - reserved)
}
