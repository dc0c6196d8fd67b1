import { renameSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { queriesCsv, workspace } from '../support/rankline.ts'
import { callQuickly, staged, waitWhile } from './staged.ts'

test('a service that answers 500 to a fifth of all calls costs no failed task and no credit', async () => {
  const { sandbox, place, job } = await staged({ rules: [{ probability: 0.2, do: { status: 500 } }] }, 120)

  const { code, stdout } = await callQuickly(place, ['run', job, '--json'])

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    tasks: { done: 120, failed: 0 },
    credits: { spent: 120, ambiguous: 0 },
  })
  expect(sandbox.ledger.charged).toBe(120)
  const searches = sandbox.ledger.requestsFor(({ operation }) => operation === 'alpha.search')
  expect(searches.length).toBeLessThanOrEqual(180)
})

test('refusals of the rate are waited for: no task fails and no try is used up', async () => {
  const { place, job } = await staged(
    {
      rules: [{ operation: 'alpha.search', after: 10, times: 4, do: { refuse: 'rate' } }],
    },
    40,
  )

  const { code, stdout } = await place.call(['run', job, '--json', '--concurrency', '6'])

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ tasks: { done: 40, failed: 0 }, credits: { spent: 40 } })
})

test('a service that refuses every call for the rate is waited for as long as --max-outage says', async () => {
  const { place, job } = await staged({ rules: [{ operation: 'alpha.search', do: { refuse: 'rate' } }] }, 5)

  const { code, stdout, stderr } = await callQuickly(place, ['run', job, '--json', '--max-outage', '1s'])

  expect(code).toBe(4)
  expect(stderr).toContain('the service let no call pass for 1.0 s')
  expect(JSON.parse(stdout)).toMatchObject({ finish_reason: 'quota', tasks: { pending: 5, failed: 0 } })
})

test('a 401 that does not say what it means is a rate limit when the usage record is served', async () => {
  const { place, job } = await staged(
    {
      rules: [{ operation: 'alpha.search', times: 2, do: { status: 401, body: '{"error":"Unauthorized"}' } }],
    },
    5,
  )

  expect((await place.call(['run', job])).code).toBe(0)
})

test.each([
  ['a lost answer', { hangUp: 'after' }, 2, 1],
  ['a connection lost before charging', { hangUp: 'before' }, 1, 1],
  ['a cut answer', { cut: true }, 2, 1],
] as const)('%s is ambiguous in the books and asked for once more', async (_, fault, charged, ambiguous) => {
  const { sandbox, place, job } = await staged(
    { rules: [{ operation: 'alpha.search', times: 1, do: fault }] },
    1,
  )

  const { code, stdout } = await place.call(['run', job, '--json'])

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    tasks: { done: 1, failed: 0 },
    calls: { billed: 1, ambiguous: 1 },
    credits: { spent: 1, ambiguous },
  })
  expect(sandbox.ledger.charged).toBe(charged)
})

test('an answer that is lost twice fails its task; the others go on', async () => {
  const { sandbox, place, job } = await staged({ rules: [{ query: 'query 3', do: { hangUp: 'after' } }] }, 6)

  const { code, stdout } = await place.call(['run', job, '--json'])

  expect(code).toBe(3)
  expect(JSON.parse(stdout)).toMatchObject({
    finish_reason: 'completed_with_failures',
    tasks: { done: 5, failed: 1 },
    credits: { spent: 5, ambiguous: 2 },
  })
  expect(sandbox.ledger.charged).toBe(7)
})

test.each([
  ['400', { status: 400 }, 'Bad Request', 0],
  ['403', { status: 403, body: '{"error":"Forbidden here"}' }, 'Forbidden here', 0],
  ['404', { status: 404 }, 'Not', null],
  ['413', { status: 413, html: true }, '', 0],
] as const)(
  "a %s fails its task with the service's own words and is not sent again",
  async (_, fault, words, billed) => {
    const { place, job } = await staged({ rules: [{ query: 'query 2', do: fault }] }, 4)

    const { code, stdout } = await place.call(['run', job])

    expect(code).toBe(3)
    expect(stdout).toContain(words)
    const calls = place.sql("SELECT c.* FROM calls c JOIN tasks t USING (task_id) WHERE t.state = 'failed'")
    expect(calls).toMatchObject([{ billed }])
  },
)

test.each([
  ['an answer that is not JSON', { garble: true }, 'not JSON', 1],
  ['an answer of another shape', { body: { error: 'nothing here' } }, "has no 'organic_results'", 1],
  ['an answer over 20 MB', { oversize: 21_000_000 }, 'larger than 20 MB', 1],
] as const)('%s is a clear failure of its task, counted as billed', async (_, fault, words, billed) => {
  const { sandbox, place, job } = await staged({ rules: [{ query: 'query 2', do: fault }] }, 3)

  const { code, stdout } = await place.call(['run', job])

  expect(code).toBe(3)
  expect(stdout).toContain(words)
  expect(place.sql('SELECT sum(billed) AS billed FROM calls WHERE credits > 0')).toEqual([
    { billed: 2 + billed },
  ])
  expect(sandbox.ledger.charged).toBe(3)
})

test('retry buys again only what failed, and the run is whole', async () => {
  const { sandbox, place, job } = await staged(
    { rules: [{ query: 'query 2', times: 1, do: { status: 400 } }] },
    4,
  )
  expect((await place.call(['run', job])).code).toBe(3)
  const shown = await place.call(['runs', '1'])
  expect(shown.stdout).toMatch(/query 2\s+1\s+Bad Request/)

  const { code, stdout } = await place.call(['retry', '--json'])

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    run: 1,
    finish_reason: 'completed',
    tasks: { done: 4, failed: 0 },
  })
  expect(sandbox.ledger.charged).toBe(4)
  expect((await place.call(['retry'])).stderr).toContain('No run has failed tasks')
})

test('a service that cannot be reached ends with exit 6 and a sentence, and the run can go on', async () => {
  await using place = await workspace()
  const job = await place.file('job.csv', queriesCsv(2))

  const { code, stderr } = await callQuickly(place, ['run', job], {
    RANKLINE_BASE_URL: 'http://127.0.0.1:9',
    RANKLINE_API_KEY: 'test-key',
  })

  expect(code).toBe(6)
  expect(stderr).toContain('The service at http://127.0.0.1:9 cannot be used: the connection was refused.')
  expect(stderr).toContain('RANKLINE_BASE_URL')
  expect(stderr).not.toContain('    at ')
})

test.each([
  [
    'a redirect to another address',
    { redirect: 'https://www.a.test/v1/usage?x=1' },
    2,
    /cannot be used: HTTP 302, a redirect to https:\/\/www\.a\.test\/v1\/usage: .*RANKLINE_BASE_URL=https:\/\/www\.a\.test\./,
  ],
  ['a redirect to a login', { redirect: 'https://login.test/' }, 6, /https:\/\/login\.test\/.*login/],
  ['no usage record', { status: 404 }, 2, /There is no usage record: check RANKLINE_BASE_URL/],
  [
    'a port that speaks https',
    { status: 400, body: '<html><head><title>400 The plain HTTP request was sent to HTTPS port</title>' },
    2,
    /the port speaks https, not http: write https:\/\/ \(400 The plain HTTP request/,
  ],
  ['a service that is down', { status: 503 }, 6, /Service Unavailable.*RANKLINE_BASE_URL/],
] as const)(
  '%s before anything is bought is one sentence with the address',
  async (_, fault, code, words) => {
    const { sandbox, place, job } = await staged({ rules: [{ operation: 'usage', do: fault }] }, 2)

    const ended = await callQuickly(place, ['run', job])

    expect(ended.stderr).toMatch(words)
    expect(ended.stderr).toContain(`The service at ${sandbox.url} `)
    expect(ended.code).toBe(code)
    expect(sandbox.ledger.charged).toBe(0)
    // With a wrong setting nothing runs, and there is nothing to go on with.
    expect(place.sql('SELECT count(*) AS n FROM runs')).toEqual([{ n: code === 2 ? 0 : 1 }])
  },
)

test('a redirect is not followed, and the key does not travel', async () => {
  await using elsewhere = await startSandbox()
  const { place, job } = await staged(
    {
      rules: [{ operation: 'alpha.search', do: { redirect: `${elsewhere.url}/v1/alpha/search` } }],
    },
    2,
  )

  const { code, stderr } = await place.call(['run', job])

  expect(code).toBe(6)
  expect(stderr).toContain('redirect')
  expect(elsewhere.ledger.requests).toEqual([])
})

test('a key that the service echoes is kept nowhere', async () => {
  const { place, job } = await staged(
    {
      key: 'canary-0123456789',
      rules: [{ query: 'query 1', do: { status: 400, body: '{"error":"no good: canary-0123456789"}' } }],
    },
    1,
  )

  const { code, stdout, stderr } = await place.call(['run', job, '--verbose'])

  expect(code).toBe(3)
  expect(stdout).toContain('no good: [the API key]')
  const written = [stdout, stderr, await place.read('data/rankline.db')].join()
  expect(written).not.toContain('canary-0123456789')
})

test('an answer nested beyond measure is read as far as that goes', async () => {
  const { sandbox, place, job } = await staged({}, 3)
  const deep = `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`
  const text = `{"organic_results":[[${deep}],{"title":"T"}],"search_parameters":${deep}}`
  sandbox.control({ rules: [{ query: 'query 2', do: { status: 200, body: text } }] })

  const { code, stdout } = await place.call(['run', job, '--json'])

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ tasks: { done: 3, failed: 0, pending: 0 }, malformed_items: 1 })
  const told = "json_extract(search_parameters, '$.a.a.a') IS NOT NULL AS told"
  expect(place.sql(`SELECT ${told} FROM answers WHERE query = 'query 2'`)).toEqual([{ told: 1 }])
})

test('an export never takes the place of a database', async () => {
  const { place, job } = await staged({}, 1)
  await place.call(['run', job])

  const { code, stderr } = await place.call([
    'export',
    'organic',
    '--format',
    'csv',
    '--out',
    'data/rankline.db',
  ])

  expect(code).toBe(2)
  expect(stderr).toContain('is a database')
  expect(place.sql('SELECT count(*) AS n FROM tasks')).toEqual([{ n: 1 }])
})

test('a service that is gone for a moment in the middle of a run costs no task', async () => {
  const first = await startSandbox({ latencyMs: 50 })
  const port = Number(new URL(first.url).port)
  await using place = await workspace(first)
  const job = await place.file('job.csv', queriesCsv(60))
  const ended = callQuickly(place, ['run', job, '--concurrency', '5', '--json'])
  await waitWhile(() => first.ledger.requests.length < 20)
  await first.close()
  await new Promise((resolve) => setTimeout(resolve, 300))
  await using _again = await startSandbox({ port })

  const { code, stdout } = await ended

  expect(code).toBe(0)
  expect(JSON.parse(stdout).tasks).toMatchObject({ done: 60, failed: 0 })
})

test('a stored answer that was damaged is told of once, bought again, and harms nothing else', async () => {
  const { sandbox, place } = await staged()
  const job = await place.file('job.yaml', 'freshness: 12h\nqueries: [a, b, c, d, e]\n')
  await place.call(['run', job])
  place.change("UPDATE raw_answers SET encoding = 'zip' WHERE answer_id = 3")

  const second = await place.call(['run', job, '--json'])

  expect(second.code).toBe(0)
  expect(second.stderr.match(/The stored answer 3 is damaged/g)).toHaveLength(1)
  expect(JSON.parse(second.stdout)).toMatchObject({
    finish_reason: 'completed',
    tasks: { done: 5, reused: 4 },
    credits: { spent: 1 },
  })
  const check = await place.call(['db', 'check'])
  expect([check.code, check.stdout]).toEqual([
    3,
    expect.stringContaining('cannot be unpacked: 1, first answer 3'),
  ])
  const again = await place.call(['renormalise'])
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('1 answer cannot be read')])

  const third = await place.call(['run', job, '--json'])
  expect([third.code, third.stderr, sandbox.ledger.charged]).toEqual([0, '', 6])
})

test.each([
  ['removed', (data: string) => ['', '-wal', '-shm'].map((end) => rmSync(join(data, `rankline.db${end}`)))],
  ['cut short', (data: string) => truncateSync(join(data, 'rankline.db'), 0)],
] as const)(
  'a database that is %s in mid-run stops it before more is bought, and what it held is saved',
  async (how, take) => {
    const { sandbox, place, job } = await staged({ account: { perSecond: 40 }, latencyMs: 50 }, 150)
    const data = join(place.folder, 'data')
    const { ended } = place.start(['run', job])
    await waitWhile(() => sandbox.ledger.charged < 60)
    take(data)
    const before = sandbox.ledger.charged
    const { code, stderr } = await ended
    const { charged } = sandbox.ledger

    expect(code).toBe(6)
    // What was on its way.
    expect(charged - before).toBeLessThanOrEqual(48)
    expect(stderr).toContain(`rankline.db was ${how}`)
    expect(stderr).not.toMatch(/internal error|\n {4}at /i)
    if (how === 'cut short') return

    const again = await place.call(['run', job])
    expect([again.code, sandbox.ledger.charged]).toEqual([2, charged])
    expect(again.stderr).toContain('is missing, and')
    renameSync(join(data, 'rankline.rescued.db'), join(data, 'rankline.db'))
    expect(place.sql('SELECT count(*) AS n FROM raw_answers')).toEqual([{ n: charged }])
    sandbox.control({ account: { perSecond: null } })
    expect((await place.call(['run', job])).code).toBe(0)
    expect(sandbox.ledger.charged).toBe(150)
  },
)
