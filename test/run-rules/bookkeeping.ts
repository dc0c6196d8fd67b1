import type { Account } from '../../src/api/account.ts'
import type { Run } from '../../src/model/run.ts'
import { openBooks } from '../../src/run/books.ts'
import { aJob } from '../plan/build.ts'
import { aRun } from '../support/run.ts'

export const budgeted = (id: number, maxCredits: number | null = null, keep: number | null = null): Run =>
  aRun({ id, job: `job ${id}`, settings: aJob({ budget: { maxCredits, keep } }) })

export const account = (remaining: number | null): Account => ({
  remaining,
  totalUsed: null,
  limits: { perSecond: null, perMinute: null },
  keyActive: null,
  keyExpires: null,
  quotas: { total: null, daily: null, weekly: null, monthly: null },
})

export const nothingBefore = { byRun: new Map(), unsure: [] }

/** Books of these runs, with a balance read at time 0. */
export function booksOf(
  runs: readonly Run[],
  balance: number | null,
  before: Parameters<typeof openBooks>[1] = nothingBefore,
) {
  let now = 0
  const books = openBooks(runs, before, { monotonic: () => now })
  books.ask()(account(balance))
  return {
    books,
    pass: (ms: number) => {
      now += ms
    },
  }
}
