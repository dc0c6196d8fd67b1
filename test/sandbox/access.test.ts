import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { get, post, search } from './ask.ts'

const wrongKey = { error: 'Invalid API Key' }
const tooFast = { error: 'Rate limit exceeded for the API key: quota monthly' }

test('the key is taken from the header or from the query string', async () => {
  await using sandbox = await startSandbox({ key: 'k1' })
  expect((await get(sandbox, '/v1/usage', {}, { 'x-api-key': 'k1' })).status).toBe(200)
  expect((await get(sandbox, '/v1/usage', { x_api_key: 'k1' }, {})).status).toBe(200)
})

test.each([
  ['a missing key', {}, {}],
  ['a wrong key', { 'x-api-key': 'other' }, {}],
  ['an inactive key', { 'x-api-key': 'sandbox-key' }, { keyActive: false }],
  ['an expired key', { 'x-api-key': 'sandbox-key' }, { keyExpires: '2020-01-01' }],
])('%s is refused, uncharged and outside the rate windows', async (_, headers, account) => {
  await using sandbox = await startSandbox({ account })
  const answer = await get(sandbox, '/v1/alpha/search', { query: 'a' }, headers)
  expect([answer.status, answer.body]).toEqual([401, wrongKey])
  expect(sandbox.ledger.summary()).toMatchObject({ requests: 1, charged: 0, refusals: 0, maxPerSecond: 0 })
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

test.each([
  ['an unknown path', '/v1/delta/search'],
  ['the POST path with GET', '/api/v1/alpha/search'],
  ['a trailing slash', '/v1/alpha/search/'],
])('%s is 404', async (_, path) => {
  await using sandbox = await startSandbox()
  const answer = await get(sandbox, path, { query: 'a' })
  expect([answer.status, answer.body]).toEqual([404, { error: 'Not Found' }])
})

test('a GET path asked with POST is 404', async () => {
  await using sandbox = await startSandbox()
  expect((await post(sandbox, '/v1/alpha/search', { query: 'a' })).status).toBe(404)
})

test('with a base path, GET stands below it and POST at the root of the host', async () => {
  await using sandbox = await startSandbox({ basePath: '/service' })
  expect(sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/service$/)
  expect((await search(sandbox)).status).toBe(200)
  expect((await post(sandbox, '/api/v1/alpha/search', { query: 'a' })).status).toBe(200)
  expect((await post(sandbox, '/v1/alpha/search', { query: 'a' })).status).toBe(404)
})
