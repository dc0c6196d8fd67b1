import { randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import {
  aCall,
  aChunk,
  aKey,
  aSharedRun,
  coordinator,
  ended,
  expire,
  heldOpen,
  release,
  released,
  type TestJournal,
  withJournal,
} from '../../machines/postgres/journal.ts'
import { workspace } from '../../support/rankline.ts'

let journal: TestJournal
withJournal((opened) => {
  journal = opened
})

test('queue status tells problems first, then runs, workers and readers; queue retry brings back dead chunks', async () => {
  await using place = await workspace()
  const queue = { RANKLINE_QUEUE: journal.url }
  const ask = async (...args: readonly string[]) => (await place.call(['queue', ...args], queue)).stdout
  expect(await ask('status')).toMatch(
    /^No problems\.\n\nUnfinished runs: none\n\nWorkers: none\n\nDatabases that read: none\n$/,
  )

  const keyHash = '0123456789abcdef'
  const run = aSharedRun({ keyHash })
  const [busy, silent] = [randomUUID(), randomUUID()]
  await released(journal, run, ...['a', 'b', 'c'].map((text) => aChunk([text], { mostCredits: 4 })))
  await journal.chunks.take(busy, [keyHash], 1, 60_000)
  await journal.sql(
    `UPDATE rankline.chunks SET state = 'dead' WHERE id = (SELECT max(id) FROM rankline.chunks)`,
  )
  for (const [id, name] of [
    [busy, 'host, process 1'],
    [silent, 'host, process 2'],
  ] as const)
    await journal.operations.seen({
      ...{ id, name, version: '0.1.0', keys: [keyHash], startedAt: 0, clockOffsetMs: 1_500 },
    })
  await journal.sql(
    `UPDATE rankline.workers SET seen_at = seen_at - interval '3 minutes' WHERE id = $1`,
    silent,
  )
  await journal.rates.refused(keyHash, Date.now(), 3_600_000)
  const { position } = await journal.changes.after(null, 1_000)
  await journal.changes.reached({ id: randomUUID(), name: 'host: /new.db' }, '0', 0)
  await journal.changes.reached({ id: randomUUID(), name: 'host: /old.db' }, position, 0)
  await journal.changes.reached({ id: randomUUID(), name: 'host: /away.db' }, '0', 0)
  await journal.sql(
    `UPDATE rankline.readers SET seen_at = seen_at - interval '8 days' WHERE name = 'host: /away.db'`,
  )

  const lines = (await ask('status')).split('\n').map((line) => line.trim().split(/ {2,}/))
  expect(lines.slice(0, 4)).toEqual([
    ['acme: workers were lost over a chunk of 1 query; try again: rankline queue retry'],
    ['host, process 2: not seen for 3 minutes'],
    ['key 01234567: the service refuses calls for their rate; all workers wait'],
    [
      'host: /away.db: not synced for 8 days; what it has not read stays in the queue until it is, or until it counts no longer: rankline sync',
    ],
  ])
  const doctor = await place.call(['doctor', '--json'], queue)
  expect(JSON.parse(doctor.stdout).checks).toContainEqual({
    check: 'queue',
    state: 'warning',
    text: lines.slice(0, 4).join('. '),
  })
  expect(lines).toContainEqual(['acme', '01234567', 'test', '0', '1', '1', '0', '0', '8', '0'])
  const ago = expect.stringMatching(/^\d+ s ago$/)
  expect(lines).toContainEqual(['host, process 1', '01234567', '0.1.0', '1', '0.0', '0', '0', ago, '1.5 s'])
  expect(lines).toContainEqual(['host: /new.db', ago, 'yes'])
  expect(lines).toContainEqual(['host: /old.db', ago, 'no'])
  expect(JSON.parse(await ask('status', '--json'))).toMatchObject({
    runs: [
      {
        ...{ run: run.id, job: 'acme', coordinator: 'test', chunks: { released: 1, leased: 1, dead: 1 } },
        credits: { spent: 0, ambiguous: 0, reserved: 8 },
      },
    ],
    workers: [
      { worker: busy, chunks: 1, clock_ahead_ms: 1_500 },
      { worker: silent, chunks: 0 },
    ],
    keys: [{ key: keyHash, held_until: expect.any(String), remaining: null }],
    readers: [
      { name: 'host: /away.db', behind: true },
      { name: 'host: /new.db', behind: true },
      { name: 'host: /old.db', behind: false },
    ],
  })

  await ask('status', '--metrics-file', 'queue.prom')
  expect(await place.read('queue.prom')).toContain(`rankline_queue_depth{key="${keyHash}"} 1\n`)

  expect(await ask('retry')).toMatch(/^1 chunk can be released again\./)
  expect(await ask('status')).not.toContain('queue retry')
})

test('queue status names the query that workers die over, a key without a worker, a run without a coordinator, and what the calls of a worker came to', async () => {
  await using place = await workspace()
  const status = async (...args: readonly string[]) =>
    (await place.call(['queue', 'status', ...args], { RANKLINE_QUEUE: journal.url })).stdout
  const keyHash = aKey()
  const run = aSharedRun({ keyHash, job: 'deadly' })
  const [doomed, working] = [randomUUID(), randomUUID()]
  await released(journal, run, aChunk(['fine', 'it kills']), aChunk(['other']))
  const [deadly, other] = await journal.chunks.take(doomed, [keyHash], 2, 60_000)
  if (deadly === undefined || other === undefined) throw new Error('no chunks')
  await journal.calls.begin(deadly, aCall(deadly, { query: 1 }))
  await expire(journal, deadly)
  await journal.chunks.takeBack(0)
  await journal.chunks.end(doomed, other, { state: 'released' })
  await journal.sql("UPDATE rankline.jobs SET coordinated_until = '-infinity' WHERE job = 'deadly'")

  const short = keyHash.slice(0, 8)
  const before = await status()
  expect(before).toContain(
    'deadly: workers were lost over a chunk of 2 queries, while they asked "it kills"; try again: rankline queue retry\n',
  )
  expect(before).toContain('deadly: no process coordinates its run, and 0 chunks of it wait to be released')
  expect(before).toContain(`key ${short}: no worker has it; start one: rankline worker\n`)

  const [held] = await journal.chunks.take(working, [keyHash], 1, 60_000)
  if (held === undefined) throw new Error('no chunk')
  await journal.operations.seen({
    ...{
      id: working,
      name: 'far, process 9',
      version: '0.1.0',
      keys: [keyHash],
      startedAt: 0,
      clockOffsetMs: 0,
    },
  })
  const call = aCall(held)
  await journal.calls.begin(held, call)
  await journal.calls.settle(call, { ...ended('ambiguous'), error: 'the connection was lost' })
  expect(JSON.parse(await status('--json'))).toMatchObject({
    workers: expect.arrayContaining([
      expect.objectContaining({
        name: 'far, process 9',
        last_minute: { calls: 1, errors: 1, credits: 0, last_error: 'the connection was lost' },
      }),
    ]),
    dead: [{ job: 'deadly', key: keyHash, queries: 2, last_queries: ['it kills'] }],
  })
  const stands = `key ${short}: its workers have chunks and have sent nothing for 5 minutes`
  const leasedBefore = async (limit: string) =>
    await journal.sql(
      `INSERT INTO rankline.keys (key_hash, per_second, leased_at) VALUES ($1, ${limit}, clock_timestamp() - interval '5 minutes')
      ON CONFLICT (key_hash) DO UPDATE SET per_second = excluded.per_second, leased_at = excluded.leased_at`,
      keyHash,
    )
  await leasedBefore('NULL')
  const unlimited = await status()
  expect(unlimited).not.toContain('no worker has it')
  expect(unlimited).not.toContain(stands)
  await leasedBefore('40')
  expect(await status()).toContain(stands)
})

test('a transaction that keeps databases from reading is told with how to end it, once it has done so for a while', async () => {
  await using place = await workspace()
  const status = async () =>
    (await place.call(['queue', 'status', '--json'], { RANKLINE_QUEUE: journal.url })).stdout
  const problems = async () =>
    (await place.call(['queue', 'status'], { RANKLINE_QUEUE: journal.url })).stdout.split('\n\n')[0]
  await heldOpen(journal, 'INSERT INTO rankline.timelines (timeline) VALUES (99)', [], async () => {
    // It keeps nobody from anything before there is something to read.
    expect(JSON.parse(await status()).blocked_by).toBeNull()
    await released(journal, aSharedRun(), aChunk(['a']))
    const { blocked_by: blocker } = JSON.parse(await status())
    expect(blocker).toMatchObject({ application: 'rankline', user: 'tester', prepared: null })
    expect(await problems()).not.toContain('has kept tables of the queue locked')
    const later = Date.now() + 60_000
    vi.useFakeTimers({ toFake: ['Date'], now: later })
    const said = await problems().finally(() => vi.useRealTimers())
    expect(said).toContain(
      `A transaction of process ${blocker.pid} on the database server (rankline, user tester, `,
    )
    expect(said).toContain(`To end it: SELECT pg_terminate_backend(${blocker.pid})`)
  })
  expect(JSON.parse(await status()).blocked_by).toBeNull()
})

test('what is paused is neither released nor taken until it is resumed, and mistakes are said', async () => {
  await using place = await workspace()
  const ask = async (...args: readonly string[]) =>
    await place.call(['queue', ...args], { RANKLINE_QUEUE: journal.url })
  const [keyHash, otherKey] = [aKey(), aKey()]
  const [run, other] = [aSharedRun({ keyHash, job: 'calm' }), aSharedRun({ keyHash, job: 'busy' })]
  await released(journal, run, aChunk(['a']), aChunk(['b']))
  await released(journal, other, aChunk(['c']))
  await released(journal, aSharedRun({ keyHash: otherKey, job: 'calm' }), aChunk(['d']))
  const takes = async (name = '') =>
    (await journal.chunks.take(randomUUID(), [keyHash], 9, 60_000, { name })).length

  expect((await ask('pause', '--job', 'calm')).stderr).toContain(
    'calm: the queue has a job of that name with each of 2 keys. Say which with --key: ',
  )
  expect((await ask('pause', '--job', 'no')).stderr).toContain('--job no: the queue has no such job. It has ')
  const paused = await ask('pause', '--job', 'calm', '--key', keyHash)
  expect(paused.stderr + paused.stdout).toBe(
    `Paused calm (key ${keyHash.slice(0, 8)}). Took back 2 chunks; workers finish what they have. To go on: rankline queue resume --job calm --key '${keyHash}'\n`,
  )
  expect(await takes()).toBe(1)
  const waiting: number[] = []
  await journal.spending.release(coordinator, keyHash, [run.id], 10, async (chunks) => {
    waiting.push(chunks.length)
    return []
  })
  expect(waiting).toEqual([0])
  expect(await journal.chunks.hasWork([keyHash])).toBe(true)
  expect((await ask('status')).stdout).toContain(`calm (key ${keyHash.slice(0, 8)}): paused since 20`)
  expect((await ask('resume', '--job', 'calm')).stdout).toBe(`Resumed calm (key ${keyHash.slice(0, 8)}).\n`)
  await release(journal, run)

  for (const [id, name] of [
    [randomUUID(), 'desk, process 1'],
    [randomUUID(), 'lamp, process 1'],
  ] as const)
    await journal.operations.seen({ id, name, version: '0', keys: [keyHash], startedAt: 0, clockOffsetMs: 0 })
  expect((await ask('pause', '--worker', 'desk')).stdout).toContain('Paused worker desk.')
  expect(await takes('desk, process 1')).toBe(0)
  expect(await takes('lamp, process 1')).toBe(2)
  expect((await ask('pause')).stdout).toMatch(/^Paused the whole queue. Took back [1-9]/)
  expect(await journal.chunks.take(randomUUID(), [otherKey], 1, 60_000)).toEqual([])
  expect((await ask('resume')).stdout).toBe('Resumed the whole queue, worker desk.\n')
})
