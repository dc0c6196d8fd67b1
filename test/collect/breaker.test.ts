import { describe, expect, test } from 'vitest'
import { circuitBreakers } from '../../src/collect/circuit-breaker.ts'
import { fakeTime } from '../api/fake-time.ts'
import { testTable } from '../support/test-table.ts'

const maxOutageMs = 60_000

/** A breaker with what it told, in time that stands still until it is moved. */
function aBreaker(up: readonly string[] = []) {
  const time = fakeTime()
  const told: string[] = []
  const onChange = (engine: string, change: string) => told.push(`${engine} ${change}`)
  const breaker = circuitBreakers({ clock: time.clock, maxOutageMs, up, onChange })
  /** Notes one call each of tasks numbered on from `first`: `+` was answered, `-` failed. */
  const calls = (ends: string, first = 1, engine = 'alpha') => {
    for (const [index, end] of [...ends].entries())
      breaker.note(engine, first + index, end === '+' ? 'up' : 'down')
  }
  /** Waits for the probe that is due and lets a task through for it. */
  const probe = async (taskId: number) => {
    await time.pass(breaker.nextProbeIn() ?? 0)
    expect(breaker.dueProbe()).toBe('alpha')
    breaker.probing('alpha', taskId)
  }
  return { breaker, time, told, calls, probe }
}

/** As `aBreaker`, with alpha down. */
function anOpenBreaker() {
  const parts = aBreaker()
  parts.breaker.trip('alpha')
  return parts
}

describe('a breaker opens', () => {
  testTable<[string, string, boolean]>([
    ['five failures are too few to tell', '-----', false],
    ['six failures', '------', true],
    ['half of the tasks', '+-+-+-', false],
    ['more than half of them', '++----', true],
    ['half of the last twenty, and one before', `-${'+'.repeat(10)}${'-'.repeat(10)}`, false],
    ['half of the last twenty', `${'+'.repeat(20)}${'-'.repeat(10)}`, false],
    ['more than half of the last twenty, whatever was before', `${'+'.repeat(40)}${'-'.repeat(11)}`, true],
    ['more than half of six, but the last one was answered', '-----+', false],
    ['seven of thirteen', '++++++-------', true],
  ])('%s: %s → %s', (_, ends, opens) => {
    const { breaker, calls, told } = aBreaker()
    calls(ends)
    expect(breaker.isOpen('alpha')).toBe(opens)
    expect(breaker.paused()).toEqual(opens ? ['alpha'] : [])
    expect(told).toEqual(opens ? ['alpha down'] : [])
  })

  test('for tasks that fail, not for calls: one that is tried again and again counts once', () => {
    const { breaker, calls } = aBreaker()
    for (let tries = 0; tries < 8; tries++) for (const poison of [101, 102, 103, 104]) calls('-', poison)
    expect(breaker.isOpen('alpha')).toBe(false)
    calls('++++')
    for (let tries = 0; tries < 8; tries++) calls('-', 101)
    expect(breaker.isOpen('alpha')).toBe(false)
    calls('-', 105)
    expect(breaker.isOpen('alpha')).toBe(true)
  })

  test('for calls that are lost, and then probes seldom, for each may be billed', () => {
    const pauses = (['down', 'lost'] as const).map((end) => {
      const { breaker, told } = aBreaker()
      for (let taskId = 1; taskId <= 6; taskId++) breaker.note('alpha', taskId, end)
      return { told, pauseMs: breaker.nextProbeIn() }
    })
    expect(pauses).toEqual([
      { told: ['alpha down'], pauseMs: 1_000 },
      { told: ['alpha losing'], pauseMs: 5_000 },
    ])
  })

  test('by how the last call of each task ended', () => {
    const { breaker, calls } = aBreaker()
    calls('-----')
    calls('+++')
    calls('-', 6)
    expect(breaker.isOpen('alpha')).toBe(false)
    calls('-', 7)
    expect(breaker.isOpen('alpha')).toBe(true)
  })

  test('by the tasks that were tried last, not by those that were begun last', () => {
    const { breaker, calls } = aBreaker()
    calls(`-${'+'.repeat(10)}${'-'.repeat(9)}`)
    calls('-', 1)
    expect(breaker.isOpen('alpha')).toBe(false)
    calls('-', 21)
    expect(breaker.isOpen('alpha')).toBe(true)
  })

  test('where it is told to, once', () => {
    const { breaker, told } = aBreaker()
    breaker.trip('alpha')
    breaker.trip('alpha')
    expect([breaker.isOpen('alpha'), told]).toEqual([true, ['alpha down']])
  })

  test('for one engine alone', () => {
    const { breaker, calls } = aBreaker()
    calls('------')
    calls('-----', 11, 'gamma')
    expect([breaker.isOpen('gamma'), breaker.paused()]).toEqual([false, ['alpha']])
    calls('-', 16, 'gamma')
    expect(breaker.paused()).toEqual(['alpha', 'gamma'])
  })
})

describe('an engine', () => {
  test('is suspect when three of its tasks failed', () => {
    const { breaker, calls } = aBreaker()
    calls('++--')
    calls('-', 3)
    expect(breaker.isFailing('alpha')).toBe(false)
    calls('-', 5)
    expect([breaker.isFailing('alpha'), breaker.isFailing('gamma')]).toEqual([true, false])
  })

  test('was up where it is known to have been, or a call of it was answered', () => {
    const { breaker, calls } = aBreaker(['gamma'])
    calls('-')
    expect([breaker.everUp('gamma'), breaker.everUp('alpha')]).toEqual([true, false])
    calls('+')
    expect(breaker.everUp('alpha')).toBe(true)
  })

  test('was up where a straggler was answered while it is down', () => {
    const { breaker, calls } = anOpenBreaker()
    calls('+')
    expect([breaker.everUp('alpha'), breaker.isOpen('alpha')]).toEqual([true, true])
  })
})

describe('while a breaker is open', () => {
  test('the first probe is due after a second', async () => {
    const { breaker, time } = anOpenBreaker()
    expect([breaker.nextProbeIn(), breaker.dueProbe()]).toEqual([1_000, null])
    await time.pass(999)
    expect([breaker.nextProbeIn(), breaker.dueProbe()]).toEqual([1, null])
    await time.pass(1)
    expect([breaker.nextProbeIn(), breaker.dueProbe()]).toEqual([0, 'alpha'])
    await time.pass(500)
    expect(breaker.nextProbeIn()).toBe(0)
  })

  test('nothing is due beside the probe, which alone judges', async () => {
    const { breaker, calls, probe, told } = anOpenBreaker()
    await probe(50)
    expect([breaker.dueProbe(), breaker.nextProbeIn()]).toEqual([null, null])
    expect([breaker.isProbe(50), breaker.isProbe(1)]).toEqual([true, false])
    calls('+++---+', 1)
    breaker.taskEnded(3)
    expect([breaker.isOpen('alpha'), breaker.dueProbe()]).toEqual([true, null])
    calls('+', 50)
    expect([breaker.isOpen('alpha'), breaker.paused(), breaker.isProbe(50)]).toEqual([false, [], false])
    expect(told).toEqual(['alpha down', 'alpha up'])
  })

  test('stragglers that fail do not lengthen the pause', async () => {
    const { breaker, calls, time } = anOpenBreaker()
    await time.pass(400)
    calls('----------')
    expect(breaker.nextProbeIn()).toBe(600)
  })

  test('each probe that fails doubles the pause, up to a quarter of a minute', async () => {
    const { breaker, calls, probe } = anOpenBreaker()
    const pauses: (number | null)[] = []
    for (let task = 1; task <= 5; task++) {
      await probe(task)
      calls('-', task)
      pauses.push(breaker.nextProbeIn())
      breaker.taskEnded(task)
    }
    expect(pauses).toEqual([2_000, 4_000, 8_000, 15_000, 15_000])
  })

  test('a probe that is gone without a verdict lets another one follow at once', async () => {
    const { breaker, probe } = anOpenBreaker()
    await probe(1)
    breaker.taskEnded(1)
    expect([breaker.dueProbe(), breaker.nextProbeIn(), breaker.isProbe(1)]).toEqual(['alpha', 0, false])
  })

  test('a probe for which there is no task waits for longer', async () => {
    const { breaker, time } = anOpenBreaker()
    await time.pass(1_000)
    breaker.delayProbe('alpha')
    expect([breaker.dueProbe(), breaker.nextProbeIn()]).toEqual([null, 2_000])
  })
})

describe('an operation whose answers cannot be used', () => {
  const answer = (breaker: ReturnType<typeof aBreaker>['breaker'], count: number, problem: string | null) => {
    for (let task = 1; task <= count; task++) breaker.answered('alpha.search', task, problem)
  }
  /** As `aBreaker`, with alpha.search stopped. */
  function aWaste() {
    const parts = aBreaker()
    answer(parts.breaker, 20, 'no JSON')
    return parts
  }
  /** Waits for the next probe, which brings that; answers when it was. */
  const probed = async ({ breaker, time }: ReturnType<typeof aBreaker>, problem: string | null) => {
    await time.pass(breaker.nextProbeIn() ?? 0)
    expect(breaker.dueProbe()).toBe('alpha.search')
    breaker.probing('alpha.search', 100)
    breaker.answered('alpha.search', 100, problem)
    breaker.taskEnded(100)
    return time.now()
  }

  test('gets no new work; its engine and other operations do', () => {
    const { breaker, told } = aWaste()
    expect([breaker.paused(), told]).toEqual([['alpha.search'], ['alpha.search unusable']])
    expect([breaker.isOpen('alpha'), breaker.isOpen('alpha.news')]).toEqual([false, false])
    expect(breaker.wasted('alpha.search')).toMatchObject({ unusable: 20, answers: 20, problem: 'no JSON' })
  })

  test('is probed three times in a minute, for each probe is paid for, and then given up', async () => {
    const parts = aWaste()
    const at = [await probed(parts, 'no JSON'), await probed(parts, 'no JSON'), await probed(parts, 'HTML')]
    expect(at).toEqual([5_000, 25_000, 60_000])
    expect([parts.breaker.expired(), parts.breaker.nextProbeIn()]).toEqual([['alpha.search'], null])
    expect(parts.breaker.wasted('alpha.search')).toMatchObject({ unusable: 23, answers: 23, problem: 'HTML' })
  })

  test('is back when a probe can be used; what was in the air before says nothing', async () => {
    const parts = aWaste()
    answer(parts.breaker, 40, null)
    expect(parts.breaker.isOpen('alpha.search')).toBe(true)
    await probed(parts, null)
    expect([parts.breaker.paused(), parts.told]).toEqual([[], ['alpha.search unusable', 'alpha.search up']])
  })

  test('is given up at once when it wastes more after it was back', async () => {
    const parts = aWaste()
    await probed(parts, null)
    answer(parts.breaker, 20, 'no JSON')
    expect([parts.breaker.expired(), parts.breaker.nextProbeIn()]).toEqual([['alpha.search'], null])
  })

  testTable<[string, (breaker: ReturnType<typeof aBreaker>['breaker']) => void]>([
    ['fails on the side of the service', (breaker) => breaker.note('alpha', 100, 'down')],
    ['ends without an answer', () => {}],
  ])('waits for longer where the probe %s', async (_, end) => {
    const { breaker, time } = aWaste()
    await time.pass(5_000)
    breaker.probing('alpha.search', 100)
    end(breaker)
    breaker.taskEnded(100)
    expect(breaker.nextProbeIn()).toBe(20_000)
  })

  test('or whose calls bring no answer at all, is probed as seldom, and back when one brings an answer', async () => {
    const parts = aBreaker()
    const { breaker, told } = parts
    const useless = (task: number) =>
      breaker.useless('alpha.search', task, { problem: 'HTTP 404', mayBeBilled: true })
    for (let task = 1; task <= 20; task++) useless(task)
    expect([breaker.paused(), told]).toEqual([['alpha.search'], ['alpha.search useless']])
    await parts.time.pass(5_000)
    breaker.probing('alpha.search', 100)
    useless(100)
    breaker.taskEnded(100)
    expect(breaker.nextProbeIn()).toBe(20_000)
    await probed(parts, null)
    expect([breaker.paused(), told.at(-1)]).toEqual([[], 'alpha.search up'])
    expect(breaker.wasted('alpha.search')).toEqual({
      unusable: 0,
      answers: 1,
      useless: 21,
      maybeBilled: 21,
      problem: 'HTTP 404',
    })
  })

  test('in an earlier run begins with one probe, at once', async () => {
    const parts = aBreaker()
    parts.breaker.distrust('alpha.search', false)
    expect([parts.told, parts.breaker.dueProbe()]).toEqual([['alpha.search distrusted'], 'alpha.search'])
    expect(await probed(parts, 'no JSON')).toBe(0)
    expect(parts.breaker.nextProbeIn()).toBe(20_000)
    await probed(parts, null)
    expect(parts.breaker.paused()).toEqual([])
  })

  test('in an earlier run, beyond doubt, is given up after one probe of no use; an error of the service decides nothing', async () => {
    const parts = aBreaker()
    const { breaker } = parts
    breaker.distrust('alpha.search', true)
    breaker.probing('alpha.search', 99)
    breaker.note('alpha', 99, 'down')
    breaker.taskEnded(99)
    expect([breaker.expired(), breaker.nextProbeIn()]).toEqual([[], 20_000])
    await probed(parts, 'no JSON')
    expect([breaker.expired(), breaker.nextProbeIn(), breaker.wasted('alpha.search').unusable]).toEqual([
      ['alpha.search'],
      null,
      1,
    ])
  })

  test('in an earlier run, beyond doubt, is back when the probe can be used', async () => {
    const parts = aBreaker()
    parts.breaker.distrust('alpha.search', true)
    await probed(parts, null)
    expect(parts.breaker.paused()).toEqual([])
  })
})
