import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Permit, type RateLimiter, rateLimiter } from '../../src/api/rate-limiter.ts'
import { type FakeTime, fakeTime } from './fake-time.ts'

/** A gate without limits; `through` holds the tokens of those let through, in order. */
function aGate(): { time: FakeTime; gate: RateLimiter; through: Permit[]; ask: (times?: number) => void } {
  const time = fakeTime()
  const gate = rateLimiter({ clock: time.clock })
  const through: Permit[] = []
  const ask = (times = 1): void => {
    for (let n = 0; n < times; n++)
      gate.acquire().then((token) => {
        through.push(token)
      })
  }
  return { time, gate, through, ask }
}

function end(token: Permit | undefined, how: 'refused' | 'passed'): void {
  token?.sent()
  token?.finish(how === 'refused')
}

/** Milliseconds until one more is let through. */
async function waitForNext(time: FakeTime, through: readonly Permit[]): Promise<number> {
  const before = through.length
  const start = time.now()
  while (through.length === before && time.now() - start < 120_000) await time.pass(100)
  return time.now() - start
}

test('a refusal holds everyone, for at most a second at first', async () => {
  const { time, through, ask } = aGate()
  ask()
  await time.pass(0)
  end(through[0], 'refused')
  ask(5)
  await time.pass(0)
  expect(through).toHaveLength(1)
  expect(await waitForNext(time, through)).toBeLessThanOrEqual(1000)
})

test('one request alone probes; the others wait for its answer, however long that takes', async () => {
  const { time, through, ask } = aGate()
  ask()
  await time.pass(0)
  end(through[0], 'refused')
  ask(5)
  await time.pass(60_000)
  expect(through).toHaveLength(2)
  through[1]?.sent()
  await time.pass(60_000)
  expect(through).toHaveLength(2)
  through[1]?.finish(false)
  await time.pass(0)
  expect(through).toHaveLength(6)
})

test('a probe that is never sent hands the probing on', async () => {
  const { time, through, ask } = aGate()
  ask()
  await time.pass(0)
  end(through[0], 'refused')
  ask(3)
  await time.pass(1000)
  through[1]?.cancel()
  await time.pass(0)
  expect(through).toHaveLength(3)
  end(through[2], 'passed')
  await time.pass(0)
  expect(through).toHaveLength(4)
})

test('each refused probe doubles the pause, up to 30 seconds; a passed one starts over', async () => {
  const { time, through, ask } = aGate()
  ask(12)
  await time.pass(0)
  end(through[0], 'refused')
  ask(50)
  const pauses: number[] = []
  for (let turn = 0; turn < 9; turn++) {
    pauses.push(await waitForNext(time, through))
    end(through.at(-1), 'refused')
  }
  expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  await waitForNext(time, through)
  end(through.at(-1), 'passed')
  await time.pass(0)
  end(through.at(-1), 'refused')
  ask()
  expect(await waitForNext(time, through)).toBe(500)
})

test('refusals of calls that were under way already do not grow the pause', async () => {
  const { time, through, ask } = aGate()
  ask(40)
  await time.pass(0)
  for (const token of through) token.sent()
  for (const token of through) token.finish(true)
  ask()
  expect(await waitForNext(time, through)).toBe(500)
})

test('a late refusal of a call from before does not hold those who follow the probe', async () => {
  const { time, through, ask } = aGate()
  ask(3)
  await time.pass(0)
  for (const token of through) token.sent()
  through[0]?.finish(true)
  ask(2)
  await time.pass(500)
  through[1]?.finish(true)
  end(through[3], 'passed')
  await time.pass(0)
  expect(through).toHaveLength(5)
})

test('the answer of a call from before does not end the pause', async () => {
  const { time, gate, through, ask } = aGate()
  ask(2)
  await time.pass(0)
  for (const token of through) token.sent()
  through[0]?.finish(true)
  through[1]?.finish(false)
  ask()
  await time.pass(499)
  expect(through).toHaveLength(2)
  expect(gate.throttledFor()).toBe(499)
})

test('who waits through a refusal and leaves takes nobody else along', async () => {
  const { time, gate, through, ask } = aGate()
  ask()
  await time.pass(0)
  end(through[0], 'refused')
  const stop = new AbortController()
  const left = gate.acquire({ signal: stop.signal }).catch((reason) => reason.message)
  ask()
  stop.abort(new Error('enough'))
  await time.pass(500)
  expect(await left).toBe('enough')
  expect(through).toHaveLength(2)
})

describe('how long the service has refused', () => {
  test('is not known while it never did', () => {
    expect(aGate().gate.throttledFor()).toBeNull()
  })

  test('counts from the first refusal, over refused probes, until one passes', async () => {
    const { time, gate, through, ask } = aGate()
    ask()
    await time.pass(0)
    end(through[0], 'refused')
    ask(2)
    expect(gate.throttledFor()).toBe(0)
    await time.pass(500)
    end(through[1], 'refused')
    await time.pass(1000)
    expect(gate.throttledFor()).toBe(1500)
    end(through[2], 'passed')
    expect(gate.throttledFor()).toBeNull()
  })
})

test('whatever is refused, everybody is let through in the end once the service passes calls again', async () => {
  const time = fakeTime()
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('refused', 'passed', 'released'), { minLength: 1, maxLength: 40 }),
      fc.nat(800),
      fc.integer({ min: 1, max: 60 }),
      async (fates, answeredAfter, waiting) => {
        const gate = rateLimiter({
          clock: time.clock,
          limits: { perSecond: 7, perMinute: null },
        })
        let through = 0
        let probing = 0
        let most = 0
        const use = (token: Permit): void => {
          const fate = fates[through] ?? 'passed'
          const held = gate.throttledFor() !== null
          through += 1
          if (held) probing += 1
          most = Math.max(most, probing)
          time.clock.after(answeredAfter, () => {
            if (held) probing -= 1
            if (fate === 'released') token.cancel()
            else end(token, fate)
          })
        }
        for (let n = 0; n < waiting; n++) gate.acquire().then(use)
        await time.settle()
        expect(through).toBe(waiting)
        expect(most).toBeLessThanOrEqual(1)
      },
    ),
    { numRuns: 60 },
  )
})
