import { describe, expect, test } from 'vitest'
import type { Target } from '../../src/model/job.ts'
import { backfillTargets } from '../../src/run/derive.ts'
import { aResult } from '../catalog/results.ts'
import { aTarget } from '../run/build.ts'
import { testTable } from '../support/test-table.ts'
import { answer, understood, webPage, work } from './answers.ts'
import { aStore, firstTask, hour, noon, plan, text } from './build.ts'
import { iso, rowsOf } from './rows-of.ts'

const targets = [aTarget('c.example', { label: 'Acme' }), aTarget('z.example', { own: false })]
const brief = (rows: Iterable<Readonly<Record<string, unknown>>>) =>
  [...rows].map(({ query, target, state }) => `${query} ${target} ${state}`)

describe('what a run asks', () => {
  test('is every query with its targets, in the columns of rankings, and nothing is known of it', async () => {
    const temp = await aStore()
    const queries = [
      { text: 'b', tags: ['x', 'y'], volume: 90, labels: { team: 'a' }, params: { gl: 'us' } },
      { text: 'a', targets: [aTarget('q.example')] },
    ]
    const run = await plan(temp.store, { job: { targets }, queries, date: '2026-02-28' })

    const rows = [...temp.store.askedBy(run.id, targets)]

    expect(brief(rows)).toEqual([
      'a Acme unknown',
      'a q.example unknown',
      'a z.example unknown',
      'b Acme unknown',
      'b z.example unknown',
    ])
    await temp.store.finishRun(run.id, 'budget', noon)
    const [view] = rowsOf(temp, "SELECT * FROM rankings WHERE query = 'b' AND target = 'Acme'")
    expect(Object.keys(rows[3] ?? {})).toEqual(Object.keys(view ?? {}))
    expect({ ...rows[3], observed_at: iso }).toEqual({ ...view, observed_at: iso })
  })

  test('follows the edited file, also where what it took back was bought already', async () => {
    const { store } = await aStore()
    const run = await plan(store, { job: { targets }, queries: text('a', 'b') })
    await answer(store, await firstTask(store, run), run, webPage('c'))
    await plan(store, { job: { targets: targets.slice(0, 1) }, queries: text('b', 'd'), continues: run.id })
    expect(brief(store.askedBy(run.id, targets))).toEqual(['b Acme unknown', 'd Acme unknown'])
  })
})

test('what a run asks has no targets that it watches for a later file alone', async () => {
  const { store } = await aStore()
  const run = await plan(store, {
    job: { targets },
    queries: [{ text: 'a', targets: [aTarget('q.example')] }],
  })
  await store.finishRun(run.id, 'budget', noon)
  const changed = aTarget('c.example', { label: 'Acme', match: 'host' })
  await backfillTargets(store, { name: 'acme', targets: [changed] }, null)
  const matched = (named: readonly Target[]) =>
    [...store.askedBy(run.id, named)].map(({ target, target_match }) => `${target} ${target_match}`)
  expect(matched(targets)).toEqual(['Acme domain', 'q.example domain', 'z.example domain'])
  expect(matched([changed])).toEqual(['Acme host', 'q.example domain'])
})

describe('the record of a query', () => {
  const records = (store: Awaited<ReturnType<typeof aStore>>['store'], query: string, until?: string) =>
    store.queryRecords({ job: 'acme', text: query, ...(until === undefined ? {} : { until }) })

  test('has its pages, their results with ranks, and what was observed', async () => {
    const { store } = await aStore()
    const run = await plan(store, { job: { targets }, queries: [{ depth: 40, params: { gl: 'us' } }] })
    const related = aResult('related', { title: 'oak desk' })
    await work(store, run, ({ page }) => {
      if (page === 2) return null
      const says = webPage(page === 1 ? 'ab' : 'ac', page < 3 ? {} : { hasNextPage: false })
      return { ...says, results: [related, ...says.results] }
    })
    const [record] = await records(store, 'standing desk')
    expect(record).toMatchObject({
      run: 1,
      job: 'acme',
      date: '2026-03-01',
      operation: 'alpha.search',
      text: 'standing desk',
      params: { gl: 'us' },
      maxPages: 4,
      pageSize: 10,
      end: { because: 'the service has no next page', kind: 'ended' },
    })
    expect(record?.pages.map(({ page, state, cause }) => [page, state, cause])).toEqual([
      [1, 'done', null],
      [2, 'failed', 'Oops'],
      [3, 'done', null],
      [4, 'skipped', 'the service has no next page'],
    ])
    const [first, , third] = record?.pages ?? []
    expect(first?.fetchedAt).toEqual(iso)
    expect(first?.results.map(({ kind, rank, position, link }) => [kind, rank, position, link])).toEqual([
      ['organic', 1, 1, 'https://a.example/'],
      ['organic', 2, 2, 'https://b.example/'],
    ])
    // What was on page 1 already keeps its rank.
    expect(third?.results.map(({ rank, title }) => [rank, title])).toEqual([
      [1, 'a'],
      [13, 'c'],
    ])
    expect(record?.targets).toMatchObject([
      { label: 'Acme', site: 'c.example', match: 'domain', also: [], own: true, state: 'ranked', rank: 13 },
      { label: 'z.example', own: false, state: 'unknown', rank: null, depth: 3, unbrokenDepth: 2 },
    ])
    expect(record?.targets[0]).toMatchObject({ exactness: 'estimated', page: 3 })
  })

  testTable([
    ['alpha.news', 'news'],
    ['alpha.videos', 'video'],
    ['alpha.images', 'image'],
    ['alpha.ai', 'reference'],
  ] as const)('has results of %s', async (operation, kind) => {
    const { store } = await aStore()
    const run = await plan(store, { job: { targets }, queries: [{ operation }] })
    await work(store, run, () => understood([aResult(kind, { link: 'https://c.example/x', title: 'C' })]))
    const [record] = await records(store, 'standing desk')
    expect(record?.pages[0]?.results).toMatchObject([{ kind, rank: 1, link: 'https://c.example/x' }])
    expect(record?.targets[0]).toMatchObject({ state: 'ranked', rank: 1 })
  })

  test('is there for each operation and place of the text, in the newest run that looked for it', async () => {
    const { store } = await aStore()
    const queries = [{}, { params: { gl: 'us' } }, { operation: 'beta.search' }, { text: 'other' }]
    const one = await plan(store, { job: { targets }, queries, date: '2026-03-01' })
    await work(store, one, () => webPage('c'))
    const two = await plan(store, { job: { targets }, queries: queries.slice(1, 3), date: '2026-03-02' })
    await work(store, two, () => webPage('c'))
    await plan(store, { job: { targets }, queries, date: '2026-03-03' })
    const other = await plan(store, { job: { name: 'else' }, queries })
    await work(store, other, () => webPage('c'))
    const found = async (query: string, until?: string) =>
      (await records(store, query, until)).map((one) => `${one.run} ${one.operation} ${one.params.gl}`)

    expect(await found('standing desk')).toEqual(['2 alpha.search us', '2 beta.search undefined'])
    expect(await found('other')).toEqual(['1 alpha.search undefined'])
    expect(await found('standing desk', '2026-03-02')).toHaveLength(3)
    expect(await found('standing desk', '2026-03-01')).toEqual([])
    expect(await found('nothing')).toEqual([])
    expect(await store.queryTexts('acme')).toEqual(['other', 'standing desk'])
  })

  test('of a run that stopped before it says that nothing was fetched', async () => {
    const { store } = await aStore()
    const run = await plan(store, { job: { targets }, queries: [{}] })
    expect(await records(store, 'standing desk')).toEqual([])
    await store.finishRun(run.id, 'balance', noon + hour)
    expect(await records(store, 'standing desk')).toMatchObject([
      { pages: [{ page: 1, state: 'open', results: [] }], end: null, targets: [{ state: 'unknown' }, {}] },
    ])
  })
})
