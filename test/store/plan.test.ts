import { describe, expect, test } from 'vitest'
import type { JobQuery } from '../../src/model/query.ts'
import { aJob } from '../run/build.ts'
import { aRun } from '../support/tasks.ts'
import { answer, webPage, work } from './answers.ts'
import {
  aQuery,
  aStore,
  lease,
  noon,
  plan,
  planJobs,
  plannedJob,
  since,
  type TempStore,
  tasksOf,
  text,
} from './build.ts'

describe('a plan', () => {
  test('becomes a run of the job, with a task for each page of each query, in the order of the file', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, {
      queries: [{ text: 'b', depth: 20 }, { text: 'a' }, { text: 'c', operation: 'alpha.ai' }],
    })
    expect(run).toEqual(aRun({ plannedMin: 5, plannedMax: 6 }))
    expect(tasksOf(temp, run.id)).toEqual(['b/1 pending', 'b/2 pending', 'a/1 pending', 'c/1 pending'])
  })

  test('says which rows repeat another, ten at most', async () => {
    const { store } = await aStore()
    await using draft = await store.draft()
    const row = (line: number, text: string, gl = 'us') =>
      aQuery({ text, params: { gl }, source: { file: 'k.csv', line } })
    // A matrix makes two queries of each row.
    const rows = (line: number, text: string) => [row(line, text), row(line, text, 'gb')]
    await draft.add('acme', [...rows(2, 'a'), ...rows(3, 'b'), ...rows(4, 'a')])
    await draft.add('acme', rows(5, 'a'))
    expect((await draft.summary(plannedJob({}))).duplicates).toBe(4)
    const of = { file: 'k.csv', line: 2 }
    expect(draft.repeats('acme')).toEqual([
      { text: 'a', row: { file: 'k.csv', line: 4 }, of },
      { text: 'a', row: { file: 'k.csv', line: 5 }, of },
    ])
    await draft.add(
      'acme',
      Array.from({ length: 20 }, (_, index) => row(6 + index, 'b')),
    )
    await draft.summary(plannedJob({}))
    expect(draft.repeats('acme')).toHaveLength(10)
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

  test('is not in the way of another one that is begun and committed meanwhile', async () => {
    const temp = await aStore()
    await using slow = await temp.store.draft()
    await slow.add('acme', text('a', 'b').map(aQuery))
    await slow.edited('acme')
    await planJobs(temp.store, { other: text('b', 'c') })
    await slow.add('acme', text('c').map(aQuery))
    await planJobs(temp.store, { acme: text('b', 'd') })
    const [run] = await slow.commit([plannedJob({})], noon)
    expect(tasksOf(temp, run?.id as number)).toEqual(['a/1 pending', 'b/1 pending', 'c/1 pending'])
    expect((await temp.store.runs({})).map(({ job }) => job).sort()).toEqual(['acme', 'acme', 'other'])
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
    const runs = await planJobs(temp.store, { one: text('a', 'b'), two: text('b') })
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
    expect(await summaryOf(temp, queries, { fresh: since(noon) })).toMatchObject({
      tasks: 3,
      reused: 2,
      credits: { min: 1, max: 1 },
    })
    expect(await summaryOf(temp, queries, { fresh: since(noon + 1) })).toMatchObject({
      reused: 0,
      credits: { min: 3, max: 3 },
    })
  })
})
