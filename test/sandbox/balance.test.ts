import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { get, search } from './ask.ts'

const account = {
  subscription: { total: 2 },
  packs: [
    { title: 'first', total: 2 },
    { title: 'second', total: 5, used: 4 },
  ],
  credits: { given: 3, consumed: 1 },
}

test('a charge is drawn from the subscription, then the packs in order, then the credits, across their borders', async () => {
  await using sandbox = await startSandbox({ account })
  const ask = () => get(sandbox, '/v1/alpha/search/ai', { query: 'a' })
  const balances = () => {
    const { packs, credits, remaining } = sandbox.usage()
    return [remaining, packs?.items.map(({ used }) => used), credits.consumed]
  }
  expect(balances()).toEqual([7, [0, 4], 1])
  await ask()
  expect(balances()).toEqual([4, [1, 4], 1])
  await ask()
  expect(balances()).toEqual([1, [2, 5], 2])
  const refused = await ask()
  expect([refused.status, refused.body]).toEqual([402, { error: 'Payment required' }])
  expect((await search(sandbox)).status).toBe(200)
  expect((await search(sandbox)).status).toBe(402)
  expect(sandbox.ledger.charged).toBe(7)
  expect(sandbox.usage()).toMatchObject({ remaining: 0, total_used: 12 })
})

test('the newer usage record counts subscription and packs together and lists the packs', async () => {
  await using sandbox = await startSandbox({ account, now: () => Date.UTC(2026, 9, 20) })
  await search(sandbox)
  const { body } = await get(sandbox, '/v1/usage')
  expect(body).toEqual({
    remaining: 6,
    total_used: 6,
    renewal_date: '2026-11-01',
    period: { start: '2026-10-01', end: '2026-11-01' },
    subscription: { used: 5, total: 9, remaining: 4, percent_used: 55.56 },
    credits: { given: 3, consumed: 1, remaining: 2, percent_used: 33.33 },
    rate_limit: { per_minute: null, per_second: null },
    account: { name: 'Sandbox', slug: 'sandbox' },
    api_key: {
      alias: 'sandbox',
      active: true,
      category: 'development',
      expires: null,
      quotas: { total: null, daily: null, weekly: null, monthly: null },
    },
    packs: {
      count: 2,
      exhausted_count: 0,
      all_exhausted: false,
      total: 7,
      used: 4,
      remaining: 3,
      percent_used: 57.14,
      current_index: 0,
      current: expect.objectContaining({ title: 'first', remaining: 2, exhausted: false }),
      items: [expect.objectContaining({ id: 'pack-1' }), expect.objectContaining({ id: 'pack-2', used: 4 })],
    },
  })
  expect(body).toEqual(sandbox.usage())
})

test('the current pack is the first that is not exhausted, and null when all are', async () => {
  const packs = [{ total: 1, used: 1 }, { total: 1 }]
  await using sandbox = await startSandbox({ account: { subscription: { total: 0 }, packs } })
  expect(sandbox.usage().packs).toMatchObject({ count: 1, exhausted_count: 1, current_index: 1 })
  await search(sandbox)
  expect(sandbox.usage().packs).toMatchObject({ all_exhausted: true, current: null, count: 0 })
})

test('the older usage record has no packs field, the newer one is null without packs', async () => {
  await using older = await startSandbox({ account: { ...account, usageShape: 'older' } })
  expect(older.usage()).not.toHaveProperty('packs')
  expect(older.usage()).toMatchObject({ subscription: { total: 9 } })
  await using newer = await startSandbox()
  expect(newer.usage().packs).toBeNull()
})

test('a top-up makes refused calls possible again', async () => {
  await using sandbox = await startSandbox({ account: { subscription: { total: 0 } } })
  expect((await search(sandbox)).status).toBe(402)
  sandbox.control({ topUp: { credits: 1 } })
  expect((await search(sandbox)).status).toBe(200)
  sandbox.control({ topUp: { pack: { total: 1 } } })
  expect((await search(sandbox)).status).toBe(200)
  sandbox.control({ topUp: { subscription: 1 } })
  expect((await search(sandbox)).status).toBe(200)
  expect((await search(sandbox)).status).toBe(402)
})

test('calls that are worked on at the same time never overdraw the balance', async () => {
  await using sandbox = await startSandbox({ account: { subscription: { total: 3 } }, latencyMs: 5 })
  const answers = await Promise.all(Array.from({ length: 8 }, () => search(sandbox)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 402, 402, 402, 402, 402])
  expect(sandbox.usage().remaining).toBe(0)
})

test('refused and free calls charge nothing', async () => {
  await using sandbox = await startSandbox({ account: { perMinute: 4 } })
  await get(sandbox, '/v1/alpha/search')
  await get(sandbox, '/v1/usage')
  await get(sandbox, '/v1/finder/alpha-countries', { query: 'a' })
  await get(sandbox, '/nowhere')
  await search(sandbox)
  expect(sandbox.ledger.requests.map(({ charged }) => charged)).toEqual([0, 0, 0, 0, 0])
  expect(sandbox.usage().total_used).toBe(0)
})
