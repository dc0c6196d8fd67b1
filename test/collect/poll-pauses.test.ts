import { describe, expect, test } from 'vitest'
import { testTable } from '../support/test-table.ts'
import { aPoller, completed, failed, inTurn, running } from './polling.ts'

const minute = 60_000
const hour = 60 * minute

/** Milliseconds between instants, the first counted from the beginning. */
const gaps = (instants: readonly number[]) => instants.map((at, index) => at - (instants[index - 1] ?? 0))

describe('the pauses between polls', () => {
  test('grow by a half, up to half a minute', async () => {
    const { time, follow, polls } = aPoller(() => running)
    follow()
    await time.pass(3 * minute)
    expect(gaps(polls.map(({ at }) => at))).toEqual([
      250, 375, 563, 844, 1_266, 1_899, 2_848, 4_272, 6_408, 9_611, 14_417, 21_625, 30_000, 30_000, 30_000,
    ])
  })

  test('begin a little before jobs took to end, as far as that is known', async () => {
    const { time, follow, polls } = aPoller(({ at }) => (at < 4_000 || at > 20_000 ? running : completed))
    const first = follow()
    await time.pass(20_001)
    expect(first.endedAt).toBe(5_197)
    follow()
    await time.pass(10_000)
    expect((polls.at(-1)?.at as number) - 20_001).toBe(Math.ceil(5_197 * 0.9))
  })

  testTable([
    [10, 250],
    [1_000, 900],
    [100_000, 10_000],
  ])('begin with no less and no more than is sensible: jobs of %i ms with %i', async (took, pause) => {
    let done = false
    const { time, follow, polls } = aPoller(() =>
      done ? running : { ...completed, takes: Math.max(0, took - 250) },
    )
    follow()
    await time.pass(took + 1_000)
    done = true
    const began = time.now()
    follow()
    await time.pass(20_000)
    expect((polls[1]?.at as number) - began).toBe(pause)
  })

  test('learn from each job a little', async () => {
    const ends = [1_000, 2_000]
    const { time, follow, polls } = aPoller(({ jobId }) => ({ ...completed, takes: Number(jobId) }))
    let pause = 250
    for (const [index, takes] of ends.entries()) {
      follow(String(takes - pause))
      await time.pass(10_000)
      pause = index === 0 ? 900 : Math.ceil((1_000 + 0.2 * 1_000) * 0.9)
    }
    const began = time.now()
    follow('1')
    await time.pass(10_000)
    expect((polls.at(-1)?.at as number) - began).toBe(pause)
  })
})

describe('a job that does not end', () => {
  test('is given up after fifteen minutes of polling', async () => {
    const { time, follow, polls } = aPoller(() => running)
    const job = follow()
    await time.pass(15 * minute - 1)
    expect(job.end).toBe(null)
    await time.pass(31_000)
    expect(job.end).toEqual({ lost: 'the asynchronous job j1 did not end within 15 minutes' })
    expect(polls.at(-1)?.at).toBeGreaterThanOrEqual(15 * minute)
  })

  testTable(['throttled', 'unreachable'] as const)(
    'is waited for while polls end `%s`: nobody says that it takes long',
    async (outcome) => {
      const { time, follow } = aPoller(({ at }) => (at < hour ? failed(outcome) : running), 2 * hour)
      const job = follow()
      await time.pass(hour + 14 * minute)
      expect(job.end).toBe(null)
      await time.pass(2 * minute)
      expect(job.end).toMatchObject({ lost: expect.any(String) })
    },
  )

  test('is not waited for while polls end otherwise', async () => {
    const { time, follow } = aPoller(() => failed('ambiguous'))
    const job = follow()
    await time.pass(16 * minute)
    expect(job.end).toMatchObject({ lost: expect.any(String) })
  })

  test('may still be completed by the poll at the end of its time', async () => {
    const { time, follow } = aPoller(({ at }) => (at < 15 * minute ? running : completed))
    const job = follow()
    await time.pass(16 * minute)
    expect(job.end).toMatchObject({ answer: {} })
  })
})

describe('a service that cannot be reached', () => {
  test('stops the run when that lasts for longer than is waited for', async () => {
    const { time, follow, stop } = aPoller(inTurn(running, failed('unreachable')), minute)
    const job = follow()
    await time.pass(minute)
    expect(stop.cause()).toBe(null)
    await time.pass(minute)
    expect(stop.cause()).toMatchObject({ reason: 'unavailable', message: expect.stringContaining('Oops') })
    expect(job.end).toMatchObject({ name: 'StopRequested' })
  })

  test('stops the run though it had been reached again before', async () => {
    const away = failed('unreachable')
    const { time, follow, stop } = aPoller(inTurn(away, away, running, running, away), minute)
    follow()
    await time.pass(5 * minute)
    expect(stop.cause()?.reason).toBe('unavailable')
  })

  test('stops nothing when it is back in time', async () => {
    const { time, follow, stop } = aPoller(
      ({ at }) => (at < 50_000 ? failed('unreachable') : completed),
      minute,
    )
    const job = follow()
    await time.pass(5 * minute)
    expect([stop.cause(), job.end]).toMatchObject([null, { answer: {} }])
  })
})

test('refusals of polls are told to who watches them', async () => {
  const { time, follow, refusals } = aPoller(
    inTurn(running, failed('throttled'), failed('throttled'), completed),
  )
  follow()
  await time.pass(minute)
  expect(refusals).toEqual(['answered', 'throttled', 'throttled', 'answered'])
})

test('256 jobs are polled by turns; the others wait until one of them is over', async () => {
  const over = new Set<string>()
  const { time, follow, polls } = aPoller(({ jobId }) => (over.has(jobId) ? completed : running))
  const jobs = Array.from({ length: 300 }, (_, index) => follow(`j${index}`))
  await time.pass(5_000)
  const polled = () => new Set(polls.map(({ jobId }) => jobId)).size
  expect(polled()).toBe(256)
  over.add('j5').add('j6')
  await time.pass(10_000)
  expect([polled(), jobs.filter(({ end }) => end !== null)]).toMatchObject([
    258,
    [{ end: { answer: {} } }, {}],
  ])
  expect(polls.some(({ jobId }) => jobId === 'j257')).toBe(true)
})
