import { expect, test, vi } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import type { Fault, FaultRule } from '../../src/sandbox/state.ts'
import { testTable } from '../support/test-table.ts'
import { get, post, search } from './ask.ts'

testTable<[Fault, number, unknown]>([
  [{ status: 400 }, 400, { error: 'Bad Request' }],
  [{ status: 401 }, 401, { error: 'Invalid API Key' }],
  [{ status: 402 }, 402, { error: 'Payment required' }],
  [{ status: 403 }, 403, { error: 'Forbidden' }],
  [{ status: 404 }, 404, { error: 'Not Found' }],
  [{ status: 413 }, 413, { error: 'Payload Too Large' }],
  [{ status: 500 }, 500, { error: 'Internal Error' }],
  [{ status: 503 }, 503, { error: 'Service Unavailable' }],
  [{ status: 502, html: true }, 502, undefined],
  [{ status: 500, empty: true }, 500, undefined],
  [{ status: 500, body: '{"error":"own words"}' }, 500, { error: 'own words' }],
  [{ refuse: 'key' }, 401, { error: 'Invalid API Key' }],
  [{ refuse: 'rate' }, 401, { error: 'Rate limit exceeded for the API key: quota monthly' }],
  [{ redirect: 'http://127.0.0.1:1/elsewhere' }, 302, undefined],
])('%j answers %i and is free', async (fault, status, body) => {
  await using sandbox = await startSandbox({
    rules: [{ do: fault }],
    account: { subscription: { total: 1 } },
  })
  for (let call = 0; call < 2; call++) {
    const answer = await search(sandbox)
    expect([answer.status, answer.body]).toEqual([status, body])
  }
  expect(sandbox.ledger.charged).toBe(0)
  sandbox.control({ rules: [] })
  expect((await search(sandbox)).status).toBe(200)
})

test('a status fault can carry headers, and a redirect says where to', async () => {
  const rules: FaultRule[] = [
    { times: 1, do: { status: 503, headers: { 'retry-after': '7' } } },
    { do: { redirect: 'http://127.0.0.1:1/' } },
  ]
  await using sandbox = await startSandbox({ rules })
  expect((await search(sandbox)).headers.get('retry-after')).toBe('7')
  expect((await search(sandbox)).headers.get('location')).toBe('http://127.0.0.1:1/')
})

test('a refusal by rate is counted and leaves the rate windows', async () => {
  await using sandbox = await startSandbox({ rules: [{ times: 1, do: { refuse: 'rate' } }] })
  await search(sandbox)
  await search(sandbox)
  expect(sandbox.ledger.refusals).toBe(1)
  expect(sandbox.ledger.maxInWindow(60_000)).toBe(1)
})

test('a garbled answer is charged and no JSON', async () => {
  await using sandbox = await startSandbox({ rules: [{ do: { garble: true } }] })
  const answer = await search(sandbox)
  expect([answer.status, answer.body, answer.text.startsWith('{')]).toEqual([200, undefined, true])
  expect(sandbox.ledger.charged).toBe(1)
})

test('an answer can be replaced by any JSON, charged', async () => {
  await using sandbox = await startSandbox({ rules: [{ do: { body: { error: 'soft' } } }] })
  const answer = await search(sandbox)
  expect([answer.status, answer.body, sandbox.ledger.charged]).toEqual([200, { error: 'soft' }, 1])
})

test('an oversized answer has at least that many bytes and is charged', async () => {
  await using sandbox = await startSandbox({ rules: [{ do: { oversize: 3_000_000 } }] })
  const answer = await search(sandbox)
  expect([answer.text.length, sandbox.ledger.charged]).toEqual([3_000_000, 1])
})

test.each<[Fault, number, number | null]>([
  [{ cut: true }, 1, 200],
  [{ hangUp: 'before' }, 0, null],
  [{ hangUp: 'after' }, 1, null],
])('%j loses the connection having charged %i', async (fault, charged, status) => {
  await using sandbox = await startSandbox({ rules: [{ times: 1, do: fault }] })
  await expect(search(sandbox)).rejects.toThrow()
  expect(sandbox.ledger.requests).toMatchObject([{ charged, status }])
  expect((await search(sandbox)).status).toBe(200)
})

test('a cut answer has begun before the connection is lost', async () => {
  await using sandbox = await startSandbox({ rules: [{ do: { cut: true } }] })
  const response = await fetch(`${sandbox.url}/v1/alpha/search?query=a`, {
    headers: { 'x-api-key': sandbox.key },
  })
  expect(response.status).toBe(200)
  await expect(response.text()).rejects.toThrow()
})

test.each([
  ['before', 0],
  ['after', 1],
] as const)('a call stalled %s the charge is never answered and charged %i', async (stall, charged) => {
  await using sandbox = await startSandbox({ rules: [{ do: { stall } }] })
  const abort = new AbortController()
  const { signal } = abort
  const call = fetch(`${sandbox.url}/v1/alpha/search?query=a`, {
    headers: { 'x-api-key': sandbox.key },
    signal,
  })
  await vi.waitFor(() => expect(sandbox.ledger.requests[0]?.fault).toBe('stall'), { interval: 1 })
  abort.abort()
  await expect(call).rejects.toThrow()
  expect(sandbox.ledger.requests).toMatchObject([{ status: null, charged }])
})

test('closing ends stalled calls', async () => {
  const sandbox = await startSandbox({ rules: [{ do: { stall: 'before' } }] })
  const call = search(sandbox).catch(() => 'ended')
  await vi.waitFor(() => expect(sandbox.ledger.requests[0]?.fault).toBe('stall'), { interval: 1 })
  await sandbox.close()
  expect(await call).toBe('ended')
  await sandbox.close()
})

test('a delay does not hide the fault behind it', async () => {
  await using sandbox = await startSandbox({ rules: [{ do: { latency: 20 } }, { do: { status: 500 } }] })
  const started = performance.now()
  expect((await search(sandbox)).status).toBe(500)
  expect(performance.now() - started).toBeGreaterThanOrEqual(19)
})

test.each<[string, FaultRule, string]>([
  ['the first calls can be let through', { after: 2, do: { status: 500 } }, '200 200 500 500'],
  ['a fault can happen a number of times', { times: 2, do: { status: 500 } }, '500 500 200 200'],
  ['both together are a stretch', { after: 1, times: 1, do: { status: 500 } }, '200 500 200 200'],
  ['a rule can be for some queries', { query: 'q1', do: { status: 500 } }, '200 500 200 200'],
  ['a rule can be for an operation', { operation: 'alpha.news', do: { status: 500 } }, '200 200 200 200'],
])('%s', async (_, rule, statuses) => {
  await using sandbox = await startSandbox({ rules: [rule] })
  const seen: number[] = []
  for (let call = 0; call < 4; call++) seen.push((await search(sandbox, `q${call}`)).status)
  expect(seen.join(' ')).toBe(statuses)
})

test('a rule without operation is for billable calls of both styles, and no others', async () => {
  await using sandbox = await startSandbox({ rules: [{ do: { status: 500 } }] })
  expect((await get(sandbox, '/v1/usage')).status).toBe(200)
  expect((await post(sandbox, '/api/v1/alpha/news', { query: 'a' })).status).toBe(500)
  sandbox.control({ addRules: [{ operation: 'usage', do: { status: 503 } }] })
  expect((await get(sandbox, '/v1/usage')).status).toBe(503)
})

test('a probability hits the same calls for the same seed', async () => {
  const statuses = async (seed: string) => {
    await using sandbox = await startSandbox({ seed, rules: [{ probability: 0.5, do: { status: 500 } }] })
    const seen: number[] = []
    for (let call = 0; call < 30; call++) seen.push((await search(sandbox)).status)
    return seen
  }
  const seen = await statuses('one')
  expect(new Set(seen)).toEqual(new Set([200, 500]))
  expect(await statuses('one')).toEqual(seen)
  expect(await statuses('two')).not.toEqual(seen)
})

test('refused and invalid calls do not use up a rule', async () => {
  await using sandbox = await startSandbox({ rules: [{ times: 1, do: { status: 500 } }] })
  await get(sandbox, '/v1/alpha/search')
  expect((await search(sandbox)).status).toBe(500)
})

test('an answer to another question is charged as that to the one asked', async () => {
  await using sandbox = await startSandbox({
    rules: [{ times: 1, do: { answerAs: { q: 'oak desk', page: 3 } } }],
  })
  const answer = (await search(sandbox)).body as { search_parameters: object; organic_results: unknown[] }
  expect(answer.search_parameters).toMatchObject({ q: 'oak desk', page: 3 })
  expect(sandbox.ledger.requests).toMatchObject([{ status: 200, charged: 1, fault: 'answerAs', page: null }])
  const other = await get(sandbox, '/v1/alpha/search?query=oak%20desk&page=3')
  expect(other.body).toEqual(answer)
})
