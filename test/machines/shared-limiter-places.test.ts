import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { aLimiter, names } from './a-limiter.ts'

describe('A call', () => {
  test('that is urgent goes before the others, and has no place among those in flight', async () => {
    const { time, call, departed, limiter } = aLimiter({ concurrency: 2 })
    for (const name of ['a', 'b', 'c']) void call(name)
    void call('urgent 1', { urgent: true })
    void call('urgent 2', { urgent: true })
    await time.pass(1_000)
    expect(names(departed)).toEqual(['urgent 1', 'urgent 2', 'a', 'b'])
    expect(limiter.busy()).toBe(3)
  })

  test('takes two send times while connections are cold', async () => {
    const { time, call, departed, database } = aLimiter({ coldRequests: 2 })
    for (const name of ['a', 'b', 'c', 'd']) {
      void call(name)
      await time.pass(300)
    }
    const { sendTimes } = database
    expect(departed.map(({ at }) => sendTimes.indexOf(at))).toEqual([0, 2, 4, 5])
  })

  test('that is the first one of a process goes alone until it has come back', async () => {
    const { time, call, departed, granted, limiter } = aLimiter({ firstAlone: true, concurrency: 3 })
    for (const name of ['a', 'b', 'c', 'd', 'e']) void call(name)
    void call('urgent', { urgent: true })
    await time.pass(400)
    expect(names(departed)).toEqual(['urgent', 'a'])
    granted.get('urgent')?.finish(false)
    await time.pass(50)
    expect(names(departed)).toEqual(['urgent', 'a'])
    granted.get('a')?.finish(false)
    await time.pass(1_000)
    expect(names(departed)).toEqual(['urgent', 'a', 'b', 'c', 'd'])
    expect(limiter.busy()).toBe(4)
  })

  test('that is the first one is waited for half a second', async () => {
    const { time, call, departed, database } = aLimiter({ firstAlone: true })
    for (const name of ['a', 'b', 'c']) void call(name)
    await time.pass(2_000)
    const [first = 0, ...others] = departed.map(({ at }) => at)
    expect(others.map((at) => at >= first + 500)).toEqual([true, true])
    // The send times meanwhile are not leased, for others may use them.
    expect(database.leases.slice(0, 2)).toEqual([1, 2])
  })

  test('that is the first one and is given up leaves its turn to the next', async () => {
    const { time, call, departed, granted, limiter } = aLimiter({ firstAlone: true })
    const first = limiter.acquire()
    for (const name of ['b', 'c']) void call(name)
    await time.pass(10)
    ;(await first).cancel()
    await time.pass(400)
    expect(names(departed)).toEqual(['b'])
    granted.get('b')?.finish(false)
    await time.pass(200)
    expect(names(departed)).toEqual(['b', 'c'])
  })

  test('that is the first one goes with the others where there is no limit', async () => {
    const { time, call, departed } = aLimiter({ firstAlone: true, spacingMs: null })
    for (const name of ['a', 'b', 'c']) void call(name)
    await time.pass(0)
    expect(names(departed)).toEqual(['a', 'b', 'c'])
  })

  test('leaves at once where there is no limit, and asks again after a while', async () => {
    const { time, call, departed, database } = aLimiter({ spacingMs: null })
    for (let number = 0; number < 20; number++) void call(`call ${number}`)
    await time.pass(0)
    expect([departed.length, database.leases.length]).toEqual([20, 1])
    await time.pass(499)
    await call('still')
    expect(database.leases).toHaveLength(1)
    await time.pass(1)
    await call('again')
    expect(database.leases).toHaveLength(2)
  })

  test('is held back by the rate limit while it waits for a send time that is not near', async () => {
    for (const [spacingMs, isPaced] of [
      [100, false],
      [500, true],
      [null, false],
    ] as const) {
      const { call, limiter, time } = aLimiter({ spacingMs })
      void call('a')
      void call('b')
      await time.pass(50)
      expect(limiter.isPaced()).toBe(isPaced)
    }
  })

  test('waits for its send time as soon as a limit is known', async () => {
    const { time, call, departed, limiter } = aLimiter({ spacingMs: null })
    await call('first')
    limiter.setLimits({ perSecond: 2, perMinute: null })
    await time.pass(0)
    for (const name of ['a', 'b']) void call(name)
    await time.pass(2_000)
    const [a, b] = departed.slice(1)
    expect((b?.at ?? 0) - (a?.at ?? 0)).toBe(500)
  })
})

describe('Calls in flight', () => {
  test('are followed by others as long as some wait for a place, also without a limit', async () => {
    const { time, limiter, call } = aLimiter({ concurrency: 2, spacingMs: null })
    const first = call('first')
    void call('second')
    await time.pass(0)
    expect(limiter.isPaced()).toBe(false)
    void call('third')
    await time.pass(0)
    expect(limiter.isPaced()).toBe(true)
    const permit = await first
    permit.finish(false)
    await time.pass(0)
    expect(limiter.isPaced()).toBe(false)
  })

  test('keep answers waiting for those of others that have left, as long as more calls wait for the limit', async () => {
    const { time, limiter, call } = aLimiter({ spacingMs: 500 })
    const first = call('first')
    void call('second')
    await time.pass(0)
    expect([limiter.isPaced(), limiter.otherAnswers()]).toEqual([true, undefined])
    await time.pass(50)
    expect(limiter.otherAnswers()).toBe('coming')
    ;(await first).finish(false)
    expect([limiter.isPaced(), limiter.otherAnswers()]).toEqual([true, undefined])
    await time.pass(600)
    expect([limiter.isPaced(), limiter.otherAnswers()]).toEqual([false, undefined])
  })

  test('keep them waiting for less where more calls wait for a place', async () => {
    const { time, limiter, call } = aLimiter({ concurrency: 2, spacingMs: null })
    const [first] = ['first', 'second', 'third'].map((name) => call(name))
    await time.pass(0)
    expect(limiter.otherAnswers()).toBe('soon')
    ;(await first)?.finish(false)
    await time.pass(0)
    expect(limiter.otherAnswers()).toBeUndefined()
  })

  test('are never more than may be, come in their order, and each one that ends lets the next one in', async () => {
    const call = fc.record({ flightMs: fc.nat(2_000), urgent: fc.boolean(), isCancelled: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        async (calls, concurrency) => {
          const { time, limiter, pause } = aLimiter({ concurrency, spacingMs: 10 })
          let inFlight = 0
          const order: number[] = []
          const all = calls.map(async ({ flightMs, urgent, isCancelled }, index) => {
            const permit = await limiter.acquire({ urgent })
            if (!urgent) {
              order.push(index)
              inFlight += 1
              expect(inFlight).toBeLessThanOrEqual(concurrency)
            }
            if (!isCancelled) await permit.departure?.()
            await pause(flightMs)
            if (!urgent) inFlight -= 1
            if (isCancelled) permit.cancel()
            else permit.finish(false)
            // A second end changes nothing.
            permit.cancel()
          })
          await time.settle()
          await Promise.all(all)
          expect(order).toEqual(order.toSorted((a, b) => a - b))
          expect(limiter.busy()).toBe(0)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('of several jobs take turns, for a place and for a send time; of one job they keep their order', async () => {
    const jobs = fc.constantFrom('a', 'b', 'c')
    await fc.assert(
      fc.asyncProperty(fc.array(jobs, { maxLength: 30 }), async (asked) => {
        const { time, limiter } = aLimiter({ concurrency: 2, spacingMs: 100 })
        const left: { readonly job: string; readonly number: number }[] = []
        const all = asked.map(async (job, number) => {
          const permit = await limiter.ofJob(job)()
          await permit.departure?.()
          left.push({ job, number })
          permit.finish(false)
        })
        await time.settle()
        await Promise.all(all)
        // Two were let in before the others came.
        const later = left.filter(({ number }) => number >= 2)
        for (const job of ['a', 'b', 'c']) {
          const own = left.filter((one) => one.job === job).map(({ number }) => number)
          expect(own).toEqual(own.toSorted((a, b) => a - b))
          const first = later.findIndex((one) => one.job === job)
          expect(first).toBeLessThan(3)
        }
        expect(left).toHaveLength(asked.length)
      }),
      { numRuns: 40 },
    )
  })

  test('that are aborted while they wait leave no trace: no place, no send time, no timer, no listener', async () => {
    const { time, limiter, call, departed, database } = aLimiter({ concurrency: 2 })
    const stop = new AbortController()
    const reason = new Error('stopped')
    await Promise.all([call('a'), time.pass(100)])
    const aborted = ['b', 'c', 'd'].map((name) => call(name, { signal: stop.signal }).catch((error) => error))
    const urgent = call('u', { urgent: true, signal: stop.signal }).catch((error) => error)
    await time.pass(1)
    stop.abort(reason)
    expect(await Promise.all([...aborted, urgent])).toEqual([reason, reason, reason, reason])
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
    expect(limiter.busy()).toBe(1)
    const before = time.now()
    await time.settle()
    expect(time.now()).toBe(before)
    await expect(call('e', { signal: stop.signal })).rejects.toBe(reason)
    void call('f')
    await time.pass(200)
    expect(names(departed)).toEqual(['a', 'f'])
    expect(departed[1]?.at).toBe(database.sendTimes[1])
  })

  test('that is aborted in the moment in which it is let in hands its place on', async () => {
    const { time, limiter, call } = aLimiter({ concurrency: 1 })
    const stop = new AbortController()
    const [first] = await Promise.all([call('a'), time.pass(100)])
    const aborted = call('b', { signal: stop.signal }).catch(() => 'aborted')
    const last = call('c')
    await time.pass(0)
    first.finish(false)
    stop.abort()
    await time.pass(1_000)
    expect(await aborted).toBe('aborted')
    ;(await last).finish(false)
    expect(limiter.busy()).toBe(0)
  })
})
