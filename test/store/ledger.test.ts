import { describe, expect, test } from 'vitest'
import type { Settlement } from '../../src/model/call.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { testTable } from '../support/test-table.ts'
import {
  aLookup,
  answer,
  begin,
  conclude,
  done,
  keep,
  keepPolled,
  settlement,
  submit,
  webPage,
} from './answers.ts'
import { aStore, firstTask, hour, lease, noon, plan } from './build.ts'
import { aRunOfThree } from './three-tasks.ts'

const end = (outcome: Settlement['outcome'], billed: 0 | 1 | null): Settlement =>
  settlement({ outcome, billed, httpStatus: null, error: 'x' })

describe('the ledger', () => {
  test('holds a call before it is over, and tells what it came to', async () => {
    const { store, sql, a } = await aRunOfThree()
    const id = await begin(store, a, noon - 500)
    expect(sql('SELECT call_id, task_id, run_id, operation, outcome, billed, credits FROM calls')).toEqual([
      {
        call_id: id,
        task_id: a.id,
        run_id: 1,
        operation: 'alpha.search',
        outcome: null,
        billed: null,
        credits: 1,
      },
    ])
    await store.settleCall(id, end('ambiguous', null), null)
    expect(sql('SELECT outcome, billed, latency_ms, error, finished_at FROM calls')).toEqual([
      {
        outcome: 'ambiguous',
        billed: null,
        latency_ms: 321,
        error: 'x',
        finished_at: new Date(noon).toISOString(),
      },
    ])
  })

  test('numbers calls that begin together in their order, each with its own task', async () => {
    const { store, sql, a, b, c } = await aRunOfThree()
    const tasks = Array.from({ length: 40 }, (_, number) => [a, b, c][number % 3] as typeof a)
    const ids = await Promise.all(tasks.map((task, number) => begin(store, task, noon + number)))
    expect(sql('SELECT call_id, task_id, sent_at FROM calls ORDER BY call_id')).toEqual(
      tasks.map((task, number) => ({
        call_id: ids[number],
        task_id: task.id,
        sent_at: new Date(noon + number).toISOString(),
      })),
    )
    expect(new Set(ids)).toHaveProperty('size', 40)
  })

  test('counts what was billed and what nobody knows apart, and a call in the air as neither', async () => {
    const { store, sql, run, a, b, c } = await aRunOfThree()
    await keep(store, a)
    await store.settleCall(await begin(store, b), end('ambiguous', null), null)
    await store.settleCall(await begin(store, b), end('server-error', 0), null)
    await store.settleCall(await begin(store, b), end('throttled', 0), null)
    expect(await store.creditsOf([run.id])).toEqual({ spent: 1, ambiguous: 1 })
    await begin(store, c)
    expect(await store.creditsOf([run.id])).toEqual({ spent: 1, ambiguous: 1 })
    expect(await store.creditsOf([])).toEqual({ spent: 0, ambiguous: 0 })
    const { calls, throttled, spent, ambiguous } = await store.tally(run.id)
    expect({ calls, throttled, spent, ambiguous }).toEqual({
      calls: { sent: 5, billed: 1, free: 2, ambiguous: 1 },
      throttled: 1,
      spent: 1,
      ambiguous: 1,
    })
    expect(sql('SELECT credits_spent, credits_ambiguous, tasks_planned, tasks_done FROM runs')).toEqual([
      { credits_spent: 1, credits_ambiguous: 1, tasks_planned: 3, tasks_done: 0 },
    ])
  })

  test('knows when calls were sent, by whatever run', async () => {
    const { store, a, b } = await aRunOfThree()
    await begin(store, a, noon - hour)
    await begin(store, b, noon)
    await store.beginCall(aLookup({ sentAt: noon - 1 }))
    await store.settleCall(
      await begin(store, a, noon + 1),
      { ...end('server-error', 0), finishedAt: noon + 2 },
      null,
    )
    expect(await store.callsSince(noon - 1, noon + 9)).toEqual([
      { sentAt: noon - 1, endedAt: null },
      { sentAt: noon, endedAt: null },
      { sentAt: noon + 1, endedAt: noon + 2 },
    ])
    expect(await store.callsSince(noon + 2, noon + 9)).toEqual([])
  })

  test('does not take a call for a recent one because the clock was ahead when it was sent', async () => {
    const { store, a } = await aRunOfThree()
    await begin(store, a, noon + hour)
    // Nobody knows how long ago that was, until a later call is old.
    expect(await store.callsSince(noon - 60_000, noon)).toHaveLength(1)
    await begin(store, a, noon)
    expect(await store.callsSince(noon - 60_000, noon + 10)).toHaveLength(2)
    expect(await store.callsSince(noon + 10, noon + 60_010)).toEqual([])
  })

  test('sends a task again after a call that failed for a passing reason', async () => {
    const { store, run, a } = await aRunOfThree()
    await store.settleCall(await begin(store, a), end('server-error', 0), {
      taskId: a.id,
      tries: 1,
      nextRound: false,
    })
    expect(await lease(store, run.id)).toMatchObject([{ id: a.id, tries: 1 }])
  })

  test('keeps readings of the account, and answers the latest of a key, whatever the clock said', async () => {
    const { store } = await aRunOfThree()
    const reading = {
      runId: null,
      keyHash: 'k',
      askedAt: noon,
      readAt: noon,
      remaining: 5,
      totalUsed: 7,
      record: '{"a":1}',
    }
    expect(await store.lastUsage('k')).toBeNull()
    await store.saveUsage(reading)
    await store.saveUsage({ ...reading, remaining: 4 })
    await store.saveUsage({ ...reading, readAt: noon - hour, remaining: 9 })
    await store.saveUsage({ ...reading, keyHash: 'other', readAt: noon + hour, remaining: 1 })
    expect(await store.lastUsage('k')).toEqual({ ...reading, readAt: noon - hour, remaining: 9 })
  })
})

describe('an answer', () => {
  test('is kept whole and settled as billed in one change', async () => {
    const { store, sql, a } = await aRunOfThree()
    const callId = await begin(store, a)
    const body = Buffer.from([0, 255, 1, 254])
    const id = await store.saveAnswer({
      callId,
      task: a,
      settlement: settlement(),
      fetchedAt: noon,
      body,
      encoding: null,
    })
    expect(await store.storedBody(id)).toEqual({ body, fetchedAt: noon })
    expect(sql('SELECT outcome, billed FROM calls')).toEqual([{ outcome: 'answered', billed: 1 }])
    expect(sql('SELECT state FROM tasks WHERE task_id = ?', a.id)).toEqual([{ state: 'answered' }])
  })

  test('that cannot be understood fails its task and stays stored and billed', async () => {
    const { store, sql, run, a } = await aRunOfThree()
    const id = await keep(store, a)
    await conclude(store, a, { failed: 'the answer is not JSON' })
    expect(await store.storedBody(id)).not.toBeNull()
    expect(await store.creditsOf([run.id])).toEqual({ spent: 1, ambiguous: 0 })
    expect(sql('SELECT state, cause FROM tasks WHERE task_id = ?', a.id)).toEqual([
      { state: 'failed', cause: 'the answer is not JSON' },
    ])
  })

  test('whose consequences cannot be worked out leaves nothing half done, and others of its group stay', async () => {
    const { store, sql, run, a, b } = await aRunOfThree()
    const [first, second] = [await keep(store, a), await keep(store, b)]
    const broken = conclude(store, a, done(first, webPage('new')), () => {
      throw new Error('a bug')
    })
    const fine = conclude(store, b, done(second, webPage('new')))
    await expect(broken).rejects.toThrow('a bug')
    await fine
    expect(sql('SELECT query, state FROM tasks ORDER BY task_id LIMIT 2')).toEqual([
      { query: 'a', state: 'answered' },
      { query: 'b', state: 'done' },
    ])
    expect(sql('SELECT DISTINCT query FROM organic_results')).toEqual([{ query: 'b' }])
    await answer(store, a, run, webPage('new'))
    expect(
      sql('SELECT title FROM organic_results ORDER BY query, place').map((row) => Object.values(row)[0]),
    ).toEqual([...'newnew'])
  })
})

describe('an asynchronous job', () => {
  async function accepted() {
    const temp = await aStore()
    const queries = [{ text: 'a', operation: 'alpha.images' }]
    const run = await plan(temp.store, { queries })
    const task = await firstTask(temp.store, run)
    return { ...temp, run, task, job: await submit(temp.store, task) }
  }

  test('that was accepted is remembered over a crash, and never submitted again', async () => {
    const { store, sql, path, run, task, job } = await accepted()
    expect(sql('SELECT outcome, billed FROM calls')).toEqual([{ outcome: 'accepted', billed: 0 }])
    await store.release([task.id])
    await using next = await openStore(path)
    expect(await next.recover([run.id], noon + hour)).toBe(0)
    expect(await next.acceptedJobs([run.id])).toMatchObject([{ ...job, task }])
    await plan(next, { queries: [{ text: 'a', operation: 'alpha.images' }], continues: run.id })
    expect(await lease(next, run.id)).toEqual([])
    expect((await next.tally(run.id)).tasks).toMatchObject({ planned: 1, pending: 1 })
  })

  test('is billed by the answer that it brings', async () => {
    const { store, run, task, job } = await accepted()
    const id = await keepPolled(store, task, job, noon + hour)
    expect(await store.creditsOf([run.id])).toEqual({ spent: 1, ambiguous: 0 })
    expect(await store.storedBody(id)).toMatchObject({ fetchedAt: noon + hour })
    expect(await store.acceptedJobs([run.id])).toEqual([])
  })

  testTable<[0 | null, { spent: number; ambiguous: number }]>([
    [0, { spent: 0, ambiguous: 0 }],
    [null, { spent: 0, ambiguous: 1 }],
  ])('that ends without an answer was billed: %j', async (billed, credits) => {
    const { store, run, job } = await accepted()
    await store.endJob(job, billed, noon, null)
    expect(await store.creditsOf([run.id])).toEqual(credits)
    expect(await store.acceptedJobs([run.id])).toEqual([])
  })
})
