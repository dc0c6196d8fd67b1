import { expect, test } from 'vitest'
import { queriesCsv } from '../support/rankline.ts'
import { callQuickly, staged, waitWhile } from './staged.ts'

const isSearch = ({ operation }: { operation: string | null }) => operation === 'alpha.search'

test.each([['4'], ['100']])(
  'two jobs with the same 30 queries buy each once, at %s calls at once',
  async (concurrency) => {
    const { sandbox, place } = await staged()
    const a = await place.file('a.csv', queriesCsv(30))
    const b = await place.file('b.csv', queriesCsv(30))

    const { code, stdout } = await place.call(['run', a, b, '--json', '--concurrency', concurrency])

    expect(code).toBe(0)
    expect(sandbox.ledger.charged).toBe(30)
    const runs = JSON.parse(stdout)
    expect(runs.map(({ tasks }: { tasks: { done: number } }) => tasks.done)).toEqual([30, 30])
    expect(runs[0].tasks.reused + runs[1].tasks.reused).toBe(30)
  },
)

test('what several jobs of a command asked for is split between them, their tags and clients', async () => {
  const { sandbox, place } = await staged()
  const job = (name: string, client: string, queries: string) =>
    place.file(`${name}.yaml`, `${client}queries:\n${queries}`)
  const jobs = [
    await job('a', 'report: { client: Acme }\n', '  - { query: desk, tags: [head, money] }\n  - only a\n'),
    await job('b', 'report: { client: Acme }\n', '  - desk\n  - lamp\n'),
    await place.file('c.csv', 'query,Client\ndesk,Umbrella\nlamp,\n'),
  ]
  expect((await place.call(['run', ...jobs])).code).toBe(0)
  // The next command shares nothing with the one before.
  expect((await place.call(['run', jobs[0] as string, '--fresh'])).code).toBe(0)
  expect(sandbox.ledger.charged).toBe(5)

  const shares = async (by: string, ...more: readonly string[]) => {
    const { stdout } = await place.call(['ledger', '--by', by, '--json', ...more])
    const groups = JSON.parse(stdout) as readonly Record<string, number | string | null>[]
    return groups
      .map((one) => [one[by], one.credits, one.shared_calls])
      .filter(([, credits]) => credits !== 0)
  }
  expect(await shares('job')).toEqual([
    ['a', 3.34, 1],
    ['b', 0.83, 2],
    ['c', 0.83, 2],
  ])
  expect(await shares('tag')).toEqual([
    [null, 3.67, 4],
    ['head', 0.67, 2],
    ['money', 0.66, 2],
  ])
  expect(await shares('client')).toEqual([
    [null, 0.5, 1],
    ['Acme', 4.17, 3],
    ['Umbrella', 0.33, 1],
  ])
  expect(await shares('job', '--job', 'c')).toEqual([['c', 0.83, 2]])
  expect((await shares('day', '--job', 'c')).map(([, credits]) => credits)).toEqual([0.83])
  expect((await shares('day')).map(([, credits]) => credits)).toEqual([5])

  const { stdout, stderr } = await place.call(['ledger', '--by', 'job'])
  expect(stdout).toMatch(/^a +\d+ .* 3\.34 +0\.00$/m)
  expect(stderr).toBe(
    'The credits of a call for which several jobs of one command asked are split between them; the call counts for each.\n',
  )
})

test('a finished job of a group is not bought again, however often the group is continued', async () => {
  const { sandbox, place } = await staged()
  const a = await place.file('a.csv', 'query\nshared\nonly a\n')
  const b = (max: number) =>
    place.file('b.yaml', `budget: { max_credits: ${max} }\nqueries: [shared, b1, b2, b3]\n`)
  for (const max of [1, 2]) {
    expect((await place.call(['run', a, await b(max)])).code).toBe(4)
  }

  expect((await place.call(['run', a, await b(9)])).code).toBe(0)

  expect(sandbox.ledger.charged).toBe(5)
  expect(place.sql('SELECT count(*) AS n FROM runs')).toEqual([{ n: 2 }])
})

test('credits that one job keeps are kept whatever the others spend', async () => {
  const { place } = await staged({ account: { subscription: { total: 60 } } })
  const careful = await place.file('careful.yaml', `budget: { keep: 30 }\nqueries:\n${list(30, 'careful')}`)
  const other = await place.file(
    'other.csv',
    `query,priority\n${Array.from({ length: 25 }, (_, n) => `other ${n},9\n`).join('')}`,
  )

  const { code, stdout } = await place.call(['run', careful, other, '--json'])

  expect(code).toBe(4)
  const [first, second] = JSON.parse(stdout)
  expect(second.tasks.done).toBe(25)
  expect(first.tasks.done).toBe(5)
})

function list(count: number, word: string): string {
  return Array.from({ length: count }, (_, index) => `  - ${word} ${index}\n`).join('')
}

test('tasks that go to the back of the run are never in work twice', async () => {
  const { sandbox, place, job } = await staged(
    {
      rules: [{ operation: 'alpha.search', probability: 0.4, do: { status: 500 } }],
    },
    150,
  )

  const { stdout } = await callQuickly(place, ['run', job, '--concurrency', '150', '--json'])

  expect(sandbox.ledger.charged).toBe(JSON.parse(stdout).tasks.done)
  expect(place.sql('SELECT task_id FROM calls WHERE billed = 1 GROUP BY 1 HAVING count(*) > 1')).toEqual([])
})

test('a balance is not spent on top of calls that a killed process left in the air', async () => {
  const { sandbox, place, job } = await staged(
    { account: { subscription: { total: 10 } }, latencyMs: 1500 },
    20,
  )
  const { child, ended } = place.start(['run', job])
  await waitWhile(() => sandbox.ledger.requestsFor(isSearch).length < 10)
  child.kill('SIGKILL')
  await ended

  expect((await place.call(['run', job])).code).toBe(4)

  expect(sandbox.ledger.requests.map(({ status }) => status)).not.toContain(402)
})

test('a run that is set aside after a crash owns up to its calls in the air', async () => {
  const { sandbox, place, job } = await staged({ latencyMs: 1000 }, 6)
  const { child, ended } = place.start(['run', job, '--concurrency', '3'])
  await waitWhile(() => sandbox.ledger.requestsFor(isSearch).length < 3)
  child.kill('SIGKILL')
  await ended

  expect((await place.call(['run', job, '--fresh'])).code).toBe(0)

  expect(place.sql('SELECT credits_ambiguous FROM runs ORDER BY run_id')).toEqual([
    { credits_ambiguous: 3 },
    { credits_ambiguous: 0 },
  ])
  const refused = await place.call(['resume', '1'])
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('took the place of run 1')
})

test('retry of an unfinished run buys nothing and says what to do', async () => {
  const { sandbox, place, job } = await staged({}, 10)
  expect((await place.call(['run', job, '--max-credits', '3'])).code).toBe(4)

  const { code, stderr } = await place.call(['retry', '1'])

  expect(code).toBe(2)
  expect(stderr).toContain('rankline resume 1')
  expect(sandbox.ledger.charged).toBe(3)
})

test('continuing a job without documented page size buys no page beyond its depth', async () => {
  const { sandbox, place } = await staged()
  const job = await place.file('job.yaml', `operation: gamma.search\ndepth: 20\nqueries:\n${list(4, 'q')}`)
  expect((await place.call(['run', job, '--max-credits', '7'])).code).toBe(4)

  expect((await place.call(['run', job])).code).toBe(0)

  expect(sandbox.ledger.charged).toBe(8)
})
