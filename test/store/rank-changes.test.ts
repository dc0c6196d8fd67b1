import { expect, test } from 'vitest'
import { aTarget } from '../run/build.ts'
import { testTable } from '../support/test-table.ts'
import { fail, webPage, work } from './answers.ts'
import { aStore, lease, noon, plan } from './build.ts'
import { rowsOf } from './rows-of.ts'

const targets = [aTarget('x.example'), aTarget('b.example', { own: false })]

/** A run of one query on a day of March, with results by their letters; `!` fails, `?` stops before it. */
type Run = readonly [day: number, letters: string, job?: string]

async function changes(runs: readonly Run[]) {
  const temp = await aStore()
  for (const [day, letters, name = 'acme'] of runs) {
    const date = `2026-03-0${day}`
    const run = await plan(temp.store, { job: { name, targets }, queries: [{ text: 'desk' }], date })
    if (letters === '!')
      for (const task of await lease(temp.store, run.id)) await fail(temp.store, task, run, 'rejected')
    else if (letters !== '?') await work(temp.store, run, () => webPage(letters))
    await temp.store.finishRun(run.id, 'completed', noon)
  }
  return rowsOf(
    temp,
    `SELECT run_id AS run, substr(date, -1) || coalesce(rank, substr(state, 1, 1)) AS now,
      substr(previous_date, -1) || coalesce(previous_rank, substr(previous_state, 1, 1)) AS before, change, previous_run_id AS of
    FROM rank_changes WHERE job = 'acme' AND target = 'x.example' ORDER BY run_id`,
  ).map(({ now, before, change, of }) => [now, before, change, of])
}

testTable<[string, readonly Run[], readonly unknown[]]>([
  [
    'each day beside the one before, better positive',
    [
      [1, 'abx'],
      [2, 'xab'],
      [3, 'axb'],
    ],
    [
      ['13', null, null, null],
      ['21', '13', 2, 1],
      ['32', '21', -1, 2],
    ],
  ],
  [
    'what was absent has no rank to compare',
    [
      [1, 'abx'],
      [2, 'ab'],
      [3, 'x'],
    ],
    [
      ['13', null, null, null],
      ['2a', '13', null, 1],
      ['31', '2a', null, 2],
    ],
  ],
  [
    'days of which nothing is known are passed over, failed or not looked at',
    [
      [1, 'abx'],
      [2, '!'],
      [3, '?'],
      [4, 'x'],
    ],
    [
      ['13', null, null, null],
      ['2u', '13', null, 1],
      ['3u', '13', null, 1],
      ['41', '13', 2, 1],
    ],
  ],
  [
    'where nothing was ever known there is nothing to compare with',
    [
      [1, '!'],
      [2, 'x'],
    ],
    [
      ['1u', null, null, null],
      ['21', null, null, null],
    ],
  ],
  [
    'of several runs on one day the last one that knows anything, and none of the same day',
    [
      [1, 'ax'],
      [1, 'abx'],
      [1, '!'],
      [2, 'x'],
      [2, 'ax'],
    ],
    [
      ['12', null, null, null],
      ['13', null, null, null],
      ['1u', null, null, null],
      ['21', '13', 2, 2],
      ['22', '13', 1, 2],
    ],
  ],
  [
    'other jobs are others, though they ask the same',
    [
      [1, 'x'],
      [2, 'abx', 'else'],
      [3, 'ax'],
    ],
    [
      ['11', null, null, null],
      ['32', '11', -1, 1],
    ],
  ],
])('%s', async (_, runs, expected) => {
  expect(await changes(runs)).toEqual(expected)
})

test('a query and a target are compared with themselves', async () => {
  const temp = await aStore()
  for (const [date, desk, lamp] of [
    ['2026-03-01', 'abx', 'x'],
    ['2026-03-02', 'xab', 'bax'],
  ] as const) {
    const queries = [{ text: 'desk' }, { text: 'lamp' }, { text: 'lamp', params: { gl: 'de' } }]
    const run = await plan(temp.store, { job: { targets }, queries, date })
    await work(temp.store, run, ({ text, params }) =>
      webPage(text === 'desk' ? desk : params.gl === 'de' ? lamp.replace('x', 'ccx') : lamp),
    )
    await temp.store.finishRun(run.id, 'completed', noon)
  }
  const rows = rowsOf(
    temp,
    `SELECT query || ' ' || coalesce(gl, '-') || ' ' || target AS of, rank, previous_rank, change FROM rank_changes
    WHERE run_id = (SELECT max(run_id) FROM runs WHERE job = 'acme') ORDER BY 1`,
  )
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['desk - b.example', 3, 2, -1],
    ['desk - x.example', 1, 3, 2],
    ['lamp - b.example', 1, null, null],
    ['lamp - x.example', 3, 1, -2],
    ['lamp de b.example', 1, null, null],
    ['lamp de x.example', 4, 2, -2],
  ])
})
