import { expect, test } from 'vitest'
import type { FaultRule } from '../../src/sandbox/state.ts'
import { queriesCsv, type Workspace } from '../support/rankline.ts'
import { stage } from '../support/stage.ts'
import { testTable } from '../support/test-table.ts'

const error = { error: 'Internal Error', search_parameters: { q: 'query', engine: 'alpha' } }
const states = ({ sql }: Workspace, run: number) =>
  sql<{ state: string }>(`SELECT state FROM rankings WHERE run_id = ${run} ORDER BY query`).map(
    ({ state }) => state,
  )

test('a 200 that carries an error is unknown, said in its words, served to no other run, and bought again by retry', async () => {
  await using world = await stage({ sites: ['acme.com'] })
  const { place, sandbox } = world
  await place.file('job.csv', queriesCsv(3))
  const run = ['run', 'job.csv', '--target', 'acme.com']
  sandbox.control({ rules: [{ do: { body: error } }] })

  const bad = await place.call(run)

  expect(bad.code).toBe(3)
  expect(bad.stdout).toContain(
    "3 tasks: the answer has no 'organic_results': the service says 'Internal Error'",
  )
  expect(states(place, 1)).toEqual(['unknown', 'unknown', 'unknown'])
  const explained = await place.call(['report', 'job', '--explain', 'query 1'])
  expect(explained.stdout.replace(/\s+/g, ' ')).toContain("the service says 'Internal Error'")

  sandbox.control({ rules: [] })
  expect(await place.call([...run, '--fresh', '--freshness', '12h'])).toMatchObject({ code: 0 })
  expect(sandbox.ledger.charged).toBe(6)
  expect(await place.call(['retry', '1'])).toMatchObject({ code: 0 })
  expect(sandbox.ledger.charged).toBe(9)
  expect(states(place, 1)).not.toContain('unknown')
})

test('400 keywords whose answers are all errors cost little more than 20, and none of them is lost', async () => {
  await using world = await stage({ rules: [{ do: { body: { ...error, organic_results: null } } }] })
  const { place, sandbox } = world
  await place.file('job.csv', queriesCsv(400))
  const bad = await place.call([
    'run',
    'job.csv',
    '--target',
    'acme.com',
    '--concurrency',
    '4',
    '--max-outage',
    '0s',
  ])
  expect(bad.code).toBe(6)
  expect(bad.stderr).toContain("the service says 'Internal Error'")
  expect(sandbox.ledger.charged).toBeLessThan(30)
  expect(new Set(states(place, 1))).toEqual(new Set(['unknown']))
})

const hole = { organic_results: [], pagination: { current: 2, next: 3, has_next_page: true } }
const million = { organic_results: [], search_information: { total_results: 1_000_000 } }
const found = {
  organic_results: [{ position: 1, link: 'https://acme.com/desks' }],
  pagination: { has_next_page: false },
}
/** Call by call; what is null is as usual. */
const inTurn = (...bodies: readonly (object | null)[]): readonly FaultRule[] =>
  bodies.flatMap((body, index) => {
    // A rule sees only the calls that no rule before it took.
    const after = bodies.slice(0, index).filter((before) => before === null).length
    return body === null ? [] : [{ after, times: 1, do: { body } }]
  })

testTable<[string, string, readonly (object | null)[], object, number]>([
  [
    'a hole that stays does not end the search',
    'all',
    [null, hole, hole, found],
    { state: 'ranked', exactness: 'estimated' },
    4,
  ],
  [
    'a hole that has gone is no hole',
    'all',
    [null, hole, found],
    { state: 'ranked', rank: 11, exactness: 'exact' },
    3,
  ],
  [
    'until it is found',
    'until-found',
    [null, hole, hole, found],
    { state: 'ranked', exactness: 'estimated' },
    4,
  ],
  ['smart', 'smart', [null, hole, hole, found], { state: 'ranked', exactness: 'estimated' }, 4],
  ['two holes in a row are enough', 'all', [null, hole, hole, hole, hole, found], { state: 'unknown' }, 5],
  ['an empty first page of a million', 'all', [million, million, hole, hole], { state: 'unknown' }, 4],
])('%s (%s)', async (_, paging, bodies, expected, charged) => {
  await using world = await stage({ rules: inTurn(...bodies) })
  const { place, sandbox } = world
  await place.file('job.yaml', `depth: 40\npaging: ${paging}\ntargets: [acme.com]\nqueries: [desk]\n`)
  await place.call(['run', 'job.yaml'])
  expect(place.sql('SELECT * FROM rankings')).toMatchObject([expected])
  expect(sandbox.ledger.charged).toBe(charged)
  expect(place.sql('SELECT sum(credits) AS n FROM calls WHERE billed = 1')).toEqual([{ n: charged }])
  expect((await place.call(['db', 'check'])).code).toBe(0)
})

test('a hole that the budget covers no second look at stays unknown, and the run is finished', async () => {
  await using world = await stage({ rules: [{ do: { body: million } }] })
  const { place, sandbox } = world
  await place.file('job.csv', queriesCsv(1))
  const { code, stdout } = await place.call(['run', 'job.csv', '--target', 'acme.com', '--max-credits', '1'])
  expect(code).toBe(3)
  expect(stdout).toContain('the page is empty, but its total_results is above 0')
  expect(sandbox.ledger.charged).toBe(1)
  expect(states(place, 1)).toEqual(['unknown'])
})

test('408 and 425 pass like a 503: nothing fails and nothing is billed for them', async () => {
  const rules = [408, 425].map((status) => ({ times: 1, do: { status } }))
  await using world = await stage({ rules })
  const { place, sandbox } = world
  await place.file('job.csv', queriesCsv(3))
  expect(await place.call(['run', 'job.csv'])).toMatchObject({ code: 0 })
  expect(place.sql("SELECT http_status AS status, billed FROM calls WHERE outcome = 'server-error'")).toEqual(
    [408, 425].map((status) => ({ status, billed: 0 })),
  )
  expect(sandbox.ledger.charged).toBe(3)
})

test('a request that is too long is not tried again, and what to change is said instead of retry', async () => {
  const long = 'desk '.repeat(400).trim()
  const rules = [
    { query: 'desk', operation: 'alpha.search', do: { status: 414 } },
    { query: 'desk', operation: 'gamma.search', do: { status: 431 } },
    { query: 'desk', operation: 'beta.search', do: { status: 413 } },
  ]
  await using world = await stage({ rules })
  const { place, sandbox } = world
  await place.file(
    'job.csv',
    `query,operation\n${['alpha', 'beta', 'gamma'].map((name) => `${long},${name}.search`).join('\n')}\n`,
  )

  const first = await place.call(['run', 'job.csv'])

  expect(first.code).toBe(3)
  expect(first.stdout).toContain('Another try cannot help. Change the job as it says, then run it again')
  expect(first.stdout).not.toContain('rankline retry')
  const what = 'the request is too long for the service'
  const which = `shorten its query (it begins: ${long.slice(0, 40)}…, 1,999 characters)`
  expect(place.sql('SELECT cause FROM tasks ORDER BY task_id')).toEqual([
    { cause: `${what} (HTTP 414): set style: post, or ${which}` },
    { cause: `${what} (HTTP 413): ${which}` },
    { cause: `${what} (HTTP 431): ${which}` },
  ])
  const status = await place.call(['status'])
  expect(status.stdout.replace(/\s+/g, ' ')).toContain('their requests are too long for the service')
  expect(status.stdout).not.toContain('rankline retry')
  const again = await place.call(['retry', '1'])
  expect(again.code).toBe(2)
  expect(again.stderr).toContain('Another try cannot help run 1')
  expect(sandbox.ledger.requests.filter(({ operation }) => operation !== 'usage').length).toBe(3)
})
