import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CreditBudget } from '../../src/ledger/budget.ts'
import type { Run, Task } from '../../src/model/run.ts'
import { aTask } from '../support/tasks.ts'
import { account, budgeted, budgetFor } from './credit-budgets.ts'

/** A service that bills, and a run that sends only what the books cover, step by step at random. */
describe('whatever happens in whatever order', () => {
  type Step =
    | { readonly do: 'send'; readonly run: number; readonly credits: number }
    | {
        readonly do: 'end'
        readonly which: number
        readonly how: 'billed' | 'free' | 'lost' | 'lost but billed'
      }
    | { readonly do: 'ask' }
    | { readonly do: 'take' }
    | { readonly do: 'wait'; readonly ms: number }

  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('send' as const),
        run: fc.constantFrom(1, 2),
        credits: fc.constantFrom(1, 1, 3),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('end' as const),
        which: fc.nat(20),
        how: fc.constantFrom(
          'billed' as const,
          'billed' as const,
          'free' as const,
          'lost' as const,
          'lost but billed' as const,
        ),
      }),
    },
    fc.constantFrom({ do: 'ask' as const }, { do: 'take' as const }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1_000, 30_000, 119_000) }),
  )

  /** Plays the steps; answers what the service billed in all and to each run, and the most it may have billed. */
  function play(steps: readonly Step[], balance: number, runs: readonly Run[]) {
    const { books, pass } = budgetFor(runs, balance)
    const billed = new Map(runs.map(({ id }) => [id, 0]))
    const total = () => [...billed.values()].reduce((sum, one) => sum + one, 0)
    const open: Task[] = []
    const inTheAir = () => open.reduce((sum, { credits }) => sum + credits, 0)
    let nextId = 1
    let reading: { take: ReturnType<CreditBudget['ask']>; says: number } | null = null
    for (const one of steps) {
      if (one.do === 'wait') pass(one.ms)
      else if (one.do === 'ask') reading = { take: books.ask(), says: balance - total() }
      else if (one.do === 'take') {
        reading?.take(account(reading.says))
        reading = null
      } else if (one.do === 'send') {
        const task = aTask({ id: nextId++, credits: one.credits, runId: one.run })
        if (Math.min(books.availableCredits(), books.availableFor(one.run)) < task.credits) continue
        books.reserve(task)
        open.push(task)
      } else {
        const [task] = open.splice(one.which % Math.max(1, open.length), 1)
        if (task === undefined) continue
        const charge = () => billed.set(task.runId, (billed.get(task.runId) ?? 0) + task.credits)
        if (one.how === 'billed') {
          charge()
          books.billed(task)
        } else if (one.how !== 'free') {
          if (one.how === 'lost but billed') charge()
          books.ambiguous(task)
        }
        books.release(task)
      }
      // Everything in the air may be billed at any moment.
      expect(total() + inTheAir()).toBeLessThanOrEqual(balance)
    }
    return { total: total(), billed, inTheAir: inTheAir(), books }
  }

  const steps = fc.array(step, { maxLength: 120 })
  const credits = fc.integer({ min: 0, max: 40 })

  test('the service never bills more than the balance, nor more than leaves what is to be kept', () => {
    fc.assert(
      fc.property(steps, credits, fc.nat(20), (steps, balance, keep) => {
        const { total, inTheAir } = play(steps, balance, [budgeted(1, null, keep), budgeted(2, null, keep)])
        expect(total + inTheAir).toBeLessThanOrEqual(Math.max(0, balance - keep))
      }),
      { numRuns: 500 },
    )
  })

  test('no run is ever billed more than its own budget', () => {
    fc.assert(
      fc.property(steps, credits, credits, (steps, one, two) => {
        const { billed } = play(steps, 1_000, [budgeted(1, one), budgeted(2, two)])
        expect(billed.get(1)).toBeLessThanOrEqual(one)
        expect(billed.get(2)).toBeLessThanOrEqual(two)
      }),
      { numRuns: 500 },
    )
  })

  test('where nothing was lost, all of the balance can be used', () => {
    const sent = fc.array(fc.constantFrom(1, 3), { maxLength: 40 })
    fc.assert(
      fc.property(sent, credits, (sent, balance) => {
        const steps = sent.flatMap((credits): Step[] => [
          { do: 'send', run: 1, credits },
          { do: 'end', which: 0, how: 'billed' },
        ])
        const { total, books } = play(steps, balance, [budgeted(1)])
        expect(books.availableCredits()).toBe(balance - total)
      }),
    )
  })
})
