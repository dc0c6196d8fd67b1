import { describe, expect, test } from 'vitest'
import { verifyLedger } from '../../src/ledger/verify.ts'
import type { Settlement } from '../../src/model/call.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import { testTable } from '../support/test-table.ts'
import { aLookup, begin, keepPolled, settlement, submit } from './answers.ts'
import { aStore, hour, lease, noon, plan } from './build.ts'

/** A store with one task of each query, all let through. */
async function aRun(...operations: readonly string[]) {
  const temp = await aStore()
  const queries = operations.map((operation, index) => ({ text: `query ${index}`, operation }))
  const run = await plan(temp.store, { queries })
  return { ...temp, run, tasks: await lease(temp.store, run.id) }
}

const operations = ['alpha.search', 'alpha.ai', 'alpha.images', 'alpha.images'] as const

async function aLedger() {
  const { tasks, ...rest } = await aRun(...operations)
  const [search, ai, images, others] = tasks
  if (!search || !ai || !images || !others) throw new Error('no task')
  const { store } = rest
  const settle = async (callId: number, outcome: Settlement['outcome'], billed: 0 | 1 | null, at: number) =>
    await store.settleCall(callId, settlement({ outcome, billed, finishedAt: at }), null)
  const charges = () => [...store.charges('k')]
  return { ...rest, search, ai, images, others, settle, charges }
}

describe('among what may have been charged to a key', () => {
  test('are calls that were billed, lost ones, and those in the air, in the order in which they were sent', async () => {
    const { store, search, ai, settle, charges } = await aLedger()
    await begin(store, search, noon + 30)
    await settle(await begin(store, search, noon + 20), 'ambiguous', null, noon + 900)
    await settle(await begin(store, ai, noon), 'answered', 1, noon + 50)
    await settle(await begin(store, search, noon + 40), 'unreadable', 1, noon + 60)
    expect(charges()).toEqual([
      { from: noon, until: noon + 50, credits: 3, certain: true },
      { from: noon + 20, until: noon + 900, credits: 1, certain: false },
      { from: noon + 30, until: null, credits: 1, certain: false },
      { from: noon + 40, until: noon + 60, credits: 1, certain: true },
    ])
  })

  test('are none that were free, nor lookups, not even in the air', async () => {
    const { store, search, settle, charges } = await aLedger()
    await settle(await begin(store, search), 'server-error', 0, noon)
    await store.beginCall(aLookup())
    await settle(await store.beginCall(aLookup()), 'answered', 0, noon)
    expect(charges()).toEqual([])
  })

  test('are none that another key paid for, nor those of which no key is known', async () => {
    const { store, exec, search, ai, settle, charges } = await aLedger()
    const { runId, id: taskId, operation, credits } = ai
    const call = { runId, taskId, operation, credits, sentAt: noon }
    await settle(await store.beginCall({ ...call, keyHash: 'other' }), 'answered', 1, noon)
    const old = await begin(store, search)
    await settle(old, 'answered', 1, noon)
    exec(`UPDATE calls_ SET key_id = NULL WHERE id = ${old}`)
    expect(charges()).toEqual([])
    expect([...store.charges('other')]).toMatchObject([{ credits: 3 }])
    expect([...store.charges('nobody')]).toEqual([])
  })

  test('is an asynchronous job from its submission to when its answer came', async () => {
    const { store, images, charges } = await aLedger()
    await keepPolled(store, images, await submit(store, images, noon, noon + 100), noon + hour)
    expect(charges()).toEqual([{ from: noon, until: noon + hour, credits: 1, certain: true }])
  })

  test('may be one that waits for its answer, for an hour', async () => {
    const { store, images, charges } = await aLedger()
    await submit(store, images, noon, noon + 100)
    expect(charges()).toEqual([{ from: noon, until: noon + 100 + hour, credits: 1, certain: false }])
  })

  test('may be one of which nobody knows the end, but none that failed', async () => {
    const { store, images, others, charges } = await aLedger()
    await store.endJob(await submit(store, images, noon, noon + 100), null, noon + 5_000, null)
    await store.endJob(await submit(store, others, noon, noon + 100), 0, noon + 6_000, null)
    expect(charges()).toEqual([{ from: noon, until: noon + 5_000, credits: 1, certain: false }])
  })

  test('may be the second submission of a job, not the first, which failed', async () => {
    const { store, images, charges } = await aLedger()
    await store.endJob(await submit(store, images, noon, noon + 100), 0, noon + 6_000, null)
    await submit(store, images, noon + 7_000, noon + 7_100)
    expect(charges().map(({ from }) => from)).toEqual([noon + 7_000])
  })
})

test('charged calls are those that were billed or may have been, of one key and since then', async () => {
  const { store, search, ai, images, others, settle } = await aLedger()
  await settle(await begin(store, search, noon - 1), 'answered', 1, noon)
  await settle(await begin(store, search, noon), 'answered', 1, noon)
  await settle(await begin(store, ai, noon + 1), 'ambiguous', null, noon + 2)
  await begin(store, search, noon + 2)
  await submit(store, images, noon + 3, noon + 4)
  await store.endJob(await submit(store, others, noon + 3, noon + 4), 0, noon + 5, null)
  await settle(await begin(store, search, noon + 3), 'server-error', 0, noon + 4)
  await store.beginCall(aLookup({ sentAt: noon + 3 }))
  expect(await store.chargedCalls('k', { from: noon, until: noon + 60_000 })).toBe(2)
  expect(await store.chargedCalls('k', { from: noon - 1, until: noon + 60_000 })).toBe(3)
  expect(await store.chargedCalls('k', { from: noon - 1, until: noon + 1 })).toBe(2)
  expect(await store.chargedCalls('other', { from: noon, until: noon + 60_000 })).toBe(0)
})

test('readings come in the order in which they were taken, for each key that ever was read', async () => {
  const { store } = await aStore()
  const reading = { runId: null, keyHash: 'k', askedAt: noon, readAt: noon + 5, remaining: 9, totalUsed: 1 }
  const record = '{}'
  expect(await store.keysRead()).toEqual([])
  await store.saveUsage({ ...reading, record, readAt: noon + 20, totalUsed: 3 })
  await store.saveUsage({ ...reading, record, keyHash: 'a' })
  await store.saveUsage({ ...reading, record, remaining: null })
  await store.saveUsage({ ...reading, record, totalUsed: null })
  expect(await store.keysRead()).toEqual(['k', 'a'])
  expect([...store.readings('k')]).toEqual([
    { askedAt: noon, readAt: noon + 5, remaining: null, totalUsed: 1 },
    { askedAt: noon, readAt: noon + 5, remaining: 9, totalUsed: null },
    { askedAt: noon, readAt: noon + 20, remaining: 9, totalUsed: 3 },
  ])
  expect([...store.readings('nobody')]).toEqual([])
})

describe('where the clock was set back two hours', () => {
  /** A reading of the usage record, with the call that it was asked with. */
  async function read(store: Store, totalUsed: number, sentAt: number, readAt = sentAt + 20) {
    const callId = await store.beginCall(aLookup({ sentAt }))
    await store.settleCall(
      callId,
      settlement({ billed: 0, finishedAt: readAt, latencyMs: Math.max(20, readAt - sentAt) }),
      null,
    )
    const reading = { runId: null, keyHash: 'k', askedAt: sentAt, readAt, remaining: null, totalUsed }
    await store.saveUsage({ ...reading, record: '{}' })
  }
  const back = noon - 2 * hour

  test('what came later is later, and readings say what the clock said', async () => {
    const { store, search, settle } = await aLedger()
    await read(store, 10, noon)
    await settle(await begin(store, search, noon + 100), 'answered', 1, noon + 421)
    await read(store, 11, back)
    await settle(await begin(store, search, back + 100), 'answered', 1, back + 421)
    await read(store, 12, back + 500)
    const { spans, total, unverified } = verifyLedger(store.readings('k'), store.charges('k'))
    expect(spans).toMatchObject([
      { from: noon + 20, until: back + 20, used: 1, billed: 1 },
      { from: back + 20, until: back + 520, used: 1, billed: 1 },
    ])
    expect(total).toMatchObject({ used: 2, billed: 2, spentByOthers: 0, notCounted: 0 })
    expect(unverified).toEqual({ before: 0, after: 0 })
  })

  testTable([
    ['a call that was in the air', 'answered', 1, back + 321],
    ['a call that a dead process left', 'ambiguous', null, back + 50],
  ] as const)('%s ended after it was sent', async (_, outcome, billed, endedAt) => {
    const { store, search, settle } = await aLedger()
    await read(store, 10, noon)
    const open = await begin(store, search, noon + 100)
    await read(store, 10, back)
    await settle(open, outcome, billed, endedAt)
    await read(store, 11, back + 500)
    const { spans } = verifyLedger(store.readings('k'), store.charges('k'))
    // The reading in between cannot say on which side of it the call was counted.
    expect(spans).toMatchObject([
      { from: noon + 20, until: back + 520, used: 1, spentByOthers: 0, notCounted: 0 },
    ])
  })

  test('a reading that was asked for before it came after it', async () => {
    const { store, search, settle } = await aLedger()
    await read(store, 10, noon)
    await read(store, 10, noon + 100, back)
    await settle(await begin(store, search, back + 100), 'answered', 1, back + 421)
    await read(store, 11, back + 500)
    const { spans } = verifyLedger(store.readings('k'), store.charges('k'))
    expect(spans).toMatchObject([
      { from: noon + 20, until: back, used: 0, billed: 0 },
      { from: back, until: back + 520, used: 1, billed: 1, notCounted: 0 },
    ])
  })
})

test('calls of a queue that came late are no sign of a clock that was set back', async () => {
  const { store } = await aStore()
  const call = (number: number, sentAt: number, outcome: 'answered' | 'ambiguous') => ({
    ...{
      id: `00000000-0000-4000-8000-00000000000${number}`,
      task: null,
      operation: 'alpha.search',
      credits: 1,
    },
    ...{ sentAt, keyHash: 'k' },
    settlement: settlement({ outcome, billed: outcome === 'answered' ? 1 : null, finishedAt: sentAt + 100 }),
  })
  const reading = (totalUsed: number, askedAt: number) => ({
    reading: { keyHash: 'k', askedAt, readAt: askedAt + 20, remaining: null, totalUsed, record: '{}' },
    run: null,
  })
  await store.importBatch({
    // Its worker was lost, and that was noticed twenty seconds later.
    calls: [call(1, noon + 30_000, 'answered'), call(2, noon + 10_000, 'ambiguous')],
    readings: [reading(0, noon), reading(1, noon + 20_000), reading(2, noon + 40_000)],
    ...{ answers: [], steps: [], position: '1', read: [], readAt: noon, failovers: [] },
  })
  const { spans } = verifyLedger(store.readings('k'), store.charges('k'))
  expect(spans).toMatchObject([
    { used: 1, billed: 0, ambiguousBilled: 1, spentByOthers: 0 },
    { used: 1, billed: 1, ambiguousBilled: 0, spentByOthers: 0 },
  ])
})
