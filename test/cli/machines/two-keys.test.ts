import { expect, onTestFinished, test } from 'vitest'
import { startSandbox } from '../../../src/sandbox/server.ts'
import { workspace } from '../../support/rankline.ts'
import { list, machines, workerHere } from './machines.ts'

/** Another account of the service with a worker of its own, and what sets its key. */
async function anotherKey(queue: { readonly RANKLINE_QUEUE: string }) {
  const sandbox = await startSandbox()
  onTestFinished(() => sandbox.close())
  const place = await workspace(sandbox)
  onTestFinished(() => place[Symbol.asyncDispose]())
  await workerHere(sandbox, queue.RANKLINE_QUEUE, { leaseMs: 10_000 })
  const env = { ...queue, RANKLINE_BASE_URL: sandbox.url, RANKLINE_API_KEY: sandbox.key }
  return { sandbox, env, place }
}

const job = (word: string, credits: number) =>
  `budget: { max_credits: ${credits} }\ntargets: [${word}.com]\nqueries:\n${list(20, word)}`
const runs = 'SELECT job, tasks_planned, tasks_done, credits_spent FROM runs ORDER BY job'

test('two keys with a job of one name run beside each other, and are two jobs in each database', async () => {
  const { sandbox, queue, host, worker } = await machines()
  const other = await anotherKey(queue)
  await worker({ leaseMs: 10_000 })
  const [first, reader] = [await host(), await host()]
  const second = other.place
  await first.file('keywords.yaml', job('acme', 5))
  await second.file('keywords.yaml', job('globex', 20))
  expect(await first.call(['run', 'keywords.yaml'], queue)).toMatchObject({ code: 4 })

  expect(await second.call(['run', 'keywords.yaml', '--json'], queue)).toMatchObject({ code: 0 })

  await first.file('keywords.yaml', job('acme', 20))
  expect(await first.call(['run', 'keywords.yaml'], queue)).toMatchObject({ code: 0 })
  expect([sandbox.ledger.charged, other.sandbox.ledger.charged]).toEqual([20, 20])
  await second.call(['sync'], queue)
  // A machine that only reads has no key.
  await reader.call(['sync'], { ...queue, RANKLINE_API_KEY: '' })
  const whole = { tasks_planned: 20, tasks_done: 20, credits_spent: 20 }
  for (const place of [first, second, reader])
    expect(place.sql(runs)).toEqual([
      { job: 'keywords', ...whole },
      { job: expect.stringMatching(/^keywords@[0-9a-f]{8}$/), ...whole },
    ])
  const targets = "SELECT DISTINCT target FROM rankings WHERE job = 'keywords'"
  expect([first, second, reader].map((place) => place.sql(targets))).toEqual([
    [{ target: 'acme.com' }],
    [{ target: 'globex.com' }],
    [{ target: 'acme.com' }],
  ])
  const own = await second.call(['export', 'organic', '--job', 'keywords', '--format', 'jsonl'], queue)
  expect(own.stdout).toContain('globex 3')
  expect(own.stdout).not.toContain('acme 3')
  expect(await second.call(['ledger', 'verify'], queue)).toMatchObject({ code: 0 })
})

test('a run whose key was replaced is told so, moves with queue rekey, and buys nothing twice', async () => {
  const { sandbox, queue, host, worker } = await machines()
  const renewed = await anotherKey(queue)
  await worker({ leaseMs: 10_000 })
  const [place, reader] = [await host(), await host()]
  await place.file('keywords.yaml', job('acme', 5))
  expect(await place.call(['run', 'keywords.yaml'], queue)).toMatchObject({ code: 4 })
  await reader.call(['sync'], queue)
  await place.file('keywords.yaml', job('acme', 20))

  const told = await place.call(['run', 'keywords.yaml'], renewed.env)

  const sentence =
    /Run 1 of keywords was begun with another key .*rankline queue rekey --job keywords --from [0-9a-f]{8}/m
  expect(told).toMatchObject({ code: 2, stderr: expect.stringMatching(sentence) })
  expect(await place.call(['resume'], renewed.env)).toMatchObject({ code: 2 })
  expect(renewed.sandbox.ledger.charged).toBe(0)
  const unsure = await reader.call(['queue', 'rekey'], renewed.env)
  expect(unsure).toMatchObject({ code: 2, stderr: expect.stringMatching(/--from: [0-9a-f]{8} \(keywords\)/) })
  const moved = await place.call(['queue', 'rekey', '--json'], renewed.env)
  expect(JSON.parse(moved.stdout).jobs).toMatchObject([{ job: 'keywords', runs: 1, leased: 0 }])
  const ended = await place.call(['run', 'keywords.yaml', '--json'], renewed.env)
  expect(ended.code).toBe(0)
  expect(JSON.parse(ended.stdout)).toMatchObject({ run: 1, tasks: { done: 20 }, credits: { spent: 20 } })
  expect([sandbox.ledger.charged, renewed.sandbox.ledger.charged]).toEqual([5, 15])
  await reader.call(['sync'], queue)
  expect(reader.sql(runs)).toEqual(place.sql(runs))
  expect(await place.call(['ledger', 'verify'], renewed.env)).toMatchObject({ code: 0 })
  const again = await place.call(['queue', 'rekey'], renewed.env)
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing to move') })
})

test('a run whose key was replaced makes room for a new one with --fresh, and is over for all hosts', async () => {
  const { queue, host, worker } = await machines()
  const renewed = await anotherKey(queue)
  await worker({ leaseMs: 10_000 })
  const place = await host()
  await place.file('keywords.yaml', job('acme', 5))
  expect(await place.call(['run', 'keywords.yaml'], queue)).toMatchObject({ code: 4 })
  await place.file('keywords.yaml', job('acme', 20))

  expect(await place.call(['run', 'keywords.yaml', '--fresh'], renewed.env)).toMatchObject({ code: 0 })

  const status = await place.call(['queue', 'status', '--json'], queue)
  expect(JSON.parse(status.stdout).runs).toEqual([])
  expect(place.sql("SELECT count(*) AS runs FROM runs WHERE job = 'keywords'")).toEqual([{ runs: 2 }])
})
