import { describe, expect, test } from 'vitest'
import { aLookup, answer, begin, fail, settlement, webPage, work } from './answers.ts'
import { aStore, hour, lease, noon, plan } from './build.ts'
import { aRunOfThree } from './three-tasks.ts'

describe('a run', () => {
  test('that a process left behind is put right: open calls are ambiguous, their tasks wait again', async () => {
    const { store, sql, run, a, b } = await aRunOfThree()
    await answer(store, a, run, webPage('x'))
    await begin(store, b)
    await store.beginCall(aLookup({ runId: run.id }))
    expect(await store.recover([run.id], noon + hour)).toBe(2)
    expect(sql('SELECT operation, outcome, billed, finished_at FROM calls ORDER BY call_id')).toEqual([
      {
        operation: 'alpha.search',
        outcome: 'answered',
        billed: 1,
        finished_at: new Date(noon).toISOString(),
      },
      {
        operation: 'alpha.search',
        outcome: 'ambiguous',
        billed: null,
        finished_at: new Date(noon + hour).toISOString(),
      },
      {
        operation: 'usage',
        outcome: 'ambiguous',
        billed: 0,
        finished_at: new Date(noon + hour).toISOString(),
      },
    ])
    expect(await store.creditsOf([run.id])).toEqual({ spent: 1, ambiguous: 1 })
    expect((await lease(store, run.id)).map(({ text }) => text)).toEqual(['b', 'c'])
    expect(await store.recover([run.id], noon + hour)).toBe(0)
  })

  test('has a free lookup outside of runs ended, too; one that lives after all ends as it ended', async () => {
    const { store, sql, run } = await aRunOfThree()
    const died = await store.beginCall(aLookup())
    const lives = await store.beginCall(aLookup())
    expect(await store.recover([run.id], noon + hour)).toBe(2)
    await store.settleCall(lives, settlement({ outcome: 'answered', billed: 0 }), null)
    expect(sql('SELECT call_id, outcome, billed, credits FROM calls ORDER BY call_id')).toEqual([
      { call_id: died, outcome: 'ambiguous', billed: 0, credits: 0 },
      { call_id: lives, outcome: 'answered', billed: 0, credits: 0 },
    ])
    expect(await store.creditsOf([run.id])).toEqual({ spent: 0, ambiguous: 0 })
  })

  test('of another job has its calls ended by that, and its tasks left alone', async () => {
    const { store, sql, a } = await aRunOfThree()
    const other = await plan(store, { job: { name: 'other' }, queries: [{}] })
    await begin(store, a)
    expect(await store.recover([other.id], noon)).toBe(1)
    expect(sql("SELECT id FROM tasks_ WHERE state = 'leased'")).toHaveLength(3)
  })

  test('is finished, opened again and finished anew', async () => {
    const { store, run } = await aRunOfThree()
    await store.finishRun(run.id, 'balance', noon + hour)
    expect(await store.run(run.id)).toMatchObject({ finishReason: 'balance', finishedAt: noon + hour })
    await store.reopenRun(run.id)
    expect(await store.run(run.id)).toMatchObject({ finishReason: null, finishedAt: null })
    await store.finishRun(run.id, 'completed', noon + 2 * hour)
    expect(await store.run(run.id)).toMatchObject({ finishReason: 'completed' })
    expect(await store.run(99)).toBeNull()
  })

  test('that is closed is never the latest again, and what it did not observe is unknown', async () => {
    const { store, sql, run } = await aRunOfThree()
    expect(await store.latestRun('acme')).toMatchObject({ id: run.id })
    await store.closeRun(run.id, noon + hour)
    expect(await store.latestRun('acme')).toBeNull()
    expect(await store.run(run.id)).toMatchObject({ finishReason: 'crashed', finishedAt: noon + hour })
    expect(sql('SELECT DISTINCT state FROM rankings')).toEqual([{ state: 'unknown' }])
    expect(await store.runs({ closed: false })).toEqual([])
    expect(await store.runs({})).toHaveLength(1)
  })

  test('that had finished keeps its reason when it is closed', async () => {
    const { store, run } = await aRunOfThree()
    await store.finishRun(run.id, 'quota', noon)
    await store.closeRun(run.id, noon + hour)
    expect(await store.run(run.id)).toMatchObject({ finishReason: 'quota', finishedAt: noon })
  })

  test('is counted from what is stored', async () => {
    const { store, run, a, b } = await aRunOfThree()
    await answer(store, a, run, { ...webPage('xyz'), malformed: ['\ud800', null, [[]]] })
    await fail(store, b, run, 'server-error')
    expect(await store.tally(run.id)).toEqual({
      tasks: { planned: 3, done: 1, failed: 1, pending: 1, reused: 0 },
      calls: { sent: 2, billed: 1, free: 1, ambiguous: 0 },
      throttled: 0,
      spent: 1,
      ambiguous: 0,
      results: { organic: 3 },
      malformed: 3,
      mismatched: 0,
      suspicion: null,
    })
  })

  test('buys again only what failed', async () => {
    const { store, run } = await aRunOfThree()
    await store.recover([run.id], noon)
    await work(store, run, ({ text }) => (text === 'b' ? null : webPage('x')))
    expect(await store.retryFailed(run.id)).toBe(1)
    expect((await lease(store, run.id)).map(({ text, tries }) => [text, tries])).toEqual([['b', 0]])
    expect(await store.retryFailed(run.id)).toBe(0)
  })
})

describe('runs are listed', () => {
  test('newest first, of one job or of all, as many as asked for', async () => {
    const { store } = await aStore()
    for (const name of ['one', 'two', 'one']) await plan(store, { job: { name }, queries: [{}] })
    const ids = async (filter: Parameters<typeof store.runs>[0]) =>
      (await store.runs(filter)).map(({ id }) => id)
    expect(await ids({})).toEqual([3, 2, 1])
    expect(await ids({ job: 'one' })).toEqual([3, 1])
    expect(await ids({ limit: 1 })).toEqual([3])
    expect(await store.latestRun('one')).toMatchObject({ id: 3 })
    expect(await store.latestRun('three')).toBeNull()
  })

  test('and a job name stands for one file, the last that was named', async () => {
    const { store } = await aStore()
    expect(await store.jobFile('acme')).toBeNull()
    expect(await store.nameJob('acme', '/a.yaml')).toBeNull()
    expect(await store.nameJob('acme', '/b.yaml')).toBe('/a.yaml')
    expect(await store.nameJob('abc', '/c.yaml')).toBeNull()
    expect(await store.jobFile('acme')).toBe('/b.yaml')
    expect(await store.jobNames()).toEqual(['abc', 'acme'])
  })
})
