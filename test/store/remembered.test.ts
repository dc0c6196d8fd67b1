import Database from 'better-sqlite3'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Target } from '../../src/model/job.ts'
import type { ParsedAnswer } from '../../src/model/result.ts'
import type { Run } from '../../src/model/run.ts'
import { type QueryState, scoreQuery } from '../../src/rank/paging.ts'
import { type StoredItem, storeCache } from '../../src/store/sqlite/cache.ts'
import { checkDatabase } from '../../src/store/sqlite/maintenance/check.ts'
import { openStore, type Store } from '../../src/store/sqlite/open.ts'
import { queryStateReader } from '../../src/store/sqlite/results/query-state.ts'
import { aResult } from '../catalog/results.ts'
import { aTarget } from '../run/build.ts'
import { testTable } from '../support/test-table.ts'
import { answer, conclude, done, fail, keep, read, understood, webPage } from './answers.ts'
import { aStore, hour, lease, noon, plan, type TempStore } from './build.ts'

/** The same links in several forms, others, and what is none; `%` is for the number of the example. */
const links = [
  ...['https://w%.a.example/', 'https://W%.A.example', 'https://w%.a.example/#top', 'https://w%.b.example/x'],
  ...['//w%.b.example/x', 'no link %', 'a\ud800 %', '\ufeffhttps://w%.c.example/', null],
]
const page = fc.array(
  fc.record({
    link: fc.constantFrom(...links),
    title: fc.constantFrom('Desk %', 'Lamp %', 'x\ud800 %', null),
    related: fc.boolean(),
  }),
  { maxLength: 12 },
)
type Items = typeof page extends fc.Arbitrary<infer I> ? I : never

/** Words that come with an example for the first time, perhaps in a change that is taken back. */
function pageOf(items: Items, example: number): ParsedAnswer {
  const numbered = (text: string | null) => text?.replace('%', String(example)) ?? null
  return understood(
    items.map((item, position) => {
      const [title, link] = [numbered(item.title), numbered(item.link)]
      return item.related
        ? aResult('related', { title, link: null })
        : aResult('organic', { position, title, link })
    }),
  )
}

const step = fc.record({
  does: fc.oneof(
    { weight: 3, arbitrary: fc.constant('answer') },
    { weight: 4, arbitrary: fc.constantFrom('break', 'catch up') },
    { weight: 5, arbitrary: fc.constantFrom('fail', 'retry', 'derive', 'plan', 'adopt') },
  ),
  /** Which of two processes does it. */
  by: fc.constantFrom(0, 1),
  items: page,
  targets: fc.subarray(['a.example', 'b.example', 'c.example']),
})
type Step = (typeof step extends fc.Arbitrary<infer S> ? S : never) & { readonly says: ParsedAnswer }

/** A query of a run as a store has it, and as the file says it to one that knows nothing. */
function both(store: Store, path: string, run: number, id: number) {
  const db = new Database(path)
  try {
    const { query } = queryStateReader(db, storeCache(db)).one(run, id)
    return { remembered: plain(store.storedQuery(run, id)), stored: plain(query) }
  } finally {
    db.close()
  }
}

/** A title is read when it is asked for. */
function plain({ history: _, ...query }: QueryState) {
  const pages = query.pages.map(({ items, ...page }) => ({
    ...page,
    items: (items as readonly StoredItem[]).map(({ link, sameAs, linkId, title }) => ({
      link,
      sameAs,
      linkId,
      title,
    })),
  }))
  return { ...query, pages }
}

const targetsOf = (sites: readonly string[]): readonly Target[] => sites.map((site) => aTarget(site))

test('what a process remembers of a query is what it would read, whoever changes it meanwhile', async () => {
  const temp = await aStore()
  await using other = await openStore(temp.path)
  const stores = [temp.store, other]
  let example = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14, size: 'max' }), async (steps) => {
      example += 1
      const asked = { job: { name: `job ${example}` }, queries: [{ text: `q ${example}`, depth: 40 }] }
      const run = await plan(temp.store, asked)
      const [{ id } = { id: 0 }] = temp.sql<{ id: number }>('SELECT max(query_id) AS id FROM tasks_')
      for (const each of steps) {
        const one = { ...each, says: pageOf(each.items, example) }
        const store = stores[one.by] as Store
        if (one.does === 'plan') {
          const job = { ...asked.job, targets: targetsOf(one.targets) }
          await plan(store, { ...asked, job, continues: run.id })
        } else if (one.does === 'adopt') await adopt(store, run.id, one)
        else if (one.does === 'retry') await store.retryFailed(run.id)
        else if (one.does === 'derive') await derive(temp, store, id, one.says)
        else if (one.does === 'catch up') await catchUp(store, run, one.says)
        else await work(store, run, one)
        for (const reader of stores) {
          const { remembered, stored } = both(reader, temp.path, run.id, id)
          expect(remembered).toEqual(stored)
        }
      }
      expect((await checkDatabase(temp.path)).findings).toEqual([])
    }),
    { numRuns: 20 },
  )
})

async function work(store: Store, run: Run, { does, says }: Step): Promise<void> {
  const [task] = await lease(store, run.id, { limit: 1 })
  if (task === undefined) return
  if (does === 'answer') await answer(store, task, run, says)
  if (does === 'fail') await fail(store, task, run, 'server-error')
  if (does !== 'break') return
  const answerId = await keep(store, task)
  const broken = conclude(store, task, done(answerId, says), () => {
    throw new Error('broken off')
  })
  await expect(broken).rejects.toThrow('broken off')
}

/** Reads what was kept and not read. */
async function catchUp(store: Store, run: Run, says: ParsedAnswer): Promise<void> {
  for (const { taskId, answerId, ...task } of await store.answeredTasks([run.id]))
    await read(store, { ...task, id: taskId }, run, answerId, says)
}

/** Watches targets in the run, as if it were over and a newer one had them. */
async function adopt(store: Store, run: number, { targets }: Step): Promise<void> {
  await store.finishRun(run, 'interrupted', noon + hour)
  for (let after: number | null = 0; after !== null; )
    after = (await store.backfill({ run, targets: targetsOf(targets), newest: null, after }, scoreQuery)).next
  await store.reopenRun(run)
}

/** Reads every answer to the query that was read, or could not be, otherwise. */
async function derive({ sql }: TempStore, store: Store, query: number, says: ParsedAnswer): Promise<void> {
  const answers = sql<{ id: number }>(
    `SELECT id FROM answers_ a WHERE query_id = ?
      AND NOT EXISTS (SELECT 1 FROM tasks_ t WHERE t.answer_id = a.id AND t.state = 'answered')`,
    query,
  )
  const reads = answers.map(({ id }) => ({ answerId: id, normaliser: 2, says }))
  await store.rederive(query, reads, scoreQuery)
}

describe('targets that a run is watched for', () => {
  const observed = ({ sql }: TempStore) =>
    sql<{ target: string }>('SELECT DISTINCT target FROM rankings ORDER BY target').map(
      ({ target }) => target,
    )

  testTable(['the same process', 'another process'])('may be changed by %s', async (who) => {
    const temp = await aStore()
    await using other = await openStore(temp.path)
    const asked = { queries: [{ text: 'a' }, { text: 'b' }] }
    const run = await plan(temp.store, { ...asked, job: { targets: targetsOf(['a.example']) } })
    const [first, second] = await lease(temp.store, run.id)
    if (first === undefined || second === undefined) throw new Error('no task')
    await answer(temp.store, first, run, webPage('ab'))
    expect(observed(temp)).toEqual(['a.example'])

    const planner = who === 'the same process' ? temp.store : other
    const job = { targets: targetsOf(['a.example', 'b.example']) }
    const again = await plan(planner, { ...asked, job, continues: run.id })

    await answer(temp.store, second, again, webPage('ab'))
    expect(observed(temp)).toEqual(['a.example', 'b.example'])
  })
})
