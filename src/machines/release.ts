import type { BudgetStanding, CreditBudget, SpendingLimit } from '../ledger/budget.ts'
import type { PeriodLimits } from '../ledger/period-limits.ts'
import type { Run, Task } from '../model/run.ts'
import type { Grant, WaitingChunk } from '../store/shared/spending.ts'

/** What may be released now. */
export interface ReleaseState {
  /** What the budget of the key stands at; what is reserved for other chunks counts as possibly billed. */
  readonly budget: CreditBudget
  readonly periods: PeriodLimits
  /** Calls that the quotas of the key still allow. */
  readonly quotaLeft: number
  /** Runs here by their shared id. */
  readonly runs: ReadonlyMap<string, Run>
}

/** Which chunks are released, with how many credits, and which limit keeps runs from more. */
export interface Release {
  readonly grants: readonly Grant[]
  readonly limits: ReadonlyMap<number, SpendingLimit>
  readonly reached: ReadonlyMap<number, readonly BudgetStanding[]>
}

/**
 * Reserves for each chunk, in their order, what it may need at most, or what is left where that covers at least its cheapest page. What is
 * reserved for one is not there for the next.
 */
export function decideRelease(waiting: readonly WaitingChunk[], state: ReleaseState): Release {
  const { budget, periods, runs } = state
  let quotaLeft = state.quotaLeft
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
