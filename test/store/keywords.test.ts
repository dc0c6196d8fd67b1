import { expect, test } from 'vitest'
import type { Run } from '../../src/model/run.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import { aTarget } from '../run/build.ts'
import { answer, malformed, webPage, work } from './answers.ts'
import { aStore, firstTask, hour, noon, plan } from './build.ts'

const later = Number.MAX_SAFE_INTEGER

/** The first pages of each keyword of a run by their hosts, with the day of the answer. */
function shown(store: Store, sql: (query: string) => readonly unknown[], run: Run, latest = later) {
  const links = new Map(
    (sql('SELECT id, link FROM links') as readonly { id: number; link: string }[]).map(({ id, link }) => [
      id,
      link.replace(/https:\/\/(\w+).*/, '$1'),
    ]),
  )
  return [...store.keywordSerps(run.id, latest)].map(
    ({ text, links: found, fetchedAt }) =>
      `${text}: ${found.map((link) => links.get(link)).join('')}${fetchedAt === null ? ' never' : ''}`,
  )
}

test('a keyword has the first ten pages of its newest answer, from whatever run, filled up from the pages after it', async () => {
  const { store, sql } = await aStore()
  const queries = [{ text: 'a', pages: 2 }, { text: 'b', pages: 2 }, { text: 'c' }]
  const first = await plan(store, { queries })
  await work(store, first, ({ text, page }) =>
    webPage(page === 1 ? 'abca' : text === 'a' ? 'bdefghijklm' : ''),
  )
  await store.finishRun(first.id, 'completed', noon + hour)
  // In a later run of another job one of them has other results, and one fails.
  const other = await plan(store, { job: { name: 'else' }, queries: [{ text: 'b' }, { text: 'c' }] })
  await work(store, other, ({ text }) => (text === 'b' ? webPage('xyz') : null), noon + hour)

  expect(shown(store, sql, first)).toEqual(['a: abcdefghij', 'b: xyz', 'c: abc'])
  // What a wrong clock stored is not the newest.
  expect(shown(store, sql, first, noon)).toEqual(['a: abcdefghij', 'b: abc', 'c: abc'])
})

test('what nobody could read, and an answer to another question, are no results of a keyword', async () => {
  const { store, sql, exec } = await aStore()
  const run = await plan(store, { queries: [{ text: 'a' }, { text: 'b' }] })
  await malformed(store, await firstTask(store, run), run)
  await work(store, run, () => webPage('abcd'))
  exec(`UPDATE answers_ SET echo_mismatch = '{}' WHERE query_id = (SELECT id FROM queries WHERE text = 'b')`)
  expect(shown(store, sql, run)).toEqual(['a:  never', 'b:  never'])
})

test('a keyword has its volume and tags, and what its run says of the targets', async () => {
  const { store } = await aStore()
  const run = await plan(store, {
    job: { targets: [aTarget('b.example'), { ...aTarget('z.example'), own: false }] },
    queries: [{ text: 'a', volume: 2400, tags: ['money'] }],
  })
  await answer(store, await firstTask(store, run), run, webPage('ab'))
  expect([...store.keywordSerps(run.id, later)]).toMatchObject([
    {
      text: 'a',
      operation: 'alpha.search',
      params: '{}',
      volume: 2400,
      tags: ['money'],
      targets: [
        { label: 'b.example', own: 1, state: 'ranked', rank: 2, url: 'https://b.example/' },
        { label: 'z.example', own: 0, state: 'absent', rank: null, url: null },
      ],
    },
  ])
})
