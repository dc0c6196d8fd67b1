import { describe, expect, test } from 'vitest'
import type { JobSettings } from '../../src/model/job.ts'
import type { Task } from '../../src/model/run.ts'
import { aResult } from '../catalog/results.ts'
import { aTarget } from '../run/build.ts'
import { testTable } from '../support/test-table.ts'
import { answer, conclude, done, fail, keep, read, understood, webPage, work } from './answers.ts'
import { aStore, firstTask, lease, plan, type TempStore } from './build.ts'
import { rowsOf } from './rows-of.ts'

describe('an answer that is read again', () => {
  async function readTwice(normalisers: readonly [number, number]) {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{ operation: 'alpha.news' }] })
    const task = await firstTask(temp.store, run)
    const news = { date: 'today', publishedAt: null, precision: null }
    await answer(temp.store, task, run, understood([aResult('news', { title: 'old', news })]))
    const [stored] = temp.sql<{ answer_id: number }>('SELECT answer_id FROM answers')
    temp.exec(`UPDATE answers_ SET normaliser = ${normalisers[0]}`)
    const anew = understood([aResult('news', { title: 'new', news }), aResult('news', { title: 'more' })])
    await conclude(temp.store, task, done(stored?.answer_id ?? 0, anew, normalisers[1]))
    return rowsOf(temp, 'SELECT title, date FROM news_results ORDER BY rank')
  }

  test('by the same normaliser stays as it was', async () => {
    expect(await readTwice([1, 1])).toEqual([{ title: 'old', date: 'today' }])
  })

  test('by a newer one is stored anew, details and all', async () => {
    expect(await readTwice([1, 2])).toEqual([
      { title: 'new', date: 'today' },
      { title: 'more', date: null },
    ])
  })
})

describe('ranks over the pages of a query', () => {
  async function ranks(pages: readonly (string | null)[], settings: Partial<JobSettings> = {}) {
    const temp = await aStore()
    const run = await plan(temp.store, { job: settings, queries: [{ depth: pages.length * 10 }] })
    await work(temp.store, run, ({ page }) => {
      const letters = pages[page - 1]
      return letters == null ? null : webPage(letters)
    })
    return rowsOf(temp, 'SELECT page, position, title, rank FROM organic_results ORDER BY page, place').map(
      ({ page, position, title, rank }) => `${page}.${position} ${title} ${rank}`,
    )
  }

  testTable<[string, readonly (string | null)[], readonly string[]]>([
    ['that count on', ['ab', 'cd'], ['1.1 a 1', '1.2 b 2', '2.1 c 3', '2.2 d 4']],
    ['that overlap', ['abc', 'bcd'], ['1.1 a 1', '1.2 b 2', '1.3 c 3', '2.1 b 2', '2.2 c 3', '2.3 d 4']],
    ['of which one was lost', ['ab', null, 'ca'], ['1.1 a 1', '1.2 b 2', '3.1 c 13', '3.2 a 1']],
    ['of which the first was lost', [null, 'ab'], ['2.1 a 11', '2.2 b 12']],
  ])('%s', async (_, pages, rows) => {
    expect(await ranks(pages)).toEqual(rows)
  })

  test('are those of its pages one by one, where they are read in one commit', async () => {
    const { store, sql } = await aStore()
    const run = await plan(store, { queries: [{ depth: 20 }, { text: 'other', depth: 20 }] })
    await work(store, run, () => null)
    await store.retryFailed(run.id)
    const tasks = await lease(store, run.id)
    const answers = new Map<Task, number>()
    for (const task of tasks) answers.set(task, await keep(store, task))
    const shown = { '1': webPage('ab', { hasNextPage: true }), '2': webPage('bc', { hasNextPage: false }) }
    const says = ({ page }: Task) => shown[page === 1 ? 1 : 2]
    await Promise.all([...answers].map(([task, id]) => read(store, task, run, id, says(task))))
    expect(sql('SELECT state, rank_base, ranks FROM tasks_ ORDER BY query_id, page')).toEqual(
      [1, 2].flatMap(() => [
        { state: 'done', rank_base: 0, ranks: null },
        { state: 'done', rank_base: 2, ranks: '[2,3]' },
      ]),
    )
    expect(sql('SELECT DISTINCT paging_kind FROM run_queries')).toHaveLength(1)
  })

  test('are put right when a lost page comes in a later try', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{ depth: 20 }] })
    await work(temp.store, run, ({ page }) => (page === 1 ? null : webPage('ab')))
    const shown = () => rowsOf(temp, 'SELECT title, rank FROM organic_results ORDER BY page, place')
    expect(shown()).toEqual([
      { title: 'a', rank: 11 },
      { title: 'b', rank: 12 },
    ])
    expect(await temp.store.retryFailed(run.id)).toBe(1)
    await work(temp.store, run, () => webPage('xb'))
    expect(shown()).toEqual([
      { title: 'x', rank: 1 },
      { title: 'b', rank: 2 },
      { title: 'a', rank: 3 },
      { title: 'b', rank: 2 },
    ])
  })
})

describe('the pages that follow from an answer', () => {
  const tasks = ({ sql }: TempStore) =>
    sql<{ task: string }>(
      "SELECT page || ' ' || state || coalesce(': ' || cause, '') AS task FROM tasks ORDER BY page",
    ).map(({ task }) => task)

  test('are passed over where the results ended, with the reason', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{ depth: 40 }] })
    const first = await firstTask(temp.store, run)
    const effect = await answer(temp.store, first, run, webPage('ab', { hasNextPage: false }))
    expect(effect).toEqual({ added: 0, skipped: 3 })
    const because = 'skipped: the service has no next page'
    expect(tasks(temp)).toEqual(['1 done', `2 ${because}`, `3 ${because}`, `4 ${because}`])
    expect((await temp.store.tally(run.id)).tasks).toMatchObject({ planned: 1, done: 1, pending: 0 })
  })

  test('are added one by one where nobody knows how many it takes', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{ operation: 'gamma.search', depth: 5 }] })
    const effects = []
    for (const letters of ['ab', 'bc', 'cde']) {
      // A depth of 5 needs no more than one page of five; the plan was made for more.
      temp.exec('UPDATE run_queries SET pages = 9')
      const [task] = await lease(temp.store, run.id)
      if (task !== undefined) effects.push(await answer(temp.store, task, run, webPage(letters)))
    }
    expect(effects).toEqual([
      { added: 1, skipped: 0 },
      { added: 1, skipped: 0 },
      { added: 0, skipped: 0 },
    ])
    expect(tasks(temp)).toEqual(['1 done', '2 done', '3 done'])
  })

  test('follow the last one where the job goes deeper, though one before it is tried again', async () => {
    const temp = await aStore()
    const job = { paging: 'until-found' as const }
    const run = await plan(temp.store, { job, queries: [{ text: 'a', depth: 20 }] })
    await fail(temp.store, await firstTask(temp.store, run), run, 'server-error')
    await answer(temp.store, await firstTask(temp.store, run), run, webPage('cd'))
    await temp.store.retryFailed(run.id)
    await plan(temp.store, { job, queries: [{ text: 'a', depth: 40 }], continues: run.id })
    await work(temp.store, run, ({ page }) => webPage(`${page}x`))
    expect(tasks(temp)).toEqual(['1 done', '2 done', '3 done', '4 done'])
  })

  test('do not follow a page that came before its query was dropped from the job, and is read after', async () => {
    const temp = await aStore()
    const job = { paging: 'until-found' as const }
    const run = await plan(temp.store, { job, queries: [{ text: 'a', depth: 30 }, { text: 'b' }] })
    const first = await firstTask(temp.store, run)
    const kept = await keep(temp.store, first)
    await plan(temp.store, { job, queries: [{ text: 'b' }], continues: run.id })
    expect(await read(temp.store, first, run, kept, webPage('ab'))).toEqual({ added: 0, skipped: 0 })
    expect((await temp.store.tally(run.id)).tasks).toMatchObject({ done: 1, pending: 1 })
    // Asked again, it goes on.
    await plan(temp.store, { job, queries: [{ text: 'a', depth: 30 }], continues: run.id })
    expect((await lease(temp.store, run.id)).map(({ text, page }) => `${text} ${page}`)).toEqual(['a 2'])
  })

  test('stop as soon as every own target was found', async () => {
    const temp = await aStore()
    const targets = [aTarget('c.example'), aTarget('a.example'), aTarget('z.example', { own: false })]
    const run = await plan(temp.store, { job: { paging: 'until-found', targets }, queries: [{ depth: 50 }] })
    await work(temp.store, run, ({ page }) => webPage(page === 1 ? 'ab' : 'cd'))
    expect(tasks(temp)).toEqual(['1 done', '2 done'])
  })

  test('wait for competitors, too, where the job says so', async () => {
    const temp = await aStore()
    const targets = [aTarget('a.example'), aTarget('z.example', { own: false })]
    const job = { paging: 'until-found', until: 'all', targets } as const
    const run = await plan(temp.store, { job, queries: [{ depth: 30 }] })
    await work(temp.store, run, ({ page }) => webPage(['ab', 'cd', 'ef'][page - 1] ?? ''))
    expect(tasks(temp)).toEqual(['1 done', '2 done', '3 done'])
  })

  test('are passed over where a page was refused for a reason that they share', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: [{ depth: 30, params: { gl: 'us' } }] })
    const first = await firstTask(temp.store, run)
    expect(await fail(temp.store, first, run, 'rejected')).toEqual({ added: 0, skipped: 2 })
    expect(tasks(temp)).toEqual(['1 failed: Oops', '2 skipped: page 1 failed', '3 skipped: page 1 failed'])
    expect(await temp.store.failures(run.id)).toEqual([
      {
        ...{ taskId: first.id, operation: 'alpha.search', query: 'standing desk', page: 1, cause: 'Oops' },
        params: { gl: 'us' },
      },
    ])
  })
})
