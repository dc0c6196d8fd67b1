import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
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
