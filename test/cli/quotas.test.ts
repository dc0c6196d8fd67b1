import { expect, test } from 'vitest'
import { queriesCsv } from '../support/rankline.ts'
import { staged } from './staged.ts'

test.each(['total', 'daily', 'weekly', 'monthly'] as const)(
  'a %s quota is kept to the call by the ledger, over runs, without a refusal',
  async (period) => {
    const { sandbox, place } = await staged({ account: { quotas: { [period]: 25 } } })
    const first = await place.file('first.csv', queriesCsv(10, 'first'))
    const second = await place.file('second.csv', queriesCsv(40, 'second'))

    expect((await place.call(['run', first])).code).toBe(0)
    const stopped = await place.call(['run', second, '--json'])

    expect(stopped.code).toBe(4)
    expect(JSON.parse(stopped.stdout)).toMatchObject({
      finish_reason: 'quota',
      tasks: { done: 15, pending: 25, failed: 0 },
    })
    expect(stopped.stderr).toContain(`${period} quota of 25 calls`)
    expect(sandbox.ledger.refusals).toBe(0)

    sandbox.control({ account: { quotas: { [period]: null } } })
    const raised = await place.call(['run', second, '--json'])
    expect(JSON.parse(raised.stdout)).toMatchObject({
      run: 2,
      finish_reason: 'completed',
      tasks: { done: 40 },
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
