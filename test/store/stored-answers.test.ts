import { describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/sqlite/open.ts'
import { answer, conclude, done, keep, webPage } from './answers.ts'
import { aStore, firstTask, hour, lease, meansOf, noon, plan, since, text } from './build.ts'

describe('stored answers', () => {
  async function answered() {
    const temp = await aStore()
    const run = await plan(temp.store, { job: { name: 'first' }, queries: text('a') })
    const task = await firstTask(temp.store, run)
    const answerId = await keep(temp.store, task)
    await conclude(temp.store, task, done(answerId, webPage('xyz')))
    const second = await plan(temp.store, { job: { name: 'second' }, queries: text('a', 'b') })
    const reusable = async (from: number | null, shared = false, credits = 100) => {
      const runs = [meansOf(second.id, { budget: credits, fresh: from === null ? null : since(from) })]
      const tasks = await lease(temp.store, second.id, { runs, shared, credits })
      await temp.store.release(tasks.map(({ id }) => id))
      return tasks.map(({ text, reusable }) => [text, reusable])
    }
    return { ...temp, second, answerId, reusable }
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
    const task = await firstTask(store, second)
    await store.reuseAnswer(task.id, answerId)
    expect(await store.answeredTasks([second.id])).toMatchObject([{ taskId: task.id, answerId, page: 1 }])
    await conclude(store, task, done(answerId, webPage('xyz')))
    const { tasks, calls, spent } = await store.tally(second.id)
    expect(tasks).toMatchObject({ done: 1, reused: 1, pending: 1 })
    expect({ sent: calls.sent, spent }).toEqual({ sent: 0, spent: 0 })
    expect(sql('SELECT link FROM organic_results WHERE run_id = ?', second.id)).toHaveLength(3)
    expect(sql('SELECT count(*) AS n FROM results')).toEqual([{ n: 3 }])
  })

  test('that nobody could read are bought, and then no longer counted as reused', async () => {
    const { store, second, answerId } = await answered()
    const task = await firstTask(store, second)
    await store.reuseAnswer(task.id, answerId)
    await conclude(store, task, { failed: 'no JSON' })
    await store.retryFailed(second.id)
    await answer(store, await firstTask(store, second), second, webPage('xyz'))
    expect((await store.tally(second.id)).tasks).toMatchObject({ done: 1, reused: 0 })
  })

  test('keep their body as it came', async () => {
    const { store, answerId } = await answered()
    expect(await store.storedBody(answerId)).toEqual({ body: Buffer.from('{}'), fetchedAt: noon })
    expect(await store.storedBody(answerId + 1)).toBeNull()
  })

  test('that nobody has read yet are found by the next process', async () => {
    const { store, path } = await aStore()
    const run = await plan(store, { queries: text('a', 'b') })
    const a = await firstTask(store, run)
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
        text: 'a',
        params: {},
        answerId,
      },
    ])
  })
})
