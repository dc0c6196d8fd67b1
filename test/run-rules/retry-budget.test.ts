import fc from 'fast-check'
import { expect, test } from 'vitest'
import { retryBudget } from '../../src/run/retry-budget.ts'

/** How many calls may be repeated after so many first ones, of which some were repeated whatever is left. */
function leaveAfter(first: number, forced = 0): number {
  const budget = retryBudget()
  for (let call = 0; call < first; call++) budget.first()
  for (let call = 0; call < forced; call++) budget.forced()
  let taken = 0
  while (budget.take()) taken += 1
  return taken
}

test.each([
  [0, 0, 10],
  [1, 0, 10],
  [20, 0, 10],
  [21, 0, 10],
  [22, 0, 11],
  [1_000, 0, 500],
  [1_001, 0, 500],
  [1_000, 499, 1],
  [1_000, 800, 0],
  [5, 10, 0],
])('after %i first calls, with %i repeated in any case, %i may be repeated', (first, forced, leave) => {
  expect(leaveAfter(first, forced)).toBe(leave)
})

test('what is not there now may be there after more first calls', () => {
  const budget = retryBudget()
  for (let call = 0; call < 20; call++) budget.first()
  while (budget.take());
  budget.first()
  expect(budget.take()).toBe(false)
  budget.first()
  expect([budget.take(), budget.take()]).toEqual([true, false])
})

test('calls are never repeated more often than half of the first ones, but for the few that any run may', () => {
  const step = fc.constantFrom('first', 'take')
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const budget = retryBudget()
      const done = { first: 0, take: 0 }
      for (const one of steps) {
        if (one === 'first') budget.first()
        else if (!budget.take()) {
          expect(done.take).toBeGreaterThanOrEqual(Math.max(10, Math.floor(done.first / 2)))
          continue
        }
        done[one as keyof typeof done] += 1
        expect(done.take).toBeLessThanOrEqual(Math.max(10, done.first / 2))
      }
    }),
  )
})
