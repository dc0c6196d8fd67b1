import { describe, expect, test } from 'vitest'
import { webPage, work } from './answers.ts'
import { aStore, lease, noon, plan, since, text } from './build.ts'
import { askedAt, begun, fitInto, foretold, pages, planAgain } from './fitting.ts'

describe('what was left out of a run', () => {
  test('is not asked for while the run goes on as it was planned', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: text('a', 'b', 'c') })
    await fitInto(temp, 1, [run])
    await temp.store.recover([run.id], noon)
    expect((await lease(temp.store, run.id)).map(({ text }) => text)).toEqual(['a'])
  })

  test('is a part of it again when it is planned again', async () => {
    const temp = await aStore()
    const queries = [{ text: 'a', depth: 20 }, ...text('b', 'c')]
    const run = await plan(temp.store, { queries })
    await fitInto(temp, 1, [run])
    expect(pages(temp, run, 'skipped')).toBe('a/1 a/2 c/1')
    await planAgain(temp, run, queries)
    expect([pages(temp, run, 'pending'), pages(temp, run, 'skipped')]).toEqual(['a/1 a/2 b/1 c/1', ''])
    expect(temp.sql('SELECT DISTINCT cause FROM tasks')).toEqual([{ cause: null }])
    await work(temp.store, run, ({ page }) => webPage(`${page}x`))
    expect((await temp.store.tally(run.id)).tasks).toMatchObject({ planned: 4, done: 4 })
  })

  test('goes on behind the pages that it had', async () => {
    const { temp, run, queries } = await begun('+', 3)
    await fitInto(temp, 1, [run])
    expect([pages(temp, run, 'done'), pages(temp, run, 'skipped')]).toEqual(['a/1', 'a/2 a/3'])
    await planAgain(temp, run, queries)
    expect((await lease(temp.store, run.id)).map(({ page }) => page)).toEqual([2])
  })

  test('is dropped where the edited file asks for it no longer', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: text('a', 'b') })
    await fitInto(temp, 1, [run])
    await planAgain(temp, run, text('a'))
    expect([pages(temp, run, 'pending'), pages(temp, run, 'skipped')]).toEqual(['a/1', ''])
  })

  test('is left out again where it is not covered then either', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: text('a', 'b') })
    for (let turn = 0; turn < 2; turn++) {
      expect(await fitInto(temp, 1, [run])).toEqual([{ runId: run.id, queries: 1, credits: 1 }])
      await planAgain(temp, run, text('a', 'b'))
    }
    expect(pages(temp, run, 'pending')).toBe('a/1 b/1')
  })

  test('does not forget that its results had ended', async () => {
    const { temp, run, queries } = await begun('-0', 3)
    await temp.store.retryFailed(run.id)
    await fitInto(temp, 0, [run])
    await planAgain(temp, run, queries)
    expect([pages(temp, run, 'pending'), pages(temp, run, 'skipped')]).toEqual(['a/1', 'a/3'])
    expect(temp.sql('SELECT paging_end AS why FROM run_queries')).toEqual([{ why: 'the page is empty' }])
  })
})

describe('pages that are tried again', () => {
  test('count with those that may follow them', async () => {
    const { temp, run, queries } = await begun('!', 3)
    expect(pages(temp, run, 'skipped')).toBe('a/2 a/3')
    await temp.store.retryFailed(run.id)
    expect((await foretold(temp, run, queries)).left).toEqual({ queries: 1, credits: 3 })
    expect(await fitInto(temp, 2, [run])).toEqual([{ runId: run.id, queries: 1, credits: 3 }])
  })

  test('count alone where nothing follows them, whatever else is stored', async () => {
    const { temp, run, queries } = await begun('-0', 3)
    await temp.store.retryFailed(run.id)
    await askedAt(temp, { a: noon }, { depth: 30 })
    temp.exec(`DELETE FROM answers_ WHERE page = 1`)
    const left = { queries: 1, credits: 1 }
    expect((await foretold(temp, run, queries, { fresh: since(noon) })).left).toEqual(left)
    expect(await fitInto(temp, 0, [run], { fresh: since(noon) })).toEqual([{ runId: run.id, ...left }])
  })

  test('count though deeper pages are done that are asked for no longer', async () => {
    const { temp, run } = await begun('-++', 4)
    await temp.store.retryFailed(run.id)
    const shallower = [{ text: 'a', depth: 20 }]
    const left = { queries: 1, credits: 1 }
    expect((await foretold(temp, run, shallower)).left).toEqual(left)
    await planAgain(temp, run, shallower)
    expect(await fitInto(temp, 0, [run])).toEqual([{ runId: run.id, ...left }])
  })
})
