import fc from 'fast-check'
import { expect, test } from 'vitest'
import { retryBudget } from '../../src/collect/task.ts'
import { testTable } from '../support/test-table.ts'

/** How many calls may be repeated after so many first ones. */
function leaveAfter(first: number): number {
  const budget = retryBudget()
  for (let call = 0; call < first; call++) budget.countTask()
  let taken = 0
  while (budget.tryTake()) taken += 1
  return taken
}

testTable([
  [0, 10],
  [1, 10],
  [20, 10],
  [21, 10],
  [22, 11],
  [1_000, 500],
  [1_001, 500],
])('after %i first calls %i may be repeated', (first, leave) => {
  expect(leaveAfter(first)).toBe(leave)
})

test('what is not there now may be there after more first calls', () => {
  const budget = retryBudget()
  for (let call = 0; call < 20; call++) budget.countTask()
  while (budget.tryTake());
  budget.countTask()
  expect(budget.tryTake()).toBe(false)
  budget.countTask()
  expect([budget.tryTake(), budget.tryTake()]).toEqual([true, false])
})

test('calls are never repeated more often than half of the first ones, but for the few that any run may', () => {
  const step = fc.constantFrom('first', 'take')
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const budget = retryBudget()
      const done = { first: 0, take: 0 }
      for (const one of steps) {
        if (one === 'first') budget.countTask()
        else if (!budget.tryTake()) {
          expect(done.take).toBeGreaterThanOrEqual(Math.max(10, Math.floor(done.first / 2)))
          continue
        }
        done[one as keyof typeof done] += 1
        expect(done.take).toBeLessThanOrEqual(Math.max(10, done.first / 2))
      }
    }),
  )
})
