import type { Account } from '../api/account.ts'
import type { Budget } from '../model/job.ts'
import type { PlanSummary } from '../model/plan.ts'
import { formatTable } from '../report/table.ts'
import type { LedgerStore } from '../store/ledger.ts'
import { count, duration } from '../words.ts'

/** Jobs share the balance: each is covered by what those before it leave. */
export async function planDocuments(
  store: Pick<LedgerStore, 'creditsOf'>,
  jobs: readonly { readonly summary: PlanSummary; readonly budget: Budget }[],
  account: Account,
): Promise<readonly PlanDocument[]> {
  let balance = account.remaining ?? 0
  const documents: PlanDocument[] = []
  for (const { summary, budget: limits } of jobs) {
    const { maxCredits, keep } = limits
    const { spent, ambiguous } = await store.creditsOf(summary.continues === null ? [] : [summary.continues])
    const budget =
      maxCredits === null ? Number.POSITIVE_INFINITY : Math.max(0, maxCredits - spent - ambiguous)
    const covered = Math.min(summary.credits.expected, budget, Math.max(0, balance - (keep ?? 0)))
    balance -= covered
    documents.push(document(summary, { covered, balance, account }))
  }
  return documents
}

interface Cover {
  /** Credits of the expected ones that budget and balance allow. */
  readonly covered: number
  /** Left when the job, and those before it, have spent theirs. */
  readonly balance: number
  readonly account: Account
}

/** What `plan --json` prints for a job. */
function document(summary: PlanSummary, { covered, balance, account: { remaining, limits } }: Cover) {
  const { min, expected, max } = summary.credits
  const open = summary.tasks - summary.done - summary.reused
  return {
    job: summary.job,
    continues: summary.continues,
    queries: summary.queries,
    duplicates: summary.duplicates,
    tasks: { planned: summary.tasks, done: summary.done, reused: summary.reused },
    credits: { min, expected, max, covered },
    balance: remaining,
    balance_after: remaining === null ? null : balance,
    seconds: secondsFor(open, limits),
  }
}

/** Seconds that so many calls take at these limits at least; null where they set none. */
function secondsFor(calls: number, { perSecond, perMinute }: Account['limits']): number | null {
  if (perSecond === null && perMinute === null) return null
  const bySecond = perSecond === null ? 0 : calls / perSecond
  // The first minute's calls leave at once.
  const byMinute = perMinute === null ? 0 : Math.floor(Math.max(0, calls - 1) / perMinute) * 60
  return Math.ceil(Math.max(bySecond, byMinute))
}

type PlanDocument = ReturnType<typeof document>

function runWords(continues: number | null, { covered, expected }: PlanDocument['credits']): string {
  const run = continues === null ? 'new' : `goes on with run ${continues}`
  return covered < expected ? `${run}; would stop after ${count(covered, 'credit')}` : run
}

function totalRow(documents: readonly PlanDocument[]): string[] {
  const sum = (of: (one: PlanDocument) => number): string =>
    documents.reduce((total, one) => total + of(one), 0).toLocaleString('en-US')
  return [
    'total',
    sum(({ queries }) => queries),
    sum(({ tasks }) => tasks.planned),
    sum(({ tasks }) => tasks.done + tasks.reused),
    sum(({ credits }) => credits.min),
    sum(({ credits }) => credits.expected),
    sum(({ credits }) => credits.max),
    documents.at(-1)?.balance_after?.toLocaleString('en-US') ?? '',
  ]
}

/** Plans as a table for people. */
export function described(documents: readonly PlanDocument[], account: Account, width: number): string {
  const rows = documents.map(({ job, queries, tasks, credits, balance_after, seconds, continues }) => [
    job,
    queries.toLocaleString('en-US'),
    tasks.planned.toLocaleString('en-US'),
    (tasks.done + tasks.reused).toLocaleString('en-US'),
    credits.min.toLocaleString('en-US'),
    credits.expected.toLocaleString('en-US'),
    credits.max.toLocaleString('en-US'),
    balance_after?.toLocaleString('en-US') ?? '',
    seconds === null ? 'no limit' : duration(seconds),
    runWords(continues, credits),
  ])
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
  return `${table}\n${joined}Balance now ${account.remaining?.toLocaleString('en-US') ?? 'not known'}. Nothing was spent.\n`
}
