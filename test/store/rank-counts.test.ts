import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { finishRuns } from '../../src/collect/stop.ts'
import type { Run, Task } from '../../src/model/run.ts'
import { scoreQuery } from '../../src/rank/paging.ts'
import { defaultCurve } from '../../src/report/ctr.ts'
import { daily } from '../../src/report/daily.ts'
import { buildHistory } from '../../src/report/history/build-history.ts'
import { top } from '../../src/report/metrics/positions.ts'
import { backfillTargets } from '../../src/run/derive.ts'
import { checkDatabase } from '../../src/store/sqlite/maintenance/check.ts'
import { aTarget } from '../run/build.ts'
import { testTable } from '../support/test-table.ts'
import { answer, fail, keepPolled, read, submit, webPage, work } from './answers.ts'
import { aStore, firstTask, hour, lease, noon, plan, type TempStore, text } from './build.ts'
import { rowsOf } from './rows-of.ts'

const day = 24 * hour
const own = aTarget('x.example')
const rival = aTarget('a.example', { own: false })
const further = ['b.example', 'c.example'].map((site) => aTarget(site, { own: false }))

/** What the service has of each query, page by page; null fails. */
type Served = Readonly<Record<'q' | 'r' | 's', readonly (string | null)[]>>
const page = fc.option(fc.string({ unit: fc.constantFrom(...'abcdefgx'), maxLength: 6 }), { freq: 6 })
const pages = fc.array(page, { minLength: 2, maxLength: 2 })
const served = fc.record({ q: pages, r: pages, s: pages })
const volumes = fc.array(fc.constantFrom(null, 0, 10, 0.1, 2_400.7), { minLength: 3, maxLength: 3 })

/** What may happen to the runs of a job, at random. */
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('a day' as const), served, volumes, stops: fc.boolean() }),
  },
  fc.record({ do: fc.constant('goes on' as const), served, volumes }),
  fc.record({ do: fc.constant('retry' as const), served }),
  fc.record({
    do: fc.constant('read anew' as const),
    letters: fc.string({ unit: fc.constantFrom(...'abx') }),
  }),
  fc.record({ do: fc.constantFrom('new target' as const, 'closed', 'counted', 'all counted anew') }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Plays steps on a job of its own; all may share a store. */
function aJobOf({ store, sql }: TempStore, name: string) {
  let targets = [own, rival]
  let now = noon
  let run: Run | null = null
  const planned = async (volumes: readonly (number | null)[], continues: number | null) => {
    const queries = [...'qrs'].map((text, at) => ({
      ...{ text: `${text} ${name}`, pages: 2, volume: volumes[at] ?? null },
      targets: text === 's' ? [aTarget('d.example')] : [],
    }))
    const date = new Date(now).toISOString().slice(0, 10)
    run = await plan(store, { job: { name, targets }, queries, continues, now, date })
    return run
  }
  const collect = async (run: Run, served: Served, stops: boolean) => {
    const says = ({ text, page }: Task) => served[text[0] as keyof Served][page - 1] ?? null
    if (stops) {
      const [task] = await lease(store, run.id)
      if (task !== undefined) await answer(store, task, run, webPage(says(task) ?? ''), now)
      await store.recover([run.id], now)
    } else await work(store, run, (task) => (says(task) === null ? null : webPage(says(task) ?? '')), now)
    await finishRuns(store, [run], { stop: null, limits: new Map() }, now)
  }
  return async (what: Step): Promise<void> => {
    if (what.do === 'a day') {
      now += day
      await collect(await planned(what.volumes, null), what.served, what.stops)
    }
    if (what.do === 'goes on' && run !== null)
      await collect(await planned(what.volumes, run.id), what.served, false)
    if (what.do === 'retry' && run !== null)
      if ((await store.retryFailed(run.id)) > 0) await collect(run, what.served, false)
    if (what.do === 'read anew')
      for (const { answerId, queryId } of sql<{ answerId: number; queryId: number }>(
        `SELECT a.id AS answerId, a.query_id AS queryId FROM answers_ a JOIN runs_ r ON r.id = a.run_id
        WHERE r.job = ? AND a.page = 1`,
        name,
      ))
        await store.rederive(queryId, [{ answerId, normaliser: 9, says: webPage(what.letters) }], scoreQuery)
    if (what.do === 'new target') {
      targets = [...targets, ...further.slice(targets.length - 2, targets.length - 1)]
      await backfillTargets(store, { name, targets }, null)
    }
    if (what.do === 'closed' && run !== null) {
      await store.closeRun(run.id, now)
      run = null
    }
    if (what.do === 'counted') await store.countRanks()
    if (what.do === 'all counted anew') await store.invalidateRankCounts(name)
  }
}

/** Counts, added up from what was observed. */
const observedCounts = `SELECT run_id, target, target_site, state, rank, exactness,
    CASE state WHEN 'absent' THEN depth END AS depth, count(*) AS queries, round(sum(volume), 6) AS volume
  FROM rankings WHERE job = ? GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7`
const shownCounts = `SELECT run_id, target, target_site, state, rank, exactness, depth, queries, round(volume, 6) AS volume
  FROM rank_counts WHERE job = ? ORDER BY 1, 2, 3, 4, 5, 6, 7`

const place = "CASE WHEN state = 'ranked' THEN rank WHEN state = 'absent' AND depth > 0 THEN depth + 1 END"
const isTop = (rank: number) => `sum(coalesce(rank <= ${rank}, 0)) AS top_${rank}`
const observedRuns = `SELECT job, target, date, run_id, count(*) AS queries, sum(state = 'ranked') AS ranked,
    sum(state = 'absent') AS absent, sum(state = 'unknown') AS unknown, sum(coalesce(exactness = 'estimated', 0)) AS estimated,
    avg(rank) AS average_rank, avg(${place}) AS average_position, ${[1, 3, 10, 20, 50, 100].map(isTop).join(', ')},
    own, target_site, target_match, target_also
  FROM rankings WHERE job = ? GROUP BY run_id, target, target_site ORDER BY run_id, target, target_site`
const shownRuns = 'SELECT * FROM rankings_by_run WHERE job = ? ORDER BY run_id, target, target_site'

describe('what the views add up is what was observed', () => {
  test('whatever happened to the runs', async () => {
    const temp = await aStore()
    let example = 0
    let counted = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
        example += 1
        const name = `job ${example}`
        const play = aJobOf(temp, name)
        for (const what of steps) {
          await play(what)
          expect(temp.sql(shownCounts, name)).toEqual(temp.sql(observedCounts, name))
          expect(temp.sql(shownRuns, name)).toEqual(temp.sql(observedRuns, name))
          counted += temp.sql(`${countedRuns} WHERE job = ?`, name).length
        }
      }),
      { numRuns: 20 },
    )
    expect(counted).toBeGreaterThan(40)
    expect((await checkDatabase(temp.path)).findings).toEqual([])
  })

  test('and the same for days, as a report counts them', async () => {
    const temp = await aStore()
    const play = aJobOf(temp, 'acme')
    const days = fc.sample(fc.record({ served, volumes }), { numRuns: 30 })
    for (const of of days) await play({ do: 'a day', ...of, stops: false })
    const runs = await temp.store.runs({ job: 'acme' })
    const { history } = buildHistory({
      ...{ job: 'acme', runs, targets: [own, rival], store: temp.store, kindOf: () => 'organic' },
      // The view does not know how deep was asked.
      lookedAtOnly: true,
    })
    for (const [target, { label }] of history.targets.entries()) {
      const shown = rowsOf(
        temp,
        `SELECT date, ranked, ranked + absent AS observed, queries, average_position, top_3, top_10
        FROM rankings_by_run WHERE job = 'acme' AND target = '${label}' ORDER BY date`,
      )
      const reported = daily(history, target, { curve: defaultCurve }).map(
        ({ day, coverage, figures, distribution }) => ({
          date: day,
          ...{ ranked: coverage.ranked, observed: coverage.observed, queries: coverage.expected },
          average_position: figures.average_position.value,
          ...{ top_3: top(distribution, 3), top_10: top(distribution, 10) },
        }),
      )
      expect(shown.map(close)).toEqual(reported.map(close))
    }
  })
})

/** The sqlite3 program writes fewer digits. */
function close(row: Record<string, unknown>) {
  const { average_position: average } = row
  return { ...row, average_position: average == null ? null : Number(Number(average).toFixed(9)) }
}

const countedRuns = 'SELECT k.run_id AS run FROM counted_runs k JOIN runs_ r ON r.id = k.run_id'
const counted = ({ sql }: TempStore) =>
  sql<{ run: number }>(`${countedRuns} ORDER BY 1`).map(({ run }) => run)

/** A run of two queries that is over and counted. */
async function aCountedRun(change: Parameters<typeof plan>[1] | null = null) {
  const temp = await aStore()
  const run = await plan(temp.store, change ?? { job: { targets: [own] }, queries: text('a', 'b') })
  await work(temp.store, run, ({ text }) => (text === 'a' ? webPage('abx') : null))
  await finishRuns(temp.store, [run], { stop: null, limits: new Map() }, noon)
  expect(counted(temp)).toEqual([run.id])
  return { ...temp, run }
}

describe('counts are void', () => {
  testTable<[string, (parts: Awaited<ReturnType<typeof aCountedRun>>) => Promise<unknown>]>([
    ['when failed tasks are bought again', ({ store, run }) => store.retryFailed(run.id)],
    ['when the run is opened again', ({ store, run }) => store.reopenRun(run.id)],
    [
      'when the run goes on with an edited file',
      ({ store, run }) => plan(store, { job: { targets: [own] }, queries: text('a'), continues: run.id }),
    ],
    ['when the run is closed', ({ store, run }) => store.closeRun(run.id, noon)],
    [
      'when an answer is read anew',
      ({ store }) =>
        store.rederive(1, [{ answerId: 1, normaliser: 2, says: webPage('x') }], (query) => scoreQuery(query)),
    ],
    [
      'when a target is looked up in it',
      ({ store, run }) =>
        store.backfill({ run: run.id, targets: [own, rival], newest: null, after: 0 }, (query) =>
          scoreQuery(query),
        ),
    ],
    ['when they are to be counted anew', ({ store }) => store.invalidateRankCounts('acme')],
  ])('%s', async (_, change) => {
    const parts = await aCountedRun()
    await change(parts)
    expect(counted(parts)).toEqual([])
  })

  test('but not those of other jobs', async () => {
    const parts = await aCountedRun()
    await parts.store.invalidateRankCounts('other')
    expect(counted(parts)).toEqual([parts.run.id])
    await parts.store.invalidateRankCounts(null)
    expect(counted(parts)).toEqual([])
  })
})

describe('not counted are runs', () => {
  test('that go on, or will', async () => {
    const { store, ...temp } = await aStore()
    const first = await plan(store, { job: { targets: [own] }, queries: text('a') })
    await store.countRanks()
    await store.finishRun(first.id, 'interrupted', noon)
    await store.countRanks()
    expect(counted({ store, ...temp })).toEqual([])
    await store.closeRun(first.id, noon)
    await store.countRanks()
    expect(counted({ store, ...temp })).toEqual([first.id])
  })

  test('that are closed and still wait for an asynchronous job, until it has come', async () => {
    const temp = await aStore()
    const { store } = temp
    const queries = [{ text: 'desk', operation: 'alpha.images' }]
    const run = await plan(store, { job: { targets: [own] }, queries })
    const task = await firstTask(store, run)
    const job = await submit(store, task)
    await store.finishRun(run.id, 'interrupted', noon)
    await store.closeRun(run.id, noon)
    await store.countRanks()
    expect(counted(temp)).toEqual([])

    const answerId = await keepPolled(store, task, job)
    await store.countRanks()
    expect(counted(temp)).toEqual([])

    await read(store, task, run, answerId, webPage('abx'))
    await store.countRanks()
    expect(counted(temp)).toEqual([run.id])
    expect(temp.sql('SELECT state, rank FROM rank_counts')).toEqual([{ state: 'ranked', rank: 3 }])
  })

  test('beyond the time that there is: the newest come first, the others when the next run ends', async () => {
    const temp = await aStore()
    for (const name of ['a', 'b', 'c']) {
      const run = await plan(temp.store, { job: { name, targets: [own] }, queries: text('desk') })
      await work(temp.store, run, () => webPage('x'))
      await temp.store.finishRun(run.id, 'completed', noon)
    }
    await temp.store.countRanks(0)
    expect(counted(temp)).toEqual([3])
    await temp.store.countRanks(Number.POSITIVE_INFINITY)
    expect(counted(temp)).toEqual([1, 2, 3])
  })

  test('where somebody asked to stop: the next one does it', async () => {
    const temp = await aStore()
    const run = await plan(temp.store, { job: { targets: [own] }, queries: text('desk') })
    await work(temp.store, run, () => webPage('x'))
    const stop = { reason: 'interrupted', message: 'Stopped.' } as const
    await finishRuns(temp.store, [run], { stop, limits: new Map() }, noon)
    expect(counted(temp)).toEqual([])
  })
})

test('a page that failed for good leaves its query unknown, in the counts too', async () => {
  const temp = await aStore()
  const queries = ['a', 'b', 'c'].map((text, index) => ({ text, volume: index === 0 ? 12 : null }))
  const run = await plan(temp.store, { job: { targets: [own] }, queries })
  const [a, b, c] = await lease(temp.store, run.id)
  if (!a || !b || !c) throw new Error('no task')
  await answer(temp.store, a, run, webPage('aax'))
  await fail(temp.store, b, run, 'rejected')
  await answer(temp.store, c, run, webPage('abcdefg'))
  await finishRuns(temp.store, [run], { stop: null, limits: new Map() }, noon)
  const columns = 'state, rank, exactness, depth, queries, volume'
  expect(rowsOf(temp, `SELECT ${columns} FROM rank_counts ORDER BY state`)).toEqual([
    { state: 'absent', rank: null, exactness: 'exact', depth: 7, queries: 1, volume: null },
    { state: 'ranked', rank: 2, exactness: 'exact', depth: null, queries: 1, volume: 12 },
    { state: 'unknown', rank: null, exactness: null, depth: null, queries: 1, volume: null },
  ])
  const [row] = rowsOf(temp, 'SELECT * FROM rankings_by_run')
  expect(row).toMatchObject({
    ...{ job: 'acme', target: 'x.example', date: '2026-03-01', run_id: 1, queries: 3 },
    ...{ ranked: 1, absent: 1, unknown: 1, estimated: 0, average_rank: 2, average_position: 5 },
    ...{ top_1: 0, top_3: 1, top_10: 1, top_20: 1, top_50: 1, top_100: 1, own: 1 },
  })
})
