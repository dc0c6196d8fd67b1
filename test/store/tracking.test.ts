import fc from 'fast-check'
import { expect, test } from 'vitest'
import { valueRank } from '../../src/report/cells.ts'
import { buildHistory } from '../../src/report/history/build-history.ts'
import { valueOn } from '../../src/report/history/keyword-status.ts'
import type { DayValue, RankHistory, RankSeries } from '../../src/report/history/rank-history.ts'
import { averageOf } from '../report/metrics/history.ts'
import { aTarget } from '../run/build.ts'
import { testTable } from '../support/test-table.ts'
import { webPage, work } from './answers.ts'
import { aStore, hour, noon, plan, type TempStore, tasksOf, text } from './build.ts'

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
      expectFirstResults(
        temp,
        runs.flatMap(({ id }) => queryIds.map((query) => ({ run: id, query, top: 10 }))),
      )
      await temp.store[Symbol.asyncDispose]()
    }),
    { numRuns: 20 },
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
    // Targets that were left alone below the first pages are absent from these for certain; the rest is an estimate.
    const rows = sql<ViewRow>(
      `SELECT r.*, CASE WHEN r.state = 'absent' AND rq.paging_kind = 'dormant' AND o.unbroken_pages < rq.pages
          THEN 'estimated' ELSE r.exactness END AS exactness
      FROM rankings r JOIN queries q ON q.text = r.query AND q.params = r.params
        JOIN run_queries rq ON rq.run_id = r.run_id AND rq.query_id = q.id
        JOIN targets tg ON tg.site = r.target_site
        JOIN observations o ON o.run_id = r.run_id AND o.query_id = q.id AND o.target_id = tg.id
      WHERE r.query = ? AND r.target = ? AND r.date = ? ORDER BY r.run_id`,
      ...[query, label, date],
    )
    const row = speaking(rows)
    const value = valueOn(series, day)
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

/** All are read at once, each as its own view says. */
function expectFirstResults(
  { sql, store }: TempStore,
  looks: readonly { readonly run: number; readonly query: number; readonly top: number }[],
) {
  const viewed = looks.map(({ run, query, top }) =>
    sql<{ rank: number; title: string; link: string; site: string }>(
      `SELECT rank, title, link, site FROM organic_results
      WHERE run_id = ? AND params = (SELECT params FROM queries WHERE id = ?) AND query = (SELECT text FROM queries WHERE id = ?)
        AND rank <= ?
        -- Where the first page is not known, nothing is known of the first results.
        AND EXISTS (SELECT 1 FROM tasks_ t WHERE t.run_id = ? AND t.query_id = ? AND t.page = 1 AND t.state = 'done')
      GROUP BY rank HAVING page = min(page) ORDER BY rank`,
      ...[run, query, query, top, run, query],
    ),
  )
  const first = store.firstResults(looks.map((look) => ({ ...look, kind: 'organic' })))
  expect(first.map(({ results }) => results.map(({ rank, says }) => ({ rank, ...says })))).toEqual(viewed)
}

test('each query of a run has its own params, tags and labels', async () => {
  const { store } = await aStore()
  const queries = [
    { text: 'desk', params: { gl: 'de' }, tags: ['a'], labels: { shelf: '1' } },
    { text: 'desk', params: { gl: 'us' }, tags: ['a'], labels: {} },
    { text: 'lamp', params: { gl: 'us' }, tags: ['b', 'c'], labels: { shelf: '2' } },
  ]
  const run = await plan(store, { job: { targets }, queries })
  const asked = store.contentsOf(run.id, targets).queries
  expect(asked.map(({ query, params, tags, labels }) => ({ text: query, params, tags, labels }))).toEqual(
    queries,
  )
})

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

const letters = 'abcdefghij'

/** What the rank table says of the one target, and what its average position is, where it is on no page that was bought. */
async function notFound(days: readonly Day[], lookedAtOnly = false) {
  const { store } = await aStore()
  const target = aTarget('q.example')
  for (const [index, { paging, pages }] of days.entries()) {
    const now = noon + index * 24 * hour
    const run = await plan(store, {
      job: { name: 'acme', targets: [target], paging },
      queries: [{ text: 'desk', pages: 5 }],
      date: `2026-03-0${index + 1}`,
      now,
    })
    await work(store, run, ({ page }) => pageOf(pages[page - 1] ?? '', page >= pages.length), now)
    await store.finishRun(run.id, 'completed', now)
  }
  const runs = await store.runs({ job: 'acme' })
  const { history } = buildHistory({ job: 'acme', runs, targets: [target], store, kindOf, lookedAtOnly })
  const value = valueOn(history.series[0] as RankSeries, days.length - 1) as DayValue
  return [valueRank(value), averageOf([value])]
}

interface Day {
  readonly paging: 'all' | 'until-found' | 'smart'
  readonly pages: readonly string[]
}

const five = (first: string, last: string) => [first, 'klmno', 'uvwyz', '01234', last]

testTable<[string, readonly Day[], string, number]>([
  ['the results ended with the third', [{ paging: 'all', pages: ['abc'] }], '>50', 51],
  ['there were no results', [{ paging: 'all', pages: [''] }], '>50', 51],
  ['every page was short', [{ paging: 'all', pages: five('abc', '56') }], '>50', 51],
  [
    'the policy jumped to the page of the last rank, and the next is the last one',
    [
      { paging: 'smart', pages: five(letters, '5678q') },
      { paging: 'smart', pages: five(letters, '5678') },
    ],
    '>50',
    51,
  ],
  [
    'the policy left it alone below the first page',
    [0, 1, 2, 3, 4].map(() => ({ paging: 'smart', pages: five(letters, '5678') })),
    '~>50',
    51,
  ],
])('one depth makes rank and average of what is absent where %s', async (_, days, rank, average) => {
  expect(await notFound(days)).toEqual([rank, average])
})

testTable<[string, readonly Day[], string, number | null]>([
  ['the results ended with the third', [{ paging: 'all', pages: ['abc'] }], '>3', 4],
  ['there were no results', [{ paging: 'all', pages: [''] }], '>0', null],
])('or what was looked at, if that is wanted, where %s', async (_, days, rank, average) => {
  expect(await notFound(days, true)).toEqual([rank, average])
})
