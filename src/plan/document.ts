import { amounts, type BudgetStanding, limitKey } from '../ledger/budget.ts'
import type { SkippedTotal } from '../ledger/fit.ts'
import type { Account } from '../model/call.ts'
import type { PlanSummary } from '../model/run.ts'
import type { PlannedJob } from '../store/runs.ts'

/** A planned job, with its budget. */
export interface BudgetedJob {
  readonly summary: PlanSummary
  readonly planned: PlannedJob
  readonly funds: { readonly budget: number; readonly keep: number }
  /** Limits of its budget with what was spent of them; those of tags hold for some of its queries only. */
  readonly limits: readonly BudgetStanding[]
  /** The price that the user must agree to first; null where the run costs no more than its `confirm_over`. */
  readonly dear: { readonly confirmOver: number } | null
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
  /** Of limits that several jobs share. */
  const spent = new Map<string, number>()
  return jobs.map(({ summary, funds: { budget, keep }, limits, dear }) => {
    const wholeJob = limits.filter((standing) => !('limit' in standing) || standing.limit.scope !== 'tag')
    const left = wholeJob.map((one) => amounts(one).left - (spent.get(limitKey(one)) ?? 0))
    const rest = leftOut === null ? null : (leftOut.get(summary.job) ?? { queries: 0, credits: 0 })
    const wanted = Math.max(0, Math.min(summary.credits.expected, summary.credits.max - (rest?.credits ?? 0)))
    const covered = Math.max(0, Math.min(wanted, budget, ...left, balance - keep))
    balance -= covered
    for (const one of wholeJob) spent.set(limitKey(one), (spent.get(limitKey(one)) ?? 0) + covered)
    return document(summary, { covered, balance, account, rest, limits, dear })
  })
}

/** The document of a job in `plan --json`. */
function document(
  summary: PlanSummary,
  {
    covered,
    balance,
    account,
    rest,
    limits,
    dear,
  }: {
    /** Expected credits that budget and balance allow. */
    readonly covered: number
    /** The balance after this job and those before it. */
    readonly balance: number
    readonly account: Account
    readonly rest: SkippedTotal | null
    readonly limits: BudgetedJob['limits']
    readonly dear: BudgetedJob['dear']
  },
) {
  const { remaining } = account
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
    seconds: secondsFor(open, account.limits),
    ...(dear === null ? {} : { confirm_over: dear.confirmOver }),
    ...(limits.length === 0 ? {} : { limits: limits.map(limitDocument) }),
  }
}

/** A limit of the budget as `plan --json` prints it. */
function limitDocument(standing: BudgetStanding) {
  const { credits, used, left } = amounts(standing)
  if (!('limit' in standing))
    return { limit: 'max_credits', of: 'job', name: standing.job, credits, used, left, begins_anew: null }
  const { scope, name, period } = standing.limit
  const beginsAnew = new Date(standing.span.until).toISOString()
  return { limit: `per_${period}`, of: scope, name, credits, used, left, begins_anew: beginsAnew }
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
