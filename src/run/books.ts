import type { Account } from '../api/account.ts'
import { billableOperations } from '../catalog/index.ts'
import type { Clock } from '../model/clock.ts'
import { settlingMs } from '../model/ledger.ts'
import type { Run } from '../model/run.ts'
import type { Task } from '../model/task.ts'
import { coveredByBalance, coveredByBudget } from './covered.ts'

/** What may still be spent, kept to the credit between two readings of the account. */
export interface Books {
  /** To be called when a reading is asked for; the function it answers takes the reading when it came. */
  ask(): (account: Account) => void
  /** Credits that the last known balance covers beyond what is reserved. */
  covered(): number
  /** Calls that the quotas of the key still allow beyond what is reserved, infinite without any. */
  coveredCalls(): number
  /** Takes what the quotas allowed when the ledger was counted last. */
  quota(left: number): void
  /** Credits that a run may let through: its budget, and the balance above what it keeps. */
  coveredFor(runId: number): number
  /** Credits that a run's own budget still allows, infinite without one. */
  budgetFor(runId: number): number
  /** Which limit of a run covers less than that, where one does. */
  limitOf(runId: number, credits: number): MoneyLimit
  /** Notes that so many tasks at most are being let through and not reserved yet; what it answers takes that back. */
  letting(tasks: number): () => void
  /** Whether one more call for a task is covered, whose last one was lost and may have been billed. */
  coversAgain(task: Task): boolean
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

/** What can keep a run from buying more; the names are those of finish reasons. */
export type MoneyLimit = 'budget' | 'quota' | 'balance'

interface RunBook {
  readonly run: Run
  spent: number
  ambiguous: number
  reserved: number
}

const dearest = Math.max(...billableOperations.map(({ cost }) => cost))

/** What was spent before, as the ledger has it. */
export interface Earlier {
  /** By each run; `ambiguous` of it may have been. */
  readonly byRun: ReadonlyMap<number, { readonly spent: number; readonly ambiguous: number }>
  /** By calls of any run whose end is not known, with the milliseconds since they ended. */
  readonly unsure: readonly { readonly credits: number; readonly age: number }[]
}

export function openBooks(runs: readonly Run[], before: Earlier, clock: Pick<Clock, 'monotonic'>): Books {
  const books = new Map<number, RunBook>(
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
  /** Tasks that may be let through by what was covered when that was asked for. */
  let coming = 0
  /** Tasks whose credits are reserved. */
  const held = new Set<number>()
  let unsure = before.unsure.map(({ credits, age }) => ({ credits, at: clock.monotonic() - age }))

  const book = (runId: number): RunBook => books.get(runId) as RunBook
  const covered = (): number =>
    coveredByBalance({
      remaining: remaining ?? 0,
      billedSince: billedTotal - billedWhenAsked,
      ambiguous: unsure.reduce((sum, { credits }) => sum + credits, 0),
      reserved,
    })
  const budgetOf = (runId: number): number => {
    const { run, ...state } = book(runId)
    return coveredByBudget({ maxCredits: run.settings.budget.maxCredits, ...state })
  }
  const release = (task: Task): void => {
    if (!held.delete(task.id)) return
    reserved -= task.credits
    book(task.runId).reserved -= task.credits
  }

  const reserve = (task: Task): void => {
    if (held.has(task.id)) return
    held.add(task.id)
    reserved += task.credits
    book(task.runId).reserved += task.credits
  }
  const coveredFor = (runId: number): number =>
    Math.min(budgetOf(runId), Math.max(0, covered() - (book(runId).run.settings.budget.keep ?? 0)))
  const coveredCalls = (): number => Math.max(0, quotaLeft - held.size)

  return {
    ask: () => {
      const asked = billedTotal
      const askedAt = clock.monotonic()
      return (account) => {
        remaining = account.remaining
        billedWhenAsked = asked
        unsure = unsure.filter(({ at }) => at > askedAt - settlingMs)
      }
    },
    covered,
    coveredCalls,
    quota: (left) => {
      quotaLeft = left
    },
    coveredFor,
    budgetFor: budgetOf,
    limitOf: (runId, credits) => {
      if (budgetOf(runId) < credits) return 'budget'
      return quotaLeft - held.size < 1 ? 'quota' : 'balance'
    },
    letting: (tasks) => {
      coming += tasks
      return () => {
        coming -= tasks
      }
    },
    coversAgain: (task) => {
      release(task)
      const credits = coveredFor(task.runId) - coming * dearest
      const covers = credits >= task.credits && coveredCalls() - coming >= 1
      reserve(task)
      return covers
    },
    reserve,
    release,
    billed: (task) => {
      release(task)
      billedTotal += task.credits
      quotaLeft -= 1
      book(task.runId).spent += task.credits
    },
    ambiguous: (task) => {
      unsure.push({ credits: task.credits, at: clock.monotonic() })
      quotaLeft -= 1
      book(task.runId).ambiguous += task.credits
    },
    spent: () => [...books.values()].reduce((sum, { spent }) => sum + spent, 0),
    balance: () => (remaining === null ? null : remaining - (billedTotal - billedWhenAsked)),
  }
}
