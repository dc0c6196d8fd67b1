import { expect, test } from 'vitest'
import { usage } from '../../src/catalog/operations/usage.ts'
import { collect } from '../../src/run/collect.ts'
import { openFiler } from '../../src/run/filer.ts'
import { openKeeper } from '../../src/run/keeper.ts'
import type { SentCall, Service } from '../../src/run/service.ts'
import { newStop } from '../../src/run/stop.ts'
import { fakeTime } from '../api/fake-time.ts'
import { settlement, webPage, work } from '../store/answers.ts'
import { aStore, noon, plan } from '../store/build.ts'

const account = JSON.stringify({ remaining: 1_000, total_used: 0, rate_limit: {} })

test('when an engine goes down, what waits for a slot is not sent to it any more', async () => {
  const { store } = await aStore()
  const queries = Array.from({ length: 200 }, (_, index) => ({ text: `query ${index}` }))
  const run = await plan(store, { queries })
  const time = fakeTime()
  const stop = newStop()
  const told: string[] = []
  const sent: number[] = []

  const answerAfter = async (ms: number, change: Partial<SentCall['settlement']>, body = '') => {
    await new Promise<void>((resolve) => time.clock.after(ms, resolve))
    return { callId: 0, settlement: settlement(change), body: Buffer.from(body), headers: {} }
  }
  const service: Pick<Service, 'send' | 'lookup' | 'baseUrl' | 'gate'> = {
    baseUrl: 'http://service.test',
    gate: { refusedFor: () => null, setLimits: () => {} } as never,
    send: async () => {
      sent.push(time.now())
      return await answerAfter(10, { outcome: 'server-error', billed: 0, error: 'Oops' })
    },
    lookup: async ({ name }) =>
      await answerAfter(1, name === usage.name ? {} : { outcome: 'not-found' }, account),
  }
  const filer = openFiler(store, [run])
  const collected = collect(
    {
      store,
      space: store.space,
      filer,
      keeper: openKeeper(filer),
      service,
      clock: { ...time.clock, wall: () => noon + time.now() },
      random: () => 0,
      keyHash: 'k',
      stop,
      concurrency: 4,
      maxOutageMs: 60_000,
      maxThrottlingMs: 600_000,
      fitBalance: false,
      onProgress: () => {},
      notice: (words) => told.push(words),
    },
    [run],
    [],
  )
  // Step by step, for the store needs turns of the event loop between them.
  const pass = async (ms: number) => {
    for (const end = time.now() + ms; time.now() < end; ) await time.pass(5)
  }
  while (told.length === 0) await pass(5)
  const before = sent.length
  await pass(900)
  expect(told[0]).toContain('alpha fails')
  expect(sent.length - before).toBe(0)

  await pass(150)
  expect(sent.length - before).toBe(1)
  stop.request({ reason: 'interrupted', message: '' })
  await pass(100)
  await collected
  // None of them was spent on it.
  expect((await store.tally(run.id)).tasks).toMatchObject({ pending: 200, failed: 0 })
  await work(store, run, () => webPage('ab'))
  expect((await store.tally(run.id)).tasks).toMatchObject({ done: 200 })
})
