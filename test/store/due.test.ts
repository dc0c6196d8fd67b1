import { expect, test } from 'vitest'
import type { StoredQueryHistory } from '../../src/store/sqlite/jobs.ts'
import { aQuery, aStore, hour, noon, plan, plannedJob } from './build.ts'

const queries = [{ text: 'a', pages: 2 }, { text: 'b' }, { text: 'c' }]
const [a, b, c] = queries.map((query) => aQuery(query).key) as [Buffer, Buffer, Buffer]

/** A run of three queries: `a` lacks its second page, `b` is answered, `c` is refused. */
async function anUnfinishedRun() {
  const temp = await aStore()
  const run = await plan(temp.store, { job: { name: 'acme' }, queries })
  temp.exec(`
    INSERT INTO answers_ (id, query_id, page, run_id, call_id, fetched_at)
      SELECT id, query_id, page, run_id, 1, ${noon + hour} FROM tasks_;
    UPDATE tasks_ SET state = 'done', answer_id = id;
    UPDATE tasks_ SET state = 'pending', answer_id = NULL WHERE page = 2;
    UPDATE tasks_ SET state = 'failed', answer_id = NULL WHERE query_id = 3;
    INSERT INTO calls_ (run_id, task_id, operation, sent_at, http_status, outcome, credits)
      SELECT run_id, id, 'alpha.search', ${noon}, 404, 'not-found', 1 FROM tasks_ WHERE query_id = 3`)
  const histories = (
    keys: readonly Buffer[],
    since: number,
    unfinishedRun: number | null = run.id,
  ): Promise<readonly StoredQueryHistory[]> =>
    temp.store.queryHistories('acme', keys, { since, unfinishedRun })
  return { ...temp, run, histories }
}

test('a query is answered when all its pages are, and has failed where one of them has', async () => {
  const { store, run, histories, exec } = await anUnfinishedRun()
  const unknown = { answeredAt: null, failures: [], inRun: 'not-asked' }
  expect(await histories([a, b, c, aQuery({ text: 'never asked' }).key], 0)).toEqual([
    { answeredAt: null, failures: [], inRun: 'open' },
    { answeredAt: noon + hour, failures: [], inRun: 'settled' },
    { answeredAt: null, failures: [{ at: noon, isFinal: true }], inRun: 'settled' },
    unknown,
  ])
  await store.finishRun(run.id, 'completed_with_failures', noon + 2 * hour)
  exec(`UPDATE tasks_ SET state = 'failed' WHERE page = 2`)
  expect(await histories([a, c], noon + 2 * hour, null)).toEqual([
    { answeredAt: null, failures: [{ at: noon + 2 * hour, isFinal: false }], inRun: 'not-asked' },
    { answeredAt: null, failures: [{ at: noon + 2 * hour, isFinal: true }], inRun: 'not-asked' },
  ])
  expect(await histories([b], noon + 3 * hour, null)).toEqual([unknown])
  expect(await histories([b], Number.POSITIVE_INFINITY)).toMatchObject([{ inRun: 'settled' }])
  expect(await store.queryHistories('other', [b], { since: 0, unfinishedRun: null })).toEqual([unknown])
})

test('an answer that is used again counts from the run that used it, and ends what failed before', async () => {
  const { store, exec, histories } = await anUnfinishedRun()
  const now = noon + 24 * hour
  const { id } = await plan(store, { job: { name: 'acme' }, queries: [{ text: 'b' }, { text: 'c' }], now })
  exec(`UPDATE tasks_ SET state = 'done', answer_id = 2, reused = 1 WHERE run_id = ${id}`)
  expect(await histories([b, c], 0)).toEqual([
    { answeredAt: now, failures: [], inRun: 'not-asked' },
    { answeredAt: now, failures: [], inRun: 'not-asked' },
  ])
})

test('what a plan leaves out rests with the run that asked it last, until it is asked again', async () => {
  const { store, sql } = await aStore()
  const commit = async (
    asked: readonly number[],
    leftOut: readonly number[],
    continues: number | null = null,
  ) => {
    await using draft = await store.draft()
    await draft.add(
      'acme',
      asked.map((place) => aQuery(queries[place])),
    )
    await draft.leaveOut(
      'acme',
      leftOut.map((place) => aQuery(queries[place]).key),
    )
    const job = plannedJob({ continues })
    await draft.commit([{ ...job, settings: { ...job.settings, name: 'acme' } }], noon)
    return sql('SELECT run_id, query_id, last_run FROM resting_queries ORDER BY 1, 2')
  }
  // What was never asked does not rest.
  expect(await commit([0, 1], [2])).toEqual([])
  const second = { run_id: 2, query_id: 1, last_run: 1 }
  expect(await commit([1], [0, 2])).toEqual([second])
  const third = [
    { run_id: 3, query_id: 1, last_run: 1 },
    { run_id: 3, query_id: 2, last_run: 2 },
  ]
  expect(await commit([2], [0, 1])).toEqual([second, ...third])
  // The file asks the second query no longer.
  expect(await commit([2], [0], 3)).toEqual([second, third[0]])
  expect(await commit([0, 1, 2], [], 3)).toEqual([second])
  expect(store.partialRuns('acme')).toEqual(new Set([2]))
})
