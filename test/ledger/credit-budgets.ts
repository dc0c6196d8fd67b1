import { highestPrice } from '../../src/catalog/index.ts'
import { creditBudget } from '../../src/ledger/budget.ts'
import type { Account } from '../../src/model/call.ts'
import type { Run } from '../../src/model/run.ts'
import { aJob, noBudget } from '../run/build.ts'
import { aRun } from '../support/tasks.ts'

export const budgeted = (id: number, maxCredits: number | null = null, keep: number | null = null): Run =>
  aRun({ id, job: `job ${id}`, settings: aJob({ budget: { ...noBudget, maxCredits, keep } }) })

export const account = (remaining: number | null): Account => ({
  remaining,
  totalUsed: null,
  limits: { perSecond: null, perMinute: null },
  keyActive: null,
  unread: {},
  keyExpires: null,
  quotas: { total: null, daily: null, weekly: null, monthly: null },
})

export const nothingBefore = { byRun: new Map(), ambiguous: [] }

/** Books of these runs, with a balance read at time 0. */
export function budgetFor(
  runs: readonly Run[],
  balance: number | null,
  before: Parameters<typeof creditBudget>[1] = nothingBefore,
) {
  let now = 0
  const books = creditBudget(runs, before, highestPrice, { monotonic: () => now })
  books.ask()(account(balance))
  return {
    books,
    pass: (ms: number) => {
      now += ms
    },
  }
}
