import { describe, expect, test } from 'vitest'
import { testTable } from '../support/test-table.ts'
import { malformed, webPage, work } from './answers.ts'
import { aStore, firstTask, hour, noon, plan, since, text } from './build.ts'
import { askedAt, begun, fitInto, foretold, pages, planAgain } from './fitting.ts'

describe('what a plan foretells of a run that goes on', () => {
  test('counts what was left out as still to be bought', async () => {
    const temp = await aStore()
    const queries = [{ text: 'a', depth: 20 }, ...text('b', 'c')]
    const run = await plan(temp.store, { queries })
    await fitInto(temp, 1, [run])
    const said = await foretold(temp, run, queries, { credits: 2 })
    expect(said).toEqual({ left: { queries: 2, credits: 2 }, done: 0, reused: 0, max: 4 })
    await askedAt(temp, { c: noon })
    expect(await foretold(temp, run, queries, { fresh: since(noon) })).toMatchObject({ reused: 1, max: 3 })
  })

  test('counts pages that are done once, though their answers are fresh', async () => {
    const { temp, run, queries } = await begun('+', 3)
    expect(await foretold(temp, run, queries, { fresh: since(noon - hour) })).toEqual({
      left: { queries: 1, credits: 2 },
      done: 1,
      reused: 0,
      max: 2,
    })
  })

  testTable([
    ['whose results ended', '+0', 5, { paging: 'until-found' as const }],
    ['that are done', '++', 2, {}],
  ])('counts nothing for queries %s', async (_, ends, count, job) => {
    const { temp, run, queries } = await begun(ends, count, job)
    expect((await foretold(temp, run, queries)).left).toBe(null)
    if (ends.endsWith('0')) expect((await foretold(temp, run, [{ text: 'a', depth: 90 }])).left).toBe(null)
  })

  test('counts fresh answers for the pages that are asked for, each once', async () => {
    const temp = await aStore()
    const queries = [{ text: 'a', depth: 20 }]
    const run = await plan(temp.store, { queries })
    for (let turn = 0; turn < 2; turn++) await askedAt(temp, { a: noon }, { depth: 30 })
    temp.exec('DELETE FROM answers_ WHERE page = 1')
    const left = { queries: 1, credits: 1 }
    expect(await foretold(temp, run, queries, { fresh: since(noon) })).toEqual({
      left,
      done: 0,
      reused: 1,
      max: 1,
    })
  })

  test('counts what would be bought again, for its fresh answer made a task fail', async () => {
    const temp = await aStore()
    const earlier = await plan(temp.store, { job: { name: 'another' }, queries: text('a') })
    await malformed(temp.store, await firstTask(temp.store, earlier), earlier)
    const run = await plan(temp.store, { queries: text('a') })
    const left = { queries: 1, credits: 1 }
    expect(await foretold(temp, run, text('a'), { fresh: since(noon) })).toEqual({
      left,
      done: 0,
      reused: 0,
      max: 1,
    })
  })

  test('takes queries in the order in which the run was planned first', async () => {
    const temp = await aStore()
    const [one, two] = [{ text: 'a' }, { text: 'b', depth: 20 }]
    const run = await plan(temp.store, { queries: [one, two] })
    const left = { queries: 1, credits: 2 }
    expect((await foretold(temp, run, [two, one], { credits: 2 })).left).toEqual(left)
    await planAgain(temp, run, [two, one])
    expect(await fitInto(temp, 2, [run])).toEqual([{ runId: run.id, ...left }])
  })

  test('counts nothing where no page waits, though one was given up before', async () => {
    const { temp, run, queries } = await begun('-0', 3)
    await temp.store.retryFailed(run.id)
    await work(temp.store, run, () => webPage('ab'))
    expect([pages(temp, run, 'done'), pages(temp, run, 'skipped')]).toEqual(['a/1 a/2', 'a/3'])
    expect((await foretold(temp, run, queries)).left).toBe(null)
    await planAgain(temp, run, queries)
    expect(pages(temp, run, 'pending')).toBe('')
  })

  test('counts what a deeper plan adds', async () => {
    const { temp, run } = await begun('++', 2)
    expect((await foretold(temp, run, [{ text: 'a', depth: 40 }])).left).toEqual({ queries: 1, credits: 2 })
  })
})
