import { describe, expect, test } from 'vitest'
import type { JobSettings } from '../../src/model/job.ts'
import type { Run } from '../../src/model/run.ts'
import { answer, webPage, work } from './answers.ts'
import {
  aStore,
  firstTask,
  hour,
  lease,
  meansOf,
  noon,
  plan,
  planJobs,
  since,
  type TempStore,
  text,
} from './build.ts'
import { askedAt, fitInto, pages } from './fitting.ts'

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
