import { describe, expect, test } from 'vitest'
import type { LedgerGroup } from '../../src/model/call.ts'
import type { LedgerFilter } from '../../src/store/sqlite/ledger/sums.ts'
import { testTable } from '../support/test-table.ts'
import { aLookup, begin, keep, settlement, submit } from './answers.ts'
import { aStore, hour, lease, noon, plan } from './build.ts'

/** Numbers of a sum in the order of the table: calls, billed, free, ambiguous, credits, credits that are ambiguous. */
type Numbers = readonly [number, number, number, number, number, number]

/**
 * Two jobs over two days. acme: `a` (tagged head and review) was billed and, before that, free; `b` (head) was
 * lost; `c` (no tag, 3 credits) was billed the day after, and once more it is in the air. other: one billed call
 * to `a` (other), and one to an asynchronous job that waits. Between them a free lookup of no run.
 */
async function aLedger() {
  const temp = await aStore()
  const { store } = temp
  const acme = await plan(store, {
    queries: [
      { text: 'a', tags: ['head', 'review'] },
      { text: 'b', tags: ['head'] },
      { text: 'c', operation: 'alpha.ai' },
    ],
  })
  const other = await plan(store, {
    job: { name: 'other' },
    queries: [
      { text: 'a', tags: ['other'] },
      { text: 'd', operation: 'alpha.images' },
    ],
  })
  const [a, b, c] = await lease(store, acme.id)
  const [otherA, d] = await lease(store, other.id)
  if (!a || !b || !c || !otherA || !d) throw new Error('no task')
  await store.settleCall(
    await begin(store, a, noon),
    settlement({ outcome: 'server-error', billed: 0 }),
    null,
  )
  await keep(store, a, noon + 11 * hour)
  await store.settleCall(
    await begin(store, b, noon),
    settlement({ outcome: 'ambiguous', billed: null }),
    null,
  )
  const nextDay = noon + 12 * hour
  await keep(store, c, nextDay)
  await begin(store, c, nextDay)
  await keep(store, otherA, nextDay)
  await submit(store, d, nextDay)
  const free = await store.beginCall(aLookup())
  await store.settleCall(free, settlement({ billed: 0 }), null)

  const sums = async (by: LedgerGroup, filter: LedgerFilter = {}) =>
    (by === 'run' || by === 'day' ? await store.sums(by, filter) : await store.shares(by, filter)).map(
      ({ group, calls, billed, free, ambiguous, credits, creditsAmbiguous }) =>
        [group, [calls, billed, free, ambiguous, credits, creditsAmbiguous]] as const,
    )
  return { ...temp, sums, midnight: Date.UTC(2026, 2, 2) }
}

type Group = readonly [group: string | number | null, Numbers]

const lookup: Group = [null, [1, 0, 1, 0, 0, 0]]

describe('the ledger is added up', () => {
  testTable<['run' | 'day' | 'job' | 'tag', readonly Group[]]>([
    ['run', [lookup, [1, [5, 2, 1, 1, 4, 1]], [2, [2, 1, 1, 0, 1, 0]]]],
    ['job', [lookup, ['acme', [5, 2, 1, 1, 4, 1]], ['other', [2, 1, 1, 0, 1, 0]]]],
    [
      'day',
      [
        ['2026-03-01', [4, 1, 2, 1, 1, 1]],
        ['2026-03-02', [4, 2, 1, 0, 4, 0]],
      ],
    ],
    [
      'tag',
      [
        [null, [4, 1, 2, 0, 3, 0]],
        ['head', [3, 1, 1, 1, 0.5, 1]],
        ['other', [1, 1, 0, 0, 1, 0]],
        ['review', [2, 1, 1, 0, 0.5, 0]],
      ],
    ],
  ])('by %s, one group for calls that have none', async (by, groups) => {
    const { sums } = await aLedger()
    expect(await sums(by)).toEqual(groups)
  })

  test('of one job only', async () => {
    const { sums } = await aLedger()
    expect(await sums('run', { job: 'other' })).toEqual([[2, [2, 1, 1, 0, 1, 0]]])
    expect((await sums('tag', { job: 'acme' })).map(([tag]) => tag)).toEqual([null, 'head', 'review'])
    expect(await sums('day', { job: 'nobody' })).toEqual([])
  })

  test('from an instant on, and before another', async () => {
    const { sums } = await aLedger()
    expect(await sums('job', { from: noon + 1 })).toEqual([
      ['acme', [3, 2, 0, 0, 4, 0]],
      ['other', [2, 1, 1, 0, 1, 0]],
    ])
    expect(await sums('job', { from: noon, until: noon + 1 })).toEqual([lookup, ['acme', [2, 0, 1, 1, 0, 1]]])
    expect(await sums('job', { from: noon, until: noon })).toEqual([])
  })

  test('by days that begin in UTC, whatever a job takes for a day', async () => {
    const { sums, midnight } = await aLedger()
    const days = async (filter: LedgerFilter) => (await sums('day', filter)).map(([day]) => day)
    expect(await days({ from: midnight })).toEqual(['2026-03-02'])
    expect(await days({ until: midnight })).toEqual(['2026-03-01'])
  })

  test('with the calls of tasks that an edited job has dropped', async () => {
    const { sums, exec } = await aLedger()
    exec("DELETE FROM tasks_ WHERE query_id = (SELECT id FROM queries WHERE text = 'b')")
    expect(await sums('job', { job: 'acme' })).toEqual([['acme', [5, 2, 1, 1, 4, 1]]])
    expect(await sums('tag', { job: 'acme' })).toEqual([
      [null, [3, 1, 0, 1, 3, 1]],
      ['head', [2, 1, 1, 0, 0.5, 0]],
      ['review', [2, 1, 1, 0, 0.5, 0]],
    ])
  })

  test('to nothing, where there are no calls', async () => {
    const { store } = await aStore()
    for (const by of ['run', 'day', 'job'] as const) expect(await store.sums(by, {})).toEqual([])
    for (const by of ['day', 'job', 'tag', 'client'] as const) expect(await store.shares(by, {})).toEqual([])
  })
})
