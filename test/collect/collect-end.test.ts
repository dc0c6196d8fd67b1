import { statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { aStore, plan, text } from '../store/build.ts'
import { testTable } from '../support/test-table.ts'
import { type Answer, aCollection, type ServiceScript } from './collecting.ts'

const never: Answer = { after: Number.POSITIVE_INFINITY }
const failed: Answer = { after: 10, settlement: { outcome: 'server-error', billed: 0, error: 'Oops' } }
const throttled: Answer = { after: 1, settlement: { outcome: 'throttled', billed: 0 } }
const answered: Answer = { after: 10, body: JSON.stringify({ organic_results: [], search_parameters: {} }) }
const record = JSON.stringify({ remaining: 1_000, total_used: 0, rate_limit: {} })
/** The first reading comes, those after it never. */
const onlyOnce = (nth: number): Answer => (nth === 1 ? { after: 1, body: record } : never)
const interrupted = { reason: 'interrupted', message: '' } as const

testTable<[string, ServiceScript]>([
  ['the last reading of the balance stalls', { search: () => answered, usage: onlyOnce }],
  [
    'a reading that looks what others have used stalls',
    {
      search: (nth) => (nth === 1 ? throttled : answered),
      usage: (nth) => (nth === 2 ? never : { after: 1, body: record }),
      throttledFor: () => 62_000,
    },
  ],
  [
    'the snapshot of an engine stalls',
    { search: (nth) => (nth <= 3 ? failed : answered), stats: () => never },
  ],
  ['both stall', { search: (nth) => (nth <= 3 ? failed : answered), usage: onlyOnce, stats: () => never }],
])('a run whose tasks are all done ends within two seconds where %s', async (_, script) => {
  const { store } = await aStore()
  const run = await plan(store, { queries: Array.from({ length: 12 }, (_, n) => ({ text: `query ${n}` })) })
  const { time, pass, end, sent } = aCollection(store, run, script)
  let lastEnded: number | null = null
  for (let steps = 0; end() === null && steps < 1_000; steps++) {
    await pass(10)
    if (lastEnded === null && (await store.taskCounts(run.id)).pending === 0) lastEnded = time.now()
  }
  expect(sent.length).toBeGreaterThanOrEqual(12)
  expect(end()?.balanceBefore).toBe(1_000)
  expect((end()?.at ?? Number.POSITIVE_INFINITY) - (lastEnded ?? 0)).toBeLessThanOrEqual(2_000)
})

test('a run whose balance covers no more ends within two seconds, though nothing says whether it was topped up', async () => {
  const { store } = await aStore()
  const run = await plan(store, { queries: Array.from({ length: 12 }, (_, n) => ({ text: `query ${n}` })) })
  const { time, pass, end, sent } = aCollection(store, run, {
    search: () => answered,
    usage: (nth) => (nth === 1 ? { after: 1, body: record.replace('1000', '5') } : never),
  })
  let lastEnded: number | null = null
  for (let steps = 0; end() === null && steps < 1_000; steps++) {
    await pass(10)
    if (lastEnded === null && (await store.taskCounts(run.id)).pending === 7) lastEnded = time.now()
  }
  expect(sent).toHaveLength(5)
  expect(end()).toMatchObject({
    balanceBefore: 5,
    balanceAfter: null,
    limits: new Map([[run.id, 'balance']]),
  })
  expect((end()?.at ?? Number.POSITIVE_INFINITY) - (lastEnded ?? 0)).toBeLessThanOrEqual(2_000)
})

test('Ctrl-C ends a run within two seconds after the last answer, though usage records and snapshots stall', async () => {
  const { store } = await aStore()
  const run = await plan(store, { queries: Array.from({ length: 40 }, (_, n) => ({ text: `query ${n}` })) })
  const { time, stop, pass, end, asked } = aCollection(store, run, {
    search: (nth) => (nth <= 3 ? failed : { ...answered, after: 300 }),
    usage: onlyOnce,
    stats: () => never,
  })
  for (let steps = 0; asked.stats === 0 && steps < 1_000; steps++) await pass(10)
  stop.request(interrupted)
  const asleep = time.now()
  for (let steps = 0; end() === null && steps < 1_000; steps++) await pass(10)
  expect(end()).toMatchObject({ balanceBefore: 1_000, balanceAfter: null })
  expect((end()?.at ?? Number.POSITIVE_INFINITY) - asleep).toBeLessThanOrEqual(300 + 2_000)
})

test('Ctrl-C while the first reading stalls ends the run at once', async () => {
  const { store } = await aStore()
  const run = await plan(store, { queries: [{ text: 'a' }] })
  const { stop, pass, end, sent } = aCollection(store, run, { search: () => answered, usage: () => never })
  await pass(50)
  stop.request(interrupted)
  await pass(10)
  expect(end()).toMatchObject({ balanceBefore: null, balanceAfter: null })
  expect(sent).toEqual([])
})

test.each([
  ['three pages', 3, 3],
  ['more pages than may be on their way at once', 10, 4],
])('room is held in reserve for the answers that can be on their way: of %s', async (_, queries, answers) => {
  const { store, path } = await aStore()
  const texts = Array.from({ length: queries }, (_, index) => `query ${index}`)
  const run = await plan(store, { queries: text(...texts) })
  const { sent, pass, collected } = aCollection(store, run, { search: () => answered })
  while (sent.length === 0) await pass(5)

  expect(statSync(`${path}.reserve`).size).toBe(1_000_000 + answers * 128_000)

  await pass(200)
  await collected
})
