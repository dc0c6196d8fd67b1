import { expect, test, vi } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { get, search } from '../sandbox/ask.ts'
import { testTable } from '../support/test-table.ts'
import { images } from './answers.ts'
import { documentedCalls, exampleOf } from './interface.ts'
import { expectRefused, send } from './sending.ts'
import { differences } from './shape.ts'

testTable(documentedCalls.map((call) => [call.name, call.style, call] as const))(
  'a call of %s by %s takes its price from the balance',
  async (_name, _style, call) => {
    await using sandbox = await startSandbox()
    const before = (await get(sandbox, '/v1/usage')).body
    await send(sandbox, call, exampleOf(call))
    const { body } = await get(sandbox, '/v1/usage')
    const [drawn, used] = [before.remaining - body.remaining, body.total_used - before.total_used]
    expect([drawn, used]).toEqual([call.cost, call.cost])
  },
)

testTable([400, 401, 402, 403, 413, 429, 500, 502, 503])(
  'an answer with status %i is free',
  async (status) => {
    await using sandbox = await startSandbox({ rules: [{ do: { status } }] })
    expect((await search(sandbox)).status).toBe(status)
    expect(sandbox.usage().total_used).toBe(0)
  },
)

test.each([
  [false, 0],
  [true, 1],
])('whether a 404 is billed differs: %s -> %i', async (chargeFor404, credits) => {
  await using sandbox = await startSandbox({ account: { chargeFor404 }, rules: [{ do: { status: 404 } }] })
  expectRefused(await search(sandbox), 404)
  expect(sandbox.usage().total_used).toBe(credits)
})

test('a call whose client has left before the answer is billed all the same', async () => {
  await using sandbox = await startSandbox({ latencyMs: 60 })
  const client = new AbortController()
  const leaving = fetch(`${sandbox.url}/v1/gamma/search?query=desk`, {
    headers: { 'x-api-key': sandbox.key },
    signal: client.signal,
  })
  const left = expect(leaving).rejects.toThrow()
  await vi.waitFor(() => expect(sandbox.ledger.requests).toHaveLength(1), { interval: 2 })
  client.abort()
  await left
  expect(sandbox.ledger.charged).toBe(0)
  await vi.waitFor(() => expect(sandbox.ledger.charged).toBe(1), { interval: 5 })
})

test('the subscription is drawn first, then the packs as they were bought, then the credits', async () => {
  await using sandbox = await startSandbox({
    account: { subscription: { total: 1 }, packs: [{ total: 1 }, { total: 1 }], credits: { given: 1 } },
  })
  const drawn = async () => {
    const { body } = await get(sandbox, '/v1/usage')
    const packs = body.packs.items.map(({ used }: { used: number }) => used)
    return [
      body.subscription.used,
      packs,
      body.packs.current?.id ?? null,
      body.credits.consumed,
      body.remaining,
    ]
  }
  expect(await drawn()).toEqual([0, [0, 0], 'pack-1', 0, 4])
  await search(sandbox)
  expect(await drawn()).toEqual([1, [0, 0], 'pack-1', 0, 3])
  await search(sandbox)
  expect(await drawn()).toEqual([2, [1, 0], 'pack-2', 0, 2])
  await search(sandbox)
  expect(await drawn()).toEqual([3, [1, 1], null, 0, 1])
  await search(sandbox)
  expect(await drawn()).toEqual([3, [1, 1], null, 1, 0])
  expectRefused(await search(sandbox), 402)
  sandbox.control({ topUp: { pack: { total: 1 } } })
  expect((await search(sandbox)).status).toBe(200)
})

test('a job is free when it is accepted and as long as it is polled in vain', async () => {
  await using sandbox = await startSandbox({ asyncMs: 60_000 })
  const accepted = await get(sandbox, '/v1/alpha/images', { query: 'desk', async: 'true' })
  const polled = await get(sandbox, `/jobs/${accepted.body.job_id}`)
  expect([accepted.status, polled.status, sandbox.usage().total_used]).toEqual([202, 200, 0])
})

test('a job is billed once when it is completed, however often its result is read', async () => {
  await using sandbox = await startSandbox({ asyncMs: 0 })
  const { body } = await get(sandbox, '/v1/alpha/images', { query: 'desk', async: 'true' })
  for (let reading = 0; reading < 3; reading++) {
    const polled = await get(sandbox, `/jobs/${body.job_id}`)
    expect([polled.status, differences(images, polled.body.result)]).toEqual([200, []])
    expect(sandbox.usage().total_used).toBe(1)
  }
  // 201 stands in the logs of the service only.
  expect(sandbox.ledger.requests.map(({ status }) => status)).toEqual([202, 200, 200, 200])
})

test('a job that fails is never billed', async () => {
  await using sandbox = await startSandbox({
    asyncMs: 0,
    failedJobStatus: 500,
    rules: [{ do: { job: 'fail' } }],
  })
  const { body } = await get(sandbox, '/v1/alpha/images', { query: 'desk', async: 'true' })
  const failed = await get(sandbox, `/jobs/${body.job_id}`)
  expect([failed.status, failed.body.error, sandbox.usage().total_used]).toEqual([500, 'Internal Error', 0])
})

test('a job is refused as a call is where there is no balance', async () => {
  await using sandbox = await startSandbox({ account: { subscription: { total: 0 } } })
  expectRefused(await get(sandbox, '/v1/alpha/images', { query: 'desk', async: 'true' }), 402)
})
