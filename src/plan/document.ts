import type { RunFunds, SkippedTotal } from '../ledger/fit.ts'
import type { Account } from '../model/call.ts'
import type { PlanSummary } from '../model/run.ts'
import type { PlannedJob } from '../store/runs.ts'

/** A planned job, with its budget. */
export interface BudgetedJob {
  readonly summary: PlanSummary
  readonly planned: PlannedJob
  readonly means: RunFunds
}

/**
 * Jobs share the balance: each is covered by the rest that the jobs before it leave.
 *
 * @param leftOut the queries that are left out because the balance does not cover them, by job; null if runs stop instead
 */
export function planDocuments(
  jobs: readonly BudgetedJob[],
  account: Account,
  leftOut: ReadonlyMap<string, SkippedTotal> | null,
): readonly PlanDocument[] {
  let balance = account.remaining ?? 0
  return jobs.map(({ summary, means: { budget, keep } }) => {
    const rest = leftOut === null ? null : (leftOut.get(summary.job) ?? { queries: 0, credits: 0 })
    const wanted = Math.max(0, Math.min(summary.credits.expected, summary.credits.max - (rest?.credits ?? 0)))
    const covered = Math.min(wanted, budget, Math.max(0, balance - keep))
    balance -= covered
    return document(summary, { covered, balance, account, rest })
  })
}

interface Cover {
  /** Expected credits that budget and balance allow. */
  readonly covered: number
  /** The balance after this job and those before it. */
  readonly balance: number
  readonly account: Account
  readonly rest: SkippedTotal | null
}

/** The document of a job in `plan --json`. */
function document(summary: PlanSummary, { covered, balance, account: { remaining, limits }, rest }: Cover) {
  const { min, expected, max } = summary.credits
  const open = summary.tasks - summary.done - summary.reused
  return {
    job: summary.job,
    continues: summary.continues,
    queries: summary.queries,
    duplicates: summary.duplicates,
    tasks: { planned: summary.tasks, done: summary.done, reused: summary.reused },
    credits: { min, expected, max, covered },
    ...(rest === null ? {} : { left_out: rest }),
    balance: remaining,
    balance_after: remaining === null ? null : balance,
    seconds: secondsFor(open, limits),
  }
}

/** Seconds that this number of calls takes at least under these limits; null if there are no limits, or they allow no call. */
function secondsFor(calls: number, { perSecond, perMinute }: Account['limits']): number | null {
  if ((perSecond === null && perMinute === null) || mayNotCall({ perSecond, perMinute })) return null
  const bySecond = perSecond === null ? 0 : calls / perSecond
  // The calls of the first minute leave at once.
  const byMinute = perMinute === null ? 0 : Math.floor(Math.max(0, calls - 1) / perMinute) * 60
  return Math.ceil(Math.max(bySecond, byMinute))
}

export function mayNotCall({ perSecond, perMinute }: Account['limits']): boolean {
  return perSecond === 0 || perMinute === 0
}

export type PlanDocument = ReturnType<typeof document>
