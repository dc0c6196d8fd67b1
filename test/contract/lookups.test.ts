import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import type { SandboxOptions } from '../../src/sandbox/state.ts'
import { get, type Params, search } from '../sandbox/ask.ts'
import { testTable } from '../support/test-table.ts'
import { countries, languages, newerUsage, olderUsage, stats } from './lookup-answers.ts'
import { expectRefused } from './sending.ts'
import { differences, type Shape } from './shape.ts'

const lookups: readonly (readonly [string, Params, Shape])[] = [
  ['/v1/usage', {}, newerUsage],
  ['/v1/stats', { engine: 'alpha' }, stats],
  ['/v1/stats', { path: '/v1/gamma/images' }, stats],
  ['/v1/stats', { engine: 'beta', path: '/v1/beta/search' }, stats],
  ['/v1/finder/alpha-countries', { query: 'land' }, countries],
  ['/v1/finder/alpha-languages', { query: 'an' }, languages],
  ['/api/v1/finder/alpha-countries', { query: 'land' }, countries],
  ['/api/v1/finder/alpha-languages', { query: 'an' }, languages],
]

testTable(lookups)(
  '%s with %j has exactly the documented fields, free, with no balance at all',
  async (path, params, shape) => {
    await using sandbox = await startSandbox({ account: { subscription: { total: 0 } } })
    const { status, body, headers } = await get(sandbox, path, params)
    expect([status, differences(shape, body), sandbox.ledger.charged]).toEqual([200, [], 0])
    expect(headers.get('content-type')).toMatch(/^application\/json/)
  },
)

testTable(lookups)(
  '%s with %j wants a key that is active, not expired and within its rate',
  async (path, params) => {
    await using sandbox = await startSandbox()
    expectRefused(await get(sandbox, path, params, {}), 401)
    sandbox.control({ account: { keyActive: false } })
    expectRefused(await get(sandbox, path, params), 401)
    sandbox.control({ account: { keyActive: true, keyExpires: '2001-01-01T00:00:00Z' } })
    expectRefused(await get(sandbox, path, params), 401)
    sandbox.control({ account: { keyExpires: null, perMinute: 1 } })
    expect((await get(sandbox, path, params)).status).toBe(200)
    const { status, body } = await get(sandbox, path, params)
    expect([status, body]).toEqual([401, { error: 'Rate limit exceeded for the API key: quota monthly' }])
  },
)

test.each<[string, SandboxOptions['account'], Shape]>([
  ['no packs', {}, newerUsage],
  ['packs', { packs: [{ total: 5, used: 5 }, { total: 5 }] }, newerUsage],
  ['packs that are all exhausted', { packs: [{ total: 5, used: 5 }] }, newerUsage],
  [
    'limits',
    { perMinute: 60, perSecond: 2, quotas: { total: 1, daily: 1, weekly: 1, monthly: 1 } },
    newerUsage,
  ],
  ['a key that expires', { keyExpires: '2999-01-01T00:00:00Z' }, newerUsage],
  ['no monthly plan', { subscription: { total: 0 }, packs: [{ total: 7 }] }, newerUsage],
  ['the older shape', { usageShape: 'older', packs: [{ total: 5 }] }, olderUsage],
])('the usage record of an account with %s has its documented fields', async (_, account, shape) => {
  await using sandbox = await startSandbox({ account: account ?? {} })
  const { body } = await get(sandbox, '/v1/usage')
  expect(differences(shape, body)).toEqual([])
})

test('the usage record adds up', async () => {
  await using sandbox = await startSandbox({
    account: {
      subscription: { total: 10, used: 10 },
      packs: [
        { total: 4, used: 4 },
        { total: 6, used: 1 },
      ],
      credits: { given: 20, consumed: 5 },
    },
  })
  const { body } = await get(sandbox, '/v1/usage')
  expect(body).toMatchObject({
    remaining: 20,
    total_used: 20,
    subscription: { used: 15, total: 20, remaining: 5, percent_used: 75 },
    credits: { given: 20, consumed: 5, remaining: 15, percent_used: 25 },
    packs: {
      count: 1,
      exhausted_count: 1,
      all_exhausted: false,
      total: 10,
      used: 5,
      remaining: 5,
      percent_used: 50,
    },
  })
  expect(body.packs.current).toEqual(body.packs.items[body.packs.current_index])
  expect(body.packs.items.map(({ exhausted }: { exhausted: boolean }) => exhausted)).toEqual([true, false])
})

test('packs are null without any, and so is the pack being drawn when all are exhausted', async () => {
  await using none = await startSandbox()
  expect((await get(none, '/v1/usage')).body.packs).toBe(null)
  await using gone = await startSandbox({ account: { packs: [{ total: 1, used: 1 }] } })
  expect((await get(gone, '/v1/usage')).body.packs).toMatchObject({
    all_exhausted: true,
    current: null,
    count: 0,
  })
})

testTable<[Params, 400 | 404]>([
  [{}, 400],
  [{ path: 'v1/alpha/search' }, 400],
  [{ path: '/v1/alpha' }, 400],
  [{ engine: 'alpha', path: '/v1/beta/search' }, 400],
  [{ engine: '' }, 400],
  [{ engine: 'omega' }, 404],
  [{ engine: 'alpha_news' }, 404],
])('stats for %j are %i', async (params, status) => {
  await using sandbox = await startSandbox()
  expectRefused(await get(sandbox, '/v1/stats', params), status)
})

test.each([
  [100, 'operational'],
  [90, 'operational'],
  [89.9, 'degraded'],
  [50, 'degraded'],
  [49.9, 'down'],
  [0, 'down'],
])('an engine with a success rate of %d is %s', async (successRate, health) => {
  await using sandbox = await startSandbox()
  sandbox.control({ stats: { gamma: { successRate } } })
  const { body } = await get(sandbox, '/v1/stats', { engine: 'gamma' })
  expect(body).toMatchObject({ engine: 'gamma', path: null, health, success_rate: successRate, window: '1h' })
})

test('stats are forbidden where the account has not enabled them, and may be unavailable', async () => {
  await using sandbox = await startSandbox({ account: { statsEnabled: false } })
  expectRefused(await get(sandbox, '/v1/stats', { engine: 'alpha' }), 403)
  sandbox.control({ account: { statsEnabled: true }, rules: [{ operation: 'stats', do: { status: 503 } }] })
  expectRefused(await get(sandbox, '/v1/stats', { engine: 'alpha' }), 503)
})

testTable(['/v1/finder/alpha-countries', '/v1/finder/alpha-languages'])(
  '%s wants a query and finds any part of a name',
  async (path) => {
    await using sandbox = await startSandbox()
    expectRefused(await get(sandbox, path), 400)
    const [lower, upper] = [
      await get(sandbox, path, { query: 'an' }),
      await get(sandbox, path, { query: 'AN' }),
    ]
    expect(lower.body.length).toBeGreaterThan(5)
    expect(upper.body).toEqual(lower.body)
    for (const item of lower.body)
      expect(`${item.country_name ?? item.language_name}`.toLowerCase()).toContain('an')
    const begun = (await get(sandbox, path, { query: 'gErM' })).body.flatMap(Object.values)
    expect(begun).toContain(path.endsWith('countries') ? 'Germany' : 'German')
    expect((await get(sandbox, path, { query: 'qqq' })).body).toEqual([])
  },
)

test('lookups leave the quotas of the key alone', async () => {
  await using sandbox = await startSandbox({ account: { quotas: { total: 1 } } })
  for (const [path, params] of lookups) expect((await get(sandbox, path, params)).status).toBe(200)
  expect((await search(sandbox)).status).toBe(200)
  expect((await search(sandbox)).status).toBe(401)
  expect((await get(sandbox, '/v1/usage')).status).toBe(200)
})
