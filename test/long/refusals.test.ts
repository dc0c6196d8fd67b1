import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { long } from '../support/long.ts'
import { queriesCsv, workspace } from '../support/rankline.ts'

const isSearch = ({ operation }: { operation: string | null }) => operation === 'alpha.search'
const refusedMs = long ? 90_000 : 6_000

test('a service that refuses everything for a while and then recovers costs no failed task', async () => {
  await using sandbox = await startSandbox({
    rules: [
      { operation: 'alpha.search', after: 100, do: { refuse: 'rate' } },
      { operation: 'usage', after: 1, do: { refuse: 'rate' } },
    ],
  })
  await using place = await workspace(sandbox)
  const job = await place.file('job.csv', queriesCsv(400))

  const { ended } = place.start(['run', job, '--json'])
  while (sandbox.ledger.requestsFor(isSearch).length < 101)
    await new Promise((resolve) => setTimeout(resolve, 20))
  await new Promise((resolve) => setTimeout(resolve, refusedMs))
  const refused = sandbox.ledger.refusals
  sandbox.control({ rules: [] })
  const { code, stdout, stderr } = await ended

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    tasks: { done: 400, failed: 0 },
    credits: { spent: 400, ambiguous: 0 },
  })
  expect(sandbox.ledger.charged).toBe(400)
  expect(stderr).toContain('The service limits the rate of calls')
  // All that were in the air (80 without a limit), and then one at a time.
  expect(refused).toBeGreaterThan(0)
  expect(refused).toBeLessThan(80 + 20)
})

test('refusals that outlast the windows and that a quota explains stop the run', {
  skip: !long,
}, async () => {
  await using sandbox = await startSandbox({
    // Others have used up what the key may use; our own ledger knows nothing of it.
    account: { subscription: { total: 1_000, used: 500 } },
    rules: [{ operation: 'alpha.search', after: 20, do: { refuse: 'rate' } }],
  })
  sandbox.control({ account: { quotas: { monthly: 400 } } })
  await using place = await workspace(sandbox)
  const job = await place.file('job.csv', queriesCsv(100))

  const { code, stdout, stderr } = await place.run(['run', job, '--json'])

  expect(code).toBe(4)
  expect(sandbox.ledger.refusals).toBeGreaterThan(0)
  expect(JSON.parse(stdout)).toMatchObject({ finish_reason: 'quota', tasks: { failed: 0 } })
  expect(stderr).toContain('monthly quota of 400 calls')
})
