import { describe, expect, test } from 'vitest'
import { aResult } from '../catalog/results.ts'
import { aTarget } from '../run/build.ts'
import { testTable } from '../support/test-table.ts'
import { answer, webPage, work } from './answers.ts'
import { aStore, firstTask, hour, noon, plan } from './build.ts'
import { iso, rowsOf } from './rows-of.ts'

testTable<[string, readonly string[], number]>([
  ['where the service says so on the last page that was asked for', ['ab', 'cd$'], 1],
  ['where a page is empty', ['ab', ''], 1],
  ['not where as much was looked at as was asked for', ['ab', 'cd'], 0],
])('the results ended %s', async (_, pages, ended) => {
  const temp = await aStore()
  const job = { targets: [aTarget('z.example')] }
  const run = await plan(temp.store, { job, queries: [{ depth: pages.length * 10 }] })
  await work(temp.store, run, ({ page }) => {
    const letters = pages[page - 1] ?? ''
    return webPage(letters.replace('$', ''), letters.endsWith('$') ? { hasNextPage: false } : {})
  })
  await temp.store.finishRun(run.id, 'completed', noon + hour)
  expect(rowsOf(temp, 'SELECT results_ended FROM rankings')).toEqual([{ results_ended: ended }])
})

describe('observations', () => {
  const targets = [aTarget('c.example', { label: 'Acme' }), aTarget('z.example', { own: false })]

  async function observed(pages: readonly (string | null)[]) {
    const temp = await aStore()
    const queries = [{ depth: pages.length * 10, tags: ['money', 'top'], params: { gl: 'us' } }]
    const run = await plan(temp.store, { job: { targets }, queries, date: '2026-02-28' })
    await work(temp.store, run, ({ page }) => {
      const letters = pages[page - 1]
      return letters == null ? null : webPage(letters)
    })
    await temp.store.finishRun(run.id, 'completed_with_failures', noon + hour)
    return temp
  }

  const brief = 'SELECT target, state, rank, exactness, depth FROM rankings ORDER BY target'

  test('are one row for each query and target, with the page that ranks', async () => {
    const temp = await observed(['ab', 'cd'])
    expect(rowsOf(temp, 'SELECT * FROM rankings ORDER BY target')).toMatchObject([
      {
        job: 'acme',
        query: 'standing desk',
        target: 'Acme',
        operation: 'alpha.search',
        gl: 'us',
        hl: null,
        location: null,
        tags: 'money;top',
        date: '2026-02-28',
        observed_at: iso,
        state: 'ranked',
        rank: 3,
        exactness: 'exact',
        depth: 4,
        url: 'https://c.example/',
        title: 'c',
        run_id: 1,
        own: 1,
      },
      {
        target: 'z.example',
        state: 'absent',
        rank: null,
        exactness: 'exact',
        url: null,
        title: null,
        own: 0,
      },
    ])
  })

  testTable<[string, readonly (string | null)[], readonly unknown[]]>([
    [
      'below a lost page are estimated, and absence there is unknown',
      ['ab', null, 'cd'],
      [
        ['Acme', 'ranked', 13, 'estimated', 4],
        ['z.example', 'unknown', null, null, 4],
      ],
    ],
    [
      'of a query that failed altogether are unknown',
      [null],
      [
        ['Acme', 'unknown', null, null, 0],
        ['z.example', 'unknown', null, null, 0],
      ],
    ],
    [
      'on a page above a lost one are exact',
      ['ac', null],
      [
        ['Acme', 'ranked', 2, 'exact', 2],
        ['z.example', 'unknown', null, null, 2],
      ],
    ],
  ])('%s', async (_, pages, rows) => {
    const shown = rowsOf(await observed(pages), brief)
    expect(shown.map((row) => Object.values(row))).toEqual(rows)
  })

  test('count web results only, not the related searches beside them', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { job: { targets }, queries: [{ depth: 20 }] })
    const related = aResult('related', { title: 'oak desk' })
    await work(temp.store, run, ({ page }) => {
      const { results, ...says } = webPage(page === 1 ? 'ab' : 'dc')
      return { ...says, results: [related, ...results, related] }
    })
    expect(rowsOf(temp, brief).map((row) => Object.values(row))).toEqual([
      ['Acme', 'ranked', 4, 'exact', 4],
      ['z.example', 'absent', null, 'exact', 4],
    ])
  })

  test('of targets that only one query has are made for that query alone', async () => {
    const temp = await aStore()
    const own = [aTarget('b.example')]
    const run = await plan(temp.store, {
      job: { targets },
      queries: [{ text: 'q', targets: own }, { text: 'r' }],
    })
    await work(temp.store, run, () => webPage('ab'))
    const rows = rowsOf(temp, 'SELECT query, target, state FROM rankings ORDER BY query, target')
    expect(rows.map((row) => Object.values(row).join(' '))).toEqual([
      'q Acme absent',
      'q b.example ranked',
      'q z.example absent',
      'r Acme absent',
      'r z.example absent',
    ])
  })

  test('are unknown for what was never sent when the run ends, and stay what they are elsewhere', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { job: { targets }, queries: [{ text: 'q' }, { text: 'r' }] })
    const q = await firstTask(temp.store, run)
    await answer(temp.store, q, run, webPage('abc'))
    await temp.store.finishRun(run.id, 'interrupted', noon + hour)
    const rows = rowsOf(
      temp,
      'SELECT query, target, state, rank, observed_at FROM rankings ORDER BY query, target',
    )
    const later = new Date(noon + hour).toISOString()
    expect(rows.map((row) => Object.values(row))).toEqual([
      ['q', 'Acme', 'ranked', 3, iso],
      ['q', 'z.example', 'absent', null, iso],
      ['r', 'Acme', 'unknown', null, later],
      ['r', 'z.example', 'unknown', null, later],
    ])
  })

  test('that were unknown become known when the run goes on', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { job: { targets }, queries: [{}] })
    await temp.store.finishRun(run.id, 'interrupted', noon)
    await plan(temp.store, { job: { targets }, queries: [{}], continues: run.id })
    await work(temp.store, run, () => webPage('abc'))
    expect(rowsOf(temp, brief).map(({ state }) => state)).toEqual(['ranked', 'absent'])
  })
})
