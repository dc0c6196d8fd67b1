import type { Account } from '../api/account.ts'
import type { PlanSummary } from '../model/plan.ts'
import type { RunMeans } from '../plan/fit.ts'
import { formatTable } from '../report/table.ts'
import type { FitRest } from '../store/calls.ts'
import type { PlannedJob } from '../store/store.ts'
import { count, duration, grouped } from '../words.ts'

/** A job as it is planned, with what it may spend. */
export interface BudgetedJob {
  readonly summary: PlanSummary
  readonly planned: PlannedJob
  readonly means: RunMeans
}

/**
 * Jobs share the balance: each is covered by what those before it leave.
 *
 * @param leftOut what the balance does not cover and is left out, by job; null where runs would stop instead
 */
export function planDocuments(
  jobs: readonly BudgetedJob[],
  account: Account,
  leftOut: ReadonlyMap<string, FitRest> | null,
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
  /** Credits of the expected ones that budget and balance allow. */
  readonly covered: number
  /** Left when the job, and those before it, have spent theirs. */
  readonly balance: number
  readonly account: Account
  readonly rest: FitRest | null
}

/** What `plan --json` prints for a job. */
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

/** Seconds that so many calls take at these limits at least; null where they set none, or allow none. */
function secondsFor(calls: number, { perSecond, perMinute }: Account['limits']): number | null {
  if ((perSecond === null && perMinute === null) || mayNotCall({ perSecond, perMinute })) return null
  const bySecond = perSecond === null ? 0 : calls / perSecond
  // The first minute's calls leave at once.
  const byMinute = perMinute === null ? 0 : Math.floor(Math.max(0, calls - 1) / perMinute) * 60
  return Math.ceil(Math.max(bySecond, byMinute))
}

function mayNotCall({ perSecond, perMinute }: Account['limits']): boolean {
  return perSecond === 0 || perMinute === 0
}

type PlanDocument = ReturnType<typeof document>

function runWords({ continues, left_out, credits: { covered, expected } }: PlanDocument): string {
  const run = continues === null ? 'new' : `goes on with run ${continues}`
  if (left_out !== undefined)
    return left_out.queries === 0
      ? run
      : `${run}; leaves out ${count(left_out.queries, 'query', 'queries')} (${count(left_out.credits, 'credit')} at most)`
  return covered < expected ? `${run}; would stop after ${count(covered, 'credit')}` : run
}

function totalRow(documents: readonly PlanDocument[]): string[] {
  const sum = (of: (one: PlanDocument) => number): string =>
    grouped(documents.reduce((total, one) => total + of(one), 0))
  return [
    'total',
    sum(({ queries }) => queries),
    sum(({ tasks }) => tasks.planned),
    sum(({ tasks }) => tasks.done + tasks.reused),
    sum(({ credits }) => credits.min),
    sum(({ credits }) => credits.expected),
    sum(({ credits }) => credits.max),
    amount(documents.at(-1)?.balance_after, ''),
  ]
}

/** Plans as a table for people. */
export function described(documents: readonly PlanDocument[], account: Account, width: number): string {
  const rows = documents.map((one) => {
    const { job, queries, tasks, credits, balance_after, seconds } = one
    return [
      job,
      grouped(queries),
      grouped(tasks.planned),
      grouped(tasks.done + tasks.reused),
      grouped(credits.min),
      grouped(credits.expected),
      grouped(credits.max),
      amount(balance_after, ''),
      seconds !== null ? duration(seconds) : mayNotCall(account.limits) ? 'never' : 'no limit',
      runWords(one),
    ]
  })
  if (documents.length > 1) rows.push(totalRow(documents))
  const table = formatTable(
    [
      { title: 'job', shrinks: true },
      { title: 'queries', align: 'right', dropped: true },
      { title: 'tasks', align: 'right' },
      { title: 'have', align: 'right', dropped: true },
      { title: 'credits min', align: 'right' },
      { title: 'expected', align: 'right' },
      { title: 'max', align: 'right' },
      { title: 'balance after', align: 'right' },
      { title: 'time', align: 'right' },
      { title: 'run' },
    ],
    rows,
    width,
  )
  const duplicates = documents.reduce((sum, one) => sum + one.duplicates, 0)
  const joined = duplicates === 0 ? '' : `${count(duplicates, 'duplicate row')} joined. `
  return `${table}\n${joined}Balance now ${amount(account.remaining, 'not known')}. Nothing was spent.\n`
}

function amount(n: number | null | undefined, otherwise: string): string {
  return n == null ? otherwise : grouped(n)
}
