import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { circuitBreakers } from '../../src/collect/circuit-breaker.ts'
import { fakeTime } from '../api/fake-time.ts'

const firstTask = 100

function aBreaker(maxOutageMs = 60_000) {
  const time = fakeTime()
  const breaker = circuitBreakers({ clock: time.clock, maxOutageMs, up: [], onChange: () => {} })
  /** Fails so many probes, each as soon as it is due; answers when they were. */
  const failProbes = async (count: number): Promise<readonly number[]> => {
    const at: number[] = []
    for (let task = firstTask; at.length < count; task++) {
      await time.pass(breaker.nextProbeIn() as number)
      const engine = breaker.dueProbe() as string
      at.push(time.now())
      breaker.probing(engine, task)
      breaker.note(engine, task, 'down')
      breaker.taskEnded(task)
    }
    return at
  }
  return { breaker, time, failProbes }
}

describe('an engine that stays down', () => {
  test('is given up when the last probe, at the end of the time that it is waited for, fails, too', async () => {
    const { breaker, failProbes } = aBreaker()
    breaker.trip('alpha')
    expect(await failProbes(6)).toEqual([1_000, 3_000, 7_000, 15_000, 30_000, 45_000])
    expect(breaker.expired()).toEqual([])
    expect(await failProbes(1)).toEqual([60_000])
    expect([breaker.expired(), breaker.dueProbe(), breaker.nextProbeIn()]).toEqual([['alpha'], null, null])
    expect([breaker.isOpen('alpha'), breaker.paused()]).toEqual([true, ['alpha']])
  })

  test('is probed once more where its last probe found nothing out', async () => {
    const { breaker, time } = aBreaker()
    breaker.trip('alpha')
    await time.pass(1_000)
    breaker.probing('alpha', 1)
    await time.pass(59_001)
    breaker.taskEnded(1)
    expect([breaker.expired(), breaker.dueProbe()]).toEqual([[], 'alpha'])
    breaker.probing('alpha', 2)
    breaker.note('alpha', 2, 'down')
    expect([breaker.expired(), breaker.dueProbe()]).toEqual([['alpha'], null])
  })

  test('is not given up while a probe may still find it back', async () => {
    const { breaker, time } = aBreaker()
    breaker.trip('alpha')
    await time.pass(1_000)
    breaker.probing('alpha', 1)
    await time.pass(100_000)
    expect(breaker.expired()).toEqual([])
    breaker.note('alpha', 1, 'down')
    expect([breaker.expired(), breaker.nextProbeIn()]).toEqual([['alpha'], null])
  })

  test('is given up alone: another one is still probed', async () => {
    const { breaker, time } = aBreaker()
    breaker.trip('alpha')
    await time.pass(59_500)
    breaker.trip('gamma')
    await time.pass(1_000)
    breaker.probing('alpha', 1)
    breaker.note('alpha', 1, 'down')
    expect([breaker.expired(), breaker.dueProbe()]).toEqual([['alpha'], 'gamma'])
  })
})

describe('an engine that is back', () => {
  const back = async () => {
    const parts = aBreaker()
    const { breaker, time } = parts
    for (let task = 1; task <= 20; task++) breaker.note('alpha', task, 'down')
    await time.pass(50_000)
    breaker.probing('alpha', 21)
    breaker.note('alpha', 21, 'up')
    return parts
  }

  test('has all behind it: what failed before counts no more', async () => {
    const { breaker } = await back()
    expect(breaker.isFailing('alpha')).toBe(false)
    for (let task = 1; task <= 5; task++) breaker.note('alpha', task, 'down')
    expect(breaker.isOpen('alpha')).toBe(false)
    breaker.note('alpha', 6, 'down')
    expect(breaker.isOpen('alpha')).toBe(true)
  })

  test('is waited for as long as ever when it goes down again', async () => {
    const { breaker, time } = await back()
    breaker.trip('alpha')
    expect(breaker.nextProbeIn()).toBe(1_000)
    await time.pass(60_000)
    expect(breaker.expired()).toEqual([])
  })
})

describe('whatever happens in whatever order', () => {
  const engine = fc.constantFrom('alpha', 'beta', 'gamma')
  const step = fc.oneof(
    fc.record({
      do: fc.constant('note' as const),
      engine,
      task: fc.nat(30),
      end: fc.constantFrom('up', 'down'),
    }),
    fc.record({ do: fc.constant('trip' as const), engine }),
    { weight: 3, arbitrary: fc.record({ do: fc.constant('let a probe' as const), has: fc.boolean() }) },
    fc.record({
      do: fc.constant('end a probe' as const),
      which: fc.nat(2),
      how: fc.constantFrom('up', 'down', 'gone'),
    }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 400, 1_000, 7_000, 30_000) }),
  )

  test('an engine that is down has one probe at most, and nothing else is due', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const { breaker, time } = aBreaker(40_000)
        const probes = new Map<string, number>()
        let task = firstTask
        for (const one of steps) {
          if (one.do === 'note') breaker.note(one.engine, one.task, one.end as 'up' | 'down')
          else if (one.do === 'trip') breaker.trip(one.engine)
          else if (one.do === 'wait') await time.pass(one.ms)
          else if (one.do === 'let a probe') {
            const due = breaker.dueProbe()
            if (due === null) continue
            expect(probes.has(due)).toBe(false)
            if (one.has) {
              task += 1
              breaker.probing(due, task)
              probes.set(due, task)
            } else {
              breaker.delayProbe(due)
              expect(breaker.dueProbe()).not.toBe(due)
            }
          } else {
            const [engine, probe] = [...probes][one.which] ?? []
            if (engine === undefined || probe === undefined) continue
            probes.delete(engine)
            if (one.how !== 'gone') breaker.note(engine, probe, one.how as 'up' | 'down')
            expect(breaker.isOpen(engine)).toBe(one.how !== 'up')
            breaker.taskEnded(probe)
          }
          agrees(breaker, probes)
        }
      }),
      { numRuns: 200 },
    )
  })

  /** What the breaker says of its engines is one picture. */
  function agrees(breaker: ReturnType<typeof circuitBreakers>, probes: ReadonlyMap<string, number>): void {
    const paused = breaker.paused()
    const [due, next, givenUp] = [breaker.dueProbe(), breaker.nextProbeIn(), breaker.expired()]
    for (const name of ['alpha', 'beta', 'gamma']) expect(breaker.isOpen(name)).toBe(paused.includes(name))
    for (const name of [...givenUp, ...probes.keys()]) expect(paused).toContain(name)
    for (const name of givenUp) expect(probes.has(name)).toBe(false)
    // Only what is neither probed nor given up waits for a probe.
    expect(next === null).toBe(paused.every((name) => probes.has(name) || givenUp.includes(name)))
    expect(due !== null).toBe(next === 0)
    if (due !== null) expect(paused).toContain(due)
    if (due !== null) expect(probes.has(due) || givenUp.includes(due)).toBe(false)
  }
})
