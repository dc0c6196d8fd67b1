import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RateLimiter } from '../../src/api/rate-limiter.ts'
import { databaseClock } from '../../src/machines/database-clock.ts'
import type { SharedJournal } from '../../src/machines/postgres/open.ts'
import { sharedLimiter } from '../../src/machines/shared-limiter.ts'
import { type FakeTime, fakeTime } from '../api/fake-time.ts'
import { testTable } from '../support/test-table.ts'

/** 40 calls a second, of which so much is used. */
const spacingMs = 27
const graceMs = 20

test('Workers leave at their send times and lose hardly any, however long calls take to be written', async () => {
  const times = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 50 })
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), times, times, async (workers, writing, leasing) => {
      const time = fakeTime()
      const queue = timesOfQueue(time, { spacingMs, leaseMs: cycle(leasing.map((ms) => Math.ceil(ms / 8))) })
      const writeMs = cycle(writing)
      const callsEach = Math.floor(400 / workers)
      const left: number[] = []
      for (let worker = 0; worker < workers; worker++) {
        const limiter = limiterOf(time, queue.rates)
        for (let call = 0; call < callsEach; call++)
          void callThrough(time, limiter, { writeMs: writeMs(), answerMs: 200 }).then((at) => left.push(at))
      }
      await time.settle()
      left.sort((a, b) => a - b)
      expect(left).toHaveLength(callsEach * workers)
      // Each at a send time of its own, at its time or a little later.
      const free = [...queue.leased].sort((a, b) => a - b)
      for (const at of left) {
        const sendTime = free.findIndex((one) => one <= at && at <= one + graceMs + 1)
        expect(sendTime).toBeGreaterThanOrEqual(0)
        free.splice(sendTime, 1)
      }
      // After the first ones, by which a worker learns how long writing takes, and before only some have work left.
      const [first = 0, last = 0] = [left[100], left[300]]
      expect((200 * spacingMs) / (last - first)).toBeGreaterThan(0.97)
    }),
    { numRuns: 40 },
  )
})

test('The first calls of a worker take two send times each', async () => {
  const time = fakeTime()
  const limiter = limiterOf(time, timesOfQueue(time, { spacingMs: 100 }).rates, { coldRequests: 2 })
  const left = Array.from({ length: 4 }, () => callThrough(time, limiter, { writeMs: 1, answerMs: 10 }))
  await time.settle()
  const [one = 0, ...others] = await Promise.all(left)
  expect(others.map((at) => Math.round((at - one) / 100))).toEqual([2, 4, 5])
})

test('A call that is given up before it left leaves its send time to the next one', async () => {
  const time = fakeTime()
  const queue = timesOfQueue(time, { spacingMs: 100 })
  const limiter = limiterOf(time, queue.rates)
  void limiter.acquire().then((permit) => permit.cancel())
  const waiting = new AbortController()
  const aborted = limiter.acquire({ signal: waiting.signal })
  waiting.abort(new Error('told to stop'))
  await expect(aborted).rejects.toThrow('told to stop')
  const left = callThrough(time, limiter, { writeMs: 1, answerMs: 10 })
  await time.settle()
  expect(Math.floor(await left)).toBe(Math.ceil(queue.leased[0] as number))
})

test('Where there is no limit, calls leave at once', async () => {
  const time = fakeTime()
  const rates = { ...timesOfQueue(time, { spacingMs }).rates }
  rates.lease = async () => ({ unlimited: true, now: time.now() })
  const limiter = limiterOf(time, rates)
  const left = Array.from({ length: 16 }, () => callThrough(time, limiter, { writeMs: 1, answerMs: 10 }))
  await time.settle()
  expect(new Set(await Promise.all(left))).toEqual(new Set([1]))
})

test('After a refusal one call probes at a time, and when it has passed the others follow', async () => {
  const time = fakeTime()
  const queue = timesOfQueue(time, { spacingMs: 100 })
  const limiter = limiterOf(time, queue.rates)
  const refused = callThrough(time, limiter, { writeMs: 1, answerMs: 10, throttled: true })
  await time.pass(50)
  const refusedAt = await refused
  expect(queue.held()).toBe(true)
  const left = Array.from({ length: 5 }, () => callThrough(time, limiter, { writeMs: 1, answerMs: 10 }))
  await time.settle()
  const [probe = 0, second = 0, ...others] = await Promise.all(left)
  expect(probe - refusedAt).toBeGreaterThanOrEqual(990)
  // The next probe was leased when the first one left, and what follows it when that had passed.
  expect(second - probe).toBeGreaterThanOrEqual(1_000)
  const [third = 0, fourth = 0, fifth = 0] = others
  expect(third - second).toBeLessThanOrEqual(1_000)
  expect([fourth - third, fifth - fourth]).toEqual([100, 100])
  expect(queue.held()).toBe(false)
})

testTable<[string, Partial<Parameters<typeof sharedLimiter>[0]>, number]>([
  ['96 % near the service, when they were seen to leave on time', { wayMs: () => 0 }, 1_000 / 1_041],
  ['less where calls travel for longer', { wayMs: () => 20 }, 1_000 / 1_061],
  ['93 % where the way is not known', {}, 0.93],
])('Of the limit they use 93 % at first, and %s', async (_, options, part) => {
  const time = fakeTime()
  // The clock of the database is read in 2 ms.
  const queue = timesOfQueue(time, { spacingMs })
  const limiter = limiterOf(time, queue.rates, options)
  const left = Array.from({ length: 400 }, () => callThrough(time, limiter, { writeMs: 1, answerMs: 10 }))
  await time.settle()
  await Promise.all(left)
  expect(queue.usedParts[0]).toBe(0.93)
  expect(queue.usedParts.at(-1)).toBeCloseTo(part, 3)
})

interface QueueOptions {
  readonly spacingMs: number
  /** What each lease takes there, and back again. */
  readonly leaseMs?: () => number
}

/** Send times of one key as the database leases them to workers. */
function timesOfQueue(time: FakeTime, { spacingMs, leaseMs = () => 1 }: QueueOptions) {
  const leased: number[] = []
  const usedParts: number[] = []
  let next = 0
  let heldUntil: number | null = null
  const rates: Parameters<typeof sharedLimiter>[0]['rates'] = {
    lease: async (_, count, { leadMs, usedPart }) => {
      usedParts.push(usedPart)
      const wayMs = leaseMs()
      await pause(time, wayMs)
      const now = time.now()
      const firstAt = Math.max(next, now + leadMs, heldUntil ?? 0)
      const [given, spacing] = heldUntil === null ? [count, spacingMs] : [1, 1_000]
      next = firstAt + given * spacing
      for (let index = 0; index < given; index++) leased.push(firstAt + index * spacing)
      await pause(time, wayMs)
      return { firstAt, spacingMs: spacing, given, isProbe: heldUntil !== null, now }
    },
    refused: async () => {
      heldUntil ??= time.now() + 1_000
    },
    passed: async () => {
      heldUntil = null
    },
    setLimits: async () => {},
  } satisfies Partial<SharedJournal['rates']>
  return { rates, leased, usedParts, held: () => heldUntil !== null }
}

function limiterOf(
  time: FakeTime,
  rates: Parameters<typeof sharedLimiter>[0]['rates'],
  options: Partial<Parameters<typeof sharedLimiter>[0]> = {},
): RateLimiter {
  const clock = databaseClock({ ...time.clock, wall: () => time.now() })
  const onError = (error: unknown): void => {
    throw error
  }
  return sharedLimiter({ ...{ rates, clock, onError, keyHash: 'key', concurrency: 16 }, ...options })
}

interface CallTimes {
  readonly writeMs: number
  readonly answerMs: number
  readonly throttled?: boolean
}

/** Makes a call as the client does; when it left. */
async function callThrough(time: FakeTime, limiter: RateLimiter, call: CallTimes): Promise<number> {
  const permit = await limiter.acquire()
  await pause(time, call.writeMs)
  await permit.departure?.()
  const at = time.now()
  await pause(time, call.answerMs)
  permit.finish(call.throttled === true)
  return at
}

function pause(time: FakeTime, ms: number): Promise<void> {
  return new Promise((resolve) => {
    time.clock.after(ms, resolve)
  })
}

/** Gives the numbers one after the other, and again. */
function cycle(numbers: readonly number[]): () => number {
  let next = 0
  return () => numbers[next++ % numbers.length] as number
}
