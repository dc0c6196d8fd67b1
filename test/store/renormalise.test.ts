import { deflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { normaliserVersion } from '../../src/catalog/answers.ts'
import type { Task } from '../../src/model/run.ts'
import { renormalise } from '../../src/run/derive.ts'
import { checkDatabase } from '../../src/store/sqlite/maintenance/check.ts'
import { dropOld } from '../../src/store/sqlite/maintenance/prune.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import type { DeriveFilter } from '../../src/store/sqlite/results/derive.ts'
import { aTarget } from '../run/build.ts'
import { testTable } from '../support/test-table.ts'
import { bodyOf, everythingPublic, readBody, webBody, workBodies } from './bodies.ts'
import { aStore, firstTask, hour, lease, meansOf, noon, plan, since, type TempStore, text } from './build.ts'

const all: DeriveFilter = { unless: null, job: null }
const again = ({ store }: TempStore, which: Partial<DeriveFilter> = {}) =>
  renormalise(store, { ...all, ...which }, () => {})
const nothing = {
  ...{ queries: 0, answers: 0, results: 0, malformed: 0 },
  ...{ unreadable: 0, unusable: 0, changed: 0, repaired: 0, failed: 0 },
  unreadableRuns: [],
}
const targets = [aTarget('acme.example'), aTarget('dealorchard.com', { own: false })]

/** Two runs of a job with results of every kind that has a table of its own. */
async function collected() {
  return await aStore('two runs with results of every kind', async (store) => {
    const queries = [
      ...[{ text: 'standing desk', pages: 3 }, { text: 'oak desk' }],
      ...[
        { text: 'desks', operation: 'alpha.news' },
        { text: 'desk photo', operation: 'alpha.images' },
      ],
    ]
    for (const now of [noon, noon + 24 * hour]) {
      const run = await plan(store, { job: { targets }, queries, now })
      await workBodies(store, run, (task) => bodyOf(task, now), now)
      await store.finishRun(run.id, 'completed', now)
    }
  })
}

/** A body as SQL. */
const hex = (body: string): string => `x'${deflateSync(body).toString('hex')}'`
const noResults = 'UPDATE answers_ SET items = NULL, positions = NULL'

describe('what is derived again from stored bodies is what was there', () => {
  testTable<[string, string, boolean]>([
    ['with nothing changed', 'SELECT 1', false],
    ['with results that are gone', `${noResults} WHERE id % 2 = 0`, false],
    ['with all results gone', `${noResults}; DELETE FROM dated_details; DELETE FROM image_details`, false],
    ['with other titles', `UPDATE answers_ SET items = replace(items, '[', '[1,')`, false],
    ['with dates that are gone', 'DELETE FROM dated_details', false],
    ['with other positions', `UPDATE answers_ SET positions = '{"1":null,"4":[9,8,7]}'`, false],
    ['with another normaliser', 'UPDATE answers_ SET normaliser = 1, total_results = 5, notice = 1', false],
    ['with other ranks', "UPDATE tasks_ SET rank_base = 7, ranks = '[9]'", false],
    ['with other observations', "UPDATE observations SET state = 'absent', rank = NULL, page = 9", true],
    ['with no observations', 'DELETE FROM observations', true],
  ])('%s', async (_, tampering, observed) => {
    const temp = await collected()
    const before = everythingPublic(temp)
    temp.exec(tampering)
    if (tampering !== 'SELECT 1') expect(everythingPublic(temp)).not.toBe(before)
    const done = await again(temp)
    expect(everythingPublic(temp)).toBe(before)
    expect(done).toMatchObject({ queries: 4, answers: 12, unreadable: 0, repaired: 0 })
    expect(done.changed > 0).toBe(observed)
  })

  test('where the answer is used by two runs, for both', async () => {
    const temp = await aStore()
    const first = await plan(temp.store, { job: { name: 'first', targets }, queries: text('desk') })
    await workBodies(temp.store, first)
    const second = await plan(temp.store, { job: { name: 'second', targets }, queries: text('desk') })
    const task = await firstTask(temp.store, second)
    await temp.store.reuseAnswer(task.id, 1)
    await readBody(temp.store, second, task, 1, Buffer.from(bodyOf(task)))
    const before = everythingPublic(temp)
    temp.exec(`${noResults}; UPDATE observations SET state = 'unknown', rank = NULL`)

    expect(await again(temp, { job: 'first' })).toMatchObject({ queries: 1, answers: 1 })

    expect(everythingPublic(temp)).toBe(before)
  })

  test('however often it is interrupted', async () => {
    const temp = await collected()
    const before = everythingPublic(temp)
    temp.exec(`${noResults}; UPDATE observations SET state = 'unknown'; UPDATE answers_ SET normaliser = 1`)
    const { rederive: deriveAgain } = temp.store
    const begun: Promise<unknown>[] = []
    const store = {
      ...temp.store,
      rederive: (...args: Parameters<typeof deriveAgain>) => {
        const derived = begun.length < 2 ? deriveAgain(...args) : Promise.reject(new Error('stopped'))
        begun.push(derived)
        return derived
      },
    }
    await expect(renormalise(store, all, () => {})).rejects.toThrow('stopped')
    await Promise.allSettled(begun)
    expect(everythingPublic(temp)).not.toBe(before)

    const rest = await again(temp, { unless: normaliserVersion })

    expect(rest.queries).toBe(2)
    expect(everythingPublic(temp)).toBe(before)
  })
})

test('links that an older version took for different pages become one', async () => {
  const temp = await aStore()
  const rows = ['c', 'a.example/?srsltid=A', 'c', 'a.example/?srsltid=B#x', 'b', 'acme.example/']
  const body = JSON.stringify({
    organic_results: rows.map((row, index) => ({
      ...{ position: index + 1, title: row, link: `https://${row.includes('/') ? row : `${row}.example/`}` },
    })),
  })
  const run = await plan(temp.store, { job: { targets }, queries: text('desk') })
  await workBodies(temp.store, run, () => body)
  const before = everythingPublic(temp)
  expect(temp.sql('SELECT rank FROM rankings WHERE own')).toEqual([{ rank: 4 }])
  // As it was stored when fragments alone were left out.
  temp.exec(`DELETE FROM links WHERE link = 'https://a.example/';
    INSERT INTO links (hash, link, host_id) SELECT 0, 'https://a.example/?srsltid=B', host_id FROM links
      WHERE link = 'https://a.example/?srsltid=A';
    UPDATE links SET same_as = NULL WHERE link = 'https://a.example/?srsltid=A';
    UPDATE links SET same_as = (SELECT max(id) FROM links) WHERE link LIKE '%#x';
    UPDATE tasks_ SET ranks = '[1,2,1,3,4,5]'; UPDATE observations SET depth = 5; UPDATE observations SET rank = 5 WHERE rank = 4`)

  // Another process: this one remembers its links.
  await using other = await openStore(temp.path)
  expect(await renormalise(other, { ...all, unless: normaliserVersion }, () => {})).toEqual(nothing)
  expect(await renormalise(other, all, () => {})).toMatchObject({ answers: 1, changed: 1 })

  expect(everythingPublic(temp)).toBe(before)
})

describe('what is left alone', () => {
  test('are answers that this normaliser derived, where only outdated ones are asked for', async () => {
    const temp = await collected()
    expect(await again(temp, { unless: normaliserVersion })).toEqual(nothing)
    temp.exec('UPDATE answers_ SET normaliser = 1 WHERE id = 1')
    expect(await again(temp, { unless: normaliserVersion })).toMatchObject({ queries: 1, answers: 1 })
    expect(await again(temp, { unless: normaliserVersion })).toEqual(nothing)
  })

  test('are answers of other jobs', async () => {
    const temp = await collected()
    expect(await again(temp, { job: 'other' })).toEqual(nothing)
  })

  test('are answers whose body is gone', async () => {
    const temp = await collected()
    await dropOld(temp.path, { now: noon + 30 * 24 * hour, before: noon + hour })
    temp.exec(`UPDATE answers_ SET positions = '{"1":null}' WHERE id <= 6`)
    const before = everythingPublic(temp)
    expect(await again(temp)).toMatchObject({ answers: 6, changed: 0 })
    expect(everythingPublic(temp)).toBe(before)
  })

  test('are answers that nobody has read yet', async () => {
    const temp = await collected()
    temp.exec("UPDATE tasks_ SET state = 'answered' WHERE answer_id = 1")
    expect(await again(temp)).toMatchObject({ answers: 11 })
    expect(temp.sql('SELECT state FROM tasks WHERE task_id = 1')).toEqual([{ state: 'answered' }])
  })

  testTable([
    ['is no JSON', hex('no JSON')],
    ['was damaged', "x'00ff'"],
  ])('is what was derived from a body that %s since', async (_, body) => {
    const temp = await collected()
    const before = everythingPublic(temp)
    temp.exec(`UPDATE raw_answers SET body = ${body} WHERE answer_id = 1`)
    expect(await again(temp)).toMatchObject({ answers: 11, unreadable: 1, unreadableRuns: [1], changed: 0 })
    expect(everythingPublic(temp)).toBe(before)
  })
})

describe('a task that had failed because nobody could read its answer', () => {
  const asked = { job: { targets: [aTarget('x.example')] }, queries: [{ pages: 2 }] }

  test('is done when somebody can, and its rank is there', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, asked)
    await workBodies(temp.store, run, ({ page }) => (page === 1 ? 'no JSON' : webBody('cx')))
    expect(temp.sql('SELECT state, rank FROM rankings')).toEqual([{ state: 'ranked', rank: 12 }])
    const good = await aStore()
    await workBodies(good.store, await plan(good.store, asked), ({ page }) =>
      webBody(page === 1 ? 'ab' : 'cx'),
    )
    temp.exec(`UPDATE raw_answers SET body = ${hex(webBody('ab'))} WHERE answer_id = 1`)

    const done = await again(temp, { unless: normaliserVersion })

    expect(done).toEqual({ ...nothing, queries: 1, answers: 1, results: 2, changed: 1, repaired: 1 })
    expect(everythingPublic(temp)).toBe(everythingPublic(good))
  })

  test('stays failed where nobody can', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { queries: text('a', 'b', 'c') })
    await workBodies(temp.store, run, (task) => (task.text === 'b' ? bodyOf(task) : 'no JSON'))
    expect(await again(temp)).toMatchObject({ answers: 1, unreadable: 2, repaired: 0 })
    expect(temp.sql('SELECT state FROM tasks ORDER BY task_id').map(({ state }) => state)).toEqual([
      'failed',
      'done',
      'failed',
    ])
  })
})

describe('a task that was done with what is no answer', () => {
  const error = JSON.stringify({ error: 'Internal Error', search_parameters: { q: 'a' } })
  const hole = JSON.stringify({ organic_results: [], pagination: { has_next_page: true } })
  const hasError = ({ text, page }: Task): boolean => text === 'a' && page === 1
  const isHole = ({ text, page }: Task): boolean => text === 'b' && page === 2

  /** As an earlier version left it: an empty page where the service sent an error, an end where it sent a hole. */
  async function storedBefore() {
    const temp = await aStore()
    const queries = ['a', 'b', 'c'].map((name) => ({ text: name, pages: 2 }))
    const run = await plan(temp.store, { job: { targets: [aTarget('x.example')] }, queries })
    const empty = JSON.stringify({ organic_results: [] })
    await workBodies(temp.store, run, (task) => (hasError(task) || isHole(task) ? empty : webBody('cd')))
    await temp.store.finishRun(run.id, 'completed', noon)
    temp.exec(`UPDATE answers_ SET normaliser = 3;
      UPDATE raw_answers SET body = ${hex(error)} WHERE answer_id IN
        (SELECT answer_id FROM tasks_ t JOIN queries q ON q.id = t.query_id WHERE text = 'a' AND page = 1);
      UPDATE raw_answers SET body = ${hex(hole)} WHERE answer_id IN
        (SELECT answer_id FROM tasks_ t JOIN queries q ON q.id = t.query_id WHERE text = 'b' AND page = 2)`)
    return { ...temp, run }
  }
  const states = ({ sql }: TempStore) => sql('SELECT query, state, exactness FROM rankings ORDER BY query')

  test('has failed, its ranks are unknown, its run says so, and the books stay', async () => {
    const temp = await storedBefore()
    const books = () => temp.sql('SELECT * FROM calls')
    const before = books()
    expect(states(temp).map(({ state }) => state)).toEqual(['absent', 'absent', 'absent'])

    const done = await again(temp, { unless: normaliserVersion })

    expect(done).toMatchObject({ unusable: 2, unreadable: 0, failed: 2, changed: 2, repaired: 0 })
    expect(states(temp)).toEqual([
      { query: 'a', state: 'unknown', exactness: null },
      { query: 'b', state: 'unknown', exactness: null },
      { query: 'c', state: 'absent', exactness: 'exact' },
    ])
    expect(temp.sql("SELECT query, page, cause FROM tasks WHERE state = 'failed' ORDER BY query")).toEqual([
      {
        query: 'a',
        page: 1,
        cause: "the answer has no 'organic_results': the service says 'Internal Error'",
      },
      { query: 'b', page: 2, cause: 'the page is empty, but the service says that more pages follow' },
    ])
    expect(temp.sql('SELECT finish_reason FROM runs')).toEqual([{ finish_reason: 'completed_with_failures' }])
    expect(books()).toEqual(before)
    expect((await checkDatabase(temp.path)).findings).toEqual([])
  })

  test('is bought again by retry, and its answer is given to no other task', async () => {
    const temp = await storedBefore()
    await again(temp)
    expect(await temp.store.retryFailed(temp.run.id)).toBe(2)
    const tasks = await lease(temp.store, temp.run.id, {
      runs: [meansOf(temp.run.id, { fresh: since(0) })],
    })
    expect(tasks.map(({ text: asked, page, reusable }) => ({ asked, page, reusable }))).toEqual([
      { asked: 'a', page: 1, reusable: null },
      { asked: 'b', page: 2, reusable: null },
    ])
  })
})
