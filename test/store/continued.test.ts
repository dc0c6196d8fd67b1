import { describe, expect, test } from 'vitest'
import type { JobQuery } from '../../src/model/query.ts'
import { aTarget, noBudget } from '../run/build.ts'
import { testTable } from '../support/test-table.ts'
import { answer, fail, keep, read, webPage, work } from './answers.ts'
import { aQuery, aStore, firstTask, lease, noon, plan, plannedJob, tasksOf, text } from './build.ts'

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
    const first = await firstTask(temp.store, run)
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
    const job = { budget: { ...noBudget, maxCredits: 9 } }
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

  testTable<[string, string, readonly string[]]>([
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
    const first = await firstTask(temp.store, run)
    await fail(temp.store, first, run, 'rejected')
    expect(tasksOf(temp, run.id)).toEqual(['a/1 failed', 'a/2 skipped', 'a/3 skipped'])
    await plan(temp.store, { queries: [{ text: 'a', depth: 60 }], continues: run.id })
    await work(temp.store, run, ({ page }) => webPage(String(page)))
    expect((await temp.store.tally(run.id)).tasks).toMatchObject({ pending: 0 })
  })

  testTable<[string, Parameters<typeof plan>[1]['job'], Partial<JobQuery>]>([
    ['all pages', {}, { depth: 30 }],
    ['pages one by one', { paging: 'until-found' }, { depth: 30 }],
    ['as many pages as it takes', {}, { depth: 30, operation: 'gamma.search' }],
  ])(
    'that asks for %s sends none before the answer of the page before it was read',
    async (_, job, query) => {
      const temp = await aStore()
      const run = await plan(temp.store, { job: job ?? {}, queries: [query] })
      const first = await firstTask(temp.store, run)
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
    const q = await firstTask(temp.store, run)
    await answer(temp.store, q, run, webPage('ab'))
    expect(await temp.store.unobserved(run.id, 0, 9)).toEqual([])
    const targets = [aTarget('a.example'), aTarget('b.example')]
    await plan(temp.store, { job: { targets }, queries: text('q', 'r'), continues: run.id })
    expect(await temp.store.unobserved(run.id, 0, 9)).toEqual([q.queryId])
    expect(await temp.store.unobserved(run.id, q.queryId, 9)).toEqual([])
  })
})
