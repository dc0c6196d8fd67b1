import { describe, expect, test } from 'vitest'
import type { RowView } from '../../src/store/sqlite/rankings/rows.ts'
import { testTable } from '../support/test-table.ts'
import { webPage, work } from './answers.ts'
import { aStore, plan, type TempStore } from './build.ts'

describe('rows for exports', () => {
  async function twoRuns() {
    const temp = await aStore()
    for (const [name, day] of [
      ['one', 1],
      ['two', 2],
    ] as const) {
      const queries = [
        { text: 'b', depth: 20, labels: { team: name } },
        { text: 'a', operation: 'beta.search' },
      ]
      const run = await plan(temp.store, { job: { name }, queries })
      await work(temp.store, run, ({ page }) => webPage(page === 1 ? 'xy' : 'z'), Date.UTC(2026, 2, day))
    }
    return temp
  }
  const links = async (temp: TempStore, filter: Parameters<TempStore['store']['rows']>[1]) =>
    [...temp.store.rows('organic_results', filter)].map(
      ({ run_id, query, title }) => `${run_id}${query}${title}`,
    )

  test('come in the order in which tasks were planned, page and place', async () => {
    expect(await links(await twoRuns(), {})).toEqual([
      '1bx',
      '1by',
      '1bz',
      '1ax',
      '1ay',
      '2bx',
      '2by',
      '2bz',
      '2ax',
      '2ay',
    ])
  })

  testTable<[Parameters<TempStore['store']['rows']>[1], readonly string[]]>([
    [{ job: 'two', query: 'a' }, ['2ax', '2ay']],
    [{ run: 1, operation: 'beta.search' }, ['1ax', '1ay']],
    [{ from: '2026-03-02', query: 'a' }, ['2ax', '2ay']],
    [{ until: '2026-03-02', query: 'a' }, ['1ax', '1ay']],
    [{ from: '2026-03-01', until: '2026-03-02', query: 'a' }, ['1ax', '1ay']],
    [{ query: "a' OR 1=1 --" }, []],
    [{ job: 'three' }, []],
  ])('are those that %j takes', async (filter, rows) => {
    expect(await links(await twoRuns(), filter)).toEqual(rows)
  })

  test('stream while the store is written to', async () => {
    const temp = await twoRuns()
    const rows = temp.store.rows('organic_results', {})[Symbol.iterator]()
    expect(rows.next().value).toMatchObject({ query: 'b' })
    rows.return?.()
    await plan(temp.store, { queries: [{}] })
    expect(await temp.store.runs({})).toHaveLength(3)
  })

  test('can be had of every view', async () => {
    const temp = await twoRuns()
    const counts: Record<RowView, number> = {
      answers: 6,
      organic_results: 10,
      news_results: 0,
      video_results: 0,
      image_results: 0,
      ai_references: 0,
      suggestions: 0,
      related_searches: 0,
      calls: 6,
      rankings: 0,
      clicks: 0,
    }
    for (const [view, count] of Object.entries(counts))
      expect([view, [...temp.store.rows(view as RowView, { from: '2000' })].length]).toEqual([view, count])
    expect([...temp.store.rows('calls', { job: 'one' })]).toHaveLength(3)
  })

  test('know the labels that their queries carry', async () => {
    const { store } = await twoRuns()
    using snapshot = store.snapshot()
    expect(snapshot.labelNames({})).toEqual(['team'])
    expect(snapshot.labelNames({ job: 'three' })).toEqual([])
  })
})
