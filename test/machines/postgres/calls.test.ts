import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type ChunkLease, JournalUnreachable, LeaseLost } from '../../../src/machines/journal.ts'
import type { LeasedChunk } from '../../../src/machines/postgres/chunks.ts'
import type { PagingDecision } from '../../../src/rank/paging.ts'
import { decompress } from '../../../src/store/compression.ts'
import { noon } from '../../store/build.ts'
import { testTable } from '../../support/test-table.ts'
import {
  aCall,
  aJournal,
  ended,
  expire,
  heldOpen,
  leased,
  type TestJournal,
  theAnswer,
  waitingForLocks,
} from './journal.ts'

interface CallRow {
  readonly page: number
  readonly attempt: number
  readonly fence: number
  readonly outcome: string | null
  readonly billed: number | null
  readonly error: string | null
}

const callsIn = ({ sql }: TestJournal) =>
  sql<CallRow>(
    'SELECT page, attempt, fence, outcome, billed, error FROM rankline.calls ORDER BY query, page, attempt',
  )

const takenBack = async (journal: TestJournal, ...leases: readonly ChunkLease[]) => {
  await expire(journal, ...leases)
  return await journal.chunks.takeBack(10)
}

/** Which calls in flight no lease covers: there must never be any. */
const lostInFlight = ({ sql }: TestJournal) =>
  sql<{ id: string }>(
    `SELECT c.id FROM rankline.calls c JOIN rankline.chunks k ON k.id = c.chunk_id
    WHERE c.outcome IS NULL AND NOT (k.state = 'leased' AND k.fence = c.fence)`,
  )

describe('A call is written before it is sent', () => {
  test('with the number of the attempt at its page', async () => {
    const journal = await aJournal()
    const { lease } = await leased(journal)
    for (const page of [1, 2, 1, 1]) {
      const call = aCall(lease, { page })
      await journal.calls.begin(lease, call)
      await journal.calls.settle(call, ended('server-error'))
    }
    expect((await callsIn(journal)).map(({ page, attempt }) => [page, attempt])).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
      [2, 1],
    ])
  })

  test('once, however often it is repeated', async () => {
    const journal = await aJournal()
    const { lease } = await leased(journal)
    const call = aCall(lease)
    for (let time = 0; time < 3; time++) await journal.calls.begin(lease, call)
    await Promise.all([
      journal.calls.begin(lease, call),
      journal.calls.begin(lease, aCall(lease, { page: 2 })),
    ])
    expect(await callsIn(journal)).toHaveLength(2)
  })

  test('also where the server still writes what a broken connection had asked for', async () => {
    const journal = await aJournal()
    const { lease } = await leased(journal)
    const call = aCall(lease)
    const first = `INSERT INTO rankline.calls (id, run_id, query, page, attempt, chunk_id, fence, key_hash, operation, credits, sent_at)
      VALUES ($1, $2, $3, 1, 1, $4, $5, $6, 'alpha.search', 1, $7)`
    const { task } = call
    const values = [call.id, lease.run, task?.query, lease.chunk, lease.fence, call.keyHash, noon]
    let again: Promise<void> | undefined
    await heldOpen(journal, first, values, async () => {
      again = journal.calls.begin(lease, call)
      await waitingForLocks(journal)
    })
    await again
    expect(await callsIn(journal)).toHaveLength(1)
  })

  testTable<[string, (journal: TestJournal, lease: ChunkLease, worker: string) => Promise<unknown>]>([
    ['was taken back', (journal, lease) => takenBack(journal, lease)],
    [
      'was taken back and leased again',
      async (journal, lease) => {
        await takenBack(journal, lease)
        await journal.sql("UPDATE rankline.chunks SET state = 'leased', fence = fence + 1")
      },
    ],
    ['was ended', (journal, lease, worker) => journal.chunks.end(worker, lease, { state: 'released' })],
    ['is done', (journal, lease, worker) => journal.chunks.end(worker, lease, { state: 'done' })],
  ])('and refused where the chunk %s, also one that was written before', async (_, lose) => {
    const journal = await aJournal()
    const { lease, worker } = await leased(journal)
    const before = aCall(lease)
    await journal.calls.begin(lease, before)
    await lose(journal, lease, worker)
    await expect(journal.calls.begin(lease, aCall(lease, { page: 2 }))).rejects.toBeInstanceOf(LeaseLost)
    await expect(journal.calls.begin(lease, before)).rejects.toBeInstanceOf(LeaseLost)
    expect((await callsIn(journal)).map(({ outcome }) => outcome)).toEqual(['ambiguous'])
  })

  test('and one refused intent keeps none of the others back', async () => {
    const journal = await aJournal()
    const { leases } = await leased(journal, { chunks: 2 })
    const [lost, kept] = leases as [(typeof leases)[0], (typeof leases)[0]]
    await takenBack(journal, lost)
    const written = await Promise.allSettled([
      journal.calls.begin(lost, aCall(lost)),
      journal.calls.begin(kept, aCall(kept)),
    ])
    expect(written.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  })
})

describe('An intent and a takeover at the same instant', () => {
  test('an intent that comes while its chunk is taken back waits for that, and is refused', async () => {
    const journal = await aJournal()
    const { lease } = await leased(journal)
    const takeover = "UPDATE rankline.chunks SET state = 'released', worker = NULL WHERE id = $1"
    let intent: Promise<unknown> | undefined
    await heldOpen(journal, takeover, [lease.chunk], async () => {
      intent = journal.calls.begin(lease, aCall(lease)).catch((error: unknown) => error)
      await waitingForLocks(journal)
    })
    expect(await intent).toBeInstanceOf(LeaseLost)
    expect(await callsIn(journal)).toEqual([])
  })

  test('a takeover that comes while an intent is written leaves the chunk for the next time', async () => {
    const journal = await aJournal()
    const { lease } = await leased(journal)
    await expire(journal, lease)
    const shared = 'SELECT 1 FROM rankline.chunks WHERE id = $1 FOR SHARE'
    await heldOpen(journal, shared, [lease.chunk], async () => {
      expect(await journal.chunks.takeBack(10)).toEqual({ released: 0, dead: 0 })
    })
    expect(await journal.chunks.takeBack(10)).toEqual({ released: 1, dead: 0 })
  })

  test('leave no call in flight that no lease covers, and every call that was let through in the ledger', async () => {
    const journal = await aJournal()
    const { leases } = await leased(journal, { chunks: 60 })
    await expire(journal, ...leases)
    const taken = async (): Promise<void> => {
      for (let left = leases.length; left > 0; ) left -= (await journal.chunks.takeBack(10)).released
    }
    const begun = leases.map(async (lease, index) => {
      // In many groups, so that some come before the takeover and some after.
      for (let turn = 0; turn < index; turn++) await new Promise((resolve) => setImmediate(resolve))
      return await journal.calls.begin(lease, aCall(lease)).then(
        () => true,
        () => false,
      )
    })
    const [letThrough] = await Promise.all([Promise.all(begun), taken()])
    const calls = await callsIn(journal)
    expect(calls).toHaveLength(letThrough.filter(Boolean).length)
    expect(await lostInFlight(journal)).toEqual([])
  })
})

describe('A takeover', () => {
  interface Sums {
    readonly spent: number
    readonly in_doubt: number
  }
  const sumsIn = async ({ sql }: TestJournal) => ({
    chunks: (await sql<Sums>('SELECT spent, in_doubt FROM rankline.chunks'))[0],
    quarters: (
      await sql<Sums>(
        'SELECT sum(spent)::int AS spent, sum(in_doubt)::int AS in_doubt FROM rankline.spending',
      )
    )[0],
  })
  const inBoth = (spent: number, in_doubt: number) => ({
    chunks: { spent, in_doubt },
    quarters: { spent, in_doubt },
  })

  test('makes open calls ambiguous once, and counts them as possibly billed', async () => {
    const journal = await aJournal()
    const { lease } = await leased(journal)
    const [open, over] = [aCall(lease, { credits: 3 }), aCall(lease, { page: 2 })]
    await journal.calls.begin(lease, open)
    await journal.calls.begin(lease, over)
    await journal.calls.answer(over, ended('answered'), theAnswer(over))
    await takenBack(journal, lease)
    expect((await callsIn(journal)).map(({ outcome, billed }) => [outcome, billed])).toEqual([
      ['ambiguous', null],
      ['answered', 1],
    ])
    expect(await sumsIn(journal)).toEqual(inBoth(1, 3))
    await expire(journal, lease)
    expect(await journal.chunks.takeBack(10)).toEqual({ released: 0, dead: 0 })
    expect(await sumsIn(journal)).toEqual(inBoth(1, 3))
  })

  test('leaves the late answer of the one before its place: stored and paid for, but no end and no new call', async () => {
    const journal = await aJournal()
    const { lease, run } = await leased(journal)
    const call = aCall(lease, { credits: 3 })
    await journal.calls.begin(lease, call)
    await takenBack(journal, lease)
    const [next] = await journal.chunks.take(randomUUID(), [run.keyHash], 1, 60_000)
    await journal.calls.answer(call, ended('answered'), theAnswer(call, 'late'))
    await journal.calls.answer(call, ended('answered'), theAnswer(call, 'late'))
    expect(await sumsIn(journal)).toEqual(inBoth(3, 0))
    const end = { task: call.task as NonNullable<typeof call.task>, paging: null }
    await expect(
      journal.calls.endTask(lease, { ...end, end: { call: call.id, reused: false } }),
    ).rejects.toBeInstanceOf(LeaseLost)
    await expect(journal.calls.begin(lease, aCall(lease))).rejects.toBeInstanceOf(LeaseLost)
    expect(await journal.sql('SELECT 1 FROM rankline.task_ends')).toEqual([])
    // Who has the chunk next finds it.
    await journal.chunks.end(randomUUID(), next as ChunkLease, { state: 'released' })
    await takenBack(journal, next as ChunkLease)
    const [last] = await journal.chunks.take(randomUUID(), [run.keyHash], 1, 60_000)
    expect(last?.answers.map((answer) => String(decompress(answer)))).toEqual(['late'])
  })

  testTable<[string, (journal: TestJournal, lease: LeasedChunk, worker: string) => Promise<unknown>]>([
    ['a takeover', (journal) => journal.chunks.takeBack(10)],
    [
      'the end of its lease',
      (journal, lease, worker) => journal.chunks.end(worker, lease, { state: 'released' }),
    ],
    ['an intent', (journal, lease) => journal.calls.begin(lease, aCall(lease, { page: 2 }))],
  ])(
    'and %s at the same instant as a late answer: neither waits for the other in a circle',
    async (_, meanwhile) => {
      const journal = await aJournal()
      const { lease, worker } = await leased(journal)
      const call = aCall(lease)
      await journal.calls.begin(lease, call)
      await expire(journal, lease)
      let both: Promise<unknown> | undefined
      await heldOpen(journal, 'SELECT 1 FROM rankline.calls FOR UPDATE', [], async () => {
        const answered = journal.calls.answer(call, ended('answered'), theAnswer(call))
        await waitingForLocks(journal)
        const other = meanwhile(journal, lease, worker)
        await Promise.race([other, waitingForLocks(journal, 2)])
        both = Promise.all([answered, other])
      })
      await both
      await takenBack(journal, lease)
      expect((await sumsIn(journal)).chunks?.spent).toBe(1)
      expect(await deadlocks(journal)).toBe(0)
    },
  )
})

async function deadlocks({ sql }: TestJournal): Promise<number> {
  await sql('SELECT pg_stat_force_next_flush()')
  const [row] = await sql<{ deadlocks: number }>(
    'SELECT pg_stat_get_db_deadlocks(oid)::int AS deadlocks FROM pg_database WHERE datname = current_database()',
  )
  return row?.deadlocks ?? 0
}

test('Statements that someone cancels are done again: intent, answer and end of the task are there, once', async () => {
  const journal = await aJournal()
  const { lease } = await leased(journal)
  const call = aCall(lease)
  const task = call.task as NonNullable<typeof call.task>
  const cancelled = async (work: () => Promise<unknown>): Promise<void> => {
    let done: Promise<unknown> | undefined
    await heldOpen(journal, 'SELECT 1 FROM rankline.chunks FOR UPDATE', [], async () => {
      done = work()
      await waitingForLocks(journal)
      const [row] = await journal.sql<{ ended: number }>(
        `SELECT count(*) FILTER (WHERE pg_cancel_backend(pid))::int AS ended FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      expect(row).toEqual({ ended: 1 })
      await waitingForLocks(journal)
    })
    await done
  }
  await cancelled(() => journal.calls.begin(lease, call))
  await cancelled(() => journal.calls.answer(call, ended('answered'), theAnswer(call)))
  await cancelled(() =>
    journal.calls.endTask(lease, { task, end: { call: call.id, reused: false }, paging: null }),
  )
  expect(await callsIn(journal)).toMatchObject([{ attempt: 1, outcome: 'answered', billed: 1 }])
  const rows = 'SELECT (SELECT count(*) FROM rankline.answers)::int AS answers, count(*)::int AS ends'
  expect(await journal.sql(`${rows} FROM rankline.task_ends`)).toEqual([{ answers: 1, ends: 1 }])
})

describe('The end of a task', () => {
  const paging: PagingDecision = { next: 2 } as unknown as PagingDecision

  test('is the first one that is recorded', async () => {
    const journal = await aJournal()
    const { lease, run, worker } = await leased(journal)
    const call = aCall(lease)
    const task = call.task as NonNullable<typeof call.task>
    await journal.calls.begin(lease, call)
    await Promise.all([
      journal.calls.answer(call, ended('answered'), theAnswer(call)),
      journal.calls.endTask(lease, { task, end: { call: call.id, reused: false }, paging }),
      journal.calls.endTask(lease, { task, end: { call: null, cause: 'second' }, paging: null }),
    ])
    await journal.calls.endTask(lease, { task, end: { call: null, cause: 'third' }, paging: null })
    await journal.chunks.end(worker, lease, { state: 'released' })
    const [again] = await journal.chunks.take(worker, [run.keyHash], 1, 60_000)
    expect(again?.ended).toEqual([{ task, end: { call: call.id, reused: false }, paging }])
  })

  test('is known with its cause where the task failed', async () => {
    const journal = await aJournal()
    const { lease, run, worker } = await leased(journal)
    const task = { run: run.id, query: lease.queries[0]?.key as Buffer, page: 1 }
    await journal.calls.endTask(lease, { task, end: { call: null, cause: 'no such page' }, paging: null })
    await journal.chunks.end(worker, lease, { state: 'released' })
    const [again] = await journal.chunks.take(worker, [run.keyHash], 1, 60_000)
    expect(again?.ended).toEqual([{ task, end: { call: null, cause: 'no such page' }, paging: null }])
  })
})

describe('The ledger', () => {
  test('has what the service says, whatever is in it', async () => {
    const journal = await aJournal()
    const { lease } = await leased(journal)
    const calls = ['a\0b', 'cut \ud83d', '\udc00 late', 'an "odd" \\u0000 one 😀'].map(
      (error, index) => [aCall(lease, { page: index + 1 }), error] as const,
    )
    for (const [call] of calls) await journal.calls.begin(lease, call)
    await Promise.all(
      calls.map(([call, error]) => journal.calls.settle(call, ended('server-error', { error }))),
    )
    expect((await callsIn(journal)).map(({ error }) => error)).toEqual([
      'a\ufffdb',
      'cut \ufffd',
      '\ufffd late',
      'an "odd" \\u0000 one 😀',
    ])
  })

  test('has free lookups with their end, once', async () => {
    const journal = await aJournal()
    const lookup = {
      id: randomUUID(),
      task: null,
      operation: 'usage',
      credits: 0,
      sentAt: noon,
      keyHash: 'key',
    }
    for (let time = 0; time < 2; time++) await journal.calls.settle(lookup, ended('answered', { billed: 0 }))
    expect(await journal.sql('SELECT operation, outcome, billed::int FROM rankline.calls')).toEqual([
      { operation: 'usage', outcome: 'answered', billed: 0 },
    ])
  })

  test('has a reading of the account once', async () => {
    const journal = await aJournal()
    const reading = {
      ...{ run: null, keyHash: 'key', askedAt: noon, readAt: noon + 5, remaining: 7, totalUsed: null },
      record: '{}',
    }
    for (let time = 0; time < 2; time++) await journal.calls.saveUsage(reading)
    expect(await journal.sql('SELECT remaining FROM rankline.readings')).toEqual([{ remaining: 7 }])
  })

  test('keeps an asynchronous job open until its answer, which the next worker finds', async () => {
    const journal = await aJournal()
    const { lease, run, worker } = await leased(journal)
    const call = aCall(lease, { credits: 3 })
    await journal.calls.begin(lease, call)
    await journal.calls.acceptJob(call, ended('accepted'), 'job 7')
    await journal.chunks.end(worker, lease, { state: 'released' })
    const [next] = await journal.chunks.take(worker, [run.keyHash], 1, 60_000)
    const { query, page } = call.task as NonNullable<typeof call.task>
    expect(next?.openJobs).toEqual([
      { call: call.id, query, page, jobId: 'job 7', sentAt: noon, acceptedAt: noon + 1_000 },
    ])
    await journal.calls.answer(call, null, theAnswer(call))
    expect(await journal.sql('SELECT billed::int, job_over FROM rankline.calls')).toEqual([
      { billed: 1, job_over: true },
    ])
  })

  test('rejects what waits when it is abandoned, and takes nothing more', async () => {
    const journal = await aJournal()
    const { lease } = await leased(journal)
    journal.calls.abandon()
    await expect(journal.calls.begin(lease, aCall(lease))).rejects.toBeInstanceOf(JournalUnreachable)
    await journal.calls.flush()
  })
})
