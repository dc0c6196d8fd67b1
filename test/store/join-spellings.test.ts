import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { queryKey } from '../../src/model/query.ts'
import { checkDatabase } from '../../src/store/sqlite/maintenance/check.ts'
import journal from '../../src/store/sqlite/migrations/meta/_journal.json' with { type: 'json' }
import { openReader, openStore } from '../../src/store/sqlite/open.ts'
import { aTarget } from '../run/build.ts'
import { webPage, work } from './answers.ts'
import { aQuery, aStore, hour, noon, plan, plannedJob, since, type TempFile, tasksOf } from './build.ts'
import { resultsOfBefore } from './results-of-before.ts'

const us = { text: 'standing desk', params: { gl: 'us' } }
const capitals = { text: 'standing desk', params: { gl: 'US' } }
const spaced = { text: 'standing\u00a0 desk', params: { gl: 'us' } }
const lamp = { text: 'lamp', params: { gl: 'us' } }
const cafe = { text: 'cafe\u0301', params: {} }
const targets = [aTarget('x.example')]

/** As a rankline of before left it, which knew nothing of spellings. */
function asBefore({ path }: TempFile): void {
  const db = new Database(path)
  resultsOfBefore(db)
  db.exec(`ALTER TABLE queries DROP COLUMN same_as; DROP TABLE continuations; DROP TABLE workspaces; DROP TABLE mutes; DROP TABLE shared_jobs;
    ALTER TABLE alerts DROP COLUMN stopped; ALTER TABLE jobs DROP COLUMN paused_at; ALTER TABLE jobs DROP COLUMN resumed_at`)
  const { when } = journal.entries.find(({ tag }) => tag.endsWith('_one_spelling')) as { when: number }
  db.prepare('DELETE FROM __drizzle_migrations WHERE created_at >= ?').run(when)
  db.close()
}

const history = `SELECT q.text AS text, q.params AS params, r.date AS date, o.rank AS rank FROM observations o
  JOIN queries q ON q.id = o.query_id JOIN runs_ r ON r.id = o.run_id ORDER BY 1, 2, 3`

test('what one query was in several spellings is one query with one history, and the books stay', async () => {
  const { store, ...file } = await aStore()
  const day = async (date: string, queries: Parameters<typeof plan>[1]['queries'], letters: string) => {
    const run = await plan(store, { job: { targets }, queries, date, now: noon })
    let page = 0
    await work(store, run, () => webPage(letters.slice(page++)))
    await store.finishRun(run.id, 'completed', noon)
    return run
  }
  await day('2026-03-01', [us, { ...lamp, tags: ['other'] }, cafe], 'abx')
  await day('2026-03-02', [capitals, lamp], 'ax')
  // Both in one run: the first answer ranks, whichever spelling it had.
  await day(
    '2026-03-03',
    [{ ...spaced, tags: ['money'] }, { ...us, tags: ['head'], volume: 9 }, lamp],
    'abcx',
  )
  await day('2026-03-04', [us, capitals, spaced], 'abcdx')
  await store.countRanks()
  await store[Symbol.asyncDispose]()
  const books = () =>
    file.sql('SELECT run_id, count(*) AS calls, sum(credits) AS credits FROM calls GROUP BY run_id')
  const before = books()
  asBefore(file)
  const bytes = file.sql('SELECT id, hex(key) AS key, text, params FROM queries')

  {
    await using reader = await openReader(file.path)
    expect(await reader.queryTexts('acme')).toEqual(['caf\u00e9', 'lamp', 'standing desk'])
  }
  expect(file.sql('SELECT id, hex(key) AS key, text, params FROM queries')).toEqual(bytes)

  await using after = await openStore(file.path)
  await after.countRanks()
  const row = (date: string, rank: number, text = 'standing desk', params = '{"gl":"us"}') => ({
    ...{ text, params, date: `2026-03-0${date}`, rank },
  })
  expect(file.sql(history)).toEqual([
    row('1', 1, 'caf\u00e9', '{}'),
    row('1', 2, 'lamp'),
    row('2', 1, 'lamp'),
    row('3', 2, 'lamp'),
    row('1', 3),
    row('2', 2),
    row('3', 4),
    row('4', 5),
  ])
  expect((await checkDatabase(file.path)).findings).toEqual([])
  expect(books()).toEqual(before)
  expect(
    file.sql(`SELECT tags, volume FROM run_queries q JOIN runs_ r ON r.id = q.run_id AND r.plan_number = q.plan_number
    WHERE r.date = '2026-03-03' AND tags <> '[]'`),
  ).toEqual([{ tags: '["money","head"]', volume: 9 }])
  expect(tasksOf(file, 4)).toHaveLength(3)
  expect(file.sql("SELECT tags FROM run_queries WHERE run_id = 1 AND tags <> '[]'")).toEqual([
    { tags: '["other"]' },
  ])

  // Its newest answer is fresh whatever spelling was asked for it.
  await using draft = await after.draft()
  await draft.add('acme', [aQuery(us), aQuery(lamp)])
  const again = await draft.summary(plannedJob({ fresh: since(noon - hour) }))
  expect(again).toMatchObject({ queries: 2, reused: 2, credits: { max: 0 } })
})

test('a query whose spelling is normal keeps its key, and a run under way buys nothing twice', async () => {
  const { store, ...file } = await aStore()
  const run = await plan(store, { job: { targets }, queries: [us, capitals, lamp] })
  await work(store, run, ({ params, text }) => (params.gl === 'US' || text === 'lamp' ? null : webPage('ax')))
  await plan(store, { job: { name: 'later', targets }, queries: [capitals, spaced] })
  await store[Symbol.asyncDispose]()
  asBefore(file)

  await using _ = await openStore(file.path)
  expect((await checkDatabase(file.path)).findings).toEqual([])
  const keys = file.sql<{ key: Buffer }>('SELECT key FROM queries WHERE same_as IS NULL')
  expect(keys.map(({ key }) => key.toString('hex')).sort()).toEqual(
    [us, lamp].map((one) => queryKey({ operation: 'alpha.search', ...one }).toString('hex')).sort(),
  )
  expect(file.sql('SELECT run_id, state, count(*) AS n FROM tasks_ GROUP BY 1, 2')).toEqual([
    { run_id: 1, state: 'done', n: 1 },
    { run_id: 1, state: 'failed', n: 1 },
    { run_id: 1, state: 'skipped', n: 1 },
    { run_id: 2, state: 'pending', n: 1 },
    { run_id: 2, state: 'skipped', n: 1 },
  ])
})

test('an open alert goes on under the one spelling; of two that become one, the one that began first', async () => {
  const { store, ...file } = await aStore()
  await plan(store, { job: { targets }, queries: [us, capitals] })
  await store[Symbol.asyncDispose]()
  const identity = (query: typeof us) =>
    JSON.stringify([
      'acme',
      '{"when":"drop"}',
      queryKey({ operation: 'alpha.search', ...query }).toString('hex'),
      'domain:x.example',
    ])
  file.exec(`INSERT INTO alerts (id, identity, job, "when", query_id, state, opened_at, text) VALUES
    ('a', '${identity(us)}', 'acme', 'drop', 1, 'open', 1, 'drop'), ('b', '${identity(capitals)}', 'acme', 'drop', 2, 'open', 2, 'drop')`)
  asBefore(file)

  await using _ = await openStore(file.path)
  expect(file.sql('SELECT id, identity, query_id, state FROM alerts ORDER BY id')).toEqual([
    { id: 'a', identity: identity(us), query_id: 1, state: 'open' },
    { id: 'b', identity: identity(us), query_id: 1, state: 'over' },
  ])
})
