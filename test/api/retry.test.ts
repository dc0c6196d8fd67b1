import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decideRetry, longestRetryAfterMs, retryAfterMs, retryPolicy } from '../../src/api/retry.ts'
import { testTable } from '../support/test-table.ts'

describe('by the policy of the program', () => {
  testTable<[number, number, ReturnType<typeof decideRetry>]>([
    [1, 0, { wait: 0 }],
    [1, 1, { wait: 500 }],
    [1, 0.5, { wait: 250 }],
    [2, 1, { wait: 1000 }],
    [3, 1, { wait: 2000 }],
    [4, 1, { later: true }],
    [5, 1, { wait: 500 }],
    [6, 1, { wait: 1000 }],
    [7, 1, { wait: 2000 }],
    [8, 0, { giveUp: true }],
    [9, 0.5, { giveUp: true }],
    [1000, 0, { giveUp: true }],
  ])('after %i failed tries, random %d -> %j', (tries, random, decision) => {
    expect(decideRetry(tries, random)).toEqual(decision)
  })
})

const policy: fc.Arbitrary<typeof retryPolicy> = fc.record({
  triesPerRound: fc.integer({ min: 1, max: 10 }),
  tries: fc.integer({ min: 1, max: 40 }),
  firstDelayMs: fc.integer({ min: 0, max: 10_000 }),
})
const random = fc.double({ min: 0, max: 1, noNaN: true })

test('a wait is never negative and never longer than the doubled first delay', () => {
  fc.assert(
    fc.property(policy, fc.integer({ min: 1, max: 60 }), random, (policy, tries, random) => {
      const decision = decideRetry(tries, random, policy)
      if (!('wait' in decision)) return
      expect(decision.wait).toBeGreaterThanOrEqual(0)
      expect(decision.wait).toBeLessThanOrEqual(policy.firstDelayMs * 2 ** (tries - 1))
    }),
  )
})

test('tries end: a task that always fails is sent exactly as often as the policy says', () => {
  fc.assert(
    fc.property(policy, random, (policy, random) => {
      let tries = 1
      while (!('giveUp' in decideRetry(tries, random, policy))) tries += 1
      expect(tries).toBe(policy.tries)
    }),
  )
})

test('more chance never waits less', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 7 }), random, random, (tries, a, b) => {
      const waits = [Math.min(a, b), Math.max(a, b)].map((chance) => decideRetry(tries, chance))
      const [less, more] = waits.map((one) => ('wait' in one ? one.wait : 0)) as [number, number]
      expect(less).toBeLessThanOrEqual(more)
    }),
  )
})

test('a task never holds its place longer than 3.5 seconds of waits in a row', () => {
  const waits = Array.from({ length: retryPolicy.triesPerRound - 1 }, (_, index) => decideRetry(index + 1, 1))
  expect(waits.reduce((sum, one) => sum + ('wait' in one ? one.wait : 0), 0)).toBe(3500)
})

describe('a delay that the service names', () => {
  const noon = Date.UTC(2026, 10, 22, 12)
  const at = (ms: number) => new Date(noon + ms).toUTCString()

  testTable<[string, Record<string, string | string[]>, number | null]>([
    ['seconds', { 'retry-after': '5' }, 5_000],
    ['seconds with blanks around', { 'retry-after': ' 5 ' }, 5_000],
    ['the first of several', { 'retry-after': ['7', '9'] }, 7_000],
    ['nothing at all', { 'retry-after': '0' }, 0],
    ['a date', { 'retry-after': at(90_000) }, 90_000],
    ["a date beside the service's own", { 'retry-after': at(90_000), date: at(60_000) }, 30_000],
    ['a date beside one that is none', { 'retry-after': at(90_000), date: 'today' }, 90_000],
    ['a date in the older form', { 'retry-after': 'Sunday, 22-Nov-26 12:00:20 GMT' }, 20_000],
    ['a date that is over', { 'retry-after': at(-5_000) }, 0],
    ['ten minutes and more', { 'retry-after': '2147484' }, 600_000],
    ['a year, as a date', { 'retry-after': at(31_536_000_000) }, 600_000],
    ['more digits than a number holds', { 'retry-after': '9'.repeat(400) }, 600_000],
    ['a negative number', { 'retry-after': '-1' }, null],
    ['a fraction', { 'retry-after': '1.5' }, null],
    ['words', { 'retry-after': 'abc' }, null],
    ['another notation of a date', { 'retry-after': '2026-11-22T12:01:00Z' }, null],
    ['an empty text', { 'retry-after': '' }, null],
    ['no header', {}, null],
  ])('as %s', (_, headers, ms) => {
    expect(retryAfterMs(headers, noon)).toBe(ms)
  })

  test('is a whole wait between nothing and ten minutes, or none, whatever the header says', () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.string()), (value, date) => {
        const ms = retryAfterMs({ 'retry-after': value, date: date ?? undefined }, noon)
        expect(ms === null || (ms >= 0 && ms <= longestRetryAfterMs)).toBe(true)
      }),
    )
  })
})
