import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { ChunkEnd, ChunkLease, ChunkState } from '../../../src/machines/journal.ts'
import type { LeasedChunk } from '../../../src/machines/postgres/chunks.ts'
import type { SharedRun } from '../../../src/store/sync.ts'
import { hour } from '../../store/build.ts'
import { testTable } from '../../support/test-table.ts'
import {
  aCall,
  aChunk,
  aJournal,
  aKey,
  aSharedRun,
  coordinator,
  ended,
  expire,
  heldOpen,
  leased,
  planned,
  release,
  released,
  type TestJournal,
  theAnswer,
  waitingForLocks,
} from './journal.ts'

const minute = 60_000
const textsOf = ({ queries }: LeasedChunk) => queries.map(({ text }) => text)

async function takeOne(journal: TestJournal, { keyHash }: SharedRun): Promise<LeasedChunk> {
  const [chunk] = await journal.chunks.take(randomUUID(), [keyHash], 1, minute)
  if (chunk === undefined) throw new Error('no chunk')
  return chunk
}

async function bought(
  journal: TestJournal,
  lease: LeasedChunk,
  { fetchedAt = Date.now(), text = 'bought' } = {},
) {
  const call = aCall(lease)
  await journal.calls.begin(lease, call)
  await journal.calls.answer(call, ended('answered'), theAnswer(call, text, fetchedAt))
  return { call: call.id, task: call.task as NonNullable<typeof call.task> }
}

/** The states of the chunks of a run that are not empty, and what is reserved. */
async function progressOf({ plans }: TestJournal, { id }: SharedRun): Promise<object> {
  const { chunks, reserved } = await plans.progress(id)
  return { ...Object.fromEntries(Object.entries(chunks).filter(([, count]) => count > 0)), reserved }
}

describe('Taking chunks', () => {
  test('brings the most urgent first, then in the order of the plan, of the own keys only', async () => {
    const journal = await aJournal()
    const run = aSharedRun()
    await released(
      journal,
      run,
      aChunk(['usual 1']),
      aChunk(['usual 2']),
      aChunk(['urgent'], { priority: 5 }),
      aChunk(['later'], { priority: -1 }),
    )
    await released(journal, aSharedRun(), aChunk(['of another key'], { priority: 9 }))
    await planned(
      journal,
      aSharedRun({ keyHash: run.keyHash, job: 'other' }),
      aChunk(['planned'], { priority: 9 }),
    )
    const worker = randomUUID()
    const first = await journal.chunks.take(worker, [run.keyHash, aKey()], 3, minute)
    expect(first.flatMap(textsOf)).toEqual(['urgent', 'usual 1', 'usual 2'])
    expect((await journal.chunks.take(worker, [run.keyHash], 3, minute)).flatMap(textsOf)).toEqual(['later'])
    expect(await journal.chunks.take(worker, [run.keyHash], 3, minute)).toEqual([])
  })

  test('goes by turns of jobs: first the one with the fewest chunks under way, then the one that was served longest ago', async () => {
    const journal = await aJournal()
    const large = aSharedRun({ job: 'large' })
    const of = (job: string) => aSharedRun({ keyHash: large.keyHash, job })
    await released(
      journal,
      large,
      ...[1, 2, 3, 4, 5].map((number) => aChunk([`large ${number}`], { priority: 9 })),
    )
    const worker = randomUUID()
    const next = async (which: 'any' | 'others' = 'any') => {
      const [chunk] = await journal.chunks.take(worker, [large.keyHash], 1, minute, { which })
      return { chunk, text: chunk === undefined ? null : textsOf(chunk)[0] }
    }
    const first = await next()
    expect([first.text, (await next()).text, (await next('others')).text]).toEqual([
      'large 1',
      'large 2',
      null,
    ])
    for (const job of ['small', 'other'])
      await released(journal, of(job), ...[1, 2].map((number) => aChunk([`${job} ${number}`])))
    // One that has no room takes only of jobs that no worker has.
    expect((await next('others')).text).toBe('small 1')
    expect([(await next('others')).text, (await next('others')).text]).toEqual(['other 1', null])
    expect([(await next()).text, (await next()).text]).toEqual(['small 2', 'other 2'])
    expect((await next()).text).toBe('large 3')
    // Whoever holds the row of the run: nothing waits for the note of when it was served.
    await heldOpen(journal, 'SELECT 1 FROM rankline.runs WHERE id = $1 FOR UPDATE', [large.id], async () => {
      expect((await next()).text).toBe('large 4')
    })
  })

  test('comes to every job in its turn, also where there are more jobs than chunks that a worker has at once', async () => {
    const journal = await aJournal()
    const { keyHash } = aSharedRun()
    for (const job of ['a', 'b', 'c', 'd'])
      await released(
        journal,
        aSharedRun({ keyHash, job }),
        ...[1, 2, 3].map((number) => aChunk([`${job}${number}`])),
      )
    const worker = randomUUID()
    const order: string[] = []
    for (;;) {
      const [chunk] = await journal.chunks.take(worker, [keyHash], 1, minute)
      if (chunk === undefined) break
      order.push(...textsOf(chunk))
      await journal.chunks.end(worker, chunk, { state: 'done' })
    }
    expect(order).toEqual([1, 2, 3].flatMap((number) => ['a', 'b', 'c', 'd'].map((job) => `${job}${number}`)))
  })

  test('brings a chunk whole: its run, its queries as they were planned, what is reserved for it', async () => {
    const journal = await aJournal()
    const run = aSharedRun({}, { paging: 'smart', freshnessMs: hour })
    const seen = { foundAt: 3 } as unknown as LeasedChunk['queries'][0]['history'][0]
    const [query] = aChunk(['Schreibtisch "höhenverstellbar" 🪑']).queries
    const queries = [{ ...query, history: [seen] }] as LeasedChunk['queries']
    await released(journal, run, aChunk([], { queries, mostCredits: 7 }))
    const { chunk, fence, ...rest } = await takeOne(journal, run)
    expect(rest).toEqual({
      ...{ run: run.id, sharedRun: run, isClosed: false, queries, credits: 7 },
      ...{ answers: [], ended: [], openJobs: [], reusable: [] },
    })
  })

  test('passes over what another worker takes at the same instant', async () => {
    const journal = await aJournal()
    const run = await released(journal, aSharedRun(), aChunk(['first']), aChunk(['second']))
    const lock = 'SELECT 1 FROM rankline.chunks WHERE queries = ARRAY[$1]::bytea[] FOR UPDATE'
    const [first] = aChunk(['first']).queries
    await heldOpen(journal, lock, [first?.key], async () => {
      expect(textsOf(await takeOne(journal, run))).toEqual(['second'])
    })
  })

  test('gives no chunk to two of many workers', async () => {
    const journal = await aJournal()
    const texts = Array.from({ length: 30 }, (_, index) => `desk ${index}`)
    const run = await released(journal, aSharedRun(), ...texts.map((text) => aChunk([text])))
    const taken = await Promise.all(
      Array.from({ length: 10 }, () => journal.chunks.take(randomUUID(), [run.keyHash], 3, minute)),
    )
    const rest = await journal.chunks.take(randomUUID(), [run.keyHash], 30, minute)
    expect([...taken.flat(), ...rest].flatMap(textsOf).sort()).toEqual(texts.toSorted())
  })

  test('there is work while any chunk is released or leased, or waits for the process that coordinates its run', async () => {
    const journal = await aJournal()
    const run = await planned(journal, aSharedRun(), aChunk(['desk']))
    const hasWork = () => journal.chunks.hasWork([run.keyHash])
    expect(await hasWork()).toBe(true)
    await journal.plans.leave([run], coordinator)
    expect(await hasWork()).toBe(false)
    await journal.plans.coordinate([run], { id: coordinator, name: 'test', leaseMs: minute })
    await release(journal, run)
    expect(await hasWork()).toBe(true)
    const worker = randomUUID()
    const [chunk] = await journal.chunks.take(worker, [run.keyHash], 1, minute)
    expect(await hasWork()).toBe(true)
    await journal.chunks.end(worker, chunk as ChunkLease, { state: 'done' })
    expect(await hasWork()).toBe(false)
  })
})

test('A worker that says that it is here hears how many of its keys are up', async () => {
  const journal = await aJournal()
  const [key, other] = [aKey(), aKey()]
  const workers = [[key], [key, other], [other], [key]].map((keys) => ({ id: randomUUID(), keys }))
  const seen = async (index: number): Promise<number> => {
    const about = { name: 'w', version: '1', startedAt: 0, clockOffsetMs: 0 }
    return (await journal.operations.seen({ ...about, ...(workers[index] as (typeof workers)[number]) }))
      .workers
  }
  expect([await seen(0), await seen(1), await seen(2), await seen(3), await seen(0)]).toEqual([1, 2, 2, 3, 3])
  // One that was killed does not say so.
  await journal.sql(
    `UPDATE rankline.workers SET seen_at = seen_at - interval '15 seconds' WHERE id = $1`,
    workers[3]?.id,
  )
  expect(await seen(0)).toBe(2)
})

describe('Leases', () => {
  testTable<
    [string, (journal: TestJournal, lease: LeasedChunk, worker: string) => Promise<unknown>, boolean]
  >([
    ['stands', async () => {}, true],
    ['has run out, and nobody has taken it back', (journal, lease) => expire(journal, lease), true],
    ['was taken back', takenBack, false],
    [
      'has another worker',
      async (journal, lease) => {
        await takenBack(journal, lease)
        await takeOne(journal, lease.sharedRun)
      },
      false,
    ],
    ['was ended', (journal, lease, worker) => journal.chunks.end(worker, lease, { state: 'done' }), false],
  ])('a lease that %s: renewed or said to be lost, and ended or not', async (_, change, isKept) => {
    const journal = await aJournal()
    const { worker, leases } = await leased(journal, { chunks: 2 })
    const [lease, other] = leases as [LeasedChunk, LeasedChunk]
    await change(journal, lease, worker)
    const lost = await journal.chunks.renew(worker, leases, hour)
    expect(lost).toEqual(isKept ? [] : [lease])
    expect(await journal.chunks.takeBack(10)).toEqual({ released: 0, dead: 0 })
    expect(await journal.chunks.end(worker, lease, { state: 'done' })).toBe(isKept)
    expect(await journal.chunks.end(randomUUID(), other, { state: 'done' })).toBe(false)
  })

  test('are renewed in the order of their chunks, whatever order they are named in', async () => {
    const journal = await aJournal()
    const { worker, leases } = await leased(journal, { chunks: 2 })
    const [first, second] = leases as [LeasedChunk, LeasedChunk]
    let lost: Promise<unknown> | undefined
    const share = 'SELECT 1 FROM rankline.chunks WHERE id = $1 FOR SHARE'
    await journal.postgres.transaction(async (statements) => {
      await statements.query(share, [first.chunk])
      lost = journal.chunks.renew(worker, [second, first], minute).catch((error: unknown) => error)
      await waitingForLocks(journal)
      await statements.query(share, [second.chunk])
    })
    expect(await lost).toEqual([])
  })

  test('that run out are given back, until a chunk was lost too often', async () => {
    const journal = await aJournal()
    const run = await released(journal, aSharedRun(), aChunk(['desk'], { mostCredits: 9 }))
    const fences: number[] = []
    for (let time = 0; time < 3; time++) {
      expect(await progressOf(journal, run)).toEqual({ released: 1, reserved: 9 })
      const lease = await takeOne(journal, run)
      fences.push(lease.fence)
      expect(await journal.chunks.takeBack(2)).toEqual({ released: 0, dead: 0 })
      await expire(journal, lease)
      expect(await journal.chunks.takeBack(2)).toEqual(
        time < 2 ? { released: 1, dead: 0 } : { released: 0, dead: 1 },
      )
    }
    expect(fences).toEqual([1, 2, 3])
    expect(await progressOf(journal, run)).toEqual({ dead: 1, reserved: 0 })
    expect(await journal.operations.retry()).toBe(1)
    expect(await progressOf(journal, run)).toEqual({ planned: 1, reserved: 0 })
  })

  const stop = { reason: 'auth', message: 'the key is wrong' }
  testTable<[string, ChunkEnd, ChunkState, number]>([
    ['done', { state: 'done' }, 'done', 0],
    ['without credits', { state: 'planned' }, 'planned', 0],
    ['stopped by the service', { state: 'planned', stop }, 'planned', 0],
    ['left to another worker', { state: 'released' }, 'released', 5],
  ])(
    'a chunk that is %s gives back what it does not need, and its open calls may have been billed',
    async (_, end, state, reserved) => {
      const journal = await aJournal()
      const run = await released(journal, aSharedRun(), aChunk(['desk'], { mostCredits: 9 }))
      const worker = randomUUID()
      const [lease] = (await journal.chunks.take(worker, [run.keyHash], 1, minute)) as [LeasedChunk]
      await bought(journal, lease)
      await journal.calls.begin(lease, aCall(lease, { page: 2, credits: 3 }))
      expect(await progressOf(journal, run)).toEqual({ leased: 1, reserved: 8 })
      expect(await journal.chunks.end(worker, lease, end)).toBe(true)
      expect(await journal.plans.progress(run.id)).toMatchObject({ spent: 1, inDoubt: 3, reserved })
      expect(await progressOf(journal, run)).toEqual({ [state]: 1, reserved })
      expect(await journal.chunks.end(worker, lease, end)).toBe(false)
      expect(await journal.sql('SELECT stop FROM rankline.chunks')).toEqual([
        { stop: 'stop' in end ? JSON.stringify(stop) : null },
      ])
    },
  )

  testTable<[string, (journal: TestJournal, run: SharedRun) => Promise<void>]>([
    [
      'was finished',
      (journal, run) =>
        journal.plans.finish(coordinator, run.id, { reason: 'interrupted', finishedAt: 1, durationMs: 1 }),
    ],
    ['was closed', (journal, run) => journal.plans.close(coordinator, run.id, 1)],
  ])('of a run that %s come to no other worker', async (_, finish) => {
    const journal = await aJournal()
    const { worker, leases, run } = await leased(journal, { chunks: 2 })
    const [left, lost] = leases as [LeasedChunk, LeasedChunk]
    await finish(journal, run)
    expect(await journal.chunks.end(worker, left, { state: 'released' })).toBe(true)
    await takenBack(journal, lost)
    expect(await progressOf(journal, run)).toEqual({ cancelled: 2, reserved: 0 })
  })
})

async function takenBack(journal: TestJournal, lease: ChunkLease): Promise<void> {
  await expire(journal, lease)
  await journal.chunks.takeBack(10)
}

describe('A lease brings the answers', () => {
  const group = randomUUID()
  const key = aKey()
  const old = () => Date.now() - 2 * hour
  const young = () => Date.now() - hour / 2

  testTable<
    [
      string,
      { run: Partial<SharedRun>; at: () => number; freshnessMs: number | null; failed?: string },
      boolean,
    ]
  >([
    ['of the same command, however old', { run: { groupId: group }, at: old, freshnessMs: null }, true],
    [
      'of the same command that failed',
      { run: { groupId: group }, at: old, freshnessMs: null, failed: 'x' },
      false,
    ],
    ['of another command that is fresh', { run: {}, at: young, freshnessMs: hour }, true],
    ['of another command that is too old', { run: {}, at: old, freshnessMs: hour }, false],
    ['of another command where none may be reused', { run: {}, at: young, freshnessMs: null }, false],
    ['of another command that failed', { run: {}, at: young, freshnessMs: hour, failed: 'x' }, false],
    ['of another key', { run: { keyHash: aKey() }, at: young, freshnessMs: hour }, false],
  ])('that other runs bought: %s', async (_, { run, at, freshnessMs, failed }, isReusable) => {
    const journal = await aJournal()
    const other = await released(
      journal,
      aSharedRun({ keyHash: key, job: 'other', ...run }),
      aChunk(['desk']),
    )
    const lease = await takeOne(journal, other)
    const { call, task } = await bought(journal, lease, { fetchedAt: at() })
    const end = failed === undefined ? { call, reused: false } : { call, cause: failed }
    const own = aSharedRun({ keyHash: key, groupId: group }, { freshnessMs })
    await released(journal, own, aChunk(['desk', 'chair']))
    const before = await takeOne(journal, own)
    expect(before.reusable).toEqual([])
    await takenBack(journal, before)
    await journal.calls.endTask(lease, { task, end, paging: null })
    const { reusable } = await takeOne(journal, own)
    expect(reusable.map(({ call }) => call)).toEqual(isReusable ? [call] : [])
  })

  test('the newest of several that other runs bought', async () => {
    const journal = await aJournal()
    const calls: string[] = []
    for (const at of [young() - 5_000, young(), young() - 9_000]) {
      const run = await released(journal, aSharedRun({ keyHash: key, job: `at ${at}` }), aChunk(['desk']))
      const lease = await takeOne(journal, run)
      const { call, task } = await bought(journal, lease, { fetchedAt: at })
      await journal.calls.endTask(lease, { task, end: { call, reused: false }, paging: null })
      calls.push(call)
    }
    const own = await released(journal, aSharedRun({ keyHash: key }, { freshnessMs: hour }), aChunk(['desk']))
    expect((await takeOne(journal, own)).reusable.map(({ call }) => call)).toEqual([calls[1]])
  })

  test('that this run has: of several for one page the one that counts, and before any counts the first', async () => {
    const journal = await aJournal()
    const { lease, run } = await leased(journal)
    const late = aCall(lease)
    await journal.calls.begin(lease, late)
    await takenBack(journal, lease)
    const second = await takeOne(journal, run)
    await journal.calls.answer(late, ended('answered'), theAnswer(late))
    const { call, task } = await bought(journal, second)
    await takenBack(journal, second)
    const third = await takeOne(journal, run)
    expect(third.answers.map(({ call }) => call)).toEqual([late.id])
    await journal.calls.endTask(third, { task, end: { call, reused: false }, paging: null })
    await takenBack(journal, third)
    expect((await takeOne(journal, run)).answers.map(({ call }) => call)).toEqual([call])
  })

  test('that its tasks took from another run, also when they are too old to be taken now', async () => {
    const journal = await aJournal()
    const other = await released(journal, aSharedRun({ keyHash: key, job: 'other' }), aChunk(['desk']))
    const { call, task } = await bought(journal, await takeOne(journal, other), { fetchedAt: old() })
    const own = await released(journal, aSharedRun({ keyHash: key }, { freshnessMs: hour }), aChunk(['desk']))
    const lease = await takeOne(journal, own)
    const end = { call, reused: true } as const
    await journal.calls.endTask(lease, { task: { ...task, run: own.id }, end, paging: null })
    await takenBack(journal, lease)
    const again = await takeOne(journal, own)
    expect(again.answers.map(({ call }) => call)).toEqual([call])
    expect(again.ended.map(({ end }) => end)).toEqual([end])
  })
})
