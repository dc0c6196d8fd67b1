import { describe, expect, test } from 'vitest'
import { connectivityMonitor } from '../../src/collect/stop.ts'
import type { Outcome } from '../../src/model/call.ts'
import { fakeTime } from '../api/fake-time.ts'
import { testTable } from '../support/test-table.ts'

const maxOutageMs = 60_000

/** A watch of the service, one second after it began. */
async function aWatch(random = 1) {
  const time = fakeTime()
  const { watch } = connectivityMonitor(time.clock, () => random, maxOutageMs)
  await time.pass(1_000)
  const own = watch()
  const other = watch()
  /** Ends a call of the task so, that long after the last one, and answers how it is to wait. */
  const call = async (outcome: Outcome, after = 0) => {
    await time.pass(after)
    own.note(outcome)
    return own.pause(outcome)
  }
  return { time, own, other, call }
}

describe('while nobody is heard of', () => {
  test('a task waits for as long as it was silent, half a second at least and twenty at most', async () => {
    const { call } = await aWatch()
    const waits: (number | undefined)[] = []
    for (const after of [0, 400, 400, 3_200, 15_999, 1, 10_000])
      waits.push((await call('unreachable', after))?.wait)
    expect(waits).toEqual([500, 500, 800, 4_000, 19_999, 20_000, 20_000])
  })

  test('a task waits for any part of that, so that not all of them come at once', async () => {
    const { call } = await aWatch(0.25)
    expect(await call('unreachable')).toEqual({ wait: 125, over: false })
    expect(await call('unreachable', 10_000)).toEqual({ wait: 2_500, over: false })
  })

  test('it is over once it has lasted for longer than is waited for', async () => {
    const { call } = await aWatch()
    await call('unreachable')
    expect((await call('unreachable', maxOutageMs))?.over).toBe(false)
    expect((await call('unreachable', 1))?.over).toBe(true)
  })
})

describe('a call that found nobody', () => {
  testTable<Outcome>(['answered', 'server-error', 'throttled', 'rejected', 'ambiguous'])(
    'is repeated soon where a call of another task ended `%s` since, for as long as an outage may last',
    async (outcome) => {
      const { time, other, call } = await aWatch()
      await call('unreachable')
      await time.pass(10)
      other.note(outcome)
      expect(await call('unreachable', 10)).toEqual({ wait: 1_000, over: false })
      await call('unreachable', maxOutageMs)
      other.note(outcome)
      expect(await call('unreachable')).toBe(null)
    },
  )

  test('did not fail by itself where others find nobody either', async () => {
    const { other, call } = await aWatch()
    other.note('unreachable')
    expect(await call('unreachable', 10)).toEqual({ wait: 500, over: false })
  })

  test('was not the first one, where no call has ended otherwise since the start', async () => {
    const { call } = await aWatch()
    expect(await call('answered')).toBe(null)
    expect(await call('unreachable', 1)).toEqual({ wait: 500, over: false })
  })

  test('says nothing of the silence before: what is heard ends it, and the next one is a new one', async () => {
    const { call } = await aWatch()
    await call('unreachable')
    await call('answered', 50_000)
    expect(await call('unreachable', 20_000)).toEqual({ wait: 500, over: false })
    expect((await call('unreachable', maxOutageMs + 1))?.over).toBe(true)
  })

  test('is repeated soon where others were heard of; when all fall silent, the task waits again', async () => {
    const { time, other, call } = await aWatch()
    await call('unreachable')
    await time.pass(10)
    other.note('answered')
    expect(await call('unreachable', 10)).toEqual({ wait: 1_000, over: false })
    expect(await call('unreachable', 10)).toEqual({ wait: 500, over: false })
    expect((await call('unreachable', maxOutageMs + 1))?.over).toBe(true)
  })
})
