import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Permit, rateLimiter } from '../../src/api/rate-limiter.ts'
import type { RateLimits } from '../../src/model/call.ts'
import { type FakeTime, fakeTime } from './fake-time.ts'

interface Asking {
  readonly at: number
  /** Milliseconds between leave and the request's first byte; null where it is never sent. */
  readonly leavesAfter: number | null
  readonly answeredAfter: number
}

interface Leaving {
  readonly asked: number
  readonly granted: number
  readonly sent: number | null
}

/** Lets requests ask a new gate at their times; answers what became of them, in the order in which they were let through. */
async function letThrough(
  time: FakeTime,
  options: Omit<Parameters<typeof rateLimiter>[0], 'clock'>,
  askings: readonly Asking[],
): Promise<readonly Leaving[]> {
  const start = time.now()
  const since = () => time.now() - start
  const gate = rateLimiter({ clock: time.clock, ...options })
  const leavings: Leaving[] = []
  const ask = async ({ leavesAfter, answeredAfter }: Asking): Promise<void> => {
    const asked = since()
    const token = await gate.acquire()
    const granted = since()
    const leave = (sent: number | null): void => {
      leavings.push({ asked, granted, sent })
      if (sent === null) token.cancel()
      else {
        token.sent()
        time.clock.after(answeredAfter, () => token.finish(false))
      }
    }
    if (leavesAfter === null) time.clock.after(answeredAfter, () => leave(null))
    else if (leavesAfter === 0) leave(granted)
    else time.clock.after(leavesAfter, () => leave(since()))
  }
  for (const asking of askings) time.clock.after(asking.at, () => ask(asking))
  await time.settle()
  expect(leavings).toHaveLength(askings.length)
  return leavings
}

/** The most of the instants that any window [t, t + length) holds. */
function mostIn(instants: readonly number[], length: number): number {
  return Math.max(0, ...instants.map((t) => instants.filter((s) => s >= t && s < t + length).length))
}

const limits: fc.Arbitrary<RateLimits> = fc.record({
  perSecond: fc.option(fc.integer({ min: 1, max: 8 }), { freq: 3 }),
  perMinute: fc.option(fc.integer({ min: 1, max: 20 }), { freq: 2 }),
})
const marginMs = fc.constantFrom(0, 1, 50, 333)
/** Answers that take equally long say of none that it arrived late. */
const prompt = fc.record({
  instants: fc.array(fc.oneof(fc.nat(50), fc.nat(5_000), fc.nat(90_000)), { maxLength: 40 }),
  answeredAfter: fc.nat(3_000),
})
const dawdling: fc.Arbitrary<Asking> = fc.record({
  at: fc.oneof(fc.nat(50), fc.nat(5_000), fc.nat(90_000)),
  leavesAfter: fc.option(fc.oneof(fc.nat(20), fc.nat(2_500))),
  answeredAfter: fc.nat(3_000),
})

describe('for any limits and any arrivals', () => {
  test('no second and no minute ever holds more sent requests than the limit', async () => {
    const time = fakeTime()
    await fc.assert(
      fc.asyncProperty(
        limits,
        marginMs,
        fc.array(dawdling, { maxLength: 40 }),
        async (limits, marginMs, askings) => {
          const leavings = await letThrough(time, { limits, marginMs }, askings)
          const sent = leavings.flatMap(({ sent }) => (sent === null ? [] : [sent]))
          expect(mostIn(sent, 1000)).toBeLessThanOrEqual(limits.perSecond ?? sent.length)
          expect(mostIn(sent, 60_000)).toBeLessThanOrEqual(limits.perMinute ?? sent.length)
        },
      ),
      { numRuns: 150 },
    )
  })

  test('what both windows allow leaves at once, in the order asked, and nothing is spread out', async () => {
    const time = fakeTime()
    await fc.assert(
      fc.asyncProperty(limits, marginMs, prompt, async (limits, marginMs, { instants, answeredAfter }) => {
        const askings = instants.map((at): Asking => ({ at, leavesAfter: 0, answeredAfter }))
        const leavings = await letThrough(time, { limits, marginMs }, askings)
        const asked = leavings.map(({ asked }) => asked)
        expect(asked).toEqual([...asked].sort((a, b) => a - b))
        expect(leavings.map(({ sent }) => sent)).toEqual(earliest(asked, limits, marginMs))
      }),
      { numRuns: 150 },
    )
  })

  /** The earliest instants at which requests may leave in this order. */
  function earliest(asked: readonly number[], { perSecond, perMinute }: RateLimits, marginMs: number) {
    const left: number[] = []
    const free = (limit: number | null, windowMs: number): number => {
      const blocking = limit === null ? undefined : left[left.length - limit]
      return blocking === undefined ? 0 : blocking + windowMs + marginMs
    }
    for (const at of asked)
      left.push(Math.max(at, left.at(-1) ?? 0, free(perSecond, 1000), free(perMinute, 60_000)))
    return left
  }
})

/** A gate at time 0, and everybody who waits in front of it by name. */
function aGate(options: Omit<Parameters<typeof rateLimiter>[0], 'clock'> = {}) {
  const time = fakeTime()
  const gate = rateLimiter({ clock: time.clock, marginMs: 0, ...options })
  const through: string[] = []
  const tokens = new Map<string, Permit>()
  const ask = (name: string, options?: Parameters<typeof gate.acquire>[0]): void => {
    gate.acquire(options).then(
      (token) => {
        through.push(name)
        tokens.set(name, token)
      },
      (reason) => {
        through.push(`${name}: ${reason.message}`)
      },
    )
  }
  return { time, gate, through, ask, token: (name: string) => tokens.get(name) as Permit }
}

describe('the order', () => {
  test('is the order asked, but what is `first` goes before all the others, in its own order', async () => {
    const { time, through, ask, token } = aGate({ limits: { perSecond: 1, perMinute: null } })
    for (const name of ['a', 'b', 'c']) ask(name)
    for (const name of ['poll 1', 'poll 2', 'poll 3']) ask(name, { urgent: true })
    ask('d')
    for (let turn = 0; turn < 7; turn++) {
      await time.pass(1000)
      token(through.at(-1) as string).sent()
    }
    expect(through).toEqual(['a', 'poll 1', 'poll 2', 'poll 3', 'b', 'c', 'd'])
  })

  test('of a thousand without limits is kept, and nobody waits', async () => {
    const { time, through, ask } = aGate()
    const names = Array.from({ length: 1000 }, (_, index) => String(index))
    for (const name of names) ask(name)
    await time.pass(0)
    expect(through).toEqual(names)
  })
})

test('nobody who comes just when there is room again goes before those who wait', async () => {
  const { time, through, ask, token } = aGate({ limits: { perSecond: 1, perMinute: null } })
  ask('a')
  await time.pass(0)
  time.clock.after(1000, () => ask('c'))
  token('a').sent()
  ask('b')
  await time.pass(1000)
  expect(through).toEqual(['a', 'b'])
})

describe('a window counts', () => {
  test('from the moment a request leaves, not from the moment it was let through', async () => {
    const { time, through, ask, token } = aGate({ limits: { perSecond: 1, perMinute: null } })
    ask('a')
    await time.pass(700)
    token('a').sent()
    ask('b')
    await time.pass(999)
    expect(through).toEqual(['a'])
    await time.pass(1)
    expect(through).toEqual(['a', 'b'])
  })

  test('a request that is about to leave, for as long as that takes', async () => {
    const { time, through, ask } = aGate({ limits: { perSecond: 2, perMinute: null } })
    for (const name of ['a', 'b', 'c']) ask(name)
    await time.pass(5000)
    expect(through).toEqual(['a', 'b'])
  })

  test('nothing for a request that was never sent: its place is given back at once', async () => {
    const { time, through, ask, token } = aGate({ limits: { perSecond: 1, perMinute: 1 } })
    for (const name of ['a', 'b', 'c']) ask(name)
    await time.pass(0)
    token('a').cancel()
    await time.pass(0)
    token('b').finish(false)
    await time.pass(0)
    expect(through).toEqual(['a', 'b', 'c'])
  })

  test('a request once, however often its token is used', async () => {
    const { time, through, ask, token } = aGate({ limits: { perSecond: 2, perMinute: null } })
    ask('a')
    await time.pass(0)
    token('a').sent()
    token('a').sent()
    token('a').finish(false)
    for (const name of ['b', 'c']) ask(name)
    await time.pass(0)
    expect(through).toEqual(['a', 'b'])
    token('b').sent()
    await time.pass(1000)
    expect(through).toEqual(['a', 'b', 'c'])
  })

  test('what other processes sent, by its age', async () => {
    const { time, gate, through, ask, token } = aGate({ limits: { perSecond: null, perMinute: 3 } })
    gate.countEarlierCalls([70_000, 10_000, 59_000])
    for (const name of ['a', 'b', 'c']) ask(name)
    await time.pass(0)
    expect(through).toEqual(['a'])
    token('a').sent()
    await time.pass(999)
    expect(through).toEqual(['a'])
    await time.pass(1)
    expect(through).toEqual(['a', 'b'])
    token('b').sent()
    await time.pass(48_999)
    expect(through).toEqual(['a', 'b'])
    await time.pass(1)
    expect(through).toEqual(['a', 'b', 'c'])
  })

  test('the safety margin on top of each window', async () => {
    const { time, through, ask, token } = aGate({
      limits: { perSecond: 1, perMinute: null },
      marginMs: 50,
    })
    ask('a')
    ask('b')
    await time.pass(0)
    token('a').sent()
    await time.pass(1049)
    expect(through).toEqual(['a'])
    await time.pass(1)
    expect(through).toEqual(['a', 'b'])
  })

  test('thousands of old requests no more, and the last minute still', async () => {
    const { time, through, ask, token } = aGate({ limits: { perSecond: null, perMinute: 3000 } })
    for (let n = 0; n < 3000; n++) {
      ask(String(n))
      await time.pass(0)
      token(String(n)).sent()
      if (n === 1499) await time.pass(30_000)
    }
    ask('late')
    await time.pass(29_999)
    expect(through.at(-1)).toBe('2999')
    await time.pass(1)
    expect(through.at(-1)).toBe('late')
  })
})

describe('changed limits', () => {
  test('let through at once what they allow more', async () => {
    const { time, gate, through, ask } = aGate({ limits: { perSecond: 1, perMinute: null } })
    for (const name of ['a', 'b', 'c', 'd']) ask(name)
    await time.pass(0)
    gate.setLimits({ perSecond: 3, perMinute: null })
    await time.pass(0)
    expect(through).toEqual(['a', 'b', 'c'])
    gate.setLimits({ perSecond: null, perMinute: null })
    await time.pass(0)
    expect(through).toEqual(['a', 'b', 'c', 'd'])
  })

  test('of no calls at all hold no lookup that finds out whether they are raised', async () => {
    const { time, gate, through, ask } = aGate()
    gate.setLimits({ perSecond: 0, perMinute: 0 })
    ask('a')
    await time.pass(0)
    expect(through).toEqual(['a'])
  })

  test('count what left before them once, however often they change', async () => {
    const { time, gate, through, ask, token } = aGate()
    ask('a')
    await time.pass(0)
    token('a').sent()
    for (const perSecond of [null, 2, null, 2]) gate.setLimits({ perSecond, perMinute: null })
    for (const name of ['b', 'c']) ask(name)
    await time.pass(0)
    expect(through).toEqual(['a', 'b'])
  })

  test('count what left before them', async () => {
    const { time, gate, through, ask, token } = aGate()
    for (const name of ['a', 'b', 'c']) ask(name)
    await time.pass(0)
    for (const name of ['a', 'b', 'c']) token(name).sent()
    gate.setLimits({ perSecond: 2, perMinute: null })
    ask('d')
    await time.pass(999)
    expect(through).toEqual(['a', 'b', 'c'])
    await time.pass(1)
    expect(through).toEqual(['a', 'b', 'c', 'd'])
  })
})

describe('who no longer wants to wait', () => {
  test('leaves with the reason, and those behind it move up', async () => {
    const { time, through, ask, token } = aGate({ limits: { perSecond: 1, perMinute: null } })
    const stop = new AbortController()
    ask('a')
    ask('b', { signal: stop.signal })
    ask('c')
    await time.pass(0)
    token('a').sent()
    stop.abort(new Error('enough'))
    await time.pass(1000)
    expect(through).toEqual(['a', 'b: enough', 'c'])
  })

  test('is refused at once where the signal is aborted already, and takes no place', async () => {
    const { time, through, ask } = aGate({ limits: { perSecond: 1, perMinute: null } })
    ask('a', { signal: AbortSignal.abort(new Error('too late')) })
    ask('b')
    await time.pass(0)
    expect([...through].sort()).toEqual(['a: too late', 'b'])
  })

  test('keeps its token where it was let through before', async () => {
    const { time, through, ask, token } = aGate({ limits: { perSecond: 1, perMinute: null } })
    const stop = new AbortController()
    ask('a', { signal: stop.signal })
    await time.pass(0)
    stop.abort(new Error('enough'))
    token('a').sent()
    ask('b')
    await time.pass(999)
    expect(through).toEqual(['a'])
    await time.pass(1)
    expect(through).toEqual(['a', 'b'])
  })

  test('leaves no timer behind', async () => {
    const { time, through, ask, token } = aGate({ limits: { perSecond: 1, perMinute: null } })
    const stop = new AbortController()
    ask('a')
    await time.pass(0)
    token('a').sent()
    ask('b', { signal: stop.signal })
    stop.abort(new Error('enough'))
    const before = time.now()
    await time.settle()
    expect(time.now()).toBe(before)
    expect(through).toEqual(['a', 'b: enough'])
  })
})

test('the first requests count from their answers: what a cold service takes late blocks its window longer', async () => {
  const asks = [0, 0, 0].map((at) => ({ at, leavesAfter: 0, answeredAfter: 300 }))
  const perSecond = { limits: { perSecond: 2, perMinute: null }, marginMs: 50 }
  const warm = await letThrough(fakeTime(), perSecond, asks)
  expect(warm.map(({ sent }) => sent)).toEqual([1, 1, 1051])
  const cold = await letThrough(fakeTime(), { ...perSecond, coldRequests: 2 }, asks)
  expect(cold.map(({ sent }) => sent)).toEqual([1, 1, 1351])
})
