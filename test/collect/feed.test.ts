import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testTable } from '../support/test-table.ts'
import { aFeed } from './feeding.ts'

const hour = 3_600_000
const times = <T>(count: number, value: T) => Array<T>(count).fill(value)

describe('feeding', () => {
  test('ends at once where there is nothing to do', async () => {
    const { time, endedAt, turns } = aFeed({ tasks: [] })
    await time.pass(0)
    expect([endedAt(), turns()]).toEqual([0, 1])
  })

  test('ends when all is done', async () => {
    const { time, endedAt, done, turns } = aFeed({ tasks: times(100, 'alpha.search') })
    await time.pass(hour)
    expect([done.size, endedAt()]).toEqual([100, 2_500])
    expect(turns()).toBeLessThan(150)
  })

  test('ends where nothing that is left is covered', async () => {
    const { time, endedAt, stop, done } = aFeed({
      tasks: ['alpha.search', 'gamma.search'],
      uncovered: ['gamma'],
    })
    await time.pass(hour)
    expect([endedAt(), stop.cause(), done.size]).toEqual([100, null, 1])
  })

  test('hands over no more than the pool can soon take', async () => {
    const { time, inWork } = aFeed({ tasks: times(100, 'alpha.search'), latencyMs: 1_000 })
    await time.pass(10)
    expect(inWork()).toBeLessThanOrEqual(20)
  })

  test('ends when the run stops', async () => {
    const { time, endedAt, stop, sent } = aFeed({ tasks: times(100, 'alpha.search'), latencyMs: 1_000 })
    await time.pass(1_500)
    stop.request({ reason: 'interrupted', message: '' })
    await time.pass(hour)
    expect(endedAt()).toBe(1_500)
    expect(sent.length).toBe(8)
  })

  test('waits without turning while all that is left is in work', async () => {
    const { time, turns, endedAt } = aFeed({ tasks: times(3, 'alpha.search'), latencyMs: 600_000 })
    await time.pass(1_000)
    const before = turns()
    await time.pass(598_000)
    expect([turns(), endedAt()]).toEqual([before, null])
    await time.pass(hour)
    expect(endedAt()).toBe(600_000)
  })
})

describe('where an engine is down', () => {
  test('one task at a time finds out when it is back; then the others follow', async () => {
    const { time, sent, done, told, endedAt } = aFeed({
      tasks: times(40, 'gamma.search'),
      down: (_, at) => at < 10_000,
    })
    await time.pass(hour)
    expect(sent.filter(({ open }) => open).map(({ at }) => at)).toEqual([1_200, 3_300, 7_400, 15_500])
    expect(told).toEqual(['gamma down at 200', 'gamma up at 15600'])
    expect([done.size, endedAt()]).toEqual([40, 16_600])
  })

  test('the others go on', async () => {
    const tasks = Array.from({ length: 40 }, (_, index) =>
      index % 2 === 0 ? 'gamma.search' : 'alpha.search',
    )
    const { time, done, endedAt, stop } = aFeed({
      tasks,
      down: (engine) => engine === 'gamma',
      maxOutageMs: 5_000,
    })
    await time.pass(3_000)
    expect([done.size, endedAt()]).toEqual([20, null])
    await time.pass(hour)
    expect([done.size, stop.cause()]).toMatchObject([
      20,
      { reason: 'unavailable', message: expect.stringContaining('fails on gamma.') },
    ])
    expect(endedAt()).toBeLessThan(8_000)
  })

  test('the run does not stop for it while others are still at work', async () => {
    const tasks = ['alpha.ai', ...times(10, 'gamma.search')]
    const { time, stop, endedAt } = aFeed({
      tasks,
      down: (engine) => engine === 'gamma',
      maxOutageMs: 2_000,
      latencyMs: 60_000,
    })
    await time.pass(62_500)
    expect([stop.cause(), endedAt()]).toEqual([null, null])
  })

  test('and so is another one, the run stops when both are given up', async () => {
    const tasks = [...times(10, 'gamma.search'), ...times(10, 'beta.search')]
    const { time, stop } = aFeed({ tasks, down: () => true, maxOutageMs: 5_000 })
    await time.pass(hour)
    expect(stop.cause()?.message).toContain('fails on gamma and beta.')
  })

  test('and none of its tasks is left, that is the end', async () => {
    const { time, breaker, endedAt, stop } = aFeed({ tasks: ['alpha.search'] })
    breaker.trip('gamma')
    await time.pass(hour)
    expect([endedAt(), stop.cause()]).toEqual([100, null])
  })

  test('and none of its tasks is covered, it is waited for no longer than allowed, without turning', async () => {
    const { time, breaker, endedAt, turns } = aFeed({ tasks: ['gamma.search'], uncovered: ['gamma'] })
    breaker.trip('gamma')
    await time.pass(hour)
    expect(endedAt()).toBeGreaterThanOrEqual(60_000)
    expect(endedAt()).toBeLessThanOrEqual(91_000)
    expect(turns()).toBeLessThan(20)
  })
})

test('whatever is down and for how long: it ends, it never spins, and nothing is forgotten', async () => {
  const engine = fc.constantFrom('alpha', 'beta', 'gamma')
  const outage = fc.record({ engine, from: fc.nat(5_000), ms: fc.nat(40_000) })
  const setup = fc.record({
    tasks: fc.array(
      engine.map((name) => `${name}.search`),
      { maxLength: 60 },
    ),
    outages: fc.array(outage, { maxLength: 4 }),
    latencyMs: fc.integer({ min: 1, max: 3_000 }),
    concurrency: fc.integer({ min: 1, max: 8 }),
    batch: fc.integer({ min: 1, max: 20 }),
    maxOutageMs: fc.constantFrom(0, 2_000, 20_000),
  })
  await fc.assert(
    fc.asyncProperty(setup, async ({ outages, ...setup }) => {
      const down = (name: string, at: number) =>
        outages.some(({ engine, from, ms }) => engine === name && at >= from && at < from + ms)
      const { time, endedAt, done, stop, breaker, sent, pending, turns } = aFeed({ ...setup, down })
      await time.pass(2 * hour)
      expect(endedAt()).not.toBe(null)
      expect(done.size + pending.length).toBe(setup.tasks.length)
      if (stop.cause() === null) expect(pending).toEqual([])
      else {
        expect(breaker.expired()).toEqual(breaker.paused())
        for (const { operation } of pending) expect(breaker.expired()).toContain(operation.split('.')[0])
      }
      // While an engine is down its calls are probes, and one is over before the next begins.
      const probes = sent.filter(({ open }) => open)
      expect(probes.every(({ probe }) => probe)).toBe(true)
      for (const name of ['alpha', 'beta', 'gamma']) {
        const at = probes.filter(({ engine }) => engine === name).map((one) => one.at)
        for (const [index, one] of at.entries())
          expect(one - (at[index - 1] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(setup.latencyMs)
      }
      expect(turns()).toBeLessThan(3 * sent.length + 50)
    }),
    { numRuns: 200 },
  )
})

describe('where the answers of an operation cannot be used', () => {
  test('a few probes are paid for, the other operations go on, and the end says what came', async () => {
    const tasks = Array.from({ length: 600 }, (_, index) => (index % 2 === 0 ? 'alpha.search' : 'alpha.news'))
    const { time, sent, done, endedAt, stop, pending } = aFeed({
      tasks,
      problem: (operation) => (operation === 'alpha.search' ? 'no JSON' : null),
    })
    await time.pass(hour)
    const paid = sent.filter(({ operation }) => operation === 'alpha.search')
    expect(paid.filter(({ probe }) => probe)).toHaveLength(3)
    expect(paid.length).toBeLessThanOrEqual(20 + 3 + 3)
    expect(done.size).toBe(300 + paid.length)
    expect(pending).toHaveLength(300 - paid.length)
    expect(endedAt()).toBeGreaterThanOrEqual(60_000)
    expect(stop.cause()).toMatchObject({
      reason: 'unavailable',
      message: expect.stringContaining(
        'alpha.search answers with something that is not search results: no JSON',
      ),
    })
  })

  test('the others follow when a probe can be used', async () => {
    const { time, sent, done, endedAt } = aFeed({
      tasks: times(300, 'alpha.search'),
      problem: (_, at) => (at < 10_000 ? 'no JSON' : null),
    })
    await time.pass(hour)
    expect(sent.filter(({ probe }) => probe)).toHaveLength(2)
    expect([done.size, endedAt() !== null]).toEqual([300, true])
  })

  test('an engine that is down at the same time is not found out about by them', async () => {
    const { time, sent, stop } = aFeed({
      tasks: [...times(100, 'alpha.search'), ...times(50, 'alpha.news')],
      problem: (operation) => (operation === 'alpha.search' ? 'no JSON' : null),
      down: (_, at) => at >= 1_000,
      maxOutageMs: 30_000,
    })
    await time.pass(hour)
    const paid = sent.filter(({ operation }) => operation === 'alpha.search')
    expect(paid.length).toBeLessThanOrEqual(20 + 3 + 3)
    expect(stop.cause()?.message).toMatch(
      /^Stopped: the service fails on alpha\. alpha\.search answers with something/,
    )
  })
})

describe('until an answer of an operation could be used', () => {
  test('eight of its tasks are at work, and those of other operations as well', async () => {
    const tasks = [...times(60, 'alpha.ai'), ...times(60, 'alpha.search')]
    const { time, sent } = aFeed({ tasks, concurrency: 64, batch: 256, latencyMs: 10_000 })
    await time.pass(9_000)
    const of = (name: string) => sent.filter(({ operation }) => operation === name).length
    expect([of('alpha.ai'), of('alpha.search')]).toEqual([8, 8])
    await time.pass(2_000)
    expect(of('alpha.ai') + of('alpha.search')).toBe(16 + 64)
  })

  test('an operation of no use costs twenty calls, those beside the last of them, and probes', async () => {
    const { time, sent, stop } = aFeed({
      tasks: times(400, 'alpha.search'),
      problem: () => 'no JSON',
      concurrency: 64,
      batch: 256,
    })
    await time.pass(hour)
    const [probes, others] = [true, false].map((is) => sent.filter(({ probe }) => probe === is).length)
    expect(probes).toBe(3)
    expect(others).toBeLessThanOrEqual(28)
    expect(stop.cause()?.reason).toBe('unavailable')
  })
})

describe('where the rate is limited', () => {
  const limits = { perSecond: 10, perMinute: null }

  test('what waited for the rate when the answers became useless is not sent any more', async () => {
    const { time, sent, told } = aFeed({
      tasks: times(1_000, 'alpha.search'),
      problem: (_, at) => (at < 10_000 ? null : 'no JSON'),
      limits,
      batch: 256,
      latencyMs: 500,
    })
    await time.pass(60_000)
    const openedAt = Number(told[0]?.match(/^alpha.search unusable at (\d+)$/)?.[1])
    expect(openedAt).toBeLessThan(12_000)
    expect(sent.filter(({ at, probe }) => at > openedAt && !probe)).toEqual([])
  })

  testTable<[number, readonly number[]]>([
    [100, []],
    [2_000, []],
    // Two hundred calls are on their way.
    [20_000, [100, 200, 256]],
  ])(
    'it is used where answers take %i ms, with as many tasks at work as that needs',
    async (latencyMs, widened) => {
      const { time, sent, inWork, mostInTheAir, reserved } = aFeed({
        tasks: times(3_000, 'alpha.search'),
        limits,
        batch: 256,
        latencyMs,
      })
      await time.pass(150_000)
      const before = sent.length
      expect(inWork()).toBeLessThanOrEqual(mostInTheAir() + 8)
      await time.pass(100_000)
      // A window takes 50 ms more than a second.
      expect(sent.length - before).toBeGreaterThanOrEqual(Math.floor(1_000 / 1.05) - 10)
      expect(mostInTheAir()).toBeLessThanOrEqual(10 + (10 * latencyMs) / 1_000)
      expect(reserved).toEqual(widened)
    },
  )

  test.each([
    { answers: 'are stored at once', storingMs: 0, room: 128, atWork: 80, sentBy: 350 },
    { answers: 'take as long to be stored as to come', storingMs: 50, room: 128, atWork: 128, sentBy: 500 },
    {
      answers: 'take as long, and the disk has no room for more',
      storingMs: 50,
      room: 80,
      atWork: 80,
      sentBy: 800,
    },
  ])(
    'without a limit 80 calls are in the air, when the first answer could be used, where answers $answers',
    async ({ storingMs, room, atWork, sentBy }) => {
      const { time, sent, mostInTheAir, inWork } = aFeed({
        tasks: times(500, 'alpha.search'),
        limits: { perSecond: null, perMinute: null },
        batch: 256,
        latencyMs: 50,
        storingMs,
        room,
      })
      await time.pass(49)
      expect(sent).toHaveLength(8)
      let mostAtWork = 0
      for (let at = 49; at < sentBy; at++) {
        await time.pass(1)
        mostAtWork = Math.max(mostAtWork, inWork())
      }
      expect(sent).toHaveLength(500)
      expect(mostInTheAir()).toBe(80)
      expect(mostAtWork).toBe(atWork)
    },
  )

  test('what both windows allow is sent at once, when the first answer could be used', async () => {
    const { time, sent } = aFeed({
      tasks: times(500, 'alpha.search'),
      limits: { perSecond: 40, perMinute: 100 },
      batch: 256,
      latencyMs: 200,
    })
    await time.pass(300)
    expect(sent.map(({ at }) => at)).toEqual([...times(8, 0), ...times(32, 200)])
    await time.pass(58_000)
    expect(sent).toHaveLength(100)
  })
})
