import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import type { ControlChange } from '../../src/sandbox/state.ts'
import { testTable } from '../support/test-table.ts'
import { get, post, search } from './ask.ts'

test('other processes steer the sandbox without a key, a meter or a ledger entry', async () => {
  await using sandbox = await startSandbox({ basePath: '/service', account: { perMinute: 0 } })
  const change = {
    date: '2026-10-01',
    account: { perMinute: null },
    rules: [{ times: 1, do: { status: 500 } }],
  }
  const answer = await post(sandbox, '/_sandbox/control', change)
  expect([answer.status, answer.body]).toEqual([200, { now: '2026-10-01T12:00:00.000Z' }])
  expect(sandbox.ledger.requests).toEqual([])
  expect((await search(sandbox)).status).toBe(500)
  expect((await search(sandbox)).status).toBe(200)
})

test('the ledger can be read by other processes, whole or as totals', async () => {
  await using sandbox = await startSandbox()
  await search(sandbox, 'desk', { gl: 'us' })
  const totals = { requests: 1, charged: 1, chargedCalls: 1, refusals: 0, maxPerSecond: 1, maxPerMinute: 1 }
  expect((await get(sandbox, '/_sandbox/ledger', { summary: 1 }, {})).body).toEqual(totals)
  const { body } = await get(sandbox, '/_sandbox/ledger', {}, {})
  expect(body).toEqual({ ...totals, requests: sandbox.ledger.requests })
})

test('a ledger entry says what was asked and what came of it', async () => {
  await using sandbox = await startSandbox()
  await get(sandbox, '/v1/alpha/news', { query: 'desk', page: 2, x_api_key: sandbox.key })
  await post(sandbox, '/api/v1/alpha/search', { query: 'desk', page: 10 })
  const shared = { at: expect.any(Number), status: 200, charged: 1, accepted: true, fault: null }
  expect(sandbox.ledger.requests).toEqual([
    {
      ...shared,
      method: 'GET',
      path: '/v1/alpha/news',
      operation: 'alpha.news',
      style: 'get',
      params: { query: 'desk', page: '2' },
      page: '2',
    },
    {
      ...shared,
      method: 'POST',
      path: '/api/v1/alpha/search',
      operation: 'alpha.search',
      style: 'post',
      params: { query: 'desk', page: 10 },
      page: 10,
    },
  ])
  expect(sandbox.ledger.requestsFor(({ style }) => style === 'post')).toHaveLength(1)
})

testTable<[string, unknown]>([
  ['an unknown field', { dat: '2026-10-01' }],
  ['a date that is none', { date: '2026-13-01' }],
  ['a rule without a fault', { rules: [{ operation: 'usage' }] }],
  ['an unknown fault', { rules: [{ do: { explode: true } }] }],
  ['a misspelt rule', { rules: [{ time: 1, do: { status: 500 } }] }],
  ['a latency in words', { latencyMs: 'slow' }],
  ['an unknown page shape', { pages: 'odd' }],
])('%s is refused, and nothing changes', async (_, change) => {
  await using sandbox = await startSandbox()
  const whole = { topUp: { credits: 5 }, ...(change as object) }
  expect((await post(sandbox, '/_sandbox/control', whole)).status).toBe(400)
  expect(() => sandbox.control(whole as ControlChange)).toThrow(/sandbox: /)
  expect(sandbox.usage().credits.given).toBe(0)
})

test('below the control prefix everything else is 404', async () => {
  await using sandbox = await startSandbox()
  expect((await get(sandbox, '/_sandbox/control')).status).toBe(404)
  expect((await post(sandbox, '/_sandbox/control', 'no json')).status).toBe(400)
})

test('the clock stops, moves on by days, and runs again', async () => {
  await using sandbox = await startSandbox({ now: () => Date.UTC(2026, 0, 15) })
  const renewal = () => sandbox.usage().renewal_date
  expect(renewal()).toBe('2026-02-01')
  sandbox.control({ date: '2026-10-31' })
  expect(renewal()).toBe('2026-11-01')
  sandbox.control({ advanceDays: 1 })
  expect(renewal()).toBe('2026-12-01')
  sandbox.control({ now: null })
  expect(renewal()).toBe('2026-02-01')
})

test('limits set while it runs are shown and kept', async () => {
  await using sandbox = await startSandbox()
  sandbox.control({ account: { perSecond: 1, perMinute: 1, quotas: { monthly: 9 } } })
  expect(sandbox.usage()).toMatchObject({
    rate_limit: { per_second: 1, per_minute: 1 },
    api_key: { quotas: { total: null, monthly: 9 } },
  })
  await search(sandbox)
  expect((await search(sandbox)).status).toBe(401)
})

test('a port that is taken is named', async () => {
  await using sandbox = await startSandbox()
  const port = Number(new URL(sandbox.url).port)
  await expect(startSandbox({ port })).rejects.toThrow(
    `Port ${port} is in use, perhaps by another sandbox. Choose a port: rankline sandbox --port ${port + 1};`,
  )
})
