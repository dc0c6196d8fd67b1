import { expect, test } from 'vitest'
import type { QueryState } from '../../src/rank/paging.ts'
import { openScratch } from '../../src/store/sqlite/connection/database.ts'
import { openScratchStore, type Store } from '../../src/store/sqlite/open.ts'
import { aResult } from '../catalog/results.ts'
import { conclude, done, keep, understood } from './answers.ts'
import { aStore, lease, plan } from './build.ts'

test('Each store in memory is empty, and of no other one', async () => {
  await using first = await openScratchStore()
  await plan(first, { queries: [{ text: 'desk' }] })
  await using second = await openScratchStore()
  expect([(await first.runs({})).length, (await second.runs({})).length]).toEqual([1, 0])
  await plan(second, { queries: [{ text: 'chair' }] })
  expect((await second.runs({})).length).toBe(1)
})

test('What is taken back in it is gone, and its references are checked', async () => {
  const db = await openScratch()
  const insert = db.prepare("INSERT INTO texts (hash, text) VALUES (1, 'desk')")
  const texts = () => db.prepare('SELECT count(*) FROM texts').pluck().get()
  expect(() =>
    db.transaction(() => {
      insert.run()
      throw new Error('taken back')
    })(),
  ).toThrow('taken back')
  expect([texts(), db.pragma('foreign_keys', { simple: true })]).toEqual([0, 1])
  db.close()
})

const pages: readonly (readonly [kind: 'organic' | 'news' | 'related', link: string | null])[][] = [
  [
    ['news', 'https://desk.example/news'],
    ['organic', 'https://desk.example/a'],
    ['related', 'https://desk.example/related'],
    ['organic', null],
    ['organic', 'https://desk.example/\ud800'],
    ['organic', 'HTTPS://DESK.example/a#top'],
  ],
  [
    ['organic', 'https://desk.example/b'],
    ['organic', 'https://desk.example:443/a'],
    ['organic', 'https://desk.example/\ufffd'],
    ['organic', 'no link'],
  ],
]

/** What is known of a query when its last page is read: of links that are the same, with which other one. */
async function seenIn(store: Store) {
  const run = await plan(store, { job: { paging: 'all' }, queries: [{ text: 'desk', depth: 20 }] })
  const seen: QueryState[] = []
  for (const page of pages) {
    const [task] = await lease(store, run.id)
    if (task === undefined) throw new Error('no page follows')
    const results = page.map(([kind, link], index) => aResult(kind, { position: index + 1, link }))
    const says = { ...understood(results, { hasNextPage: page !== pages.at(-1) }), echoMismatch: null }
    await conclude(store, task, done(await keep(store, task), says), (query) => {
      seen.push(query)
      return { ranks: [], observations: [], paging: { next: task.page + 1 } }
    })
  }
  const last = (seen.at(-1) as QueryState).pages
  const numbers = last.flatMap(({ items }) => items.map(({ sameAs }) => sameAs))
  return last.map(({ items, ...page }) => ({
    ...page,
    items: items.map(({ link, sameAs }) => [link, sameAs === null ? null : numbers.indexOf(sameAs)]),
  }))
}

test('What decides on the next page is known in it as in a store on the disk', async () => {
  await using scratch = await openScratchStore()
  const known = await seenIn(scratch)
  expect(known).toEqual(await seenIn((await aStore()).store))
  expect(known.map(({ items }) => items.length)).toEqual([5, 4])
})
