import { expect, test } from 'vitest'
import { queriesCsv } from '../support/rankline.ts'
import { staged } from './staged.ts'

test.each(['total', 'daily', 'weekly', 'monthly'] as const)(
  'a %s quota is kept to the call by the ledger, over runs, without a refusal',
  async (period) => {
    const { sandbox, place } = await staged({ account: { quotas: { [period]: 8 } } })
    const first = await place.file('first.csv', queriesCsv(3, 'first'))
    const second = await place.file('second.csv', queriesCsv(12, 'second'))

    expect((await place.call(['run', first])).code).toBe(0)
    const stopped = await place.call(['run', second, '--json'])

    expect(stopped.code).toBe(4)
    expect(JSON.parse(stopped.stdout)).toMatchObject({
      finish_reason: 'quota',
      tasks: { done: 5, pending: 7, failed: 0 },
    })
    expect(stopped.stderr).toContain(`${period} quota of 8 calls`)
    expect(sandbox.ledger.refusals).toBe(0)

    sandbox.control({ account: { quotas: { [period]: null } } })
    const raised = await place.call(['run', second, '--json'])
    expect(JSON.parse(raised.stdout)).toMatchObject({
      run: 2,
      finish_reason: 'completed',
      tasks: { done: 12 },
    })
  },
)

test('a lost answer is not asked for again where the quota covers only the other calls', async () => {
  const { sandbox, place, job } = await staged(
    {
      account: { quotas: { daily: 2 } },
      rules: [{ operation: 'alpha.search', times: 1, do: { hangUp: 'after' } }],
    },
    2,
  )

  const { code, stdout } = await place.call(['run', job, '--json', '--concurrency', '1'])

  expect(code).toBe(4)
  expect(JSON.parse(stdout)).toMatchObject({
    finish_reason: 'quota',
    tasks: { done: 1, pending: 1, failed: 0 },
    calls: { billed: 1, ambiguous: 1 },
  })
  expect(sandbox.ledger.refusals).toBe(0)
})

test('plan says what a quota leaves', async () => {
  const { place, job } = await staged({ account: { quotas: { daily: 25 } } }, 40)

  const { code, stderr } = await place.call(['plan', job])

  expect(code).toBe(0)
  expect(stderr).toContain('daily quota of 25 calls leaves 25 calls')
})

test('numbers of the usage record that are texts and fractions bound what is spent, and a quota that cannot be read is said', async () => {
  const record = (quotas: object) => ({
    remaining: '7.9',
    total_used: '12.0',
    rate_limit: { per_second: '100', per_minute: null },
    api_key: { active: true, expires: null, quotas },
  })
  const { sandbox, place, job } = await staged(
    { rules: [{ operation: 'usage', do: { body: record({ daily: '5.5', monthly: 'plenty' }) } }] },
    20,
  )

  const usage = await place.call(['usage'])
  expect(usage.stdout).toMatch(/remaining +7\.9\n/)
  expect(usage.stdout).toMatch(/monthly quota +cannot be read/)
  const said = 'The usage record says "plenty" for api_key.quotas.monthly, which cannot be read'
  for (const { stderr, stdout } of [usage, await place.call(['plan', job])])
    expect(stderr + stdout).toContain(said)

  const first = await place.call(['run', job])
  expect([first.code, sandbox.ledger.charged]).toEqual([4, 5])
  expect(first.stderr).toContain('daily quota of 5 calls')
  expect(first.stderr.split(said)).toHaveLength(2)

  // Nothing is bought for a fraction of a credit.
  sandbox.control({ rules: [{ operation: 'usage', do: { body: { ...record({}), remaining: 0.9 } } }] })
  expect([(await place.call(['run', job])).code, sandbox.ledger.charged]).toEqual([4, 5])
})
