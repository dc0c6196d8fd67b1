import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rateLimiter } from '../../src/api/rate-limiter.ts'
import type { RateLimits } from '../../src/model/call.ts'
import { draws } from './draws.ts'
import { fakeTime } from './fake-time.ts'
import { callThrough, type Service } from './judging-service.ts'

const perSecond40: RateLimits = { perSecond: 40, perMinute: null }

/** What a service sees of a new gate that is told its limits. */
function seenBy(service: Service, calls: number) {
  const time = fakeTime()
  return callThrough(time, rateLimiter({ clock: time.clock, limits: service.limits }), calls, service)
}

describe('as the service sees it, nothing is ever one too many', () => {
  test('where ways differ by up to 50 ms from call to call, however long answers take', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          perSecond: fc.option(fc.integer({ min: 1, max: 8 }), { freq: 4 }),
          perMinute: fc.option(fc.integer({ min: 1, max: 30 }), { freq: 2 }),
        }),
        fc.array(fc.record({ wayMs: fc.integer({ min: 1, max: 51 }), answerMs: fc.nat(1_500) }), {
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
