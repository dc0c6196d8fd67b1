import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildHistory } from '../../src/report/build-history.ts'
import { dayValue } from '../../src/report/day-cell.ts'
import type { RankHistory, RankSeries } from '../../src/report/rank-history.ts'
import { aTarget } from '../plan/build.ts'
import { webPage, work } from './answers.ts'
import { aStore, noon, plan, type TempStore, tasksOf, text } from './build.ts'

const targets = [aTarget('x.example'), aTarget('a.example', { own: false })]
const kindOf = () => 'organic' as const

/** Pages by the letters of their sites; null is a page that fails. Repeated letters repeat a result. */
const pageLetters = fc.option(
  fc.string({ unit: fc.constantFrom(...'abcxyzX'), minLength: 1, maxLength: 6 }),
  {
    freq: 5,
  },
)
const aRun = fc.record({
  queries: fc.subarray(['desk', 'lamp'], { minLength: 1 }),
  pages: fc.array(pageLetters, { minLength: 1, maxLength: 3 }),
  paging: fc.constantFrom('all', 'until-found', 'smart'),
  sameDay: fc.boolean(),
  ends: fc.boolean(),
})

/** `X` is a deeper page of `x.example`. */
function pageOf(letters: string, isLast: boolean) {
  const page = webPage(letters, isLast ? { hasNextPage: false } : {})
  const deeper = { link: 'https://x.example/deep' }
  return {
    ...page,
    results: page.results.map((one) => (one.title === 'X' ? { ...one, ...deeper } : one)),
  }
}

interface ViewRow {
  readonly query: string
  readonly target: string
  readonly date: string
  readonly state: string
  readonly rank: number | null
  readonly exactness: string | null
  readonly depth: number
  readonly unbroken_depth: number
  readonly results_ended: number | null
  readonly url: string | null
  readonly urls: string | null
}

test('a history says of each day what the views say of its runs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aRun, { minLength: 1, maxLength: 5 }), async (days) => {
      const temp = await aStore()
      let day = 0
      for (const { queries, pages, paging, sameDay, ends } of days) {
        if (!sameDay) day += 1
        const date = `2026-03-${String(day + 1).padStart(2, '0')}`
        const job = { name: 'acme', targets, paging } as const
        const asked = text(...queries).map((query) => ({ ...query, pages: pages.length + (ends ? 1 : 0) }))
        const run = await plan(temp.store, { job, queries: asked, date })
        await work(temp.store, run, ({ page }) => {
          const letters = pages[page - 1]
          return letters == null ? null : pageOf(letters, page === pages.length && ends)
        })
        await temp.store.finishRun(run.id, 'completed', noon)
      }
      const runs = await temp.store.runs({ job: 'acme' })
      const { history, queryIds } = buildHistory({
        job: 'acme',
        runs,
        targets,
        store: temp.store,
        kindOf,
      })
      expect(history.keywords.map(({ query }) => query)).toEqual([...(days.at(-1)?.queries ?? [])].sort())
      expect(history.series).toHaveLength(history.keywords.length * targets.length)
      for (const series of history.series) expectAsViewed(series, history, temp)
      for (const { id } of runs)
        for (const query of queryIds) expectFirstResults(temp, { run: id, query, top: 10 })
      await temp.store[Symbol.asyncDispose]()
    }),
    { numRuns: 40 },
  )
})

/** The row that speaks for the day: by the rule of the views' readers, written once more. */
function speaking(rows: readonly ViewRow[]): ViewRow | undefined {
  return rows.reduce<ViewRow | undefined>((kept, row) => {
    if (kept === undefined || kept.state === 'unknown') return row
    if (row.state === 'unknown') return kept
    const looked = row.results_ended === 1 ? Number.POSITIVE_INFINITY : row.unbroken_depth
    const depth = kept.results_ended === 1 ? Number.POSITIVE_INFINITY : kept.unbroken_depth
    return row.state === 'ranked' || looked >= (kept.rank ?? depth) ? row : kept
  }, undefined)
}

function expectAsViewed(series: RankSeries, history: RankHistory, { sql }: TempStore): void {
  const { query } = history.keywords[series.keyword] as { readonly query: string }
  const { label } = history.targets[series.target] as { readonly label: string }
  const links = new Map(series.links)
  let link: number | null = null
  for (const [day, date] of history.days.entries()) {
    const rows = sql<ViewRow>(
      'SELECT * FROM rankings WHERE query = ? AND target = ? AND date = ? ORDER BY run_id',
      ...[query, label, date],
    )
    const row = speaking(rows)
    const value = dayValue(series.cells[day] ?? null, series.seen[day])
    if (links.has(day)) link = links.get(day) ?? null
    expect(value?.state).toBe(row?.state)
    expect(value?.rank ?? null).toBe(row?.rank ?? null)
    expect(value?.exactness ?? null).toBe(row?.exactness ?? null)
    expect(link === null ? null : history.links[link]).toBe(row?.url ?? null)
    if (row?.state === 'absent')
      expect(value).toMatchObject({
        depth: row.depth,
        unbrokenDepth: row.results_ended === 1 ? Number.POSITIVE_INFINITY : row.unbroken_depth,
      })
    const urls = JSON.parse(row?.urls ?? '[]') as readonly { readonly rank: number; readonly url: string }[]
    const places = (series.places[day] ?? []).map(([rank, at]) => ({ rank, url: history.links[at] }))
    expect(places).toEqual(urls.length > 1 ? urls : [])
  }
}

function expectFirstResults({ sql, store }: TempStore, look: { run: number; query: number; top: number }) {
  const rows = sql<{ rank: number; title: string; link: string; site: string }>(
    `SELECT rank, title, link, site FROM organic_results
    WHERE run_id = ? AND params = (SELECT params FROM queries WHERE id = ?) AND query = (SELECT text FROM queries WHERE id = ?)
      AND rank <= ? GROUP BY rank HAVING page = min(page) ORDER BY rank`,
    ...[look.run, look.query, look.query, look.top],
  )
  const first = store.firstResults({ ...look, kind: 'organic' })
  expect(first.map(({ rank, link }) => ({ rank, link }))).toEqual(
    rows.map(({ rank, link }) => ({ rank, link })),
  )
}

test('the quality of a run is what the view of runs says', async () => {
  const temp = await aStore()
  const run = await plan(temp.store, { job: { targets }, queries: text('desk', 'lamp') })
  await work(temp.store, run, ({ text }) => (text === 'desk' ? webPage('ax') : null))
  await temp.store.finishRun(run.id, 'completed_with_failures', noon)
  expect(tasksOf(temp, run.id)).toEqual(['desk/1 done', 'lamp/1 failed'])
  expect(temp.store.runQuality(run.id)).toMatchObject({
    run: run.id,
    date: '2026-03-01',
    finishReason: 'completed_with_failures',
    tasks: { planned: 2, done: 1, failed: 1 },
  })
})
