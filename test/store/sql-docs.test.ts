import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { finishRuns } from '../../src/collect/stop.ts'
import { aTarget } from '../run/build.ts'
import { fullScans } from '../support/full-scans.ts'
import { testTable } from '../support/test-table.ts'
import { webPage, work } from './answers.ts'
import { aStore, hour, plan } from './build.ts'
import { rowsOf } from './rows-of.ts'

const page = readFileSync(fileURLToPath(new URL('../../docs/sql.md', import.meta.url)), 'utf8')
const queries = [...page.matchAll(/```sql\n([\s\S]*?);\n```/g)].map(([, sql = '']) => sql)
const targets = [aTarget('acme.com'), aTarget('rival.com', { own: false })]
const day = 24 * hour

/** Two days of a job. */
async function twoDays() {
  const temp = await aStore()
  const now = Date.now()
  for (const [at, sites] of [
    [now - day, 'ab,cd'],
    [now, 'ba,ad'],
  ] as const) {
    const date = new Date(at).toISOString().slice(0, 10)
    const queries = ['standing desk', 'lamp'].map((text) => ({ text, volume: 100 }))
    const run = await plan(temp.store, { job: { targets }, queries, now: at, date })
    const [desk = '', lamp = ''] = sites.split(',')
    await work(temp.store, run, ({ text }) => pageOf(text === 'lamp' ? lamp : desk), at)
    await finishRuns(temp.store, [run], { stop: null, limits: new Map() }, at)
  }
  const draft = await temp.store.draftClicks()
  const of = {
    property: 'sc-domain:acme.com',
    site: 'acme.com',
    countedBy: 'property',
    rowsOf: 'query',
  } as const
  const table = draft.table({ ...of, timeSpan: 'day', hasCountries: false, period: null })
  for (const [text, clicks] of [
    ['lamp', 3],
    ['desk', 9],
  ] as const)
    draft.add({
      ...{ table, query: draft.textOf(text, 'query'), page: 0, country: 0 },
      ...{ day: Math.floor(now / day), clicks, impressions: 100, positionSum: 0 },
    })
  await draft.commit({ addedAt: 0, source: 'rows.csv', digest: '', rows: 2, otherSearches: 0 })
  return temp
}

/** `a` is acme.com. */
function pageOf(letters: string) {
  const { results, ...said } = webPage(letters)
  return {
    ...said,
    results: results.map((one) => (one.title === 'a' ? { ...one, link: 'https://acme.com/' } : one)),
  }
}

/** What the queries of the docs come to, in their order. */
const told = [
  [
    { query: 'lamp', rank: 1, previous_rank: null, change: null, url: 'https://acme.com/' },
    { query: 'standing desk', rank: 2, previous_rank: 1, change: -1, url: 'https://acme.com/' },
  ],
  [
    { ranked: 1, absent: 1, unknown: 0, average_position: 2, top_3: 1, top_10: 1 },
    { ranked: 2, absent: 0, unknown: 0, average_position: 1.5, top_3: 2, top_10: 2 },
  ],
  [
    { visibility: 0.5, share_of_voice: 0.1425 },
    { visibility: 0.442 / 0.57, share_of_voice: 0.221 },
  ],
  [
    { state: 'ranked', rank: 1, url: 'https://acme.com/' },
    { state: 'ranked', rank: 2, url: 'https://acme.com/' },
  ],
  [
    { rank: 1, title: 'a', link: 'https://acme.com/' },
    { rank: 2, title: 'b', link: 'https://b.example/' },
    { rank: 1, title: 'b', link: 'https://b.example/' },
    { rank: 2, title: 'a', link: 'https://acme.com/' },
  ],
  [
    { query: 'lamp', before: null, now: 1 },
    { query: 'standing desk', before: 1, now: 2 },
  ],
  [
    { query: 'desk', clicks: 9, impressions: 100 },
    { query: 'lamp', clicks: 3, impressions: 100 },
  ],
]

test('docs/sql: every query says what it promises, to whatever program asks', async () => {
  const temp = await twoDays()
  expect(queries).toHaveLength(told.length)
  for (const [index, sql] of queries.entries()) {
    const rows = rowsOf(temp, sql).map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          typeof value === 'number' ? expect.closeTo(value, 9) : value,
        ]),
      ),
    )
    expect(told[index]).toEqual(rows.map(({ date, fetched_at, ...row }) => row))
  }
})

/** By what the rows are found that are many, in the order of the queries. */
const foundBy: readonly (readonly RegExp[])[] = [
  [
    /^SEARCH o USING PRIMARY KEY \(run_id=\?/,
    /^SEARCH p USING PRIMARY KEY \(run_id=\? AND query_id=\? AND target_id=\?\)/,
  ],
  [/^SEARCH r USING INDEX runs_job \(job=\?\)/, /^SEARCH c USING PRIMARY KEY \(run_id=\? AND target_id=\?\)/],
  [/^SEARCH r USING INDEX runs_job \(job=\?\)/, /^SEARCH c USING PRIMARY KEY \(run_id=\? AND target_id=\?\)/],
  [/^SEARCH q USING .*queries_text \(text=\?\)/, /^SEARCH o USING .*observations_query \(query_id=\?/],
  [/^SEARCH q USING .*queries_text \(text=\?\)/, /^SEARCH a USING .*answers_query \(query_id=\?/],
  [/^SEARCH o USING PRIMARY KEY \(run_id=\?/],
]

test('docs/sql: every query finds its rows by the index that has the fewest others', async () => {
  const temp = await twoDays()
  // The program is an older SQLite, which plans otherwise.
  for (const ask of [temp.sql, (asked: string) => rowsOf(temp, asked)])
    for (const [index, sql] of queries.entries()) {
      const plan = ask(`EXPLAIN QUERY PLAN ${sql}`).map(({ detail }) => String(detail))
      for (const step of foundBy[index] ?? []) expect(plan).toContainEqual(expect.stringMatching(step))
    }
})

describe('docs/sql: no query reads a large table from end to end', () => {
  testTable(queries)('%s', async (sql) => {
    const temp = await twoDays()
    expect(fullScans(temp.sql, sql)).toEqual([])
    // An older SQLite, which makes another plan.
    expect(fullScans((asked) => rowsOf(temp, asked), sql)).toEqual([])
  })

  testTable([
    'SELECT max(rank) FROM rankings',
    'SELECT count(*) FROM tasks_',
    "SELECT count(*) FROM organic_results WHERE title = 'a'",
    'SELECT query_id FROM tasks_ ORDER BY id DESC',
  ])('as %s would', async (sql) => {
    const temp = await twoDays()
    expect(fullScans(temp.sql, sql)).not.toEqual([])
  })
})
