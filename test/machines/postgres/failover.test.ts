import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { finishOnMachines } from '../../../src/machines/coordinate.ts'
import type { JournalChange } from '../../../src/machines/journal.ts'
import type { LeasedChunk } from '../../../src/machines/postgres/chunks.ts'
import { syncJournal } from '../../../src/machines/sync.ts'
import type { Run } from '../../../src/model/run.ts'
import { systemClock } from '../../../src/model/time.ts'
import type { SharedRun } from '../../../src/store/sync.ts'
import { aStore, noon } from '../../store/build.ts'
import { testPostgres } from '../../support/postgres.ts'
import {
  aCall,
  aKey,
  aSharedRun,
  coordinator,
  ended,
  leased,
  openTestJournal,
  type TestJournal,
  theAnswer,
} from './journal.ts'

const aReading = (keyHash: string) => ({
  ...{ run: null, keyHash, askedAt: noon, readAt: noon, remaining: 10, totalUsed: 5, record: '{}' },
})

test('what a failover lost is written again by a database that has read it, and no lease of before is given out twice', async () => {
  await using server = await testPostgres()
  const url = await server.database()
  const first = await openTestJournal(url)
  const { lease, run, worker } = await leased(first)
  await first.plans.publish(coordinator, run, async function* () {
    yield { queries: lease.queries, leftOut: [] }
  })
  const calls = [1, 2, 3].map((page) => aCall(lease, { page }))
  const [kept, lost, unread] = calls as [(typeof calls)[0], (typeof calls)[0], (typeof calls)[0]]
  const end = (call: typeof kept) => ({
    task: call.task as NonNullable<typeof call.task>,
    end: { call: call.id, reused: false },
    paging: null,
  })
  const buy = async (journal: TestJournal, call: typeof kept) => {
    await journal.calls.begin(lease, call)
    await journal.calls.answer(call, ended('answered'), theAnswer(call))
    await journal.calls.endTask(lease, end(call))
  }
  const { store } = await aStore()
  const sync = (journal: TestJournal, into = store) =>
    syncJournal({ journal, store: into, clock: systemClock, name: 'reader' })
  await buy(first, kept)
  await sync(first)
  const standby = await server.addStandby()
  await caughtUp(first)
  standby.cut()
  await buy(first, lost)
  await first.calls.saveUsage({
    ...{
      run: null,
      keyHash: run.keyHash,
      askedAt: noon,
      readAt: noon,
      remaining: 10,
      totalUsed: 5,
      record: '{}',
    },
  })
  await sync(first)
  await buy(first, unread)
  // The chunk goes to another worker, and that is lost as well.
  await first.sql(`UPDATE rankline.chunks SET leased_until = clock_timestamp() - interval '1 ms'`)
  await first.chunks.takeBack(10)
  const [other] = await first.chunks.take(randomUUID(), [run.keyHash], 1, 60_000)

  await standby.promote()

  await first[Symbol.asyncDispose]()
  await using journal = await openTestJournal(url.replace(/:\d+\//, `:${server.port}/`))
  expect(await journal.sql('SELECT id FROM rankline.calls')).toEqual([{ id: kept.id }])
  await journal.operations.seen({
    ...{ id: worker, name: 'w', version: '1', keys: [run.keyHash], startedAt: noon, clockOffsetMs: 0 },
  })
  expect(await sync(journal)).toMatchObject({ failedOver: true })
  expect(await sync(journal)).toMatchObject({ failedOver: false, calls: 0 })
  expect(await store.queueFailovers()).toHaveLength(1)
  // The worker comes with an end whose answer is lost, and with what it has in flight.
  await expect(journal.calls.endTask(lease, end(unread))).rejects.toThrow()
  await journal.calls.answer(unread, ended('answered'), theAnswer(unread))

  expect(await journal.sql('SELECT id, billed, outcome FROM rankline.calls ORDER BY page')).toEqual(
    calls.map(({ id }) => ({ id, billed: 1, outcome: 'answered' })),
  )
  expect(await journal.sql('SELECT spent::int FROM rankline.chunks')).toEqual([{ spent: 3 }])
  expect(await journal.sql('SELECT sum(spent)::int AS spent FROM rankline.spending')).toEqual([{ spent: 3 }])
  expect(await journal.sql('SELECT page FROM rankline.task_ends ORDER BY page')).toEqual([
    { page: 1 },
    { page: 2 },
  ])
  expect(await journal.sql('SELECT total_used::int AS used FROM rankline.readings')).toEqual([{ used: 5 }])
  const changes = (await journal.changes.after(null, 10_000)).changes
  const answersOf = (all: readonly JournalChange[]) =>
    all.flatMap((change) => (change.kind === 'answer' ? [change.answer.call] : []))
  expect(answersOf(changes).sort()).toEqual(calls.map(({ id }) => id).sort())
  const early =
    'SELECT 1 FROM rankline.answers a JOIN rankline.calls c ON c.id = a.call_id WHERE a.changed < c.changed'
  expect(await journal.sql(early)).toEqual([])
  // Leases of before are worth nothing.
  await journal.sql(`UPDATE rankline.chunks SET leased_until = clock_timestamp() - interval '1 ms'`)
  await journal.chunks.takeBack(10)
  const [newest] = await journal.chunks.take(randomUUID(), [run.keyHash], 1, 60_000)
  const begun = (by: LeasedChunk | undefined) =>
    journal.calls.begin(by as LeasedChunk, aCall(lease)).then(
      () => 'begun',
      (error: Error) => error.name,
    )
  expect(await Promise.all([lease, other, newest].map(begun))).toEqual(['LeaseLost', 'LeaseLost', 'begun'])
})

test('the end of a run that a failover lost is written again by the database that knows it, unless the run goes on', async () => {
  await using server = await testPostgres()
  const url = await server.database()
  const first = await openTestJournal(url)
  const keyHash = aKey()
  const [here, read, goesOn, closed] = ['here', 'read', 'goes on', 'closed'].map((job) =>
    aSharedRun({ job, keyHash }),
  ) as [SharedRun, SharedRun, SharedRun, SharedRun]
  const all = [here, read, goesOn, closed]
  const publish = (journal: TestJournal, run: SharedRun) =>
    journal.plans.publish(coordinator, run, async function* () {
      yield { queries: [], leftOut: [] }
    })
  for (const run of all) {
    await first.plans.coordinate([run], { id: coordinator, name: 'c', leaseMs: 60_000 })
    await publish(first, run)
  }
  const { store } = await aStore()
  const sync = (journal: TestJournal) => syncJournal({ journal, store, clock: systemClock, name: 'reader' })
  await sync(first)
  const standby = await server.addStandby()
  await caughtUp(first)
  standby.cut()
  const end = { reason: 'completed' as const, finishedAt: noon, durationMs: 5 }
  for (const run of all) await first.plans.finish(coordinator, run.id, end)
  // What this database read of the others, and, in a sync that never came, did itself.
  for (const run of [read, goesOn, closed])
    await store.keepEnd({ kind: 'finish', run: run.id, version: 1, ...end }, noon)
  const known = await store.localRun(here.id)
  await store.finishRun(known?.runId as number, 'completed', noon, 5)
  await finishOnMachines(
    { store, journal: first, coordinator, notify: () => {} },
    [(await store.run(known?.runId as number)) as Run],
    noon,
  )
  await standby.promote()
  await first[Symbol.asyncDispose]()

  await using journal = await openTestJournal(url.replace(/:\d+\//, `:${server.port}/`))
  await publish(journal, goesOn)
  await journal.plans.close(coordinator, closed.id, noon)
  expect(await sync(journal)).toMatchObject({ failedOver: true })

  expect(
    await journal.sql(
      'SELECT job, finish_reason AS reason, finished_at::float8 AS at, duration_ms::int AS ms FROM rankline.runs ORDER BY job',
    ),
  ).toEqual([
    { job: 'closed', reason: null, at: null, ms: null },
    { job: 'goes on', reason: null, at: null, ms: null },
    { job: 'here', reason: 'completed', at: noon, ms: 5 },
    { job: 'read', reason: 'completed', at: noon, ms: 5 },
  ])
  const events = (await journal.changes.after(null, 10_000)).changes
  const ends = events.flatMap((change) => (change.kind === 'run-end' ? [change] : []))
  expect(ends).toHaveLength(2)
  expect(ends).toEqual(
    expect.arrayContaining([here, read].map(({ id }) => ({ kind: 'run-end', run: id, version: 1, end }))),
  )
})

test.each([
  ['its chunk', 'DELETE FROM rankline.chunks'],
  [
    'its run',
    'DELETE FROM rankline.chunks; DELETE FROM rankline.plan_parts; DELETE FROM rankline.run_events; DELETE FROM rankline.runs',
  ],
])('a paid call of which the queue lost %s is in the sums of its job', async (_, loss) => {
  await using server = await testPostgres()
  await using journal = await openTestJournal(await server.database())
  const { lease, run } = await leased(journal)
  const calls = [1, 2].map((page) => aCall(lease, { page }))
  for (const statement of loss.split('; ')) await journal.sql(statement)

  for (const call of calls) await journal.calls.answer(call, ended('answered'), theAnswer(call))

  const sum = calls.reduce((credits, call) => credits + call.credits, 0)
  expect(await journal.sql('SELECT run_id AS run, spent::int AS spent, state FROM rankline.chunks')).toEqual([
    { run: run.id, spent: sum, state: 'cancelled' },
  ])
  expect(
    await journal.sql('SELECT run_id AS run, sum(spent)::int AS spent FROM rankline.spending GROUP BY 1'),
  ).toEqual([{ run: run.id, spent: sum }])
})

test('a crash gives the numbers of transactions that changed nothing to others, whose changes no reader misses', async () => {
  await using server = await testPostgres()
  const url = await server.database()
  const before = await openTestJournal(url)
  await before.calls.saveUsage(aReading('before'))
  for (let count = 0; count < 20; count++) await before.sql('SELECT pg_current_xact_id()')
  const { position } = await before.changes.after(null, 100)
  await before[Symbol.asyncDispose]()

  await server.crash()
  await server.start()

  await using journal = await openTestJournal(url)
  await journal.calls.saveUsage(aReading('after'))
  expect((await journal.changes.after(position, 100)).changes).toMatchObject([
    { reading: { keyHash: 'after' } },
  ])
})

test('what was read from the server that is gone is not noted at the one that took its place', async () => {
  await using server = await testPostgres()
  const url = await server.database()
  const first = await openTestJournal(url)
  const reader = { id: randomUUID(), name: 'reader' }
  await first.calls.saveUsage(aReading('kept'))
  const kept = await first.changes.after(null, 100, reader.id)
  await first.changes.reached(reader, kept.position, 1)
  const standby = await server.addStandby()
  await caughtUp(first)
  standby.cut()
  await first.calls.saveUsage(aReading('lost'))
  const { position } = await first.changes.after(kept.position, 100, reader.id)
  await first[Symbol.asyncDispose]()
  await standby.promote()

  await using journal = await openTestJournal(url.replace(/:\d+\//, `:${server.port}/`))
  await journal.changes.reached(reader, position, 2)

  expect(await journal.changes.after(position, 100, reader.id)).toMatchObject({ kept: { lastChange: 1 } })
})

/** Fulfilled when the standby has all that is there. */
async function caughtUp({ sql }: TestJournal): Promise<void> {
  for (;;) {
    const [row] = await sql<{ is: boolean }>(
      `SELECT coalesce(bool_and(replay_lsn >= pg_current_wal_lsn()), false) AS is FROM pg_stat_replication`,
    )
    if (row?.is === true) return
    await pause(20)
  }
}
