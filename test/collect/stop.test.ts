import { expect, test } from 'vitest'
import { StopRequested, stopSignal } from '../../src/collect/stop.ts'
import { sleep } from '../../src/model/time.ts'
import { fakeTime } from '../api/fake-time.ts'

const refused = { reason: 'auth', message: 'The key was refused.' } as const
const interrupted = { reason: 'interrupted', message: 'Interrupted.' } as const

test('the first cause of a stop counts', () => {
  const stop = stopSignal()
  expect([stop.cause(), stop.signal.aborted]).toEqual([null, false])
  stop.request(refused)
  stop.request(interrupted)
  expect([stop.cause(), stop.signal.aborted]).toEqual([refused, true])
})

test('whoever waits hears of a stop at once, and leaves no timer behind', async () => {
  const time = fakeTime()
  let rung = 0
  const after: typeof time.clock.after = (ms, ring) =>
    time.clock.after(ms, () => {
      rung += 1
      ring()
    })
  const stop = stopSignal()
  const waits = expect(sleep({ after }, 60_000, stop.signal)).rejects.toThrow(StopRequested)
  stop.request(interrupted)
  await waits
  await expect(sleep({ after }, 60_000, stop.signal)).rejects.toThrow(StopRequested)
  await time.settle()
  expect([rung, time.now()]).toEqual([0, 0])
})

test('without a stop a wait lasts as long as it should', async () => {
  const time = fakeTime()
  const slept = sleep(time.clock, 500, stopSignal().signal)
  await time.settle()
  await slept
  expect(time.now()).toBe(500)
})
