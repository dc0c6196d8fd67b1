import { describe, expect, test } from 'vitest'
import { highestPrice } from '../../src/catalog/index.ts'
import { creditBudget, leftByBalance, leftByBudget } from '../../src/ledger/budget.ts'
import { aTask } from '../support/tasks.ts'
import { testTable } from '../support/test-table.ts'
import { account, budgeted, budgetFor, nothingBefore } from './credit-budgets.ts'

describe('the balance covers what is left of it', () => {
  testTable([
    [{ remaining: 10, billedSince: 0, ambiguous: 0, reserved: 0 }, 10],
    [{ remaining: 10, billedSince: 3, ambiguous: 2, reserved: 4 }, 1],
    [{ remaining: 10, billedSince: 5, ambiguous: 5, reserved: 5 }, 0],
    [{ remaining: 0, billedSince: 0, ambiguous: 0, reserved: 0 }, 0],
    [{ remaining: -4, billedSince: 0, ambiguous: 0, reserved: 0 }, 0],
  ])('%j covers %i', (state, covered) => {
    expect(leftByBalance(state)).toBe(covered)
  })
})

describe('a budget covers what the run has not come to yet', () => {
  testTable([
    [{ maxCredits: 10, spent: 0, ambiguous: 0, reserved: 0 }, 10],
    [{ maxCredits: 10, spent: 3, ambiguous: 2, reserved: 4 }, 1],
    [{ maxCredits: 10, spent: 30, ambiguous: 0, reserved: 0 }, 0],
    [{ maxCredits: 0, spent: 0, ambiguous: 0, reserved: 0 }, 0],
    [{ maxCredits: null, spent: 1e9, ambiguous: 1e9, reserved: 1e9 }, Number.POSITIVE_INFINITY],
  ])('%j covers %d', (state, covered) => {
    expect(leftByBudget(state)).toBe(covered)
  })
})

describe('the books', () => {
  test('cover nothing before the balance is known, or where it is not said', () => {
    const books = creditBudget([budgeted(1)], nothingBefore, highestPrice, { monotonic: () => 0 })
    expect([books.availableCredits(), books.availableFor(1), books.balance()]).toEqual([0, 0, null])
    expect(budgetFor([budgeted(1)], null).books.availableCredits()).toBe(0)
  })

  test('count what is reserved, and what is given back no more', () => {
    const { books } = budgetFor([budgeted(1)], 10)
    const [a, b] = [aTask({ id: 1, credits: 3 }), aTask({ id: 2, credits: 1 })]
    books.reserve(a)
    books.reserve(b)
    expect(books.availableCredits()).toBe(6)
    books.release(a)
    expect(books.availableCredits()).toBe(9)
  })

  test('reserve a task once and release it once, however often they are told', () => {
    const { books } = budgetFor([budgeted(1, 10)], 10)
    const task = aTask({ id: 1, credits: 3 })
    books.reserve(task)
    books.reserve(task)
    expect([books.availableCredits(), books.availableFor(1)]).toEqual([7, 7])
    books.release(task)
    books.release(task)
    expect([books.availableCredits(), books.availableFor(1)]).toEqual([10, 10])
  })

  test('name the quota as what limits a run while calls in the air may use it up', () => {
    const { books } = budgetFor([budgeted(1, 10)], 20)
    books.quota(1)
    expect(books.limitReached(1, 11)).toBe('budget')
    expect(books.limitReached(1, 1)).toBe('balance')
    books.reserve(aTask({ id: 1, credits: 1 }))
    expect(books.limitReached(1, 1)).toBe('quota')
  })

  test('turn a reservation into what was billed', () => {
    const { books } = budgetFor([budgeted(1, 10)], 20)
    const task = aTask({ id: 1, credits: 3 })
    books.reserve(task)
    books.billed(task)
    books.release(task)
    expect([books.availableCredits(), books.availableFor(1), books.spent(), books.balance()]).toEqual([
      17, 7, 3, 17,
    ])
  })

  test('count a lost call as spent while the reservation stays for the next one', () => {
    const { books } = budgetFor([budgeted(1, 10)], 20)
    const task = aTask({ id: 1, credits: 3 })
    books.reserve(task)
    books.ambiguous(task)
    expect([books.availableCredits(), books.availableFor(1)]).toEqual([14, 4])
    books.billed(task)
    expect([books.availableCredits(), books.availableFor(1)]).toEqual([14, 4])
  })

  test('believe a new reading, and count beside it what was billed after it was asked for', () => {
    const { books } = budgetFor([budgeted(1)], 20)
    const [early, late] = [aTask({ id: 1, credits: 3 }), aTask({ id: 2, credits: 1 })]
    books.reserve(early)
    books.billed(early)
    books.reserve(late)
    const take = books.ask()
    books.billed(late)
    take(account(17))
    expect([books.availableCredits(), books.balance()]).toEqual([16, 16])
  })

  test('see a top-up, and somebody else who spends', () => {
    const { books } = budgetFor([budgeted(1)], 5)
    books.ask()(account(500))
    expect(books.availableCredits()).toBe(500)
    books.ask()(account(2))
    expect(books.availableCredits()).toBe(2)
  })

  test('count a lost call against the balance until a reading two minutes later must hold it', () => {
    const { books, pass } = budgetFor([budgeted(1, 10)], 20)
    const task = aTask({ id: 1, credits: 3 })
    books.reserve(task)
    books.ambiguous(task)
    books.release(task)
    pass(119_999)
    books.ask()(account(17))
    expect(books.availableCredits()).toBe(14)
    pass(1)
    const take = books.ask()
    pass(60_000)
    take(account(17))
    expect(books.availableCredits()).toBe(17)
    expect(books.availableFor(1)).toBe(7)
  })

  test('keep untouched what a job wants to keep', () => {
    const { books } = budgetFor([budgeted(1, null, 6), budgeted(2, null, null)], 10)
    expect([books.availableFor(1), books.availableFor(2)]).toEqual([4, 10])
    books.reserve(aTask({ id: 1, credits: 5, runId: 2 }))
    expect([books.availableFor(1), books.availableFor(2)]).toEqual([0, 5])
  })

  test('count what a run had come to before it was continued', () => {
    const before = { byRun: new Map([[1, { spent: 5, ambiguous: 2 }]]), ambiguous: [] }
    const { books } = budgetFor([budgeted(1, 10), budgeted(2, 10)], 100, before)
    expect([books.availableFor(1), books.availableFor(2), books.spent()]).toEqual([3, 10, 5])
  })

  test('hold back what a call of an earlier process may still be billed, until that is over', () => {
    const before = { byRun: new Map(), ambiguous: [{ credits: 7, age: 20_000 }] }
    const { books, pass } = budgetFor([budgeted(1)], 10, before)
    expect(books.availableCredits()).toBe(3)
    pass(101_000)
    books.ask()(account(10))
    expect(books.availableCredits()).toBe(10)
  })

  test('tell which limit covers too little', () => {
    const { books } = budgetFor([budgeted(1, 2), budgeted(2, 50)], 2)
    expect([books.limitReached(1, 3), books.limitReached(2, 3)]).toEqual(['budget', 'balance'])
    books.quota(0)
    expect([books.limitReached(1, 3), books.limitReached(2, 3)]).toEqual(['budget', 'quota'])
  })

  test('count a call of a quota for what is reserved, for what was billed and for what may have been', () => {
    const { books } = budgetFor([budgeted(1)], 100)
    expect(books.availableCalls()).toBe(Number.POSITIVE_INFINITY)
    books.quota(5)
    const [a, b] = [aTask({ id: 1, credits: 3 }), aTask({ id: 2, credits: 3 })]
    books.reserve(a)
    books.reserve(b)
    expect(books.availableCalls()).toBe(3)
    books.billed(a)
    expect(books.availableCalls()).toBe(3)
    books.ambiguous(b)
    expect(books.availableCalls()).toBe(2)
    books.release(b)
    expect(books.availableCalls()).toBe(3)
  })

  test('cover a second call for a lost one only beside the lost one and beside all that is reserved', () => {
    const { books } = budgetFor([budgeted(1)], 4)
    const [a, b] = [aTask({ id: 1 }), aTask({ id: 2 })]
    books.reserve(a)
    books.reserve(b)
    books.ambiguous(a)
    expect(books.canAffordRetry(a)).toBe(true)
    books.ambiguous(a)
    expect(books.canAffordRetry(a)).toBe(true)
    books.ambiguous(a)
    expect(books.canAffordRetry(a)).toBe(false)
    expect(books.availableCredits()).toBe(0)
  })

  test('cover no second call with what tasks may take that are just being let through', () => {
    const { books } = budgetFor([budgeted(1)], 4)
    const task = aTask({ id: 1 })
    books.reserve(task)
    books.ambiguous(task)
    const letThrough = books.leasing(1)
    expect(books.canAffordRetry(task)).toBe(false)
    letThrough()
    expect(books.canAffordRetry(task)).toBe(true)
    books.quota(1)
    expect(books.canAffordRetry(task)).toBe(true)
    books.leasing(1)
    expect(books.canAffordRetry(task)).toBe(false)
  })
})
