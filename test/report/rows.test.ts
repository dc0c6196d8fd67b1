import { describe, expect, test } from 'vitest'
import type { Row } from '../../src/model/result.ts'
import { columnKinds } from '../../src/report/formats/rows.ts'
import { testTable } from '../support/test-table.ts'
import { absent, aRanking, unknown } from './build.ts'
import { reportOn } from './reporting.ts'

const day = (n: number): string => `2026-03-0${n}`

/** The report on one query and target that was observed so. */
function rowOf(...rankings: readonly Row[]): Row {
  const { rows } = reportOn(rankings.map(aRanking))
  expect(rows).toHaveLength(1)
  return rows[0] as Row
}

test('without observations there is nothing to report', () => {
  expect(reportOn([])).toMatchObject({ rows: [], leftOut: { queries: 0, targets: 0 } })
})

test('a first observation has nothing before it and is its own best', () => {
  expect(rowOf({ date: day(1), rank: 4 })).toMatchObject({
    date: day(1),
    rank: 4,
    previous_date: null,
    previous_state: null,
    previous_rank: null,
    change: null,
    movement: 'new',
    best_rank: 4,
    best_date: day(1),
  })
})

test('the latest day is set against the observed day before it, however long ago that was', () => {
  const row = rowOf({ date: day(1), rank: 2 }, { date: day(3), rank: 9 }, { date: day(8), rank: 5 })
  expect(row).toMatchObject({
    date: day(8),
    rank: 5,
    previous_date: day(3),
    previous_state: 'ranked',
    previous_rank: 9,
    change: 4,
    movement: 'improved',
    best_rank: 2,
    best_date: day(1),
  })
})

test('the best is the first day on which it was reached', () => {
  const row = rowOf({ date: day(1), rank: 5 }, { date: day(2), rank: 2 }, { date: day(3), rank: 2 })
  expect(row).toMatchObject({ best_rank: 2, best_date: day(2) })
})

test('ranks are compared as numbers', () => {
  expect(rowOf({ date: day(1), rank: 9 }, { date: day(2), rank: 10 })).toMatchObject({
    best_rank: 9,
    change: -1,
  })
})

test.each([
  [1, 'left'],
  [0, 'unknown'],
])(
  'absent from 20 results, of which the service has %i: what stood 35th is %s',
  (results_ended, movement) => {
    const gone = { ...absent, depth: 20, unbroken_depth: 20, results_ended }
    expect(rowOf({ date: day(1), rank: 35 }, { date: day(2), ...gone })).toMatchObject({ movement })
  },
)

describe('without an asked day', () => {
  test('the nearest earlier day of which anything is known is compared with', () => {
    const row = rowOf(
      { date: day(1), rank: 9 },
      { date: day(2), rank: 7 },
      { date: day(3), ...unknown },
      { date: day(4), ...unknown },
      { date: day(5), rank: 4 },
    )
    expect(row).toMatchObject({ previous_date: day(2), previous_rank: 7, change: 3, movement: 'improved' })
  })

  test('an absence is as good a day as a rank', () => {
    const row = rowOf({ date: day(1), rank: 9 }, { date: day(2), ...absent }, { date: day(3), rank: 4 })
    expect(row).toMatchObject({ previous_date: day(2), previous_state: 'absent', movement: 'entered' })
  })

  test('where nothing was ever known before, the latest such day is named, and nothing is claimed', () => {
    const row = rowOf({ date: day(1), ...unknown }, { date: day(2), ...unknown }, { date: day(3), rank: 4 })
    expect(row).toMatchObject({ previous_date: day(2), previous_state: 'unknown', movement: 'unknown' })
  })
})

describe('several runs on one day', () => {
  test('count as one: the last of them speaks for the day, and the one before is an earlier day', () => {
    const row = rowOf(
      { date: day(1), rank: 8, run_id: 1 },
      { date: day(2), rank: 6, run_id: 2 },
      { date: day(2), rank: 4, run_id: 3 },
    )
    expect(row).toMatchObject({ rank: 4, run_id: 3, previous_date: day(1), previous_rank: 8, change: 4 })
  })

  test('an unknown later the same day does not overwrite what was observed', () => {
    const row = rowOf(
      { date: day(1), rank: 8 },
      { date: day(2), rank: 6, run_id: 2 },
      { date: day(2), ...unknown, run_id: 3 },
    )
    expect(row).toMatchObject({ state: 'ranked', rank: 6, run_id: 2, change: 2, previous_rank: 8 })
  })

  test('what was observed later overwrites an unknown', () => {
    const row = rowOf({ date: day(1), ...unknown, run_id: 1 }, { date: day(1), ...absent, run_id: 2 })
    expect(row).toMatchObject({ state: 'absent', run_id: 2, movement: 'new' })
  })

  test('an absence later the same day speaks for it', () => {
    const row = rowOf({ date: day(1), rank: 6 }, { date: day(1), ...absent })
    expect(row).toMatchObject({ state: 'absent', rank: null, best_rank: null })
  })
})

describe('what the job asks', () => {
  const asked = (...rows: readonly Row[]) => rows.map((row) => aRanking({ ...unknown, run_id: 9, ...row }))
  const two = [aRanking({ date: day(1), rank: 3 }), aRanking({ date: day(1), query: 'lamp' })]

  test('is all that is reported; the rest is counted', () => {
    const rankings = [
      ...two,
      aRanking({ date: day(1), query: 'lamp', target_site: 'rival.com' }),
      aRanking({ date: day(1), query: 'mat' }),
      aRanking({ date: day(1), query: 'mat', target_site: 'rival.com' }),
      aRanking({ date: day(2), query: 'lamp' }),
    ]
    const { rows, leftOut } = reportOn(rankings, { asked: asked({ date: day(2), query: 'lamp' }) })
    expect(rows).toMatchObject([{ query: 'lamp', target_site: 'acme.com', date: day(2), state: 'ranked' }])
    expect(leftOut).toEqual({ queries: 2, targets: 1 })
  })

  test('is unknown on the day of a run that has not come to it yet: no older rank stands in', () => {
    const now = asked({ date: day(2) }, { date: day(2), query: 'sofa' })
    expect(reportOn(two, { asked: now }).rows).toMatchObject([
      { ...unknown, date: day(2), run_id: 9, previous_date: day(1), previous_rank: 3, movement: 'unknown' },
      { ...unknown, query: 'sofa', date: day(2), previous_date: null, movement: 'unknown', best_rank: null },
    ])
  })

  test('is what an earlier run of the same day says of it, until the new run knows better', () => {
    const { rows } = reportOn(two, { asked: asked({ date: day(1) }) })
    expect(rows).toMatchObject([{ state: 'ranked', rank: 3, run_id: 1, date: day(1) }])
  })

  test('is as unknown as it was observed to be', () => {
    const half = aRanking({ ...unknown, date: day(1), depth: 10, run_id: 9 })
    expect(reportOn([half], { asked: asked({ date: day(1) }) }).rows).toMatchObject([{ depth: 10 }])
  })
})

test('an unknown repeats no older rank, and the next day is not compared with it', () => {
  expect(rowOf({ date: day(1), rank: 3 }, { date: day(2), ...unknown })).toMatchObject({
    state: 'unknown',
    rank: null,
    previous_rank: 3,
    change: null,
    movement: 'unknown',
    best_rank: 3,
  })
  expect(rowOf({ date: day(1), ...unknown }, { date: day(2), rank: 3 })).toMatchObject({
    previous_state: 'unknown',
    movement: 'unknown',
  })
})

testTable<[string, Row]>([
  ['query', { query: 'sit stand desk' }],
  ['operation', { operation: 'beta.search' }],
  ['params', { params: '{"gl":"us"}' }],
  ['site', { target_site: 'rival.com' }],
  ['match', { target_match: 'host' }],
  ['list of variants', { target_also: '["amp"]' }],
])('another %s is a row of its own', (_, other) => {
  const { rows } = reportOn([aRanking({ date: day(1) }), aRanking({ date: day(1), ...other })])
  expect(rows.map(({ movement }) => movement)).toEqual(['new', 'new'])
})

test('what an earlier run of the day observed has the names and tags that the newest run gives it', () => {
  const before = aRanking({ date: day(1), rank: 3, target: 'Acme', tags: 'old', volume: 10 })
  const now = aRanking({ ...unknown, date: day(1), run_id: 9, target: 'ACME Inc', tags: 'new', volume: 20 })
  expect(reportOn([before], { asked: [now] }).rows).toMatchObject([
    { state: 'ranked', rank: 3, run_id: 1, target: 'ACME Inc', tags: 'new', volume: 20 },
  ])
})

test('a target that got another label stays the same', () => {
  const row = rowOf({ date: day(1), rank: 3, target: 'Acme' }, { date: day(2), rank: 2, target: 'ACME Inc' })
  expect(row).toMatchObject({ target: 'ACME Inc', change: 1 })
})

test('rows have the order in which the newest run asks for them', () => {
  const observed = ['c', 'a', 'b', 'a', 'c'].map((query, index) => aRanking({ query, date: day(index + 1) }))
  const asked = ['b', 'a', 'c'].map((query) => aRanking({ ...unknown, query, date: day(5) }))
  expect(reportOn(observed, { asked }).rows.map(({ query }) => query)).toEqual(['b', 'a', 'c'])
})

test('a row has every column of the report', () => {
  expect(Object.keys(rowOf({}))).toEqual(expect.arrayContaining(Object.keys(columnKinds)))
})

test('the report has the columns of rankings, then its own', () => {
  expect(Object.keys(columnKinds)).toEqual([
    ...['job', 'query', 'target', 'operation', 'gl', 'hl', 'location', 'tags', 'date', 'observed_at'],
    ...['state', 'rank', 'exactness', 'depth', 'url', 'title', 'run_id'],
    ...['previous_date', 'previous_state', 'previous_rank', 'change', 'movement', 'best_rank', 'best_date'],
    ...['suspect', 'volume', 'intended_url', 'params'],
  ])
})
