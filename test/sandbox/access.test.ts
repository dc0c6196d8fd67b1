import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { get, search } from './ask.ts'

const tooFast = { error: 'Rate limit exceeded for the API key: quota monthly' }

test('the key is taken from the header or from the query string', async () => {
  await using sandbox = await startSandbox({ key: 'k1' })
  expect((await get(sandbox, '/v1/usage', {}, { 'x-api-key': 'k1' })).status).toBe(200)
  expect((await get(sandbox, '/v1/usage', { x_api_key: 'k1' }, {})).status).toBe(200)
})

test('a key works until the instant at which it expires', async () => {
  await using sandbox = await startSandbox({ account: { keyExpires: '2026-10-02T00:00:00Z' } })
  sandbox.control({ date: '2026-10-01' })
  expect((await search(sandbox)).status).toBe(200)
  sandbox.control({ date: '2026-10-02' })
  expect((await search(sandbox)).status).toBe(401)
})

test.each(['perSecond', 'perMinute'])('calls over the %s limit are refused and counted', async (limit) => {
  await using sandbox = await startSandbox({ account: { [limit]: 4 } })
  const answers = await Promise.all(Array.from({ length: 10 }, () => search(sandbox)))
  const refused = answers.filter(({ status }) => status === 401)
  expect(refused.map(({ body }) => body)).toEqual(Array(6).fill(tooFast))
  expect(refused[0]?.headers.get('connection')).toBe('keep-alive')
  expect(sandbox.ledger.summary()).toMatchObject({ charged: 4, refusals: 6, maxPerSecond: 4 })
  expect(sandbox.ledger.maxInWindow(1000)).toBe(4)
})

test('free and invalid calls use up the rate limit, too', async () => {
  await using sandbox = await startSandbox({ account: { perMinute: 3 } })
  await get(sandbox, '/v1/usage')
  await get(sandbox, '/jobs/none')
  await get(sandbox, '/v1/alpha/search')
  expect((await search(sandbox)).body).toEqual(tooFast)
})

test('the rate limit is checked before the params and the balance', async () => {
  await using sandbox = await startSandbox({ account: { perMinute: 0, subscription: { total: 0 } } })
  expect((await get(sandbox, '/v1/alpha/search')).status).toBe(401)
})

test('a quota stops billable calls once that many were charged, and no free ones', async () => {
  await using sandbox = await startSandbox({ account: { quotas: { daily: 2 } } })
  sandbox.control({ date: '2026-10-01' })
  await search(sandbox)
  await get(sandbox, '/v1/alpha/search', { wrong: 1 })
  await search(sandbox)
  expect((await search(sandbox)).body).toEqual(tooFast)
  expect((await get(sandbox, '/v1/usage')).status).toBe(200)
  sandbox.control({ advanceDays: 1 })
  expect((await search(sandbox)).status).toBe(200)
  expect(sandbox.ledger.refusals).toBe(1)
})
