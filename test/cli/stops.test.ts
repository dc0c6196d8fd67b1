import { expect, test } from 'vitest'
import { callAt, callQuickly, staged, waitWhile } from './staged.ts'

const isSearch = ({ operation }: { operation: string | null }) => operation === 'alpha.search'

test('a refused key stops the run at the first refusal with exit 5, and nothing is lost', async () => {
  const { sandbox, place, job } = await staged({}, 10)

  const refused = await place.call(['run', job, '--json'], { RANKLINE_API_KEY: 'wrong-key' })

  expect(refused.code).toBe(5)
  expect(refused.stderr).toContain('refused the key')
  expect(refused.stderr).toContain('RANKLINE_API_KEY')
  expect(sandbox.ledger.requests).toHaveLength(1)
  expect(JSON.parse(refused.stdout)).toMatchObject({ finish_reason: 'auth', tasks: { pending: 10 } })

  const again = await place.call(['run', job, '--json'])
  expect(again.code).toBe(0)
  expect(JSON.parse(again.stdout)).toMatchObject({ run: 1, tasks: { done: 10 } })
})

test('a key that is refused in the middle of a run stops it, and what was answered stays', async () => {
  const { place, job } = await staged(
    {
      rules: [{ operation: 'alpha.search', after: 20, do: { refuse: 'key' } }],
    },
    50,
  )

  const { code, stdout } = await place.call(['run', job, '--json', '--concurrency', '5'])

  expect(code).toBe(5)
  const { tasks, calls } = JSON.parse(stdout)
  expect(tasks).toMatchObject({ done: 20, failed: 0, pending: 30 })
  expect(calls.sent).toBeLessThanOrEqual(20 + 5 + 2)
})

test('a balance that does not cover the job buys what comes first by priority, exits 4 and meets no 402', async () => {
  const { sandbox, place } = await staged({ account: { subscription: { total: 30 } } })
  const rows = Array.from({ length: 60 }, (_, index) => `query ${index},${index % 2 === 0 ? 0 : 5}`)
  const job = await place.file('job.csv', `query,priority\n${rows.join('\n')}\n`)

  const first = await place.call(['run', job, '--json'])

  expect(first.code).toBe(4)
  expect(JSON.parse(first.stdout)).toMatchObject({
    finish_reason: 'balance',
    tasks: { planned: 60, done: 30, pending: 30, failed: 0 },
    credits: { spent: 30, ambiguous: 0, balance_before: 30, balance_after: 0, unexplained: 0 },
  })
  expect(sandbox.ledger.requests.map(({ status }) => status)).not.toContain(402)
  expect(place.sql("SELECT DISTINCT priority FROM tasks WHERE state = 'done'")).toEqual([{ priority: 5 }])

  sandbox.control({ topUp: { pack: { total: 100 } } })
  const second = await place.call(['run', job, '--json'])
  expect(second.code).toBe(0)
  expect(JSON.parse(second.stdout)).toMatchObject({ run: 1, finish_reason: 'completed', tasks: { done: 60 } })
  expect(sandbox.ledger.charged).toBe(60)
})

test('what is left of a balance buys cheaper calls when it no longer covers dearer ones', async () => {
  const { place } = await staged({ account: { subscription: { total: 7 } } })
  const job = await place.file(
    'job.csv',
    'query,operation,priority\na,alpha.ai,9\nb,alpha.ai,9\nc,alpha.ai,9\nd,alpha.light,1\ne,alpha.light,1\n',
  )

  const { code, stdout } = await place.call(['run', job, '--json'])

  expect(code).toBe(4)
  expect(JSON.parse(stdout)).toMatchObject({ tasks: { done: 3, pending: 2 }, credits: { spent: 7 } })
})

test('a budget stops a run at its credits over all continuations, and a raised one lets it go on', async () => {
  const { sandbox, place, job } = await staged({}, 40)

  const first = await place.call(['run', job, '--max-credits', '15', '--json'])
  expect(first.code).toBe(4)
  expect(JSON.parse(first.stdout)).toMatchObject({ finish_reason: 'budget', credits: { spent: 15 } })
  const second = await place.call(['run', job, '--max-credits', '15', '--json'])
  expect(second.code).toBe(4)
  expect(JSON.parse(second.stdout)).toMatchObject({ run: 1, finish_reason: 'budget', credits: { spent: 15 } })
  const third = await place.call(['run', job, '--max-credits', '40', '--json'])
  expect(third.code).toBe(0)
  expect(sandbox.ledger.charged).toBe(40)
})

test('credits that a job keeps stay untouched', async () => {
  const { place, job } = await staged({ account: { subscription: { total: 50 } } }, 40)

  const { code, stdout } = await place.call(['run', job, '--keep', '25', '--json'])

  expect(code).toBe(4)
  expect(JSON.parse(stdout)).toMatchObject({
    finish_reason: 'balance',
    credits: { spent: 25, balance_after: 25 },
  })
})

test('Ctrl-C waits for what is in the air, exits 130, and the same command finishes without buying anything again', async () => {
  const { sandbox, place, job } = await staged({ latencyMs: 500 }, 50)

  const { child, ended } = place.start(['run', job, '--concurrency', '10'])
  await waitWhile(() => sandbox.ledger.requestsFor(isSearch).length < 25)
  child.kill('SIGINT')
  const first = await ended

  expect(first.code).toBe(130)
  expect(first.stdout).toContain('interrupted')
  const stored = place.sql("SELECT count(*) AS n FROM tasks WHERE state = 'done'")[0]?.n
  expect(stored).toBe(sandbox.ledger.charged)
  expect(stored).toBeLessThan(50)
  expect(place.sql('SELECT * FROM calls WHERE billed IS NULL')).toEqual([])
  sandbox.control({ latencyMs: 0 })

  const second = await place.call(['run', job, '--json'])
  expect(second.code).toBe(0)
  expect(JSON.parse(second.stdout)).toMatchObject({
    run: 1,
    finish_reason: 'completed',
    tasks: { done: 50 },
  })
  expect(sandbox.ledger.charged).toBe(50)
})

test('a usage record that stalls at the end holds nothing, and a later reading settles what it would have said', async () => {
  const { sandbox, place, job } = await staged(
    {
      rules: [{ operation: 'usage', after: 1, do: { stall: 'before' } }],
    },
    5,
  )

  const first = await callQuickly(place, ['run', job, '--timeout', '3600'])

  expect(first.code).toBe(0)
  expect(first.stdout).toContain('5 of 5 tasks done')
  expect(first.stdout).toContain('The balance was not read at the end.')
  expect((await place.call(['ledger', 'verify'])).stdout).toContain('Credits not compared: 5 after the last')
  expect(place.sql("SELECT outcome, billed FROM calls WHERE operation = 'usage'")).toEqual([
    { outcome: 'answered', billed: 0 },
    { outcome: 'ambiguous', billed: 0 },
  ])
  sandbox.control({ rules: [] })
  // By the quick clock the calls took longer than by the time of day.
  expect(await callAt(place, 600_000, 'usage')).toMatchObject({ code: 0 })
  expect(place.sql('SELECT total_used AS used FROM usage_readings')).toEqual([{ used: 0 }, { used: 5 }])
  expect((await place.call(['ledger', 'verify'])).stdout).toContain(
    'counted 5 credits, and so does this ledger',
  )
})

test('a killed run is finished by the same command; what was in the air is ambiguous, nothing stored is bought again', async () => {
  const { sandbox, place, job } = await staged({ latencyMs: 250 }, 70)

  const { child, ended } = place.start(['run', job, '--concurrency', '8'])
  await waitWhile(() => sandbox.ledger.requestsFor(isSearch).length < 40)
  child.kill('SIGKILL')
  await ended
  const stored = Number(place.sql('SELECT count(*) AS n FROM answers')[0]?.n)
  sandbox.control({ latencyMs: 0 })

  const second = await place.call(['run', job, '--json'])

  expect(second.code).toBe(0)
  const { tasks, credits } = JSON.parse(second.stdout)
  expect(tasks).toMatchObject({ done: 70, failed: 0, pending: 0 })
  expect(credits.spent).toBe(70)
  expect(credits.ambiguous).toBeLessThanOrEqual(8)
  expect(sandbox.ledger.charged).toBeLessThanOrEqual(credits.spent + credits.ambiguous)
  expect(sandbox.ledger.charged).toBeGreaterThanOrEqual(credits.spent)
  expect(stored).toBeGreaterThan(20)
  expect(
    place.sql('SELECT query FROM organic_results GROUP BY query HAVING count(DISTINCT fetched_at) > 1'),
  ).toEqual([])
})
