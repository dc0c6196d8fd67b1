import { expect, test } from 'vitest'
import { webPage, work } from '../store/answers.ts'
import { aStore, plan } from '../store/build.ts'
import { aCollection } from './collecting.ts'

test('when an engine goes down, what waits for a place is not sent to it any more', async () => {
  const { store } = await aStore()
  const queries = Array.from({ length: 200 }, (_, index) => ({ text: `query ${index}` }))
  const run = await plan(store, { queries })
  const { told, sent, stop, pass, collected } = aCollection(store, run, {
    search: () => ({ after: 10, settlement: { outcome: 'server-error', billed: 0, error: 'Oops' } }),
  })
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
