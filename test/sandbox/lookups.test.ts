import { expect, test } from 'vitest'
import { healthOf } from '../../src/sandbox/health.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { get, type Params } from './ask.ts'

test('countries are found by any part of their name, whatever its case, widest reach first', async () => {
  await using sandbox = await startSandbox()
  const { body } = await get(sandbox, '/v1/finder/alpha-countries', { query: 'UNITED' })
  expect(body.slice(0, 2)).toEqual([
    { country_code: 'us', country_name: 'United States' },
    { country_code: 'gb', country_name: 'United Kingdom' },
  ])
})

test('languages are found in the same way', async () => {
  await using sandbox = await startSandbox()
  const { body } = await get(sandbox, '/v1/finder/alpha-languages', { query: 'sh' })
  expect(body.slice(0, 2)).toEqual([
    { language_code: 'en', language_name: 'English' },
    { language_code: 'es', language_name: 'Spanish' },
  ])
})

test('a lookup that matches nothing is an empty list', async () => {
  await using sandbox = await startSandbox()
  const { status, body } = await get(sandbox, '/v1/finder/alpha-countries', { query: 'atlantis' })
  expect([status, body]).toEqual([200, []])
})

test('every country has a name and is listed once', async () => {
  await using sandbox = await startSandbox()
  const letters = await Promise.all(
    [...'aeiou'].map((query) => get(sandbox, '/v1/finder/alpha-countries', { query })),
  )
  const found = letters.flatMap(({ body }) => body)
  expect(new Set(found.map(({ country_code }) => country_code)).size).toBe(249)
  expect(found.filter((item) => item.country_name.toLowerCase() === item.country_code)).toEqual([])
  for (const { body } of letters)
    expect(new Set(body.map((item: object) => JSON.stringify(item))).size).toBe(body.length)
})

test.each([
  [100, 'operational'],
  [90, 'operational'],
  [89.99, 'degraded'],
  [50, 'degraded'],
  [49.99, 'down'],
  [0, 'down'],
])('a success rate of %d percent is %s', (rate, health) => {
  expect(healthOf(rate)).toBe(health)
})

test('stats show what was set for the engine', async () => {
  await using sandbox = await startSandbox()
  sandbox.control({ stats: { alpha: { successRate: 40, avgResponseTimeMs: 900 } } })
  expect((await get(sandbox, '/v1/stats', { engine: 'alpha' })).body).toEqual({
    engine: 'alpha',
    path: null,
    health: 'down',
    success_rate: 40,
    avg_response_time_ms: 900,
    window: '1h',
  })
  const beta = await get(sandbox, '/v1/stats', { path: '/v1/beta/search' })
  expect(beta.body).toMatchObject({ engine: 'beta', path: '/v1/beta/search', health: 'operational' })
})

test.each<[Params, number]>([
  [{}, 400],
  [{ path: 'alpha/search' }, 400],
  [{ path: '/v1/alpha/nothing' }, 400],
  [{ engine: 'beta', path: '/v1/alpha/search' }, 400],
  [{ engine: 'delta' }, 404],
  [{ path: '/v1/delta/search' }, 404],
  [{ engine: 'alpha', path: '/v1/alpha/search/light' }, 200],
])('stats for %j are %i', async (params, status) => {
  await using sandbox = await startSandbox()
  expect((await get(sandbox, '/v1/stats', params)).status).toBe(status)
})

test('stats are 403 where the account has none, and 503 when a rule says so', async () => {
  await using sandbox = await startSandbox({ account: { statsEnabled: false } })
  expect((await get(sandbox, '/v1/stats', { engine: 'alpha' })).status).toBe(403)
  sandbox.control({ account: { statsEnabled: true }, rules: [{ operation: 'stats', do: { status: 503 } }] })
  expect((await get(sandbox, '/v1/stats', { engine: 'alpha' })).status).toBe(503)
})
