import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Cell } from '../../src/model/result.ts'
import type { Run, Task } from '../../src/model/run.ts'
import { scoreQuery } from '../../src/rank/paging.ts'
import { openStore, type Store } from '../../src/store/sqlite/open.ts'
import type { DeliveredView } from '../../src/store/sqlite/rankings/rows.ts'
import { testTable } from '../support/test-table.ts'
import {
  answer,
  begin,
  fail,
  keep,
  keepPolled,
  malformed,
  read,
  settlement,
  submit,
  webPage,
  work,
} from './answers.ts'
import { aStore, firstTask, hour, lease, noon, plan, type TempStore } from './build.ts'

const columns = ['run_id', 'query', 'page', 'rank', 'title', 'labels']

type Row = readonly Cell[]

interface Increment {
  readonly rows: readonly Row[]
  readonly newest: number
}

/** What came after a number, and the number of the newest. */
function since(store: Store, after: number, view: DeliveredView = 'organic_results'): Increment {
  using snapshot = store.snapshot()
  const names = view === 'calls' ? ['call_id', 'outcome', 'billed', 'finished_at'] : columns
  return { rows: [...snapshot.rows(view, names, { after })], newest: snapshot.newest(view) }
}

/** Rows as `query/page:rank title`. */
const short = ({ rows }: Increment) =>
  rows.map(([, query, page, rank, title]) => `${query}/${page}:${rank} ${title}`)

/** A run of one query of two pages, the first of them let through. */
async function twoPages(): Promise<TempStore & { readonly run: Run; readonly task: Task }> {
  const temp = await aStore()
  const run = await plan(temp.store, { queries: [{ text: 'q', depth: 20 }] })
  return { ...temp, run, task: await firstTask(temp.store, run) }
}

describe('results are delivered', () => {
  test('when their task is done, not when its answer is stored', async () => {
    const { store, run, task } = await twoPages()
    const stored = await keep(store, task)
    expect(since(store, 0)).toEqual({ rows: [], newest: 0 })
    await read(store, task, run, stored, webPage('ab'))
    expect(short(since(store, 0))).toEqual(['q/1:1 a', 'q/1:2 b'])
    expect(short(since(store, since(store, 0).newest))).toEqual([])
  })

  test('in the order in which they are done, however old their answers are', async () => {
    const { store } = await aStore()
    const run = await plan(store, { queries: [{ text: 'first' }, { text: 'second' }] })
    const [first, second] = await lease(store, run.id)
    if (!first || !second) throw new Error('no task')
    const stored = await keep(store, first)
    await answer(store, second, run, webPage('b'))
    const cursor = since(store, 0).newest
    await read(store, first, run, stored, webPage('a'))
    expect(short(since(store, cursor))).toEqual(['first/1:1 a'])
    expect(short(since(store, 0))).toEqual(['first/1:1 a', 'second/1:1 b'])
  })

  test('of a stored answer that another task uses, once that is done', async () => {
    const { store } = await aStore()
    const one = await plan(store, { job: { name: 'one' }, queries: [{ text: 'q' }] })
    await work(store, one, () => webPage('a'))
    const cursor = since(store, 0).newest
    const two = await plan(store, { job: { name: 'two' }, queries: [{ text: 'q' }] })
    const task = await firstTask(store, two)
    await store.reuseAnswer(task.id, 1)
    expect(since(store, cursor).rows).toEqual([])
    await read(store, task, two, 1, webPage('a'))
    expect(since(store, cursor).rows.map(([run]) => run)).toEqual([two.id])
  })

  test('of an asynchronous job, when it has ended', async () => {
    const { store } = await aStore()
    const run = await plan(store, { queries: [{ text: 'q', operation: 'alpha.images' }] })
    const task = await firstTask(store, run)
    const job = await submit(store, task)
    expect(since(store, 0).newest).toBe(0)
    const answerId = await keepPolled(store, task, job)
    await read(store, task, run, answerId, webPage('a'))
    expect(short(since(store, 0))).toEqual(['q/1:1 a'])
  })

  test('again where an earlier page that is bought again changes their ranks', async () => {
    const { store, run, task } = await twoPages()
    await store.release([task.id])
    await work(store, run, ({ page }) => (page === 1 ? null : webPage('xy')))
    const before = since(store, 0)
    await store.retryFailed(run.id)
    await work(store, run, () => webPage('abc'))
    const after = since(store, before.newest)
    expect(short(after).filter((one) => one.startsWith('q/1'))).toEqual(['q/1:1 a', 'q/1:2 b', 'q/1:3 c'])
    expect(short(after)).toEqual(short(since(store, 0)))
  })

  test('again where they are derived again, in every run that has the answer', async () => {
    const { store } = await aStore()
    for (const name of ['one', 'two']) {
      const run = await plan(store, { job: { name }, queries: [{ text: 'q' }] })
      const task = await firstTask(store, run)
      if (name === 'one') await answer(store, task, run, webPage('a'))
      else {
        await store.reuseAnswer(task.id, 1)
        await read(store, task, run, 1, webPage('a'))
      }
    }
    const cursor = since(store, 0).newest
    await store.rederive(1, [{ answerId: 1, normaliser: 2, says: webPage('z') }], scoreQuery)
    expect(since(store, cursor).rows.map(([run, , , , title]) => [run, title])).toEqual([
      [1, 'z'],
      [2, 'z'],
    ])
  })

  test('of an answer that nobody could read, when somebody can', async () => {
    const { store, run, task } = await twoPages()
    await malformed(store, task, run)
    expect(since(store, 0)).toEqual({ rows: [], newest: 0 })
    await store.rederive(1, [{ answerId: 1, normaliser: 2, says: webPage('z') }], scoreQuery)
    expect(short(since(store, 0))).toEqual(['q/1:1 z'])
  })

  test('again with the labels that an edited file gives them', async () => {
    const { store } = await aStore()
    const queries = (client: string) => [{ text: 'q', labels: { client } }, { text: 'same' }]
    const run = await plan(store, { queries: queries('Acme') })
    await work(store, run, () => webPage('a'))
    const cursor = since(store, 0).newest
    await plan(store, { queries: queries('Acme'), continues: run.id })
    expect(since(store, cursor).rows).toEqual([])
    await plan(store, { queries: queries('Umbrella'), continues: run.id })
    expect(since(store, cursor).rows).toEqual([[1, 'q', 1, 1, 'a', '{"client":"Umbrella"}']])
  })

  testTable(['UPDATE', 'UPDATE OR REPLACE', 'UPDATE OR IGNORE', 'UPDATE OR FAIL'])(
    'by a number that nothing had before, also where it was the highest: %s',
    async (update) => {
      const temp = await twoPages()
      await answer(temp.store, temp.task, temp.run, webPage('ab'))
      await work(temp.store, temp.run, () => webPage('cd'))
      const numbers = () =>
        temp.sql<{ task_id: number; id: number }>('SELECT task_id, id FROM deliveries ORDER BY id')
      const newest = () => numbers().at(-1)?.id ?? 0
      expect(numbers().map(({ task_id }) => task_id)).toEqual([1, 2])
      let before = newest()
      temp.exec(`${update} tasks_ SET rank_base = rank_base + 1 WHERE id = 2`)
      expect(numbers().map(({ task_id }) => task_id)).toEqual([1, 2])
      expect(newest()).toBeGreaterThan(before)
      before = newest()
      temp.exec(`${update} tasks_ SET rank_base = rank_base + 1 WHERE id = 1`)
      expect(numbers().map(({ task_id }) => task_id)).toEqual([2, 1])
      expect(newest()).toBeGreaterThan(before)
    },
  )

  test('whole: the pages of a task that is delivered are never torn', async () => {
    const { store, run, task } = await twoPages()
    await answer(store, task, run, webPage('ab'))
    await work(store, run, () => webPage('cd'))
    const { newest } = since(store, 0)
    for (let after = 0; after <= newest; after++)
      for (const page of ['q/1', 'q/2'])
        expect([0, 2]).toContain(short(since(store, after)).filter((one) => one.startsWith(page)).length)
    expect(short(since(store, 0))).toEqual(['q/1:1 a', 'q/1:2 b', 'q/2:3 c', 'q/2:4 d'])
  })
})

describe('calls are delivered', () => {
  test('when they end, however that becomes known', async () => {
    const { store, run, task } = await twoPages()
    const ids = [await begin(store, task), await begin(store, task), await begin(store, task)]
    const [first, second, lost] = ids as [number, number, number]
    const says = ({ rows }: Increment) => rows.map(([id, outcome]) => [id, outcome])
    expect(says(since(store, 0, 'calls'))).toEqual(ids.map((id) => [id, null]))
    await store.settleCall(first, settlement({ outcome: 'server-error', billed: 0 }), null)
    const begun = since(store, 0, 'calls')
    await store.settleCall(second, settlement({ outcome: 'server-error', billed: 0 }), null)
    const settled = since(store, begun.newest, 'calls')
    expect(says(settled)).toEqual([[second, 'server-error']])
    await store.recover([run.id], noon + hour)
    const recovered = since(store, settled.newest, 'calls')
    expect(says(recovered)).toEqual([[lost, 'ambiguous']])
    expect(since(store, recovered.newest, 'calls').rows).toEqual([])
  })

  test('again when the job that they submitted is billed', async () => {
    const { store } = await aStore()
    const run = await plan(store, { queries: [{ operation: 'alpha.images' }] })
    const task = await firstTask(store, run)
    const job = await submit(store, task)
    const { newest } = since(store, 0, 'calls')
    await store.endJob(job, 0, noon + hour, null)
    expect(since(store, newest, 'calls').rows.map(([id, outcome, billed]) => [id, outcome, billed])).toEqual([
      [job.callId, 'accepted', 0],
    ])
  })
})

describe('a snapshot', () => {
  test('does not see what is stored after it began, and its number leaves that for the next', async () => {
    const { store, path } = await aStore()
    const run = await plan(store, { queries: [{ text: 'a' }, { text: 'b' }] })
    const [a, b] = await lease(store, run.id)
    if (!a || !b) throw new Error('no task')
    await answer(store, a, run, webPage('a'))
    await using reader = await openStore(path)
    let newest: number
    {
      using snapshot = reader.snapshot()
      newest = snapshot.newest('organic_results')
      await answer(store, b, run, webPage('b'))
      expect([...snapshot.rows('organic_results', columns, { after: 0 })]).toHaveLength(1)
    }
    expect(short(since(reader, newest))).toEqual(['b/1:1 b'])
  })

  test('takes the rows that a filter asks for, in every kind', async () => {
    const { store } = await aStore()
    for (const [name, day] of [
      ['one', 1],
      ['two', 2],
    ] as const) {
      const queries = [{ text: 'b' }, { text: 'a', operation: 'beta.search' }]
      const run = await plan(store, { job: { name }, queries })
      await work(store, run, () => webPage(name.slice(0, 1)), Date.UTC(2026, 2, day))
    }
    using snapshot = store.snapshot()
    const taken = (filter: object) =>
      [...snapshot.rows('organic_results', ['query', 'title'], { after: 0, ...filter })].map((row) =>
        row.join(''),
      )
    expect(taken({})).toEqual(['bo', 'ao', 'bt', 'at'])
    expect(taken({ job: 'two' })).toEqual(['bt', 'at'])
    expect(taken({ run: 1 })).toEqual(['bo', 'ao'])
    expect(taken({ query: 'a' })).toEqual(['ao', 'at'])
    expect(taken({ operation: 'alpha.search', job: 'one' })).toEqual(['bo'])
    expect(taken({ from: '2026-03-02' })).toEqual(['bt', 'at'])
    expect(taken({ until: '2026-03-02T00:00:00.000Z' })).toEqual(['bo', 'ao'])
    expect(taken({ query: "a' OR 1=1 --" })).toEqual([])
    const calls = (filter: object) => [...snapshot.rows('calls', ['call_id'], { after: 0, ...filter })].flat()
    expect(calls({})).toEqual([1, 2, 3, 4])
    expect(calls({ job: 'two', operation: 'beta.search' })).toEqual([4])
    expect(calls({ after: 3, query: 'a' })).toEqual([4])
    expect([...snapshot.rows('news_results', ['title'], { after: 0 })]).toEqual([])
  })

  test('sorts nothing but the numbers of tasks and calls, and the results of a page', async () => {
    const temp = await aStore()
    const plans = [
      'SELECT * FROM organic_results WHERE task_id = 1 ORDER BY place',
      'SELECT * FROM video_results WHERE task_id = 1 ORDER BY place',
      'SELECT * FROM calls ORDER BY call_id',
    ].map((query) => temp.sql<{ detail: string }>(`EXPLAIN QUERY PLAN ${query}`).map(({ detail }) => detail))
    for (const steps of plans) {
      const isOfOnePage = steps.includes('SEARCH t USING INTEGER PRIMARY KEY (rowid=?)')
      expect(steps.filter((step) => /TEMP B-TREE/.test(step) && !isOfOnePage)).toEqual([])
      expect(steps.filter((step) => /^SCAN/.test(step) && !/^SCAN (c$|n VIRTUAL TABLE)/.test(step))).toEqual(
        [],
      )
    }
  })
})

const steps = fc.array(
  fc.record({
    does: fc.constantFrom(
      'plan',
      'answer',
      'answer',
      'answer',
      'fail',
      'malformed',
      'retry',
      'derive',
      'labels',
    ),
    letters: fc.constantFrom('', 'a', 'ab', 'bc', 'abc'),
    exports: fc.boolean(),
  }),
  { minLength: 1, maxLength: 25 },
)

test('exports in any number of increments come to what one export of everything is', async () => {
  const temp = await aStore()
  const { store } = temp
  let example = 0
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      example += 1
      const job = { name: `job ${example}` }
      const queries = (client: number) => [
        { text: `q ${example}`, depth: 30, labels: { client: `${client}` } },
        { text: `p ${example}`, depth: 10 },
      ]
      const run = await plan(store, { job, queries: queries(0) })
      const pages = new Map<string, Row[]>()
      let cursor = 0
      let calls = new Map<Cell, Row>()
      let callCursor = 0
      const load = (): void => {
        const increment = since(store, cursor)
        for (const key of new Set(increment.rows.map(pageOf))) pages.set(key, [])
        for (const row of increment.rows) pages.get(pageOf(row))?.push(row)
        cursor = increment.newest
        const more = since(store, callCursor, 'calls')
        calls = new Map([...calls, ...more.rows.map((row) => [row[0] as Cell, row] as const)])
        callCursor = more.newest
      }
      for (const [index, { does, letters, exports }] of steps.entries()) {
        if (does === 'plan' || does === 'labels')
          await plan(store, { job, queries: queries(does === 'plan' ? 0 : index), continues: run.id })
        else if (does === 'retry') await store.retryFailed(run.id)
        else if (does === 'derive') await deriveAll(temp, `q ${example}`, letters || 'x')
        else {
          const [task] = await lease(store, run.id, { limit: 1 })
          if (task !== undefined && does === 'answer') await answer(store, task, run, webPage(letters))
          if (task !== undefined && does === 'fail') await fail(store, task, run, 'server-error')
          if (task !== undefined && does === 'malformed') await malformed(store, task, run)
        }
        if (exports) load()
      }
      load()
      const byPage = (rows: readonly Row[]) => [...rows].sort((a, b) => (pageOf(a) < pageOf(b) ? -1 : 1))
      expect(byPage([...pages.values()].flat())).toEqual(byPage(since(store, 0).rows))
      expect([...calls.values()].sort(byId)).toEqual(since(store, 0, 'calls').rows)
    }),
    { numRuns: 20 },
  )
})

/** What a page of a query of a run is known by. */
function pageOf([run, query, page]: Row): string {
  return `${String(run).padStart(4, '0')} ${query} ${page}`
}

function byId([a]: Row, [b]: Row): number {
  return Number(a) - Number(b)
}

/** Reads all answers to a query otherwise, each with at least as many results as before: pages are replaced, not emptied. */
async function deriveAll({ store, sql }: TempStore, query: string, letters: string): Promise<void> {
  const answers = sql<{ id: number; queryId: number }>(
    `SELECT a.id, a.query_id AS queryId FROM answers_ a JOIN queries q ON q.id = a.query_id
    WHERE q.text = ? AND NOT EXISTS (SELECT 1 FROM tasks_ t WHERE t.answer_id = a.id AND t.state = 'answered')`,
    query,
  )
  const [first] = answers
  if (first === undefined) return
  const reads = answers.map(({ id }) => ({ answerId: id, normaliser: 2, says: webPage(letters) }))
  await store.rederive(first.queryId, reads, scoreQuery)
}
