import { expect, test } from 'vitest'
import { queriesCsv } from '../../support/rankline.ts'
import { list, machines } from './machines.ts'

test('a limit holds for the job on all hosts; raised, another host goes on with what is left', async () => {
  const { sandbox, queue, host, worker } = await machines()
  await worker()
  const [first, second] = [await host(), await host()]
  const job = (credits: number) =>
    `name: acme\nbudget: { max_credits: ${credits} }\nqueries:\n${list(20, 'query')}`
  await first.file('acme.yaml', job(10))
  await second.file('elsewhere/other.yaml', job(100))

  const stopped = await first.call(['run', 'acme.yaml', '--json'], queue)

  expect(stopped.code).toBe(4)
  expect(sandbox.ledger.charged).toBe(10)
  expect(JSON.parse(stopped.stdout)).toMatchObject({ tasks: { done: 10 }, credits: { spent: 10 } })
  const ended = await second.call(['run', 'elsewhere/other.yaml', '--json'], queue)
  expect(ended.code).toBe(0)
  expect(JSON.parse(ended.stdout)).toMatchObject({ tasks: { planned: 20, done: 20 } })
  expect(sandbox.ledger.charged).toBe(20)
  expect(second.sql('SELECT count(*) AS runs FROM runs')).toEqual([{ runs: 1 }])
  expect(await second.call(['ledger', 'verify'], queue)).toMatchObject({ code: 0 })
})

test('a 402 stops the run with 4, and its summary has all that workers had begun', async () => {
  const { sandbox, queue, host, worker } = await machines({
    latencyMs: [20, 400],
    rules: [{ after: 20, do: { status: 402 } }],
  })
  const place = await host()
  await place.file('job.csv', queriesCsv(120))
  await worker()

  const { code, stdout } = await place.call(['run', 'job.csv', '--json'], queue)

  expect(code).toBe(4)
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ finish_reason: 'balance', tasks: { done: 20, pending: 100 }, credits: { spent: 20, ambiguous: 0 } },
  })
  expect(sandbox.ledger.charged).toBe(20)
})

test('retry buys again what failed, also where an answer was paid for and could not be used, and readers learn of it', async () => {
  const { sandbox, queue, host, worker } = await machines({
    rules: [
      { query: 'thing 1', do: { garble: true } },
      { query: 'thing 2', do: { status: 400 } },
    ],
  })
  await worker()
  const [place, reader] = [await host(), await host()]
  await place.file('job.yaml', `targets: [acme.com]\nqueries:\n${list(4, 'thing')}`)
  expect(await place.call(['run', 'job.yaml'], queue)).toMatchObject({ code: 3 })
  expect(await reader.call(['sync'], queue)).toMatchObject({ code: 0 })
  sandbox.control({ rules: [{ query: 'thing 2', do: { status: 400 } }] })

  const first = await place.call(['retry', '--json'], queue)

  expect(first.code).toBe(3)
  expect(JSON.parse(first.stdout)).toMatchObject({ tasks: { done: 3, failed: 1 }, credits: { spent: 4 } })
  sandbox.control({ rules: [] })
  const second = await place.call(['retry', '--json'], queue)
  expect(second.code).toBe(0)
  expect(JSON.parse(second.stdout)).toMatchObject({ tasks: { done: 4, failed: 0 }, credits: { spent: 5 } })
  expect(sandbox.ledger.charged).toBe(5)
  expect(await reader.call(['sync'], queue)).toMatchObject({ code: 0 })
  const rankings = 'SELECT query, target, state, rank, exactness FROM rankings ORDER BY query'
  expect(reader.sql(rankings)).toEqual(place.sql(rankings))
  expect(place.sql("SELECT count(*) AS count FROM rankings WHERE state = 'unknown'")).toEqual([{ count: 0 }])
})

test('what costs nothing needs no credits: answers of the other job, and those that are fresh enough', async () => {
  const { sandbox, queue, host, worker } = await machines({ account: { subscription: { total: 5 } } })
  await worker()
  const place = await host()
  const queries = `queries:\n${list(5, 'thing')}`
  await place.file('one.yaml', `freshness: 12h\n${queries}`)
  await place.file('two.yaml', queries)

  expect(await place.call(['run', 'one.yaml', 'two.yaml'], queue)).toMatchObject({ code: 0 })

  const again = await place.call(['run', 'one.yaml', '--fresh', '--json'], queue)
  expect(again.code).toBe(0)
  expect(JSON.parse(again.stdout)).toMatchObject({ tasks: { done: 5, reused: 5 }, credits: { spent: 0 } })
  expect(sandbox.ledger.charged).toBe(5)
})

test('an answer to another question is no fresh answer for a later run', async () => {
  const answerAs = { query: 'thing 3', times: 1, do: { answerAs: { q: 'other' } } }
  const { sandbox, queue, host, worker } = await machines({ rules: [answerAs] })
  await worker()
  const place = await host()
  await place.file('job.yaml', `freshness: 12h\nqueries:\n${list(5, 'thing')}`)
  expect(await place.call(['run', 'job.yaml'], queue)).toMatchObject({ code: 0 })

  const { stdout } = await place.call(['run', 'job.yaml', '--fresh', '--json'], queue)

  expect(JSON.parse(stdout)).toMatchObject({ tasks: { done: 5, reused: 4 }, credits: { spent: 1 } })
  expect(sandbox.ledger.charged).toBe(6)
})

test('a limit that is reached is said once, with what is left when all that was released is bought', async () => {
  const { queue, host, worker } = await machines()
  await worker()
  const place = await host()
  await place.file('job.yaml', `budget: { per_day: 3 }\nqueries:\n${list(5, 'thing')}`)

  for (const _ of ['first', 'again']) {
    const { code, stderr } = await place.call(['run', 'job.yaml'], queue)
    expect(code).toBe(4)
    expect(stderr.match(/per_day of job.*/g)).toEqual([
      expect.stringContaining('is reached: 0 of 3 credits are left'),
    ])
  }
})

test('a service whose answers cannot be used costs three machines no more than one: few calls in the air, and few in all', async () => {
  const { sandbox, queue, host, worker } = await machines({
    account: { perSecond: null, perMinute: null },
    rules: [{ do: { latency: 300 } }, { do: { garble: true } }],
  })
  for (let count = 0; count < 3; count++) await worker({ maxOutageMs: 1_000, maxThrottlingMs: 1_000 })
  const place = await host()
  await place.file('job.csv', queriesCsv(300))

  const { code, stderr } = await place.call(['run', 'job.csv', '--max-outage', '1s'], queue)

  expect([code, stderr]).toEqual([
    6,
    expect.stringContaining('answers with something that is not search results'),
  ])
  const calls = sandbox.ledger.requestsFor(({ charged }) => charged > 0)
  const inTheAir = calls.map(({ at }) => calls.filter((one) => one.at <= at && one.at > at - 250).length)
  expect(Math.max(...inTheAir)).toBeLessThanOrEqual(8)
  // Twenty, those in the air, and a probe or two.
  expect(sandbox.ledger.charged).toBeLessThanOrEqual(30)
})
