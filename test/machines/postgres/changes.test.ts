import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { JournalChange } from '../../../src/machines/journal.ts'
import { sharedChanges } from '../../../src/machines/postgres/changes.ts'
import { dayMs } from '../../../src/model/time.ts'
import type { JournalPosition } from '../../../src/store/sync.ts'
import { hour, noon } from '../../store/build.ts'
import { sharedPostgres } from '../../support/postgres.ts'
import {
  aCall,
  aJournal,
  aKey,
  aSharedRun,
  coordinator,
  ended,
  heldOpen,
  leased,
  type TestJournal,
  theAnswer,
} from './journal.ts'

const reading = (key: string, at: number) => ({
  ...{ run: null, keyHash: key, askedAt: at, readAt: at, remaining: 10, totalUsed: 5, record: '{}' },
})

/** Reads to the end in steps of so many rows. */
async function readAll({ changes }: TestJournal, most: number, from: JournalPosition | null = null) {
  const read: JournalChange[] = []
  let position = from
  for (let more = true; more; ) {
    const batch = await changes.after(position, most)
    read.push(...batch.changes)
    position = batch.position
    more = batch.more
  }
  return { read, position: position as JournalPosition }
}

test('what a slow transaction commits late is not skipped', async () => {
  const journal = await aJournal()
  await journal.calls.saveUsage(reading('before', noon))
  const insert = `INSERT INTO rankline.readings (key_hash, asked_at, read_at, record) VALUES ($1, $2, $2, '{}')`
  const first = await heldOpen(journal, insert, ['slow', noon], async () => {
    await journal.calls.saveUsage(reading('quick', noon))
    return await readAll(journal, 100)
  })

  const second = await readAll(journal, 100, first.position)

  expect(keysOf(first.read)).toEqual(['before'])
  expect(keysOf(second.read).sort()).toEqual(['quick', 'slow'])
})

const keysOf = (read: readonly JournalChange[]) =>
  read.flatMap((change) => (change.kind === 'reading' ? [change.reading.keyHash] : []))

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, application_name: 'psql' })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** A transaction that writes into a table of its own, and is still under way. */
async function foreignTransaction(url: string): Promise<Client> {
  const client = await connected(url)
  await client.query('CREATE TABLE IF NOT EXISTS public.others (id serial, text text)')
  await client.query('BEGIN')
  await client.query(`INSERT INTO public.others (text) VALUES ('foreign')`)
  return client
}

test('transactions of others, in this database and elsewhere on the server, keep nothing back', async () => {
  const journal = await aJournal()
  const elsewhere = await foreignTransaction(await (await sharedPostgres()).database())
  const here = await foreignTransaction(journal.url)
  // It reads the journal, for hours.
  await here.query('SELECT count(*) FROM rankline.calls')

  await journal.calls.saveUsage(reading('after', noon))

  const { changes, unread } = await journal.changes.after(null, 100)
  expect(keysOf(changes)).toEqual(['after'])
  expect(unread).toBeNull()
  for (const client of [here, elsewhere]) await client.query('ROLLBACK')
})

test('a transaction of others that ends while it is looked at takes no reader back', async () => {
  const journal = await aJournal()
  const other = await foreignTransaction(journal.url)
  await journal.calls.saveUsage(reading('before', noon))
  const { position } = await journal.changes.after(null, 100)
  const changes = sharedChanges({
    ...journal.postgres,
    transaction: (work) =>
      journal.postgres.transaction((statements) =>
        work({
          query: async <Row extends object>(text: string, values?: readonly unknown[]) => {
            const rows = await statements.query<Row>(text, values)
            if (text.includes('pg_snapshot_xip')) await other.query('ROLLBACK')
            return rows
          },
        }),
      ),
  })

  expect(await changes.after(position, 100)).toMatchObject({ changes: [], position, unread: null })
})

test('what keeps changes back is named, by its process or by the name it was prepared under', async () => {
  const journal = await aJournal()
  const client = await connected(journal.url)
  const insert = `INSERT INTO rankline.readings (key_hash, asked_at, read_at, record) VALUES ('slow', ${noon}, ${noon}, '{}')`
  await client.query(`BEGIN; ${insert}`)
  expect((await journal.changes.after(null, 100)).unread).toBeNull()

  await journal.calls.saveUsage(reading('quick', noon))

  const { changes, unread } = await journal.changes.after(null, 100)
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid, current_database() AS database')
  expect(keysOf(changes)).toEqual([])
  expect(unread?.blockedBy).toMatchObject({
    ...{ pid: rows[0].pid, database: rows[0].database, application: 'psql', user: 'tester' },
    since: expect.any(Number),
  })
  await client.query('ROLLBACK')
  expect(await journal.changes.after(null, 100)).toMatchObject({ unread: null })
})

test('a reader misses nothing, whoever commits when, and whatever else goes on at the server', async () => {
  const journal = await aJournal()
  const foreign = [await foreignTransaction(await (await sharedPostgres()).database())]
  for (let count = 0; count < 3; count++) foreign.push(await foreignTransaction(journal.url))
  let isOver = false
  const written = new Set<string>()
  const soon = (): Promise<unknown> => pause(Math.random() * 8)
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    const client = await connected(journal.url)
    for (let number = 0; number < 60; number++) {
      const key = `${writer}/${number}`
      await client.query('BEGIN')
      if (number % 3 === 0) await client.query('SELECT 1 FROM rankline.jobs FOR SHARE')
      await client.query(
        `INSERT INTO rankline.readings (key_hash, asked_at, read_at, record) VALUES ($1, $2, $2, '{}')`,
        [key, noon],
      )
      if (number % 4 === 1) await soon()
      await client.query(number % 7 === 6 ? 'ROLLBACK' : 'COMMIT')
      if (number % 7 !== 6) written.add(key)
    }
  })
  const others = foreign.map(async (client) => {
    while (!isOver) {
      await client.query('COMMIT; BEGIN')
      await client.query(`INSERT INTO public.others (text) VALUES ('foreign')`)
      await soon()
    }
    await client.query('ROLLBACK')
  })
  const found: string[] = []
  let position: JournalPosition | null = null
  const read = async (): Promise<void> => {
    const batch = await journal.changes.after(position, 10_000)
    found.push(...keysOf(batch.changes))
    position = batch.position
  }
  const reader = (async () => {
    while (!isOver) await read()
  })()
  await Promise.all(writers)
  isOver = true
  await Promise.all([...others, reader])
  await read()

  expect(found.sort()).toEqual([...written].sort())
})

test('however small the steps of a reader are, it reads the same changes', async () => {
  const journal = await aJournal()
  const { leases } = await leased(journal, { chunks: 4 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(3), fc.constantFrom('answered', 'server-error', 'open')), { maxLength: 6 }),
      fc.integer({ min: 1, max: 5 }),
      async (calls, most) => {
        for (const [which, outcome] of calls) {
          const lease = leases[which] as (typeof leases)[0]
          const call = aCall(lease)
          await journal.calls.begin(lease, call)
          if (outcome === 'answered')
            await journal.calls.answer(call, ended('answered'), theAnswer(call, randomUUID()))
          else if (outcome === 'server-error') await journal.calls.settle(call, ended('server-error'))
        }
        const whole = await readAll(journal, 100_000)
        const steps = await readAll(journal, most)
        const sorted = ({ read }: typeof whole) => read.map((change) => JSON.stringify(change)).sort()
        expect(sorted(steps)).toEqual(sorted(whole))
      },
    ),
    { numRuns: 15 },
  )
})

test('a call comes when it is settled, and again when that turns out otherwise', async () => {
  const journal = await aJournal()
  const { lease } = await leased(journal)
  const call = aCall(lease)
  await journal.calls.begin(lease, call)
  const inFlight = await readAll(journal, 100)
  await journal.sql(`UPDATE rankline.chunks SET leased_until = clock_timestamp() - interval '1 ms'`)
  await journal.chunks.takeBack(10)
  const lost = await readAll(journal, 100, inFlight.position)
  await journal.calls.answer(call, ended('answered'), theAnswer(call))
  const late = await readAll(journal, 100, lost.position)

  const outcomes = ({ read }: typeof lost) =>
    read.flatMap((change) => (change.kind === 'call' ? [change.call.settlement?.outcome] : []))
  expect([inFlight, lost, late].map(outcomes)).toEqual([[], ['ambiguous'], ['answered']])
  expect(late.read.map(({ kind }) => kind)).toEqual(['call', 'answer'])
})

test('bodies are dropped when they are old and all readers have them; forgotten readers do not count', async () => {
  const journal = await aJournal()
  const { lease } = await leased(journal)
  const [old, young] = [aCall(lease), aCall(lease, { page: 2 })]
  for (const [call, at] of [
    [old, Date.now() - 3 * hour],
    [young, Date.now()],
  ] as const) {
    await journal.calls.begin(lease, call)
    await journal.calls.answer(call, ended('answered'), theAnswer(call, 'body', at))
  }
  const dropped = async (forgetAfterMs = hour) => await journal.changes.dropRead(2 * hour, forgetAfterMs)
  const [quick, slow] = ['quick', 'slow'].map((name) => ({ id: randomUUID(), name }))
  expect(await dropped()).toBe(0)
  const { position } = await readAll(journal, 100)
  await journal.changes.reached(quick as { id: string; name: string }, position, 0)
  await journal.changes.reached(slow as { id: string; name: string }, '0', 0)
  expect(await dropped()).toBe(0)
  await journal.sql(`UPDATE rankline.readers SET seen_at = seen_at - interval '2 hours' WHERE name = 'slow'`)

  expect(await dropped()).toBe(1)

  const { read } = await readAll(journal, 100)
  const answers = read.flatMap((change) => (change.kind === 'answer' ? [change.answer.call] : []))
  expect(answers).toEqual([young.id])
})

test('of a run that ended long ago, and that all readers have, only the sums stay; who comes back too late is told', async () => {
  const journal = await aJournal()
  const keyHash = aKey()
  const buy = async (job: string, daysAgo: number) => {
    const { lease, run, worker } = await leased(journal, { run: aSharedRun({ keyHash, job }) })
    const sentAt = Date.now() - daysAgo * dayMs
    const call = aCall(lease, { sentAt })
    const task = call.task as NonNullable<typeof call.task>
    await journal.calls.begin(lease, call)
    await journal.calls.answer(
      call,
      ended('answered', { finishedAt: sentAt }),
      theAnswer(call, 'body', sentAt),
    )
    await journal.calls.endTask(lease, { task, end: { call: call.id, reused: false }, paging: null })
    await journal.chunks.end(worker, lease, { state: 'done' })
    return {
      run,
      finish: () =>
        journal.plans.finish(coordinator, run.id, { reason: 'completed', finishedAt: sentAt, durationMs: 1 }),
    }
  }
  const [old, open, young] = [await buy('old', 95), await buy('open', 95), await buy('young', 35)]
  const away = { id: randomUUID(), name: 'away' }
  const { position: early } = await journal.changes.after(null, 1)
  await old.finish()
  await young.finish()
  const runs = [old, open, young].map(({ run }) => run.id)
  const total = { from: 0, until: Number.MAX_SAFE_INTEGER }
  const sums = async () => {
    let standing: unknown
    await journal.spending.release(coordinator, keyHash, runs, 0, async (_, standings) => {
      standing = [
        await standings.creditsSent({ from: Date.now() - 200 * dayMs, until: Date.now() + dayMs }),
        ...[await standings.chargedCalls(total), [...standings.byRun].sort()],
      ]
      return []
    })
    return standing
  }
  const before = await sums()
  const rows = async () =>
    Object.fromEntries(
      await Promise.all(
        ['calls', 'answers', 'task_ends', 'run_events', 'plan_parts'].map(async (table) => {
          const found = await journal.sql<{ job: string }>(
            `SELECT DISTINCT r.job FROM rankline.${table} t JOIN rankline.runs r ON r.id = t.run_id ORDER BY 1`,
          )
          return [table, found.map(({ job }) => job).join()] as const
        }),
      ),
    )
  await journal.sql(
    `INSERT INTO rankline.plan_parts (run_id, version, part, encoding, body) SELECT id, 1, 1, '', '' FROM rankline.runs`,
  )
  const all = 'old,open,young'
  const whole = { calls: all, answers: all, task_ends: all, run_events: all, plan_parts: all }
  const drop = () => journal.changes.dropRead(90 * dayMs, 30 * dayMs)
  await drop()
  expect(await rows()).toEqual(whole)
  const { position } = await readAll(journal, 100)
  await journal.changes.reached({ id: randomUUID(), name: 'here' }, position, 0)
  await journal.changes.reached(away, early, 0)
  await drop()
  expect(await rows()).toEqual(whole)
  // One that was not seen for a month holds nothing.
  await journal.sql(`UPDATE rankline.readers SET seen_at = seen_at - interval '31 days' WHERE name = 'away'`)
  expect(await drop()).toBeGreaterThan(0)
  const rest = 'open,young'
  expect(await rows()).toEqual({
    calls: rest,
    answers: rest,
    task_ends: rest,
    run_events: rest,
    plan_parts: rest,
  })
  expect(await sums()).toEqual(before)
  expect(
    await journal.sql(`SELECT body, queries FROM rankline.chunks WHERE run_id = $1`, old.run.id),
  ).toEqual([{ body: Buffer.alloc(0), queries: [] }])
  expect((await journal.changes.after(early, 100, away.id)).isIncomplete).toBe(true)
  expect((await journal.changes.after(position, 100)).isIncomplete).toBe(false)
  // One that comes for the first time gets what is there.
  const first = await readAll(journal, 100)
  expect(first.read.flatMap((change) => (change.kind === 'plan' ? [change.run.job] : [])).sort()).toEqual([
    'open',
    'young',
  ])
  // A shorter time drops no call that counts for the quota of a month.
  await journal.changes.dropRead(hour, 30 * dayMs)
  expect((await rows()).calls).toBe(rest)
  expect(await drop()).toBe(0)
})
