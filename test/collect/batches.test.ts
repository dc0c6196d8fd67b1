import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ApiClient } from '../../src/api/client.ts'
import { highestPrice } from '../../src/catalog/index.ts'
import { openBatches } from '../../src/collect/batches.ts'
import { stopSignal } from '../../src/collect/stop.ts'
import { creditBudget } from '../../src/ledger/budget.ts'
import type { Task } from '../../src/model/run.ts'
import type { LeaseRequest } from '../../src/store/journal.ts'
import type { CollectStore } from '../../src/store/sqlite/open.ts'
import { fakeTime } from '../api/fake-time.ts'
import { budgeted, nothingBefore } from '../ledger/credit-budgets.ts'
import { settlement } from '../store/answers.ts'
import { aTask } from '../support/tasks.ts'

/** Awaited steps of the store on the way of a batch; others go on with their work meanwhile. */
type Step = 'lease' | 'leased' | 'hasPending'

/** As many tasks as the slowest accounts get in a batch. */
const batch = 100
const record = { remaining: 1_000_000, rate_limit: { per_second: 1, per_minute: null } }

/** Batches of a run with this budget, whose store lets others work at every step. */
function aRunOf(maxCredits: number, meanwhile: (step: Step) => void) {
  const time = fakeTime()
  const run = budgeted(1, maxCredits)
  const books = creditBudget([run], nothingBefore, highestPrice, time.clock)
  const service = {
    lookup: async () => ({
      callId: 1,
      settlement: settlement(),
      body: Buffer.from(JSON.stringify(record)),
      headers: {},
    }),
    rateLimiter: { setLimits: () => {} },
  }
  const store: Partial<CollectStore> = {
    saveUsage: async () => {},
    openJobsOfOthers: async () => ({ calls: 0, credits: 0 }),
    groupSize: async () => 1,
    hasPending: async () => {
      await Promise.resolve()
      meanwhile('hasPending')
      return true
    },
    cheapestPending: async () => 1,
    lease: async ({ limit, runs, credits }: LeaseRequest) => {
      meanwhile('lease')
      const covered = Math.min(limit, credits, runs[0]?.budget ?? 0)
      const tasks = Array.from({ length: covered }, (_, index) => aTask({ id: 1_000 + index }))
      await Promise.resolve()
      meanwhile('leased')
      return tasks
    },
  }
  const batches = openBatches(
    {
      store: store as CollectStore,
      service: service as unknown as ApiClient,
      clock: { ...time.clock, wall: time.now },
      random: () => 0,
      keyHash: 'key',
      stop: stopSignal(),
      notice: () => {},
      maxOutageMs: 0,
      maxThrottlingMs: 0,
      signal: new AbortController().signal,
    },
    [run],
    books,
  )
  return { books, batches }
}

test('calls that are lost while a batch is let through never take a run beyond its budget', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<Step>('lease', 'leased', 'hasPending'),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 0, max: 8 }),
      async (moment, lost, spare) => {
        const inTheAir = Array.from({ length: lost }, (_, index) => aTask({ id: index + 1 }))
        let sent = 0
        const send = (tasks: readonly Task[]) => {
          sent += tasks.length
        }
        const budget = lost + batch + spare
        let lose = (_: Step): void => {}
        const { books, batches } = aRunOf(budget, (step) => lose(step))
        await batches.start()
        for (const task of inTheAir) books.reserve(task)
        send(inTheAir)
        lose = (step) => {
          if (step !== moment) return
          lose = () => {}
          for (const task of inTheAir) {
            books.ambiguous(task)
            if (books.canAffordRetry(task)) send([task])
            else books.release(task)
          }
        }

        send((await batches.next(['alpha.search'], () => true)) ?? [])
        lose('hasPending')

        expect(sent).toBeLessThanOrEqual(budget)
        expect(books.budgetLeft(1)).toBe(budget - sent)
      },
    ),
  )
})
