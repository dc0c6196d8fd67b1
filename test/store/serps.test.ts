import { expect, test } from 'vitest'
import { aTarget } from '../run/build.ts'
import { answer, malformed, webPage, work } from './answers.ts'
import { aStore, firstTask, hour, noon, plan } from './build.ts'

const day = (number: number): string => `2026-03-0${number}`

test('what the newest run asks is listed with the runs that have its first page', async () => {
  const { store } = await aStore()
  const queries = [{ text: 'b', pages: 2 }, { text: 'a', params: { gl: 'us' } }, { text: 'a' }]
  const ran = async (
    date: string,
    asked: typeof queries,
    failing: (text: string, page: number) => boolean,
  ) => {
    const run = await plan(store, { queries: asked, date })
    await work(store, run, ({ text, page }) =>
      failing(text, page) ? null : webPage(page === 1 ? 'ab' : 'cd'),
    )
    await store.finishRun(run.id, 'completed', noon + hour)
  }
  await ran(day(1), queries, () => false)
  await ran(day(2), queries, (text, page) => text === 'b' && page === 2)
  await ran(day(3), queries, (text) => text === 'b')
  await ran(day(4), queries.slice(0, 2), () => false)
  await work(store, await plan(store, { job: { name: 'else' }, queries, date: day(2) }), () => webPage('a'))

  const listed = (look: { text?: string; until?: string }) =>
    store.serpQueries({ job: 'acme', text: null, ...look }).map((query) => {
      const runs = store.serpDates({ job: 'acme', ...look }, query.queryId)
      return `${query.text} ${query.params.gl ?? '-'} ${runs.map(({ run, date }) => `${run}:${date.slice(-1)}`).join(' ')}`
    })

  expect(listed({})).toEqual(['a us 1:1 2:2 3:3 4:4', 'b - 1:1 2:2 4:4'])
  expect(listed({ until: day(3) })).toEqual(['a us 1:1 2:2', 'a - 1:1 2:2', 'b - 1:1 2:2'])
  expect(listed({ text: 'b' })).toEqual(['b - 1:1 2:2 4:4'])
  expect(listed({ text: 'a', until: day(2) })).toEqual(['a us 1:1', 'a - 1:1'])
  expect(listed({ text: 'never' })).toEqual([])
  expect(listed({ until: day(1) })).toEqual([])
})

test('a query that the job no longer asks is listed as the newest run had it that did', async () => {
  const { store } = await aStore()
  await work(store, await plan(store, { queries: [{ text: 'a' }, { text: 'b' }], date: day(1) }), () =>
    webPage('a'),
  )
  await plan(store, { queries: [{ text: 'b' }], date: day(2) })
  expect(store.serpQueries({ job: 'acme', text: 'a' })).toMatchObject([
    { text: 'a', operation: 'alpha.search' },
  ])
})

test('what an edited file took back while the run went on is not listed, though it was bought', async () => {
  const { store } = await aStore()
  const run = await plan(store, { queries: [{ text: 'a' }, { text: 'b' }] })
  await answer(store, await firstTask(store, run), run, webPage('a'))
  await plan(store, { queries: [{ text: 'b' }], continues: run.id })
  expect(store.serpQueries({ job: 'acme', text: null })).toMatchObject([{ text: 'b' }])
  expect(store.serpQueries({ job: 'acme', text: 'a' })).toEqual([])
})

test('a first page that nobody could read is no look at the results', async () => {
  const { store } = await aStore()
  const run = await plan(store, { queries: [{}] })
  await malformed(store, await firstTask(store, run), run)
  const [query] = store.serpQueries({ job: 'acme', text: null })
  expect(store.serpDates({ job: 'acme' }, query?.queryId ?? 0)).toEqual([])
})

test('results have their link as it was sent, and their snippet', async () => {
  const { store } = await aStore()
  const run = await plan(store, { queries: [{}] })
  const [first, second] = webPage('ab').results
  await work(store, run, () => ({
    ...webPage(''),
    results: [
      { ...(first as NonNullable<typeof first>), link: 'https://A.example/#top', snippet: 'Of a' },
      { ...(second as NonNullable<typeof second>) },
      { ...(first as NonNullable<typeof first>), link: 'https://a.example' },
      { ...(first as NonNullable<typeof first>), link: null },
    ],
  }))
  const [query] = store.serpQueries({ job: 'acme', text: null })
  const record = store.storedSerp(run.id, query?.queryId ?? 0)
  expect(record).toMatchObject({ run: run.id, date: '2026-03-01' })
  const results = record.pages[0]?.results ?? []
  expect(results.map(({ rank, link }) => [rank, link])).toEqual([
    [1, 'https://A.example/#top'],
    [2, second?.link],
    [1, 'https://a.example'],
    [3, null],
  ])
  expect(results.map(({ snippet }) => snippet)).toEqual(['Of a', null, null, null])
})

test('targets of a single query are its own', async () => {
  const { store } = await aStore()
  const mine = aTarget('q.example', { match: 'host', also: ['amp'], label: 'Q', own: false })
  const run = await plan(store, {
    job: { targets: [aTarget()] },
    queries: [{ text: 'a', targets: [mine] }, { text: 'b' }],
  })
  const [a, b] = store.serpQueries({ job: 'acme', text: null })
  expect(store.queryTargets(run.id, a?.queryId ?? 0)).toEqual([mine])
  expect(store.queryTargets(run.id, b?.queryId ?? 0)).toEqual([])
})
