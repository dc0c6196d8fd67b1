import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openGate } from '../../src/api/gate.ts'
import type { RateLimits } from '../../src/api/windows.ts'
import { draws } from './draws.ts'
import { fakeTime } from './fake-time.ts'
import { callThrough, type Service } from './judging-service.ts'

const perSecond40: RateLimits = { perSecond: 40, perMinute: null }

/** What a service sees of a new gate that is told its limits. */
function seenBy(service: Service, calls: number) {
  const time = fakeTime()
  return callThrough(time, openGate({ clock: time.clock, limits: service.limits }), calls, service)
}

describe('as the service sees it, nothing is ever one too many', () => {
  test('where ways differ by up to 25 ms from call to call, however long answers take', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          perSecond: fc.option(fc.integer({ min: 1, max: 8 }), { freq: 4 }),
          perMinute: fc.option(fc.integer({ min: 1, max: 30 }), { freq: 2 }),
        }),
        fc.array(fc.record({ wayMs: fc.integer({ min: 1, max: 26 }), answerMs: fc.nat(1_500) }), {
          minLength: 1,
          maxLength: 120,
        }),
        async (limits, calls) => {
          const seen = await seenBy(
            {
              limits,
              wayMs: (call) => calls[call]?.wayMs ?? 1,
              answerMs: (call) => calls[call]?.answerMs ?? 1,
            },
            calls.length,
          )
          expect(seen).toMatchObject({ passed: calls.length, refused: 0 })
        },
      ),
      { numRuns: 60 },
    )
  })

  test('where it is cold, and late to see all of the first burst after a lookup', async () => {
    const time = fakeTime()
    const limits: RateLimits = { perSecond: 20, perMinute: null }
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 400 }),
        fc.array(fc.nat(180), { minLength: 1 }),
        async (coldMs, answers) => {
          const gate = openGate({ clock: time.clock })
          const lookup = await gate.acquire({ first: true, kind: 'usage' })
          lookup.sent()
          await time.pass(5)
          lookup.over(false)
          gate.setLimits(limits)
          const seen = await callThrough(time, gate, 60, {
            limits,
            wayMs: (call) => (call < 20 ? coldMs : 1),
            answerMs: (call) => 20 + (answers[call % answers.length] ?? 0),
          })
          expect(seen).toMatchObject({ passed: 60, refused: 0 })
        },
      ),
      { numRuns: 60 },
    )
  })

  test('where it is late to see a whole burst, or the later part of it, and its answers are else alike', async () => {
    const stall = fc.record({ burst: fc.integer({ min: 3, max: 8 }), after: fc.nat(12), ms: fc.nat(400) })
    await fc.assert(
      fc.asyncProperty(
        stall,
        fc.array(fc.integer({ min: 20, max: 35 }), { minLength: 1, maxLength: 50 }),
        fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 50 }),
        async ({ burst, after, ms }, answers, ways) => {
          const calls = 20 * 10
          const held = (call: number): boolean => call >= burst * 20 + after && call < burst * 20 + 20
          const service: Service = {
            limits: { perSecond: 20, perMinute: null },
            wayMs: (call) => (ways[call % ways.length] ?? 1) + (held(call) ? ms : 0),
            answerMs: (call) => answers[call % answers.length] ?? 1,
          }
          expect(await seenBy(service, calls)).toMatchObject({ passed: calls, refused: 0 })
        },
      ),
      { numRuns: 100 },
    )
  })
})

describe('40 seconds at 40 calls a second use 94 % of it and are never refused', () => {
  test.each([
    ['20 to 200 ms', (draw: number) => 20 + 180 * draw],
    ['always the same time', () => 50],
    ['0.2 to 1.5 s', (draw: number) => 200 + 1300 * draw],
  ])('where answers take %s', async (_, latency) => {
    const draw = draws()
    const { passed, refused, seconds } = await seenBy(
      { limits: perSecond40, wayMs: () => 1 + 15 * draw(), answerMs: () => latency(draw()) },
      1_640,
    )
    expect({ passed, refused }).toEqual({ passed: 1_640, refused: 0 })
    // The last second's worth is sent at its beginning, so it takes 40 s at the least.
    expect(40 / seconds).toBeGreaterThan(0.94)
  })
})

test('a way that differs by more than it could know is learned: refusals come further and further apart', async () => {
  const draw = draws()
  const refusedAt: number[] = []
  const time = fakeTime()
  const gate = openGate({ clock: time.clock, limits: perSecond40 })
  const watched = {
    ...gate,
    acquire: async () => {
      const token = await gate.acquire()
      return {
        ...token,
        over: (refused: boolean) => {
          if (refused) refusedAt.push(time.now())
          token.over(refused)
        },
      }
    },
  }
  await callThrough(time, watched, 40 * 300, {
    limits: perSecond40,
    wayMs: () => 1 + 45 * draw(),
    answerMs: () => 20 + 180 * draw(),
  })
  // At a steady pace there would be one in every half minute.
  const until = (minutes: number) => refusedAt.filter((at) => at < minutes * 60_000).length
  expect(until(1)).toBeGreaterThan(0)
  expect(until(1)).toBeLessThan(4)
  expect(until(5)).toBeLessThan(7)
})
