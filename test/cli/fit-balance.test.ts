import { expect, test } from 'vitest'
import { staged } from './staged.ts'

const rows = (priority: number) =>
  Array.from({ length: 10 }, (_, index) => `query ${index},${index === 3 ? priority : 0}`)
const csv = (priority = 0) => `query,priority\n${rows(priority).join('\n')}\n`

test('what a balance covers is bought by priority, then by staleness; what was left out is said', async () => {
  const { place } = await staged({ account: { subscription: { total: 12 } } })
  const some = await place.file('some.csv', 'query\nquery 0\nquery 1\nquery 2\nquery 3\n')
  expect((await place.call(['run', some, '--concurrency', '1'])).code).toBe(0)
  const job = await place.file('job.csv', csv(9))

  const planned = await place.call(['plan', job, '--fit-balance', '--json'])
  const { code, stdout } = await place.call(['run', job, '--fit-balance', '--json'])

  expect(JSON.parse(planned.stdout)).toMatchObject({
    credits: { covered: 8 },
    left_out: { queries: 2, credits: 2 },
  })
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    finish_reason: 'completed',
    tasks: { planned: 8, done: 8 },
    left_out: { queries: 2, credits: 2 },
    credits: { spent: 8, balance_after: 0 },
  })
  // Asked before and with no priority: the ones asked longest ago were bought, the others left out.
  expect(
    place.sql("SELECT query, cause FROM tasks WHERE run_id = 2 AND state = 'skipped' ORDER BY query"),
  ).toEqual([
    { query: 'query 1', cause: expect.stringContaining('balance') },
    { query: 'query 2', cause: expect.stringContaining('balance') },
  ])
})

test('queries are left out whole, with all the pages that they may need, and their ranks are unknown', async () => {
  const { sandbox, place } = await staged({ account: { subscription: { total: 8 } } })
  const job = await place.file('job.csv', csv())

  const { code, stdout } = await place.call([
    'run',
    job,
    '--fit-balance',
    '--pages',
    '3',
    '--target',
    'example.com',
    '-p',
    'location=Austin',
  ])

  expect(code).toBe(0)
  expect(stdout).toContain(
    'Left out, because the balance does not cover them: 8 queries (24 credits at most)',
  )
  expect(sandbox.ledger.charged).toBe(6)
  expect(place.sql("SELECT count(*) AS n FROM rankings WHERE state = 'unknown'")).toEqual([{ n: 8 }])
})

test('a budget and the credits to keep are fitted, too, and what was left out comes back when the run goes on', async () => {
  const { sandbox, place } = await staged({
    account: { subscription: { total: 20 } },
    rules: [{ query: 'query 1', after: 0, times: 1, do: { status: 402 } }],
  })
  const job = await place.file('job.csv', csv())

  const stopped = await place.call([
    'run',
    job,
    '--fit-balance',
    '--keep',
    '13',
    '--max-credits',
    '9',
    '--json',
  ])
  expect(stopped.code).toBe(4)
  expect(JSON.parse(stopped.stdout)).toMatchObject({ left_out: { queries: 3, credits: 3 } })

  const again = await place.call(['run', job, '--json'])
  expect(JSON.parse(again.stdout)).toMatchObject({ run: 1, tasks: { planned: 10, done: 10 } })
  expect(sandbox.ledger.charged).toBe(10)
})

test('what a finished run left out is bought alone, with the age that a second run names', async () => {
  const { sandbox, place } = await staged({ account: { subscription: { total: 40 } } })
  const job = await place.file('job.csv', csv())
  expect((await place.call(['run', job, '--fit-balance', '--keep', '32'])).code).toBe(0)
  expect(sandbox.ledger.charged).toBe(8)

  const { code, stderr } = await place.call(['run', job, '--freshness', '1h'])

  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining('This run buys what has no answer that is fresh enough, for 2 credits.'),
  })
  expect(sandbox.ledger.charged).toBe(10)
  const [, age = ''] =
    (await place.call(['run', job])).stderr.match(/left out, add --freshness (\S+)\.$/m) ?? []
  expect(age).toBe('')
  expect(sandbox.ledger.charged).toBe(20)
})
