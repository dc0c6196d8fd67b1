import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { CoordinationLost, type PlanPart } from '../../../src/machines/journal.ts'
import type { SharedRun } from '../../../src/store/sync.ts'
import { aQuery, noon } from '../../store/build.ts'
import { testTable } from '../../support/test-table.ts'
import {
  aCall,
  aChunk,
  aJournal,
  aKey,
  aSharedRun,
  coordinator,
  ended,
  leased,
  planned,
  release,
  type TestJournal,
  withJournal,
} from './journal.ts'

let shared: TestJournal
withJournal((opened) => {
  shared = opened
})

const end = { reason: 'completed', finishedAt: noon + 5_000, durationMs: 5_000 } as const
const me = { id: coordinator, name: 'me', leaseMs: 60_000 }
const other = { id: randomUUID(), name: 'other', leaseMs: 60_000 }

async function* parts(...texts: readonly string[]): AsyncIterable<PlanPart> {
  for (const text of texts) yield { queries: [aQuery({ text })], leftOut: [] }
}

async function textsOf(run: SharedRun, version: number): Promise<readonly string[]> {
  const texts: string[] = []
  for await (const { queries } of shared.changes.plan(run.id, version))
    texts.push(...queries.map(({ text }) => text))
  return texts
}

async function states({ id }: SharedRun): Promise<object> {
  const { chunks } = await shared.plans.progress(id)
  return Object.fromEntries(Object.entries(chunks).filter(([, count]) => count > 0))
}

describe('Coordinating', () => {
  test('a job has one coordinator at a time; of several jobs all are taken or none', async () => {
    const [one, two] = [aSharedRun({ job: 'one' }), aSharedRun({ job: 'two' })]
    const same = { ...two, keyHash: one.keyHash }
    expect(await shared.plans.coordinate([one], other)).toEqual([])

    expect(await shared.plans.coordinate([one, same], me)).toEqual([
      { keyHash: one.keyHash, job: 'one', heldBy: 'other' },
    ])

    expect(await shared.plans.coordinate([same], me)).toEqual([])
    await shared.plans.leave([one], other.id)
    expect(await shared.plans.coordinate([one, same], me)).toEqual([])
  })

  test('a right that was not renewed in its time may be taken by another, and by its owner until then', async () => {
    const run = aSharedRun()
    await shared.plans.coordinate([run], { ...me, leaseMs: 0 })
    expect(await shared.plans.coordinate([run], me)).toEqual([])
    await shared.plans.coordinate([run], { ...me, leaseMs: 0 })

    expect(await shared.plans.coordinate([run], other)).toEqual([])

    expect(await shared.plans.coordinate([run], me)).toMatchObject([{ heldBy: 'other' }])
  })
})

type Write = (plans: TestJournal['plans'], run: SharedRun) => Promise<unknown>

testTable<[string, Write]>([
  ['publish a plan', (plans, run) => plans.publish(coordinator, run, () => parts('later'))],
  [
    'add chunks',
    (plans, { id }) => plans.addChunks(coordinator, id, { id: randomUUID(), chunks: [aChunk(['a'])] }),
  ],
  ['cancel chunks', (plans, { id }) => plans.cancelChunks(coordinator, [id])],
  ['finish a run', (plans, { id }) => plans.finish(coordinator, id, end)],
  ['close a run', (plans, { id }) => plans.close(coordinator, id, noon)],
  ['release chunks', (_, run) => release(shared, run)],
])('a coordinator whose job another has taken can not %s, and nothing is changed', async (_, write) => {
  const run = await planned(shared, aSharedRun(), aChunk(['first']))
  const before = await shared.changes.after(null, 1_000)
  await shared.sql('UPDATE rankline.jobs SET coordinator = $1 WHERE key_hash = $2', other.id, run.keyHash)

  await expect(write(shared.plans, run)).rejects.toThrow(CoordinationLost)

  expect(await states(run)).toEqual({ planned: 1 })
  const { changes } = await shared.changes.after(null, 1_000)
  expect(changes).toEqual(before.changes)
})

describe('Plans', () => {
  test('a run that is published again has both plans, each to be read as it was', async () => {
    const run = aSharedRun()
    await shared.plans.coordinate([run], me)

    expect(await shared.plans.publish(coordinator, run, () => parts('a', 'b'))).toBe(1)
    expect(await shared.plans.publish(coordinator, run, () => parts('c'))).toBe(2)

    expect(await textsOf(run, 1)).toEqual(['a', 'b'])
    expect(await textsOf(run, 2)).toEqual(['c'])
  })

  test('a plan is published at once when all of it is written, and keeps no reader waiting meanwhile', async () => {
    const [run, neighbour] = [aSharedRun(), aSharedRun()]
    await shared.plans.coordinate([run], me)
    const from = (await shared.changes.after(null, 10_000)).position
    async function* died(): AsyncIterable<PlanPart> {
      yield* parts('left', 'behind')
      throw new Error('killed')
    }
    await expect(shared.plans.publish(coordinator, run, died)).rejects.toThrow('killed')
    const seen: unknown[] = []
    async function* slow(): AsyncIterable<PlanPart> {
      yield* parts('a', 'b')
      await planned(shared, neighbour)
      const { changes, unread } = await shared.changes.after(from, 1_000)
      seen.push(unread, ...changes.map((change) => (change.kind === 'plan' ? change.run.id : change.kind)))
      yield* parts('c')
    }

    expect(await shared.plans.publish(coordinator, run, slow)).toBe(1)

    expect(seen).toEqual([null, neighbour.id])
    expect(await textsOf(run, 1)).toEqual(['a', 'b', 'c'])
    expect((await shared.operations.status()).runs.map((one) => one.run)).toContain(run.id)
  })

  test('a plan of which another process takes over the job is not published', async () => {
    const run = aSharedRun()
    await shared.plans.coordinate([run], me)
    async function* overtaken(): AsyncIterable<PlanPart> {
      yield* parts('a')
      await shared.plans.leave([run], coordinator)
      await shared.plans.coordinate([run], other)
      await shared.plans.publish(other.id, run, () => parts('theirs'))
      await shared.plans.leave([run], other.id)
      // It renews its right, and does not know that it was away.
      await shared.plans.coordinate([run], me)
      yield* parts('b')
    }

    await expect(shared.plans.publish(coordinator, run, overtaken)).rejects.toThrow(CoordinationLost)

    expect(await textsOf(run, 1)).toEqual(['theirs'])
    await shared.plans.leave([run], coordinator)
  })

  test('a run is not published with another key than it was begun with', async () => {
    const run = await planned(shared, aSharedRun(), aChunk(['before']))
    const renewed = { ...run, keyHash: aKey() }
    await shared.plans.coordinate([renewed], me)

    await expect(shared.plans.publish(coordinator, renewed, () => parts('after'))).rejects.toThrow(
      CoordinationLost,
    )

    expect(await states(run)).toEqual({ planned: 1 })
    expect(await shared.plans.keyOf(run.id)).toBe(run.keyHash)
  })

  test('a run whose key was replaced is closed by who coordinates nothing of it, and not under the hands of another', async () => {
    const [left, held] = [await planned(shared, aSharedRun()), await planned(shared, aSharedRun())]
    await shared.plans.leave([left], coordinator)

    await shared.plans.close(other.id, left.id, noon)
    await expect(shared.plans.close(other.id, held.id, noon)).rejects.toThrow(CoordinationLost)

    const closed = await shared.sql(
      'SELECT closed_at FROM rankline.runs WHERE id = ANY ($1::uuid[]) ORDER BY 1',
      [...[left.id, held.id]],
    )
    expect(closed).toEqual([{ closed_at: noon }, { closed_at: null }])
  })

  test('chunks that are written twice, because a connection was lost, are there once', async () => {
    const run = await planned(shared, aSharedRun())
    const group = { id: randomUUID(), chunks: [aChunk(['a', 'b']), aChunk(['c'])] }

    await shared.plans.addChunks(coordinator, run.id, group)
    await shared.plans.addChunks(coordinator, run.id, group)

    expect(await states(run)).toEqual({ planned: 2 })
    expect(await shared.plans.queriesInWork([run.id])).toHaveLength(3)
  })

  test('chunks that no worker has are cancelled with a newer plan, and what was reserved is free', async () => {
    const { run } = await leased(shared, { chunks: 1 })
    await shared.plans.addChunks(coordinator, run.id, { id: randomUUID(), chunks: [aChunk(['x'])] })

    await shared.plans.publish(coordinator, run, () => parts('a'))

    expect(await states(run)).toEqual({ leased: 1, cancelled: 1 })
  })

  test('a run is closed once; its asynchronous jobs are released to be polled, and nothing else', async () => {
    const { run, leases } = await leased(shared, { chunks: 2 })
    const [lease, idle] = leases as [(typeof leases)[0], (typeof leases)[0]]
    const call = aCall(lease, { credits: 3 })
    await shared.calls.begin(lease, call)
    await shared.calls.acceptJob(call, ended('accepted'), 'job 1')
    for (const one of [lease, idle]) await shared.chunks.end(me.id, one, { state: 'planned' })
    await shared.sql(`UPDATE rankline.chunks SET state = 'planned', worker = NULL WHERE run_id = $1`, run.id)

    await shared.plans.close(coordinator, run.id, noon)
    await shared.plans.close(coordinator, run.id, noon + 1)

    expect(await states(run)).toEqual({ released: 1, cancelled: 1 })
    const poller = randomUUID()
    const [taken] = await shared.chunks.take(poller, [run.keyHash], 9, 60_000)
    expect(taken).toMatchObject({ isClosed: true, credits: 3, openJobs: [{ jobId: 'job 1' }] })
    // Another worker polls on where this one stops, until the job is over.
    await shared.chunks.end(poller, taken as NonNullable<typeof taken>, { state: 'released' })
    expect(await states(run)).toEqual({ released: 1, cancelled: 1 })
    const [last] = await shared.chunks.take(poller, [run.keyHash], 9, 60_000)
    await shared.calls.endJob(call, 0, noon)
    await shared.chunks.end(poller, last as NonNullable<typeof last>, { state: 'released' })
    expect(await states(run)).toEqual({ cancelled: 2 })
    const { changes } = await shared.changes.after(null, 10_000)
    expect(changes.filter((change) => change.kind === 'run-closed' && change.run === run.id)).toEqual([
      { kind: 'run-closed', run: run.id, at: noon },
    ])
  })

  test('plans, ends and what follows are told in the order in which they were written', async () => {
    const journal = await aJournal()
    const run = aSharedRun()
    await journal.plans.coordinate([run], me)
    await journal.plans.publish(coordinator, run, () => parts('a'))
    await journal.plans.finish(coordinator, run.id, { ...end, reason: 'budget' })
    await journal.plans.publish(coordinator, run, () => parts('a', 'b'))
    await journal.plans.finish(coordinator, run.id, end)
    await journal.plans.close(coordinator, run.id, noon)

    const { changes } = await journal.changes.after(null, 1_000)

    expect(changes).toEqual([
      { kind: 'plan', run, version: 1 },
      { kind: 'plan', run, version: 2 },
      { kind: 'run-end', run: run.id, version: 1, end: { ...end, reason: 'budget' } },
      { kind: 'run-end', run: run.id, version: 2, end },
      { kind: 'run-closed', run: run.id, at: noon },
    ])
  })
})
