import { expect, test } from 'vitest'
import { openGate } from '../../src/api/gate.ts'
import { fakeTime } from './fake-time.ts'

/** When bursts of ten leave, ten allowed per second, where the answers of each burst take these milliseconds. */
async function bursts(latencies: readonly ((index: number) => number)[]): Promise<readonly number[]> {
  const time = fakeTime()
  const gate = openGate({
    clock: time.clock,
    limits: { perSecond: 10, perMinute: null },
    guardMs: 30,
  })
  const left: number[] = []
  for (const latency of latencies)
    for (let index = 0; index < 10; index++)
      gate.acquire({ kind: 'search' }).then((token) => {
        token.sent()
        left.push(time.now())
        time.clock.after(latency(index), () => token.over(false))
      })
  await time.settle()
  return latencies.map((_, burst) => left[burst * 10] as number)
}

const steady = () => 5
const stalled = () => 105
const varied = (index: number) => 5 + index * 20

test.each([
  ['quick answers cost the guard alone', [steady, steady, steady], [0, 1030, 2060]],
  [
    'a burst that was answered late as a whole arrived late: the next one waits that much longer',
    [steady, stalled, steady],
    [0, 1030, 2160],
  ],
  [
    'answers that take their time one by one say nothing of the way there',
    [varied, varied, varied],
    [0, 1030, 2060],
  ],
  [
    'a service that stalls for long is waited for a quarter of a second at most',
    [steady, () => 900, steady],
    [0, 1030, 2310],
  ],
  ['answers that have not come yet say nothing', [steady, () => 5000, steady], [0, 1030, 2060]],
] as const)('%s', async (_, latencies, expected) => {
  expect(await bursts(latencies)).toEqual(expected)
})
