import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstGuardMs, learnedGuard, leastGuardMs, mostGuardMs } from '../../src/api/guard.ts'

/** A guard at an instant that is moved by hand. */
function aGuard() {
  let now = 0
  const guard = learnedGuard({ monotonic: () => now })
  return {
    guard,
    pass: (ms: number): void => {
      now += ms
    },
  }
}

test('is 50 ms while nothing is known, and half as much above 25 ms after every five seconds', () => {
  const { guard, pass } = aGuard()
  const seen = [0, 5_000, 5_000, 5_000].map((ms) => {
    pass(ms)
    return guard.ms()
  })
  expect([firstGuardMs, leastGuardMs]).toEqual([50, 25])
  expect(seen).toEqual([50, 37.5, 31.25, 28.125])
})

test('waits for the first look at it, not for the start of the process', () => {
  const { guard, pass } = aGuard()
  pass(3_600_000)
  expect(guard.ms()).toBe(50)
})

test('doubles at once with a refusal, and comes down half as fast after each', () => {
  const { guard, pass } = aGuard()
  guard.ms()
  pass(60_000)
  guard.refused()
  expect(guard.ms()).toBeCloseTo(50, 1)
  pass(10_000)
  expect(guard.ms()).toBeCloseTo(37.5, 1)
  guard.refused()
  expect(guard.ms()).toBeCloseTo(75, 1)
  pass(20_000)
  expect(guard.ms()).toBeCloseTo(50, 1)
})

test('comes down in the end, however often it was refused', () => {
  const { guard, pass } = aGuard()
  for (let times = 0; times < 50; times++) guard.refused()
  expect(guard.ms()).toBe(mostGuardMs)
  pass(300_000)
  expect(guard.ms()).toBe((mostGuardMs + leastGuardMs) / 2)
})

test('whatever happens, it is never under 25 ms nor over 100, and only a refusal lets it grow', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constant('refused'), fc.nat(400_000))), (story) => {
      const { guard, pass } = aGuard()
      for (const event of story) {
        const before = guard.ms()
        if (typeof event === 'number') pass(event)
        else guard.refused()
        const after = guard.ms()
        expect(after).toBeGreaterThanOrEqual(25)
        expect(after).toBeLessThanOrEqual(100)
        if (typeof event === 'number') expect(after).toBeLessThanOrEqual(before)
        else expect(after).toBeCloseTo(Math.min(100, 2 * before), 6)
      }
    }),
  )
})
