import { describe, expect, test } from 'vitest'
import { JournalUnreachable } from '../../src/machines/journal.ts'
import type { sharedLimiter } from '../../src/machines/shared-limiter.ts'
import { aLimiter, names } from './a-limiter.ts'

describe('When the service refuses a call', () => {
  test('send times that were leased are not used, and one call at a time probes until one passes', async () => {
    const { time, call, departed, database, limiter } = aLimiter()
    const [first] = await Promise.all([
      call('a'),
      time.pass(0).then(async () => {
        for (const name of ['b', 'c', 'd', 'e']) void call(name)
        await time.pass(50)
      }),
    ])
    expect(limiter.throttledFor()).toBeNull()
    const sentAt = departed[0]?.at as number
    first.finish(true, 700)
    await time.pass(300)
    expect(limiter.throttledFor()).toBe(300)
    expect(names(departed)).toEqual(['a'])
    expect(database.told).toEqual([`refused ${sentAt} 700`])
    await time.pass(700)
    expect(names(departed)).toEqual(['a', 'b'])
    await time.pass(1_000)
    expect(names(departed)).toEqual(['a', 'b', 'c'])
  })

  test('the one that passes is noted with its send time, and all go on', async () => {
    const { time, call, departed, database, limiter } = aLimiter()
    const [first] = await Promise.all([call('a'), time.pass(50)])
    first.finish(true)
    const [probe] = await Promise.all([call('b'), time.pass(1_000)])
    probe.finish(false)
    expect(database.told.at(-1)).toBe(`passed ${departed[1]?.at}`)
    expect(limiter.throttledFor()).toBeNull()
    for (const name of ['c', 'd', 'e']) void call(name)
    await time.pass(2_000)
    expect(departed).toHaveLength(5)
  })

  test('what had left before, and passes, changes nothing', async () => {
    const { time, call, database, limiter } = aLimiter()
    const [first, second] = await Promise.all([call('a'), call('b'), time.pass(500)])
    first.finish(true)
    second.finish(false)
    expect(limiter.throttledFor()).toBe(0)
    expect(database.told).toHaveLength(1)
    const [probe] = await Promise.all([call('c'), time.pass(2_000)])
    probe.finish(false)
    expect(database.told).toHaveLength(2)
  })

  test('a free lookup that passes says nothing of paid calls, where one of them was refused', async () => {
    const { time, call, database, limiter } = aLimiter()
    const [paid] = await Promise.all([call('a'), time.pass(50)])
    paid.finish(true)
    const [lookup] = await Promise.all([call('b', { urgent: true }), time.pass(2_000)])
    lookup.finish(false)
    expect(limiter.throttledFor()).not.toBeNull()
    const [again] = await Promise.all([call('c'), time.pass(2_000)])
    again.finish(false)
    expect(database.told.map((said) => said.split(' ')[0])).toEqual(['refused', 'passed'])
  })

  test('send times that were asked for before it was refused are not used', async () => {
    const { time, call, departed, database } = aLimiter({ answersAfterMs: 200 })
    const [first] = await Promise.all([call('a'), time.pass(400)])
    void call('b')
    await time.pass(100)
    first.finish(true)
    await time.pass(150)
    expect(database.leases).toHaveLength(2)
    await time.pass(10_000)
    expect(names(departed)).toEqual(['a', 'b'])
    expect(departed[1]?.at).toBe(database.sendTimes.at(-1))
    expect(database.leases).toHaveLength(3)
  })

  test('no send time is asked for before that is written down', async () => {
    const { time, call, departed, database } = aLimiter({ notesAfterMs: 400 })
    const [first] = await Promise.all([call('a'), time.pass(300)])
    first.finish(true)
    for (const name of ['b', 'c']) void call(name)
    await time.pass(399)
    expect(database.leases).toHaveLength(1)
    await time.pass(600)
    expect(names(departed)).toEqual(['a', 'b'])
  })

  test('a call without a send time counts from when it left', async () => {
    const { time, call, database } = aLimiter({ spacingMs: null })
    await time.pass(10)
    const permit = await call('a')
    await time.pass(5_000)
    permit.finish(true)
    expect(database.told).toEqual(['refused 10 null'])
  })

  test('of another process, all know it from their send times: the one whose call passes says so, and the others see it', async () => {
    const { time, call, database, limiter } = aLimiter()
    database.isHeld = true
    const [probe] = await Promise.all([call('a'), time.pass(1_000)])
    expect(limiter.throttledFor()).not.toBeNull()
    // Another process says that calls pass.
    database.isHeld = false
    await Promise.all([call('b'), time.pass(3_000)])
    expect(limiter.throttledFor()).toBeNull()
    database.isHeld = true
    const [second] = await Promise.all([call('c'), time.pass(3_000)])
    probe.finish(false)
    expect(database.told).toEqual([])
    second.finish(false)
    expect(database.told).toHaveLength(1)
  })
})

test('An error that no waiting helps against is told, a database that cannot be reached is waited for', async () => {
  let tries = 0
  const rates: Partial<Parameters<typeof sharedLimiter>[0]['rates']> = {
    lease: async () => {
      tries += 1
      if (tries === 1) throw new JournalUnreachable('away')
      throw new Error('refused')
    },
  }
  const errors: unknown[] = []
  const told = new Promise((resolve) => {
    const { call } = aLimiter({
      rates: rates as Parameters<typeof sharedLimiter>[0]['rates'],
      onError: (error) => resolve(errors.push(error)),
    })
    void call('a')
  })
  await told
  expect([errors, tries]).toEqual([[new Error('refused')], 2])
})
