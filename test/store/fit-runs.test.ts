import { describe, expect, test } from 'vitest'
import type { JobSettings } from '../../src/model/job.ts'
import type { Run, Task } from '../../src/model/run.ts'
import { aJob } from '../run/build.ts'
import { testTable } from '../support/test-table.ts'
import { answer, read, submit, webPage, work } from './answers.ts'
import {
  aQuery,
  aStore,
  firstTask,
  hour,
  lease,
  meansOf,
  noon,
  plan,
  planJobs,
  plannedJob,
  since,
  type TempStore,
  text,
} from './build.ts'
import { askedAt, begun, fitInto, foretold, pages } from './fitting.ts'

const pending = (temp: TempStore, runs: readonly Run[]) => runs.map((run) => pages(temp, run, 'pending'))

describe('several runs at once', () => {
  test('share one balance in the order of all their queries', async () => {
    const temp = await aStore()
    await askedAt(temp, { b: noon - hour, d: noon - 2 * hour })
    const runs = await planJobs(temp.store, {
      one: [{ text: 'a' }, { text: 'b' }, { text: 'c', priority: 1 }],
      two: [{ text: 'd' }, { text: 'e' }, { text: 'f', priority: 1 }],
    })
    const orders = ['c f', 'c f a', 'c f a e', 'c f a e d', 'c f a e d b']
    for (const order of orders) {
      const stay = order.split(' ')
      await fitInto(temp, stay.length, runs)
      expect(pending(temp, runs).join(' ').trim().split(' ').sort()).toEqual(
        stay.map((one) => `${one}/1`).sort(),
      )
      temp.exec("UPDATE tasks_ SET state = 'pending', cause = NULL")
    }
  })

  test('answer for each what was left out of it', async () => {
    const temp = await aStore()
    const runs = await planJobs(temp.store, {
      one: [{ text: 'a', depth: 30 }, { text: 'b' }],
      two: text('c'),
      three: text('d', 'e'),
    })
    expect(await fitInto(temp, 2, runs)).toEqual([
      { runId: 1, queries: 1, credits: 3 },
      { runId: 3, queries: 2, credits: 2 },
    ])
    expect(pending(temp, runs)).toEqual(['b/1', 'c/1', ''])
  })

  test('have each its own budget and stored answers of its own freshness', async () => {
    const temp = await aStore()
    await askedAt(temp, { a: noon, c: noon })
    const runs = await planJobs(temp.store, { one: text('a', 'b'), two: text('c', 'd', 'e') })
    const means = runs.map(({ id }, index) =>
      meansOf(id, { budget: index, fresh: index === 0 ? since(noon) : null }),
    )
    await temp.store.fit({ runs: means, credits: 99, calls: 99 })
    expect(pending(temp, runs)).toEqual(['a/1', 'd/1'])
  })

  test('are covered to their last page though one of them keeps some of the balance', async () => {
    const temp = await aStore()
    const runs = await planJobs(temp.store, { one: [{ text: 'a', depth: 20 }], two: text('b', 'c', 'd') })
    const means = runs.map(({ id }, index) => meansOf(id, { keep: index === 0 ? 3 : 0 }))
    await temp.store.fit({ runs: means, credits: 6, calls: 99 })
    expect(pending(temp, runs)).toEqual(['a/1 a/2', 'b/1'])
    let credits = 6
    for (;;) {
      const tasks = await lease(temp.store, 0, { runs: means, credits })
      if (tasks.length === 0) break
      for (const task of tasks)
        await answer(temp.store, task, runs[task.runId - 1] as Run, webPage(`${task.page}x`))
      credits -= tasks.length
    }
    expect(pending(temp, runs)).toEqual(['', ''])
    expect(credits).toBe(3)
  })
})

describe('jobs that ask the same query', () => {
  testTable<[string, string, number, number, number]>([
    // How the pages of the first job ended, how many pages each of the two asks now, and what they come to together.
    ['and the same pages', '', 2, 2, 2],
    ['though one asks deeper', '', 1, 3, 3],
    ['but other pages of it, for the first one failed for good in one of them', '-', 2, 1, 2],
    ['one of which lacks a page in between', '+!', 3, 3, 2],
    ['one of which has some of its pages', '+', 3, 3, 2],
    ['one of which has all that the other asks', '++', 2, 1, 0],
  ])('pay each page once, %s', async (_, ends, one, two, cost) => {
    const { temp, run } = await begun(ends, Math.max(1, ends.length), { name: 'one' })
    const other = aJob({ name: 'two' })
    const jobs = [plannedJob({ settings: run.settings, continues: run.id }), plannedJob({ settings: other })]
    await using draft = await temp.store.draft()
    await draft.add('one', [aQuery({ text: 'a', depth: 10 * one })])
    await draft.add('two', [aQuery({ text: 'a', depth: 10 * two })])
    const means = new Map(['one', 'two'].map((name) => [name, { budget: 99, keep: 0 }]))
    const leftWith = (credits: number) => draft.fit(jobs, { runs: means, limits: [], credits, calls: 99 })
    if (cost > 0) expect((await leftWith(cost - 1)).size).toBeGreaterThan(0)
    expect((await leftWith(cost)).size).toBe(0)

    const runs = await draft.commit(jobs, noon)
    expect(await fitInto(temp, cost, runs)).toEqual([])
    let credits = cost
    for (;;) {
      const request = { runs: runs.map(({ id }) => meansOf(id)), credits, limit: 1, shared: true }
      const [task] = await lease(temp.store, 0, request)
      if (task === undefined) break
      const owner = runs.find(({ id }) => id === task.runId) as Run
      const page = webPage(`${task.page}x`)
      if (task.reusable === null) {
        await answer(temp.store, task, owner, page)
        credits -= 1
      } else {
        await temp.store.reuseAnswer(task.id, task.reusable)
        await read(temp.store, task, owner, task.reusable, page)
      }
    }
    expect([...pending(temp, runs), credits]).toEqual(['', '', 0])
  })
})

describe('a page that the service works on', () => {
  test('is paid already, and those that may follow it are covered before all others', async () => {
    const temp = await aStore()
    const queries = [...text('a'), { text: 'b', operation: 'alpha.images', pages: 3 }, ...text('c')]
    const run = await plan(temp.store, { queries })
    const [, pictures] = await lease(temp.store, run.id)
    await submit(temp.store, pictures as Task)
    await temp.store.recover([run.id], noon)
    expect((await foretold(temp, run, queries, { credits: 3 })).left).toEqual({ queries: 1, credits: 1 })
    expect(await fitInto(temp, 3, [run])).toEqual([{ runId: run.id, queries: 1, credits: 1 }])
    expect(pages(temp, run, 'pending')).toBe('a/1 b/2 b/3')
  })
})

describe('the priority of an edited file', () => {
  test('is that of every page that is still to be sent', async () => {
    const temp = await aStore()
    const job: Partial<JobSettings> = { paging: 'until-found' }
    const run = await plan(temp.store, {
      job,
      queries: [{ text: 'a', depth: 30, priority: 5 }, { text: 'b' }],
    })
    await answer(temp.store, await firstTask(temp.store, run), run, webPage('abc'))
    const again = (priority: number) =>
      plan(temp.store, {
        job,
        queries: [
          { text: 'a', depth: 30, priority },
          { text: 'b', priority: 1 },
        ],
        continues: run.id,
      })
    await again(0)
    expect((await lease(temp.store, run.id)).map(({ text, priority }) => `${text} ${priority}`)).toEqual([
      'b 1',
      'a 0',
    ])
    await temp.store.recover([run.id], noon)
    await again(2)
    await work(temp.store, run, ({ page }) => webPage(`${page}x`))
    expect(temp.sql('SELECT page, priority FROM tasks_ WHERE query_id = 1 ORDER BY page')).toEqual(
      [1, 2, 3].map((page) => ({ page, priority: 2 })),
    )
  })
})
