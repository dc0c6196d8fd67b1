import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { LeaseLost, RekeyRefused } from '../../../src/machines/journal.ts'
import type { SharedRun } from '../../../src/store/sync.ts'
import { noon } from '../../store/build.ts'
import {
  aCall,
  aChunk,
  aKey,
  aSharedRun,
  coordinator,
  ended,
  expire,
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

const day = { from: noon - 43_200_789, until: noon + 43_199_211 }

/** Moves the job of a run to a new key, once nobody coordinates it. */
async function moved(run: SharedRun, to = aKey()): Promise<SharedRun> {
  await shared.plans.leave([run], coordinator)
  await shared.operations.rekey([run], to)
  const renewed = { ...run, keyHash: to }
  await shared.plans.coordinate([renewed], { id: coordinator, name: 'test', leaseMs: 60_000 })
  return renewed
}

async function standings(run: SharedRun) {
  let found = {}
  await shared.spending.release(coordinator, run.keyHash, [run.id], 0, async (_, all) => {
    const { reserved } = all
    found = { reserved, jobs: await all.jobs(), sent: await all.creditsSent(day) }
    return []
  })
  return found
}

test('what waits is bought by workers of the new key, and what was reserved is free', async () => {
  const run = await planned(shared, aSharedRun(), aChunk(['a']), aChunk(['b']))
  await release(shared, run)
  await shared.plans.leave([run], coordinator)
  const to = aKey()

  expect(await shared.operations.rekey([run], to)).toEqual([
    { keyHash: run.keyHash, job: 'acme', runs: 1, chunks: 2, leased: 0 },
  ])

  const renewed = await moved({ ...run, keyHash: to })
  expect(await standings(renewed)).toMatchObject({ reserved: 0, jobs: ['acme'] })
  await release(shared, renewed)
  expect(await shared.chunks.take(randomUUID(), [run.keyHash], 9, 60_000)).toEqual([])
  expect(await shared.chunks.take(randomUUID(), [renewed.keyHash], 9, 60_000)).toHaveLength(2)
  expect(await shared.operations.jobs()).not.toContainEqual({ keyHash: run.keyHash, job: 'acme' })
})

test('a worker of the former key finishes the chunk that it has; its credits are those of the job', async () => {
  const { run, lease, worker } = await leased(shared)
  const renewed = await moved(run)
  const call = aCall(lease, { credits: 3 })

  await shared.calls.begin(lease, call)
  await shared.calls.settle(call, ended('answered'))

  expect(await standings(renewed)).toEqual({
    ...{ reserved: 97, jobs: ['acme'] },
    sent: [{ job: 'acme', spent: 3, ambiguous: 0 }],
  })
  expect(await shared.plans.queriesInWork([run.id])).toHaveLength(1)
  expect(await shared.chunks.take(randomUUID(), [renewed.keyHash], 9, 60_000)).toEqual([])
  expect(await shared.chunks.end(worker, lease, { state: 'done' })).toBe(true)
  const [paid] = await shared.sql('SELECT key_hash FROM rankline.calls WHERE id = $1', call.id)
  expect(paid).toEqual({ key_hash: run.keyHash })
})

test('the fence holds: after a lost lease only a worker of the new key has the chunk', async () => {
  const { run, lease } = await leased(shared)
  await shared.calls.begin(lease, aCall(lease, { credits: 2 }))
  const renewed = await moved(run)
  await expire(shared, lease)

  await shared.chunks.takeBack(10)

  expect(await shared.chunks.take(randomUUID(), [run.keyHash], 9, 60_000)).toEqual([])
  expect(await shared.chunks.take(randomUUID(), [renewed.keyHash], 9, 60_000)).toMatchObject([
    { chunk: lease.chunk, fence: lease.fence + 1 },
  ])
  await expect(shared.calls.begin(lease, aCall(lease))).rejects.toThrow(LeaseLost)
  expect(await standings(renewed)).toMatchObject({ sent: [{ spent: 0, ambiguous: 2 }] })
})

test('what the service says to the former key stops no run of the new one', async () => {
  const { run, lease, worker } = await leased(shared)
  await shared.operations.seen({
    ...{ id: worker, name: 'old', version: '1', keys: [run.keyHash], startedAt: noon, clockOffsetMs: 0 },
  })
  const renewed = await moved(run)

  await shared.chunks.end(worker, lease, { state: 'planned', stop: { reason: 'auth', message: 'refused' } })

  let stops: unknown
  await shared.spending.release(coordinator, renewed.keyHash, [run.id], 9, async (waiting) => {
    stops = waiting.map(({ stop }) => stop)
    return []
  })
  expect(stops).toEqual([null])
})

test('readers are told by the newest run, which is published as it is', async () => {
  const key = aKey()
  const former = await planned(shared, aSharedRun({ keyHash: key }))
  await shared.plans.finish(coordinator, former.id, { reason: 'completed', finishedAt: noon, durationMs: 1 })
  const run = await planned(shared, aSharedRun({ keyHash: key }))
  const { position } = await shared.changes.after(null, 100_000)

  const renewed = await moved(run)

  const { changes } = await shared.changes.after(position, 100_000)
  expect(changes.filter((change) => change.kind === 'plan')).toEqual([
    { kind: 'plan', run: renewed, version: 1 },
  ])
  expect(await shared.plans.keyOf(former.id)).toBe(renewed.keyHash)
})

test('a job is not moved while another process coordinates it, nor where both keys have an unfinished run', async () => {
  const run = await planned(shared, aSharedRun(), aChunk(['a']))
  const busy = await planned(shared, aSharedRun())

  await expect(shared.operations.rekey([run], aKey())).rejects.toThrow(RekeyRefused)
  await shared.plans.leave([run, busy], coordinator)
  await expect(shared.operations.rekey([run], busy.keyHash)).rejects.toMatchObject({ heldBy: null })

  expect(await shared.plans.keyOf(run.id)).toBe(run.keyHash)
})
