import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Account } from '../../src/api/account.ts'
import type { Run } from '../../src/model/run.ts'
import type { Task } from '../../src/model/task.ts'
import { type Books, openBooks } from '../../src/run/books.ts'
import { coveredByBalance, coveredByBudget } from '../../src/run/covered.ts'
import { aJob } from '../store/build.ts'
import { aRun } from '../support/run.ts'
import { aTask } from '../support/task.ts'

describe('the balance covers what is left of it', () => {
  test.each([
    [{ remaining: 10, billedSince: 0, ambiguous: 0, reserved: 0 }, 10],
    [{ remaining: 10, billedSince: 3, ambiguous: 2, reserved: 4 }, 1],
    [{ remaining: 10, billedSince: 5, ambiguous: 5, reserved: 5 }, 0],
    [{ remaining: 0, billedSince: 0, ambiguous: 0, reserved: 0 }, 0],
    [{ remaining: -4, billedSince: 0, ambiguous: 0, reserved: 0 }, 0],
  ])('%j covers %i', (state, covered) => {
    expect(coveredByBalance(state)).toBe(covered)
  })
})

describe('a budget covers what the run has not come to yet', () => {
  test.each([
    [{ maxCredits: 10, spent: 0, ambiguous: 0, reserved: 0 }, 10],
    [{ maxCredits: 10, spent: 3, ambiguous: 2, reserved: 4 }, 1],
    [{ maxCredits: 10, spent: 30, ambiguous: 0, reserved: 0 }, 0],
    [{ maxCredits: 0, spent: 0, ambiguous: 0, reserved: 0 }, 0],
    [{ maxCredits: null, spent: 1e9, ambiguous: 1e9, reserved: 1e9 }, Number.POSITIVE_INFINITY],
  ])('%j covers %d', (state, covered) => {
    expect(coveredByBudget(state)).toBe(covered)
  })
})

const budgeted = (id: number, maxCredits: number | null = null, keep: number | null = null): Run =>
  aRun({ id, job: `job ${id}`, settings: aJob({ budget: { maxCredits, keep } }) })

const account = (remaining: number | null): Account => ({
  remaining,
  totalUsed: null,
  limits: { perSecond: null, perMinute: null },
  keyActive: null,
  keyExpires: null,
  quotas: { total: null, daily: null, weekly: null, monthly: null },
})

const nothingBefore = { byRun: new Map(), unsure: [] }

/** Books of these runs, with a balance read at time 0. */
function booksOf(
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

describe('the books', () => {
  test('cover nothing before the balance is known, or where it is not said', () => {
    const books = openBooks([budgeted(1)], nothingBefore, { monotonic: () => 0 })
    expect([books.covered(), books.coveredFor(1), books.balance()]).toEqual([0, 0, null])
    expect(booksOf([budgeted(1)], null).books.covered()).toBe(0)
  })

  test('count what is reserved, and what is given back no more', () => {
    const { books } = booksOf([budgeted(1)], 10)
    const [a, b] = [aTask({ id: 1, credits: 3 }), aTask({ id: 2, credits: 1 })]
    books.reserve(a)
    books.reserve(b)
    expect(books.covered()).toBe(6)
    books.release(a)
    expect(books.covered()).toBe(9)
  })

  test('reserve a task once and release it once, however often they are told', () => {
    const { books } = booksOf([budgeted(1, 10)], 10)
    const task = aTask({ id: 1, credits: 3 })
    books.reserve(task)
    books.reserve(task)
    expect([books.covered(), books.coveredFor(1)]).toEqual([7, 7])
    books.release(task)
    books.release(task)
    expect([books.covered(), books.coveredFor(1)]).toEqual([10, 10])
  })

  test('turn a reservation into what was billed', () => {
    const { books } = booksOf([budgeted(1, 10)], 20)
    const task = aTask({ id: 1, credits: 3 })
    books.reserve(task)
    books.billed(task)
    books.release(task)
    expect([books.covered(), books.coveredFor(1), books.spent(), books.balance()]).toEqual([17, 7, 3, 17])
  })

  test('count a lost call as spent while the reservation stays for the next one', () => {
    const { books } = booksOf([budgeted(1, 10)], 20)
    const task = aTask({ id: 1, credits: 3 })
    books.reserve(task)
    books.ambiguous(task)
    expect([books.covered(), books.coveredFor(1)]).toEqual([14, 4])
    books.billed(task)
    expect([books.covered(), books.coveredFor(1)]).toEqual([14, 4])
  })

  test('believe a new reading, and count beside it what was billed after it was asked for', () => {
    const { books } = booksOf([budgeted(1)], 20)
    const [early, late] = [aTask({ id: 1, credits: 3 }), aTask({ id: 2, credits: 1 })]
    books.reserve(early)
    books.billed(early)
    books.reserve(late)
    const take = books.ask()
    books.billed(late)
    take(account(17))
    expect([books.covered(), books.balance()]).toEqual([16, 16])
  })

  test('see a top-up, and somebody else who spends', () => {
    const { books } = booksOf([budgeted(1)], 5)
    books.ask()(account(500))
    expect(books.covered()).toBe(500)
    books.ask()(account(2))
    expect(books.covered()).toBe(2)
  })

  test('count a lost call against the balance until a reading two minutes later must hold it', () => {
    const { books, pass } = booksOf([budgeted(1, 10)], 20)
    const task = aTask({ id: 1, credits: 3 })
    books.reserve(task)
    books.ambiguous(task)
    books.release(task)
    pass(119_999)
    books.ask()(account(17))
    expect(books.covered()).toBe(14)
    pass(1)
    const take = books.ask()
    pass(60_000)
    take(account(17))
    expect(books.covered()).toBe(17)
    expect(books.coveredFor(1)).toBe(7)
  })

  test('keep untouched what a job wants to keep', () => {
    const { books } = booksOf([budgeted(1, null, 6), budgeted(2, null, null)], 10)
    expect([books.coveredFor(1), books.coveredFor(2)]).toEqual([4, 10])
    books.reserve(aTask({ id: 1, credits: 5, runId: 2 }))
    expect([books.coveredFor(1), books.coveredFor(2)]).toEqual([0, 5])
  })

  test('count what a run had come to before it was continued', () => {
    const before = { byRun: new Map([[1, { spent: 5, ambiguous: 2 }]]), unsure: [] }
    const { books } = booksOf([budgeted(1, 10), budgeted(2, 10)], 100, before)
    expect([books.coveredFor(1), books.coveredFor(2), books.spent()]).toEqual([3, 10, 5])
  })

  test('hold back what a call of an earlier process may still be billed, until that is over', () => {
    const before = { byRun: new Map(), unsure: [{ credits: 7, age: 20_000 }] }
    const { books, pass } = booksOf([budgeted(1)], 10, before)
    expect(books.covered()).toBe(3)
    pass(101_000)
    books.ask()(account(10))
    expect(books.covered()).toBe(10)
  })

  test('tell which limit covers too little', () => {
    const { books } = booksOf([budgeted(1, 2), budgeted(2, 50)], 2)
    expect([books.limitOf(1, 3), books.limitOf(2, 3)]).toEqual(['budget', 'balance'])
    books.quota(0)
    expect([books.limitOf(1, 3), books.limitOf(2, 3)]).toEqual(['budget', 'quota'])
  })

  test('count a call of a quota for what is reserved, for what was billed and for what may have been', () => {
    const { books } = booksOf([budgeted(1)], 100)
    expect(books.coveredCalls()).toBe(Number.POSITIVE_INFINITY)
    books.quota(5)
    const [a, b] = [aTask({ id: 1, credits: 3 }), aTask({ id: 2, credits: 3 })]
    books.reserve(a)
    books.reserve(b)
    expect(books.coveredCalls()).toBe(3)
    books.billed(a)
    expect(books.coveredCalls()).toBe(3)
    books.ambiguous(b)
    expect(books.coveredCalls()).toBe(2)
    books.release(b)
    expect(books.coveredCalls()).toBe(3)
  })

  test('cover a second call for a lost one only beside the lost one and beside all that is reserved', () => {
    const { books } = booksOf([budgeted(1)], 4)
    const [a, b] = [aTask({ id: 1 }), aTask({ id: 2 })]
    books.reserve(a)
    books.reserve(b)
    books.ambiguous(a)
    expect(books.coversAgain(a)).toBe(true)
    books.ambiguous(a)
    expect(books.coversAgain(a)).toBe(true)
    books.ambiguous(a)
    expect(books.coversAgain(a)).toBe(false)
    expect(books.covered()).toBe(0)
  })

  test('cover no second call with what tasks may take that are just being let through', () => {
    const { books } = booksOf([budgeted(1)], 4)
    const task = aTask({ id: 1 })
    books.reserve(task)
    books.ambiguous(task)
    const letThrough = books.letting(1)
    expect(books.coversAgain(task)).toBe(false)
    letThrough()
    expect(books.coversAgain(task)).toBe(true)
    books.quota(1)
    expect(books.coversAgain(task)).toBe(true)
    books.letting(1)
    expect(books.coversAgain(task)).toBe(false)
  })
})

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
    const { books, pass } = booksOf(runs, balance)
    const billed = new Map(runs.map(({ id }) => [id, 0]))
    const total = () => [...billed.values()].reduce((sum, one) => sum + one, 0)
    const open: Task[] = []
    const inTheAir = () => open.reduce((sum, { credits }) => sum + credits, 0)
    let nextId = 1
    let reading: { take: ReturnType<Books['ask']>; says: number } | null = null
    for (const one of steps) {
      if (one.do === 'wait') pass(one.ms)
      else if (one.do === 'ask') reading = { take: books.ask(), says: balance - total() }
      else if (one.do === 'take') {
        reading?.take(account(reading.says))
        reading = null
      } else if (one.do === 'send') {
        const task = aTask({ id: nextId++, credits: one.credits, runId: one.run })
        if (Math.min(books.covered(), books.coveredFor(one.run)) < task.credits) continue
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
        expect(books.covered()).toBe(balance - total)
      }),
    )
  })
})
