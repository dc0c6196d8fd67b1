import { describe, expect, test } from 'vitest'
import type { JobQuery } from '../../src/model/job.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { aTarget } from '../plan/build.ts'
import {
  aBody,
  aJob,
  answer,
  aQuery,
  aStore,
  begin,
  everyOperation,
  fail,
  hour,
  keep,
  lease,
  noon,
  plan,
  plannedJob,
  read,
  type TempStore,
  webPage,
  work,
} from './build.ts'

/** Tasks of a run as `query/page state`, in the order in which they were planned. */
function tasksOf({ sql }: Pick<TempStore, 'sql'>, run: number): readonly string[] {
  return sql<{ task: string }>(
    "SELECT query || '/' || page || ' ' || state AS task FROM tasks WHERE run_id = ? ORDER BY task_id",
    run,
  ).map(({ task }) => task)
}

const text = (...texts: readonly string[]): Partial<JobQuery>[] => texts.map((text) => ({ text }))

describe('a plan', () => {
  test('becomes a run of the job, with a task for each page of each query, in the order of the file', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, {
      queries: [{ text: 'b', depth: 20 }, { text: 'a' }, { text: 'c', operation: 'alpha.ai' }],
    })
    expect(run).toEqual({
      closedAt: null,
      id: 1,
      groupId: 1,
      job: 'acme',
      settings: aJob(),
      date: '2026-03-01',
      startedAt: noon,
      finishedAt: null,
      finishReason: null,
      plannedMin: 5,
      plannedMax: 6,
    })
    expect(tasksOf(temp, run.id)).toEqual(['b/1 pending', 'b/2 pending', 'a/1 pending', 'c/1 pending'])
  })

  test('is seen by nobody before it is committed, and leaves nothing when it is dropped', async () => {
    const { store, sql } = await aStore()
    {
      await using draft = await store.draft()
      await draft.add('acme', text('a', 'b').map(aQuery))
      expect(await draft.summary(plannedJob({}))).toMatchObject({ queries: 2, tasks: 2 })
      expect(sql('SELECT * FROM queries')).toEqual([])
    }
    expect(await store.runs({})).toEqual([])
    expect(sql('SELECT * FROM queries')).toEqual([])
    await using again = await store.draft()
    expect(await again.summary(plannedJob({}))).toMatchObject({ queries: 0, tasks: 0 })
  })

  test('joins the same query asked twice: one task, bought for the deeper, with the tags of both', async () => {
    const { store, sql } = await aStore()
    await using draft = await store.draft()
    await draft.add('acme', [aQuery({ text: 'a', tags: ['x'], params: { gl: 'us', hl: 'en' } })])
    await draft.add('acme', [
      aQuery({ text: 'a', tags: ['y'], params: { hl: 'en', gl: 'us' }, depth: 20, priority: 3 }),
      aQuery({ text: 'a', tags: ['x'] }),
    ])
    const summary = await draft.summary(plannedJob({}))
    expect(summary).toMatchObject({ queries: 2, duplicates: 1, tasks: 3, credits: { min: 2, max: 3 } })
    const [run] = await draft.commit([plannedJob({})], noon)
    expect(sql('SELECT tags, pages FROM run_queries WHERE run_id = ? ORDER BY query_id', run?.id)).toEqual([
      { tags: '["x","y"]', pages: 2 },
      { tags: '["x"]', pages: 1 },
    ])
    expect(sql('SELECT page, priority FROM tasks ORDER BY task_id')).toEqual([
      { page: 1, priority: 3 },
      { page: 2, priority: 3 },
      { page: 1, priority: 0 },
    ])
  })

  test('of several jobs is one group, and each job has its own run and its own copy of a query', async () => {
    const temp = await aStore()
    await using draft = await temp.store.draft()
    await draft.add('one', text('a', 'b').map(aQuery))
    await draft.add('two', text('b').map(aQuery))
    const jobs = ['one', 'two'].map((name) => plannedJob({ settings: aJob({ name }) }))
    const runs = await draft.commit(jobs, noon)
    expect(runs.map(({ job, groupId }) => [job, groupId])).toEqual([
      ['one', 1],
      ['two', 1],
    ])
    expect(runs.map(({ id }) => tasksOf(temp, id))).toEqual([['a/1 pending', 'b/1 pending'], ['b/1 pending']])
    expect(temp.sql('SELECT count(*) AS n FROM queries')).toEqual([{ n: 2 }])
  })

  test('has only the first page of a query whose further pages depend on what the first one says', async () => {
    const temp = await aStore()
    const found = await plan(temp.store, {
      job: { paging: 'until-found' },
      queries: [{ text: 'a', depth: 50 }],
    })
    expect(tasksOf(temp, found.id)).toEqual(['a/1 pending'])
    const deep = await plan(temp.store, { queries: [{ text: 'a', operation: 'gamma.search', depth: 50 }] })
    expect(tasksOf(temp, deep.id)).toEqual(['a/1 pending'])
    expect([found.plannedMax, deep.plannedMax]).toEqual([5, 10])
  })

  test('is all or nothing: one that cannot be committed leaves no run behind', async () => {
    const { store } = await aStore()
    await using draft = await store.draft()
    await draft.add('one', text('a').map(aQuery))
    const broken = plannedJob({ settings: aJob({ name: null as never }) })
    const jobs = [plannedJob({ settings: aJob({ name: 'one' }) }), broken]
    await expect(draft.commit(jobs, noon)).rejects.toThrow()
    expect(await store.runs({})).toEqual([])
  })
})

describe('what a plan comes to', () => {
  async function summaryOf(temp: TempStore, queries: readonly Partial<JobQuery>[], job = {}) {
    await using draft = await temp.store.draft()
    await draft.add('acme', queries.map(aQuery))
    return await draft.summary(plannedJob(job))
  }

  test('is first pages at least, every page at most, and at most where nothing is known', async () => {
    const temp = await aStore()
    expect(
      await summaryOf(temp, [
        { text: 'a', depth: 30 },
        { text: 'b', operation: 'alpha.ai' },
      ]),
    ).toEqual({
      job: 'acme',
      continues: null,
      queries: 2,
      duplicates: 0,
      tasks: 4,
      done: 0,
      reused: 0,
      credits: { min: 4, expected: 6, max: 6 },
    })
  })

  test("is expected to cost the share that the job's last finished run did cost", async () => {
    const temp = await aStore()
    const queries = [{ text: 'a', depth: 40 }]
    const run = await plan(temp.store, { queries })
    await work(temp.store, run, ({ page }) => webPage(page === 2 ? '' : 'abc'))
    await temp.store.finishRun(run.id, 'completed', noon)
    expect((await summaryOf(temp, queries)).credits).toEqual({ min: 1, expected: 2, max: 4 })
  })

  test('leaves out what stored answers cover, as long as they are fresh', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: text('a', 'b') })
    for (const task of await lease(temp.store, run.id)) await answer(temp.store, task, run, webPage('x'))
    const queries = text('a', 'b', 'c')
    expect(await summaryOf(temp, queries, { freshSince: noon })).toMatchObject({
      tasks: 3,
      reused: 2,
      credits: { min: 1, max: 1 },
    })
    expect(await summaryOf(temp, queries, { freshSince: noon + 1 })).toMatchObject({
      reused: 0,
      credits: { min: 3, max: 3 },
    })
  })
})

describe('a continued run', () => {
  test('never gives the number of a dropped task to another one', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: text('a', 'b') })
    const before = temp.sql<{ task_id: number }>('SELECT task_id FROM tasks')
    await plan(temp.store, { queries: text('c', 'd'), job: { name: run.job }, continues: run.id })
    const after = temp.sql<{ task_id: number }>('SELECT task_id FROM tasks')
    expect(after).toHaveLength(2)
    expect(after.filter(({ task_id }) => before.some((one) => one.task_id === task_id))).toEqual([])
  })

  async function halfDone(queries: readonly Partial<JobQuery>[]) {
    const temp = await aStore()
    const run = await plan(temp.store, { queries })
    const [first] = await lease(temp.store, run.id, { limit: 1 })
    if (first === undefined) throw new Error('no task')
    await answer(temp.store, first, run, webPage('abc'))
    await temp.store.finishRun(run.id, 'interrupted', noon)
    return { ...temp, run }
  }

  test('keeps what is done, drops what is asked no longer and adds what is new', async () => {
    const { run, ...temp } = await halfDone(text('a', 'b', 'c'))
    const again = await plan(temp.store, { queries: text('c', 'd'), continues: run.id })
    expect(again).toMatchObject({ id: run.id, finishReason: null, finishedAt: null, groupId: 1 })
    expect(tasksOf(temp, run.id)).toEqual(['a/1 done', 'c/1 pending', 'd/1 pending'])
  })

  test('keeps its number and its day, and takes the settings of the edited file', async () => {
    const { run, ...temp } = await halfDone(text('a', 'b'))
    const job = { budget: { maxCredits: 9, keep: null } }
    const again = await plan(temp.store, {
      job,
      queries: text('a', 'b'),
      continues: run.id,
      date: '2026-03-05',
    })
    expect(again).toMatchObject({ id: run.id, date: run.date, startedAt: run.startedAt, settings: job })
  })

  test('asked for once more as it is changes nothing', async () => {
    const { run, ...temp } = await halfDone(text('a', 'b', 'c'))
    const before = tasksOf(temp, run.id)
    for (let turn = 0; turn < 3; turn++)
      await plan(temp.store, { queries: text('a', 'b', 'c'), continues: run.id })
    expect(tasksOf(temp, run.id)).toEqual(before)
  })

  test('counts what is done once more in its summary', async () => {
    const { run, ...temp } = await halfDone([{ text: 'a', depth: 20 }, { text: 'b' }])
    await using draft = await temp.store.draft()
    await draft.add('acme', [aQuery({ text: 'a', depth: 20 }), aQuery({ text: 'b' })])
    expect(await draft.summary(plannedJob({ continues: run.id }))).toMatchObject({
      continues: run.id,
      tasks: 3,
      done: 1,
      credits: { min: 1, max: 2 },
    })
  })

  test('takes the new priority of what is still to be sent', async () => {
    const { run, ...temp } = await halfDone(text('a', 'b', 'c'))
    await plan(temp.store, {
      queries: [{ text: 'a' }, { text: 'b' }, { text: 'c', priority: 7 }],
      continues: run.id,
    })
    expect((await lease(temp.store, run.id)).map(({ text }) => text)).toEqual(['c', 'b'])
  })

  test('that is planned deeper goes on behind the pages that are done', async () => {
    const { run, ...temp } = await halfDone([{ text: 'a', depth: 10 }])
    await plan(temp.store, { queries: [{ text: 'a', depth: 30 }], continues: run.id })
    expect(tasksOf(temp, run.id)).toEqual(['a/1 done', 'a/2 pending', 'a/3 pending'])
    expect((await lease(temp.store, run.id)).map(({ page }) => page)).toEqual([2])
  })

  test('that is planned deeper goes on behind its one page where pages follow one by one', async () => {
    const temp = await aStore()
    const job = { paging: 'until-found' as const, targets: [aTarget('x.example')] }
    const run = await plan(temp.store, { job, queries: [{ text: 'a', depth: 10 }] })
    await work(temp.store, run, () => webPage('abc'))
    expect(await lease(temp.store, run.id)).toEqual([])
    await plan(temp.store, { job, queries: [{ text: 'a', depth: 30 }], continues: run.id })
    expect(tasksOf(temp, run.id)).toEqual(['a/1 done', 'a/2 pending'])
  })

  test.each<[string, string, readonly string[]]>([
    ['the results ended', '', ['a/1 done', 'a/2 done', 'a/3 skipped']],
    ['a page repeated another', 'abc', ['a/1 done', 'a/2 done', 'a/3 skipped']],
  ])('that is planned deeper asks for nothing behind the page on which %s', async (_, second, tasks) => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{ text: 'a', depth: 30 }] })
    await work(temp.store, run, ({ page }) => webPage(page === 1 ? 'abc' : second))
    expect(tasksOf(temp, run.id)).toEqual(tasks)
    await plan(temp.store, { queries: [{ text: 'a', depth: 60 }], continues: run.id })
    expect(await lease(temp.store, run.id)).toEqual([])
    expect((await temp.store.tally(run.id)).tasks).toMatchObject({ pending: 0, done: 2 })
  })

  test('that is planned deeper asks for nothing behind a last page on which the results ended', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{ text: 'a', depth: 20 }] })
    await work(temp.store, run, ({ page }) => webPage(page === 1 ? 'abc' : ''))
    await plan(temp.store, { queries: [{ text: 'a', depth: 60 }], continues: run.id })
    expect(await lease(temp.store, run.id)).toEqual([])
    expect((await temp.store.tally(run.id)).tasks).toMatchObject({ pending: 0, done: 2 })
  })

  test('that is planned deeper leaves no task that can never be sent where a page was refused', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{ text: 'a', depth: 30 }] })
    const [first] = await lease(temp.store, run.id)
    if (first === undefined) throw new Error('no task')
    await fail(temp.store, first, run, 'rejected')
    expect(tasksOf(temp, run.id)).toEqual(['a/1 failed', 'a/2 skipped', 'a/3 skipped'])
    await plan(temp.store, { queries: [{ text: 'a', depth: 60 }], continues: run.id })
    await work(temp.store, run, ({ page }) => webPage(String(page)))
    expect((await temp.store.tally(run.id)).tasks).toMatchObject({ pending: 0 })
  })

  test.each<[string, Parameters<typeof plan>[1]['job'], Partial<JobQuery>]>([
    ['all pages', {}, { depth: 30 }],
    ['pages one by one', { paging: 'until-found' }, { depth: 30 }],
    ['as many pages as it takes', {}, { depth: 30, operation: 'gamma.search' }],
  ])(
    'that asks for %s sends none before the answer of the page before it was read',
    async (_, job, query) => {
      const temp = await aStore()
      const run = await plan(temp.store, { job: job ?? {}, queries: [query] })
      const [first] = await lease(temp.store, run.id)
      if (first === undefined) throw new Error('no task')
      const answerId = await keep(temp.store, first)
      await plan(temp.store, { job: job ?? {}, queries: [query], continues: run.id })
      expect(await lease(temp.store, run.id)).toEqual([])
      await read(temp.store, first, run, answerId, webPage('abc'))
      expect((await lease(temp.store, run.id)).map(({ page }) => page)).toEqual([2])
    },
  )

  test('that is planned shallower drops the pages that were not sent', async () => {
    const { run, ...temp } = await halfDone([{ text: 'a', depth: 40 }])
    const again = await plan(temp.store, { queries: [{ text: 'a', depth: 20 }], continues: run.id })
    expect(tasksOf(temp, run.id)).toEqual(['a/1 done', 'a/2 pending'])
    expect(again.plannedMax).toBe(2)
  })

  test('forgets what was observed of targets that are no longer asked for', async () => {
    const temp = await aStore()
    const targets = [aTarget('a.example'), aTarget('b.example')]
    const run = await plan(temp.store, { job: { targets }, queries: text('q', 'r') })
    await work(temp.store, run, ({ text }) => (text === 'q' ? webPage('ab') : null))
    const seen = () =>
      temp.sql<{ seen: string }>("SELECT query || ' ' || target AS seen FROM rankings ORDER BY 1")
    expect(seen().map(({ seen }) => seen)).toEqual(['q a.example', 'q b.example'])
    await plan(temp.store, { job: { targets: targets.slice(1) }, queries: text('q', 'r'), continues: run.id })
    expect(seen().map(({ seen }) => seen)).toEqual(['q b.example'])
  })

  test('says which queries have a target that is new to them', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { job: { targets: [aTarget('a.example')] }, queries: text('q', 'r') })
    const [q] = await lease(temp.store, run.id, { limit: 1 })
    if (q === undefined) throw new Error('no task')
    await answer(temp.store, q, run, webPage('ab'))
    expect(await temp.store.unobserved([run.id])).toEqual([])
    const targets = [aTarget('a.example'), aTarget('b.example')]
    await plan(temp.store, { job: { targets }, queries: text('q', 'r'), continues: run.id })
    expect(await temp.store.unobserved([run.id])).toEqual([{ runId: run.id, queryId: q.queryId }])
  })
})

describe('letting tasks through', () => {
  const names = (tasks: readonly { readonly text: string; readonly page: number }[]) =>
    tasks.map(({ text, page }) => `${text}/${page}`)

  test('starts with the highest priority, then goes by the order of the file', async () => {
    const { store } = await aStore()
    const run = await plan(store, {
      queries: [
        { text: 'a' },
        { text: 'b', priority: 5 },
        { text: 'c', priority: -1 },
        { text: 'd', priority: 5 },
        { text: 'e' },
      ],
    })
    expect(names(await lease(store, run.id, { limit: 2 }))).toEqual(['b/1', 'd/1'])
    expect(names(await lease(store, run.id))).toEqual(['a/1', 'e/1', 'c/1'])
    expect(await lease(store, run.id)).toEqual([])
  })

  test('hands over everything that a call needs', async () => {
    const { store } = await aStore()
    const run = await plan(store, { queries: [{ text: 'a', params: { num: 20, gl: 'us' }, priority: 2 }] })
    expect(await lease(store, run.id)).toEqual([
      {
        id: 1,
        runId: run.id,
        queryId: 1,
        operation: 'alpha.search',
        text: 'a',
        params: { gl: 'us', num: 20 },
        page: 1,
        credits: 1,
        tries: 0,
        cause: null,
        priority: 2,
        reusable: null,
      },
    ])
  })

  test('passes over a task of 3 credits for one of 1 where 3 are not covered', async () => {
    const { store } = await aStore()
    const queries = [{ text: 'dear', operation: 'alpha.ai', priority: 9 }, { text: 'a' }, { text: 'b' }]
    const run = await plan(store, { queries })
    expect(names(await lease(store, run.id, { credits: 2 }))).toEqual(['a/1', 'b/1'])
    expect(await store.cheapestPending([run.id], everyOperation)).toBe(3)
    expect(await lease(store, run.id, { credits: 2 })).toEqual([])
    expect(names(await lease(store, run.id, { credits: 3 }))).toEqual(['dear/1'])
    expect(await store.cheapestPending([run.id], everyOperation)).toBeNull()
  })

  test('never lets through more than is covered', async () => {
    const { store } = await aStore()
    const run = await plan(store, {
      queries: Array.from({ length: 20 }, (_, n) => ({
        text: `${n}`,
        operation: n % 2 ? 'alpha.ai' : 'alpha.search',
      })),
    })
    for (const credits of [0, 1, 2, 3, 7]) {
      const tasks = await lease(store, run.id, { credits })
      expect(tasks.reduce((sum, task) => sum + task.credits, 0)).toBeLessThanOrEqual(credits)
      await store.release(tasks.map(({ id }) => id))
    }
    expect(await lease(store, run.id, { limit: 0 })).toEqual([])
  })

  test('holds each run to its own limit, and all to what they share', async () => {
    const { store } = await aStore()
    const one = await plan(store, { job: { name: 'one' }, queries: text('a', 'b', 'c') })
    const two = await plan(store, { job: { name: 'two' }, queries: text('d', 'e', 'f') })
    const leased = async (ofOne: number, ofTwo: number, credits: number) => {
      const tasks = await lease(store, one.id, {
        runs: [
          { runId: one.id, budget: ofOne, keep: 0, freshSince: null },
          { runId: two.id, budget: ofTwo, keep: 0, freshSince: null },
        ],
        credits,
      })
      await store.release(tasks.map(({ id }) => id))
      return names(tasks)
    }
    expect(await leased(1, 2, 10)).toEqual(['a/1', 'd/1', 'e/1'])
    expect(await leased(0, 9, 2)).toEqual(['d/1', 'e/1'])
    expect(await leased(9, 9, 4)).toEqual(['a/1', 'b/1', 'c/1', 'd/1'])
    expect(await leased(0, 0, 9)).toEqual([])
  })

  test('sends a page only when the page before it is settled, whatever became of it', async () => {
    const { store } = await aStore()
    const run = await plan(store, { queries: [{ text: 'a', depth: 40 }] })
    const [first] = await lease(store, run.id)
    expect(await lease(store, run.id)).toEqual([])
    if (first === undefined) throw new Error('no task')
    await answer(store, first, run, webPage('abc'))
    const [second] = await lease(store, run.id)
    expect(second?.page).toBe(2)
    if (second === undefined) throw new Error('no task')
    await fail(store, second, run, 'server-error')
    expect(names(await lease(store, run.id))).toEqual(['a/3'])
  })

  test('puts what used up its tries in a row behind all others', async () => {
    const { store } = await aStore()
    const run = await plan(store, { queries: [{ text: 'a', priority: 9 }, { text: 'b' }] })
    const [a] = await lease(store, run.id, { limit: 1 })
    if (a === undefined) throw new Error('no task')
    const call = await begin(store, a)
    const ended = {
      outcome: 'server-error',
      httpStatus: 500,
      billed: 0,
      finishedAt: noon,
      latencyMs: 1,
      error: 'x',
    } as const
    await store.settleCall(call, ended, { taskId: a.id, tries: 4, behind: true })
    expect((await lease(store, run.id)).map(({ text, tries }) => [text, tries])).toEqual([
      ['b', 0],
      ['a', 4],
    ])
  })

  test('gives back what was not sent', async () => {
    const { store } = await aStore()
    const run = await plan(store, { queries: text('a', 'b') })
    const tasks = await lease(store, run.id)
    await store.release(tasks.map(({ id }) => id))
    expect(names(await lease(store, run.id))).toEqual(['a/1', 'b/1'])
  })
})

describe('stored answers', () => {
  async function answered() {
    const temp = await aStore()
    const run = await plan(temp.store, { job: { name: 'first' }, queries: text('a') })
    const [task] = await lease(temp.store, run.id)
    if (task === undefined) throw new Error('no task')
    const answerId = await answerOf(temp, task, run)
    const second = await plan(temp.store, { job: { name: 'second' }, queries: text('a', 'b') })
    const reusable = async (freshSince: number | null, shared = false, credits = 100) => {
      const runs = [{ runId: second.id, budget: credits, keep: 0, freshSince }]
      const tasks = await lease(temp.store, second.id, { runs, shared, credits })
      await temp.store.release(tasks.map(({ id }) => id))
      return tasks.map(({ text, reusable }) => [text, reusable])
    }
    return { ...temp, second, answerId, reusable }
  }

  async function answerOf(
    { store }: TempStore,
    task: Parameters<typeof answer>[1],
    run: Parameters<typeof answer>[2],
  ) {
    const answerId = await keep(store, task)
    await store.understand({
      taskId: task.id,
      runId: run.id,
      queryId: task.queryId,
      outcome: { done: { answerId, normaliser: 1, understood: webPage('xyz') } },
      follow: () => ({ ranks: [], observations: [], paging: null }),
    })
    return answerId
  }

  test('are used while they are fresh', async () => {
    const { reusable, answerId } = await answered()
    expect(await reusable(noon)).toEqual([
      ['a', answerId],
      ['b', null],
    ])
    expect(await reusable(noon + 1)).toEqual([
      ['a', null],
      ['b', null],
    ])
    expect(await reusable(null)).toEqual([
      ['a', null],
      ['b', null],
    ])
  })

  test('of the same piece of work are used whatever their age', async () => {
    const { reusable, exec, answerId } = await answered()
    expect(await reusable(null, true)).toEqual([
      ['a', null],
      ['b', null],
    ])
    exec('UPDATE runs_ SET group_id = 1')
    expect(await reusable(null, true)).toEqual([
      ['a', answerId],
      ['b', null],
    ])
  })

  test('need no credits', async () => {
    const { reusable, answerId } = await answered()
    expect(await reusable(noon - hour, undefined, 0)).toEqual([['a', answerId]])
  })

  test('make a task done without a call, and are counted apart', async () => {
    const { store, sql, second, answerId } = await answered()
    const [task] = await lease(store, second.id, { limit: 1 })
    if (task === undefined) throw new Error('no task')
    await store.reuseAnswer(task.id, answerId)
    expect(await store.answeredTasks([second.id])).toMatchObject([{ taskId: task.id, answerId, page: 1 }])
    await store.understand({
      taskId: task.id,
      runId: second.id,
      queryId: task.queryId,
      outcome: { done: { answerId, normaliser: 1, understood: webPage('xyz') } },
      follow: () => ({ ranks: [], observations: [], paging: null }),
    })
    const { tasks, calls, spent } = await store.tally(second.id)
    expect(tasks).toMatchObject({ done: 1, reused: 1, pending: 1 })
    expect({ sent: calls.sent, spent }).toEqual({ sent: 0, spent: 0 })
    expect(sql('SELECT link FROM organic_results WHERE run_id = ?', second.id)).toHaveLength(3)
    expect(sql('SELECT count(*) AS n FROM results')).toEqual([{ n: 3 }])
  })

  test('keep their body as it came', async () => {
    const { store, answerId } = await answered()
    expect(await store.rawAnswer(answerId)).toEqual({
      body: aBody,
      encoding: 'deflate',
      fetchedAt: noon,
    })
    expect(await store.rawAnswer(answerId + 1)).toBeNull()
  })

  test('that nobody has read yet are found by the next process', async () => {
    const { store, path } = await aStore()
    const run = await plan(store, { queries: text('a', 'b') })
    const [a] = await lease(store, run.id, { limit: 1 })
    if (a === undefined) throw new Error('no task')
    const answerId = await keep(store, a)
    await using next = await openStore(path)
    expect(await next.recover([run.id], noon)).toBe(0)
    expect(await next.answeredTasks([run.id])).toEqual([
      {
        taskId: a.id,
        runId: run.id,
        queryId: a.queryId,
        page: 1,
        operation: 'alpha.search',
        params: {},
        answerId,
      },
    ])
  })
})
