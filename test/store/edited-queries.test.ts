import { expect, test } from 'vitest'
import type { JobSettings } from '../../src/model/job.ts'
import { buildHistory } from '../../src/report/history/build-history.ts'
import { keywordStatuses } from '../../src/report/history/keyword-status.ts'
import { urlSwaps } from '../../src/report/metrics/pages.ts'
import { story } from '../../src/report/story/story.ts'
import { wordsOf } from '../../src/report/words/words.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import { aPageOf, curve } from '../report/metrics/history.ts'
import { aTarget } from '../run/build.ts'
import { webPage, work } from './answers.ts'
import { aQuery, aStore, noon, plan, type Queries } from './build.ts'

const targets = [aTarget('x.example'), aTarget('b.example', { own: false })]
const at = (location: string | null, ...texts: readonly string[]): Queries =>
  texts.map((text) => ({ text, params: location === null ? { gl: 'us' } : { gl: 'us', location } }))
const added = { params: { location: null }, operation: null, texts: {} }
const texts = ['bed', 'desk', 'lamp', 'sofa', 'table']

/** A day on which each query has these results. */
async function day(
  store: Store,
  date: string,
  { queries, letters, ...settings }: { queries: Queries; letters: string } & Partial<JobSettings>,
) {
  const run = await plan(store, { job: { targets, ...settings }, queries, date })
  await work(store, run, () => webPage(letters))
  await store.finishRun(run.id, 'completed', noon)
}

async function historyOf(store: Store) {
  const runs = await store.runs({ job: 'acme' })
  return buildHistory({ job: 'acme', runs, targets, store, kindOf: () => 'organic' }).history
}

test('a draft says which queries an edit made new, and what they may have been', async () => {
  const { store } = await aStore()
  const edited = async (queries: Queries, leftOut: Queries = []) => {
    await using draft = await store.draft()
    await draft.add('acme', queries.map(aQuery))
    await draft.leaveOut(
      'acme',
      leftOut.map((query) => aQuery(query).key),
    )
    return await draft.edited('acme')
  }
  expect(await edited(at(null, 'desk'))).toBeNull()
  await day(store, '2026-03-01', { queries: at(null, 'desk', 'lamp', 'Sofa'), letters: 'ax' })

  expect(await edited(at(null, 'desk', 'lamp', 'Sofa'))).toBeNull()
  expect(await edited(at(null, 'desk'), at(null, 'lamp', 'Sofa'))).toBeNull()
  const was = { operation: 'alpha.search', text: 'desk', params: { gl: 'us' } }
  // What only waits for its time is neither new nor gone.
  expect(await edited(at('Austin', 'desk'), at(null, 'lamp', 'Sofa'))).toEqual({
    fresh: 1,
    gone: 1,
    pairs: [{ queries: 1, was, now: { ...was, params: { gl: 'us', location: 'Austin' } } }],
  })
  expect(await edited([...at('Austin', 'desk', 'lamp'), ...at(null, 'sofa', 'bed')])).toEqual({
    fresh: 4,
    gone: 3,
    pairs: [
      { queries: 2, was, now: { ...was, params: { gl: 'us', location: 'Austin' } } },
      { queries: 1, was: { ...was, text: 'Sofa' }, now: { ...was, text: 'sofa' } },
    ],
  })
  // What was asked at any time before has its history still.
  await day(store, '2026-03-02', { queries: at('Austin', 'desk'), letters: 'ax' })
  expect(await edited(at(null, 'desk'))).toBeNull()
})

test('a job that never ran is known by the queries of another one, also by those that wait for their time', async () => {
  const { store } = await aStore()
  await day(store, '2026-03-01', { queries: at(null, 'desk', 'lamp', 'sofa', 'bed'), letters: 'ax' })
  await using draft = await store.draft()
  await draft.add('renamed', at(null, 'desk', 'chair').map(aQuery))
  await draft.leaveOut(
    'renamed',
    at(null, 'lamp', 'sofa').map((query) => aQuery(query).key),
  )

  expect(await draft.formerJob('renamed', ['acme'])).toEqual({ job: 'acme', asked: 4, same: 3 })
})

test('a history goes on across an edit, is marked there, and is never compared across it', async () => {
  const { store } = await aStore()
  await day(store, '2026-03-01', { queries: at(null, ...texts), letters: 'xb' })
  await day(store, '2026-03-02', { queries: at(null, ...texts), letters: 'xb' })
  await day(store, '2026-03-03', { queries: at('Austin', ...texts), letters: 'abcx', continues: added })

  const then = await historyOf(store)
  expect(then.keywords.map(({ since }) => since)).toEqual(texts.map(() => '2026-03-03'))
  expect(then.series.filter(({ target }) => target === 0).map(({ cells }) => cells)).toEqual(
    texts.map(() => [1, 1, 4]),
  )
  expect(then.removed).toEqual([])
  for (const compare of [null, { day: '2026-03-01', tolerance: 3 }])
    expect(keywordStatuses(then, compare).map(({ baseline, change }) => [baseline, change])).toEqual(
      then.series.map(() => [null, { movement: 'unknown', change: null }]),
    )
  const { sentences } = story(aPageOf(then, { measure: { curve } }), { target: 0, say: wordsOf('en') })
  expect(sentences.map(({ text }) => text).join(' ')).toContain(
    'There is nothing to compare with: the keywords are asked otherwise since 3 March 2026.',
  )

  // The setting may go again. A day that comes later is compared with the days since.
  await day(store, '2026-03-04', { queries: at('Austin', ...texts), letters: 'xb' })
  const later = await historyOf(store)
  expect(later.series[0]?.cells).toEqual([1, 1, 4, 1])
  expect(keywordStatuses(later, null)[0]).toMatchObject({
    baseline: { day: 2 },
    change: { movement: 'improved', change: 3 },
  })
  expect(keywordStatuses(later, { day: '2026-03-01', tolerance: 0 })[0]).toMatchObject({
    baseline: null,
    change: { movement: 'unknown' },
  })
  expect(urlSwaps(later)).toEqual([])
})

test('only what took the place of another query goes on with it, whenever that is said, and from change to change', async () => {
  const { store, sql } = await aStore()
  await day(store, '2026-03-01', { queries: at(null, 'desk', 'lamp'), letters: 'x' })
  // Beside the other, and not in its place.
  const both = [...at(null, 'desk'), ...at('Austin', 'desk', 'lamp')]
  await day(store, '2026-03-02', { queries: both, letters: 'x' })
  await day(store, '2026-03-03', { queries: both, letters: 'x', continues: added })
  expect(sql('SELECT run_id FROM continuations')).toEqual([{ run_id: 2 }])

  await day(store, '2026-03-04', {
    queries: at('Dallas', 'lamp'),
    letters: 'ax',
    continues: { ...added, params: { location: 'Austin' } },
  })
  const { keywords, series, removed } = await historyOf(store)
  expect(keywords.map(({ query, since }) => [query, since])).toEqual([['lamp', '2026-03-04']])
  expect(series[0]?.cells).toEqual([1, 1, 1, 2])
  expect(removed.map(({ query }) => query)).toEqual(['desk', 'desk'])
})
