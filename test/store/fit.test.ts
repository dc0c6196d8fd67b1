import { describe, expect, test } from 'vitest'
import type { JobSettings } from '../../src/model/job.ts'
import type { JobQuery } from '../../src/model/query.ts'
import { testTable } from '../support/test-table.ts'
import { answer, malformed, webPage } from './answers.ts'
import { aStore, firstTask, hour, lease, noon, plan, since, text } from './build.ts'
import { askedAt, fitInto, pages } from './fitting.ts'

describe('what is worth most stays', () => {
  test('in the order of the file where nothing else tells queries apart', async () => {
    const temp = await aStore()
    await plan(temp.store, { job: { name: 'another' }, queries: text('b', 'd', 'a') })
    const run = await plan(temp.store, { queries: text('c', 'a', 'd', 'b') })
    expect(await fitInto(temp, 3, [run])).toEqual([{ runId: run.id, queries: 1, credits: 1 }])
    expect([pages(temp, run, 'pending'), pages(temp, run, 'skipped')]).toEqual(['c/1 a/1 d/1', 'b/1'])
  })

  test('by staleness before that: never asked comes first, asked last comes last', async () => {
    const temp = await aStore()
    await askedAt(temp, { a: noon, b: noon - 2 * hour, c: noon - hour })
    const run = await plan(temp.store, { queries: text('a', 'b', 'c', 'd') })
    await fitInto(temp, 2, [run])
    expect([pages(temp, run, 'pending'), pages(temp, run, 'skipped')]).toEqual(['b/1 d/1', 'a/1 c/1'])
  })

  test('by when a query was asked last, whatever page and however often', async () => {
    const temp = await aStore()
    await askedAt(temp, { a: noon - 9 * hour })
    await askedAt(temp, { a: noon })
    await askedAt(temp, { b: noon - hour })
    const run = await plan(temp.store, { queries: text('a', 'b') })
    await fitInto(temp, 1, [run])
    expect(pages(temp, run, 'pending')).toBe('b/1')
  })

  test('by priority before all', async () => {
    const temp = await aStore()
    await askedAt(temp, { b: noon, c: noon - hour })
    const queries = [
      { text: 'a' },
      { text: 'b', priority: 2 },
      { text: 'c', priority: 2 },
      { text: 'd', priority: -1 },
    ]
    const run = await plan(temp.store, { queries })
    await fitInto(temp, 2, [run])
    expect([pages(temp, run, 'pending'), pages(temp, run, 'skipped')]).toEqual(['b/1 c/1', 'a/1 d/1'])
  })
})

describe('a query stays or goes as a whole', () => {
  test('with every page that it has; a cheaper one behind it may stay', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, {
      queries: [
        { text: 'a', depth: 20 },
        { text: 'b', depth: 30 },
        { text: 'c', operation: 'alpha.ai' },
        { text: 'd' },
      ],
    })
    expect(await fitInto(temp, 4, [run])).toEqual([{ runId: run.id, queries: 2, credits: 6 }])
    expect([pages(temp, run, 'pending'), pages(temp, run, 'skipped')]).toEqual([
      'a/1 a/2 d/1',
      'b/1 b/2 b/3 c/1',
    ])
    expect((await temp.store.tally(run.id)).tasks).toMatchObject({ planned: 3, pending: 3 })
  })

  testTable<[string, Partial<JobSettings>, Partial<JobQuery>, number]>([
    ['where each follows from the one before', { paging: 'until-found' }, { depth: 30 }, 3],
    ['where nobody knows how many it takes', {}, { depth: 30, operation: 'gamma.search' }, 6],
  ])('with every page that it may need %s', async (_, job, query, most) => {
    const temp = await aStore()
    const run = await plan(temp.store, { job, queries: [{ ...query, text: 'a' }] })
    expect(pages(temp, run, 'pending')).toBe('a/1')
    expect(await fitInto(temp, most, [run])).toEqual([])
    expect(await fitInto(temp, most - 1, [run])).toEqual([{ runId: run.id, queries: 1, credits: most }])
  })

  test('with the pages that it still lacks, where it was begun', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{ text: 'a', depth: 30 }, { text: 'b' }] })
    await answer(temp.store, await firstTask(temp.store, run), run, webPage('abc'))
    expect(await fitInto(temp, 1, [run])).toEqual([{ runId: run.id, queries: 1, credits: 2 }])
    expect([pages(temp, run, 'done'), pages(temp, run, 'skipped')]).toEqual(['a/1', 'a/2 a/3'])
  })

  test('within the budget, what is to be kept, and the calls of the quotas, too', async () => {
    const temp = await aStore()
    const queries = [{ text: 'a', operation: 'alpha.ai' }, ...text('b', 'c', 'd', 'e')]
    const left = async (credits: number, means: Parameters<typeof fitInto>[3]) => {
      const run = await plan(temp.store, { queries })
      await fitInto(temp, credits, [run], means)
      return pages(temp, run, 'pending')
    }
    expect(await left(99, { budget: 5 })).toBe('a/1 b/1 c/1')
    expect(await left(9, { keep: 7 })).toBe('b/1 c/1')
    expect(await left(99, { calls: 2 })).toBe('a/1 b/1')
    expect(await left(99, {})).toBe('a/1 b/1 c/1 d/1 e/1')
  })
})

describe('stored answers', () => {
  test('cost nothing while they are fresh', async () => {
    const temp = await aStore()
    await askedAt(temp, { a: noon - hour, b: noon - 3 * hour }, { depth: 20 })
    const queries = [{ text: 'a', depth: 30 }, { text: 'b', depth: 30 }, { text: 'c' }]
    const run = await plan(temp.store, { queries })
    const means = { fresh: since(noon - 2 * hour) }
    expect(await fitInto(temp, 2, [run], means)).toEqual([{ runId: run.id, queries: 1, credits: 3 }])
    expect(pages(temp, run, 'pending')).toBe('a/1 a/2 a/3 c/1')
    const { runId, ...covered } = { runId: run.id, budget: 10, keep: 0, ...means }
    const tasks = await lease(temp.store, run.id, { credits: 2, runs: [{ runId, ...covered }] })
    expect(tasks.map(({ reusable }) => reusable !== null)).toEqual([true, false])
  })

  test('count for the pages that are asked for, each once', async () => {
    const temp = await aStore()
    for (let turn = 0; turn < 2; turn++) await askedAt(temp, { a: noon }, { depth: 30 })
    temp.exec('DELETE FROM answers_ WHERE page = 1')
    const run = await plan(temp.store, { queries: [{ text: 'a', depth: 20 }] })
    expect(await fitInto(temp, 0, [run], { fresh: since(noon) })).toMatchObject([{ queries: 1, credits: 1 }])
  })

  test('cost nothing whatever is left', async () => {
    const temp = await aStore()
    await askedAt(temp, { a: noon })
    const run = await plan(temp.store, { queries: text('b', 'a') })
    expect(await fitInto(temp, 0, [run], { fresh: since(noon), budget: 0, calls: 0 })).toMatchObject([
      { queries: 1 },
    ])
    expect(pages(temp, run, 'pending')).toBe('a/1')
  })

  test('are bought again where freshness is not asked for', async () => {
    const temp = await aStore()
    await askedAt(temp, { a: noon })
    const run = await plan(temp.store, { queries: text('a') })
    expect(await fitInto(temp, 0, [run])).toHaveLength(1)
  })

  test('that made a task fail are bought again, and cost', async () => {
    const temp = await aStore()
    const earlier = await plan(temp.store, { queries: text('a') })
    await malformed(temp.store, await firstTask(temp.store, earlier), earlier)
    const run = await plan(temp.store, { queries: text('a') })
    expect(await fitInto(temp, 0, [run], { fresh: since(noon) })).toEqual([
      { runId: run.id, queries: 1, credits: 1 },
    ])
  })

  test('of the same run do not count for its other pages', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{ text: 'a', depth: 20 }] })
    await answer(temp.store, await firstTask(temp.store, run), run, webPage('abc'))
    expect(await fitInto(temp, 0, [run], { fresh: since(noon) })).toMatchObject([{ queries: 1, credits: 1 }])
  })
})
