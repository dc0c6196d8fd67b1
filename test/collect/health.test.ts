import { describe, expect, test } from 'vitest'
import type { ApiClient } from '../../src/api/client.ts'
import { circuitBreakers, watchEngines } from '../../src/collect/circuit-breaker.ts'
import type { Outcome } from '../../src/model/call.ts'
import type { Task } from '../../src/model/run.ts'
import { fakeTime } from '../api/fake-time.ts'
import { settlement } from '../store/answers.ts'
import { testTable } from '../support/test-table.ts'

interface Snapshot {
  readonly outcome?: Outcome
  readonly httpStatus?: number
  readonly body?: string
}

/** A watch of engines whose snapshots say this, with a breaker. */
function aWatch(snapshot: Snapshot = {}) {
  const { body = '{"health":"healthy"}', ...change } = snapshot
  const time = fakeTime()
  const breaker = circuitBreakers({ clock: time.clock, maxOutageMs: 60_000, up: [], onChange: () => {} })
  const asked: string[] = []
  const behind: Promise<void>[] = []
  const lookup: ApiClient['lookup'] = async ({ name }, { engine }) => {
    asked.push(`${name} of ${engine} at ${time.now()}`)
    return { callId: 1, sentAt: 0, settlement: settlement(change), body: Buffer.from(body), headers: {} }
  }
  const health = watchEngines({
    service: { lookup } as ApiClient,
    clock: { ...time.clock, wall: time.now },
    breaker,
    signal: new AbortController().signal,
    background: (work) => behind.push(work),
  })
  return {
    time,
    breaker,
    health,
    asked,
    /** Notes calls of tasks numbered on from `first` that ended so. */
    calls: async (outcome: Outcome, count: number, first = 1, operation = 'alpha.search') => {
      for (let id = first; id < first + count; id++)
        health.note(aTask(id, operation), { outcome, httpStatus: null, billed: null, error: null })
      await Promise.all(behind)
    },
  }
}

const aTask = (id: number, operation = 'alpha.search') => ({ id, operation }) as Task

describe('an engine is seen to work', () => {
  testTable<[Outcome, boolean]>([
    ['answered', true],
    ['accepted', true],
    ['rejected', true],
    ['not-found', true],
    ['unreadable', true],
    ['server-error', false],
    ['throttled', false],
    ['unreachable', false],
    ['ambiguous', false],
    ['refused', false],
    ['out-of-credit', false],
    ['redirected', false],
  ])('by a call that ended `%s`: %s', async (outcome, up) => {
    const { breaker, calls } = aWatch()
    await calls(outcome, 1)
    expect(breaker.everUp('alpha')).toBe(up)
  })

  test('or to fail, by errors of the service and by calls that are lost alone', async () => {
    for (const outcome of ['unreachable', 'throttled'] as const) {
      const { breaker, calls } = aWatch()
      await calls(outcome, 20)
      expect(breaker.isOpen('alpha')).toBe(false)
    }
    for (const outcome of ['server-error', 'ambiguous'] as const) {
      const { health, calls } = aWatch()
      await calls(outcome, 6)
      const down = ['alpha.search', 'alpha.ai', 'gamma.search'].map((name) => health.isDown(aTask(1, name)))
      expect(down).toEqual([true, true, false])
    }
  })

  test('or never: then it is taken for down when a task of it is about to fail', async () => {
    const { health, calls } = aWatch()
    await calls('answered', 1, 1, 'gamma.search')
    expect([health.neverWorked(aTask(1, 'gamma.search')), health.isDown(aTask(1, 'gamma.search'))]).toEqual([
      false,
      false,
    ])
    expect([health.neverWorked(aTask(1)), health.isDown(aTask(1))]).toEqual([true, true])
  })
})

test('an operation whose answers cannot be used, or not even be read, is down; its engine is not', async () => {
  const { health, breaker, calls } = aWatch()
  for (let id = 1; id <= 10; id++) health.answered(aTask(id), 'no JSON')
  await calls('unreadable', 10, 11)
  expect(health.isDown(aTask(1))).toBe(true)
  expect([health.isDown(aTask(1, 'alpha.news')), breaker.isOpen('alpha')]).toEqual([false, false])
})

describe("the service's own snapshot of an engine", () => {
  test('is asked for when three of its tasks failed, and stops new work where it says `down`', async () => {
    const { asked, calls, breaker, time } = aWatch({ body: '{"health":"down"}' })
    await calls('server-error', 2)
    expect(asked).toEqual([])
    await calls('server-error', 1, 3)
    expect(asked).toEqual(['stats of alpha at 0'])
    expect(breaker.isOpen('alpha')).toBe(true)
    // What is known needs no asking.
    await time.pass(60_000)
    await calls('server-error', 5)
    expect(asked).toHaveLength(1)
  })

  testTable<[string, Snapshot]>([
    ['it says something else', {}],
    ['it is no JSON', { body: 'down' }],
    ['it is no object', { body: '["down"]' }],
    ['it could not be had', { outcome: 'server-error', body: '{"health":"down"}' }],
  ])('stops nothing where %s', async (_, snapshot) => {
    const { calls, breaker } = aWatch(snapshot)
    await calls('server-error', 3)
    expect(breaker.isOpen('alpha')).toBe(false)
  })

  test('is asked for once a minute, of each engine', async () => {
    const { asked, calls, time } = aWatch()
    await calls('server-error', 5)
    await calls('server-error', 4, 11, 'gamma.search')
    await time.pass(59_999)
    await calls('server-error', 3)
    await time.pass(1)
    await calls('server-error', 1)
    expect(asked).toEqual(['stats of alpha at 0', 'stats of gamma at 0', 'stats of alpha at 60000'])
  })

  test('is not asked for again where the account has none', async () => {
    const { asked, calls, time } = aWatch({ outcome: 'rejected', httpStatus: 403 })
    await calls('server-error', 3)
    await time.pass(600_000)
    await calls('server-error', 3)
    await calls('server-error', 3, 11, 'gamma.search')
    expect(asked).toHaveLength(1)
  })
})
