import { describe, expect, test } from 'vitest'
import { answer, begin, fail, settlement, webPage } from './answers.ts'
import { aStore, everyOperation, firstTask, lease, meansOf, plan, text } from './build.ts'

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

  test('takes first tries of all runs before what waits behind them', async () => {
    const { store } = await aStore()
    const one = await plan(store, { queries: [{ text: 'a', priority: 9 }] })
    const task = await firstTask(store, one)
    const callId = await begin(store, task)
    await store.settleCall(callId, settlement(), { taskId: task.id, tries: 0, nextRound: true })
    const two = await plan(store, { job: { name: 'other' }, queries: [{ text: 'b' }] })
    const tasks = await lease(store, one.id, { runs: [meansOf(one.id), meansOf(two.id)] })
    expect(names(tasks)).toEqual(['b/1', 'a/1'])
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

  test('takes no more of an operation than there is room for, and keeps what the others cost', async () => {
    const { store } = await aStore()
    const of = (operation: string, count: number) =>
      Array.from({ length: count }, (_, n) => ({ text: `${operation} ${n}`, operation }))
    const run = await plan(store, { queries: [...of('alpha.ai', 3), ...of('gamma.search', 4)] })
    const rooms = new Map([['alpha.ai', 1]])
    // 3 for the one that is taken, 6 for the two that wait, and 2 are left.
    const taken = await lease(store, run.id, { credits: 11, rooms })
    expect(names(taken)).toEqual(['alpha.ai 0/1', 'gamma.search 0/1', 'gamma.search 1/1'])
    const none = await lease(store, run.id, { credits: 6, rooms: new Map([['alpha.ai', 0]]) })
    expect(none).toEqual([])
    expect(names(await lease(store, run.id, { credits: 6 }))).toEqual(['alpha.ai 1/1', 'alpha.ai 2/1'])
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
        runs: [meansOf(one.id, { budget: ofOne }), meansOf(two.id, { budget: ofTwo })],
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
    const first = await firstTask(store, run)
    expect(await lease(store, run.id)).toEqual([])
    await answer(store, first, run, webPage('abc'))
    const second = await firstTask(store, run)
    expect(second.page).toBe(2)
    await fail(store, second, run, 'server-error')
    expect(names(await lease(store, run.id))).toEqual(['a/3'])
  })

  test('puts what used up its tries in a row behind all others', async () => {
    const { store } = await aStore()
    const run = await plan(store, { queries: [{ text: 'a', priority: 9 }, { text: 'b' }] })
    const a = await firstTask(store, run)
    const call = await begin(store, a)
    const ended = settlement({ outcome: 'server-error', httpStatus: 500, billed: 0, error: 'x' })
    await store.settleCall(call, ended, { taskId: a.id, tries: 4, nextRound: true })
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
