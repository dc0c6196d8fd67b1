import { describe, expect, test } from 'vitest'
import type { ApiClient } from '../../src/api/client.ts'
import { stopSignal, watchThrottling } from '../../src/collect/stop.ts'
import type { Outcome } from '../../src/model/call.ts'
import { settlement } from '../store/answers.ts'
import { testTable } from '../support/test-table.ts'

/** A watch of refusals, with what it told and why it stopped the run. */
function aWatch(quota: string | null = null, maxThrottlingMs = 600_000) {
  const told: string[] = []
  const stop = stopSignal()
  let asked = 0
  let looked = 0
  let refusedFor: number | null = null
  const gate: Pick<ApiClient['rateLimiter'], 'throttledFor'> = { throttledFor: () => refusedFor }
  const refusals = watchThrottling({
    service: { rateLimiter: gate as ApiClient['rateLimiter'] },
    stop,
    notice: (words) => told.push(words),
    quota: () => {
      asked += 1
      return quota
    },
    refreshAccount: () => {
      looked += 1
    },
    maxThrottlingMs,
  })
  return {
    told,
    stop,
    asked: () => asked,
    looked: () => looked,
    /** Notes a call that ended so while the service has refused everything for so long. */
    call: (
      outcome: Outcome,
      ms: number | null,
      error: string | null = 'Rate limit exceeded',
      namedMs = 0,
    ) => {
      refusedFor = ms
      refusals.note(settlement({ outcome, billed: 0, error }), namedMs)
      return stop.cause()?.message ?? null
    },
  }
}

const waiting =
  'The service limits the rate of calls (Rate limit exceeded). Waiting, 10 min at most; no answer is lost.'

describe('refusals are told', () => {
  test('once, when they last for more than three seconds', () => {
    const { call, told } = aWatch()
    for (const ms of [0, 500, 3_000]) call('throttled', ms)
    expect(told).toEqual([])
    call('throttled', 3_001)
    expect(told).toEqual([waiting])
    for (const ms of [9_000, 60_000]) call('throttled', ms)
    expect(told).toHaveLength(1)
  })

  test('again when they come back after an answer', () => {
    const { call, told } = aWatch()
    call('throttled', 6_000)
    call('answered', null, null)
    call('throttled', 100)
    expect(told).toHaveLength(1)
    call('throttled', 6_000)
    expect(told).toEqual([waiting, waiting])
  })

  test('at once where the service names a delay that lasts', () => {
    const { call, told } = aWatch()
    call('throttled', 0, 'Rate limit exceeded', 2_000)
    expect(told).toEqual([])
    call('throttled', 0, 'Rate limit exceeded', 30_000)
    expect(told).toEqual([waiting])
  })

  test('beside an engine that names a delay and is not well', () => {
    const { call, told } = aWatch()
    call('server-error', null, 'Service Unavailable', 30_000)
    expect(told).toEqual([
      'The service asks for a pause of 30 s (Service Unavailable). Waiting; no answer is lost.',
    ])
  })

  test('not again after what is no answer', () => {
    const { call, told } = aWatch()
    for (const outcome of ['throttled', 'server-error', 'unreachable', 'throttled'] as const)
      call(outcome, 6_000)
    expect(told).toHaveLength(1)
  })

  test('in the words of the outcome where the service has none', () => {
    const { call, told } = aWatch()
    call('throttled', 6_000, null)
    expect(told[0]).toContain('(throttled)')
  })

  testTable<Outcome>(['answered', 'server-error', 'rejected', 'unreachable'])(
    'only by refusals: `%s` says nothing, however long they last',
    (outcome) => {
      const { call, told } = aWatch('daily quota of 5 calls')
      expect([call(outcome, 700_000), told]).toEqual([null, []])
    },
  )
})

test('what others have used is looked at once when refusals last, and again after an answer', () => {
  const { call, looked } = aWatch()
  call('throttled', 61_000)
  expect(looked()).toBe(0)
  for (const ms of [61_001, 90_000, 120_000]) call('throttled', ms)
  expect(looked()).toBe(1)
  call('answered', null, null)
  for (const ms of [500, 61_001, 90_000]) call('throttled', ms)
  expect(looked()).toBe(2)
})

describe('the run stops', () => {
  test('for a quota once refusals last longer than any window of the rate, where one explains them', () => {
    const { call, stop } = aWatch('daily quota of 25 calls')
    expect(call('throttled', 61_000)).toBe(null)
    expect(call('throttled', 61_001)).toBe(
      'Stopped: the daily quota of 25 calls of the key is used up (Rate limit exceeded). Run the same command again when it starts anew or is raised.',
    )
    expect(stop.cause()?.reason).toBe('quota')
    expect(stop.signal.aborted).toBe(true)
  })

  test('by no quota before, for the rate alone may be the reason', () => {
    const { call, asked } = aWatch('daily quota of 25 calls')
    for (const ms of [0, 6_000, 61_000]) call('throttled', ms)
    expect(asked()).toBe(0)
  })

  test('after ten minutes where no quota explains them', () => {
    const { call, stop } = aWatch()
    expect(call('throttled', 61_001)).toBe(null)
    expect(call('throttled', 600_000)).toBe(null)
    expect(call('throttled', 600_001)).toContain('let no call pass for 10 min (Rate limit exceeded)')
    expect(stop.cause()?.reason).toBe('quota')
  })

  test('as soon as the user says, with exit code and words of a quota', () => {
    const { call, stop, told } = aWatch(null, 5_000)
    expect(call('throttled', 5_000)).toBe(null)
    expect(told[0]).toContain('5.0 s at most')
    expect(call('throttled', 5_001)).toContain('let no call pass for 5.0 s (Rate limit exceeded)')
    expect(stop.cause()?.reason).toBe('quota')
  })

  test('not while the service passes calls', () => {
    const { call, stop, told } = aWatch('daily quota of 25 calls')
    for (let refusal = 0; refusal < 100; refusal++) call('throttled', null)
    expect([stop.cause(), told]).toEqual([null, []])
  })
})
