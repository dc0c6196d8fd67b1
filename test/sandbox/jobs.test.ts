import { setTimeout } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { get } from './ask.ts'

const submit = (sandbox: Sandbox) => get(sandbox, '/v1/alpha/images', { query: 'desk', async: 'true' })

async function ended(sandbox: Sandbox, id: string) {
  return await vi.waitFor(
    async () => {
      const answer = await get(sandbox, `/jobs/${id}`)
      expect(answer.body.status).not.toBe('processing')
      return answer
    },
    { interval: 5 },
  )
}

test('a job is accepted, processed, and completed with the images; it is charged once, at its completion', async () => {
  await using sandbox = await startSandbox({ asyncMs: 60_000 })
  sandbox.control({ date: '2026-10-01' })
  const accepted = await submit(sandbox)
  expect([accepted.status, accepted.body]).toEqual([202, { job_id: expect.any(String), status: 'accepted' }])
  const slow = accepted.body.job_id
  expect((await get(sandbox, `/jobs/${slow}`)).body).toEqual({ job_id: slow, status: 'processing' })
  expect(sandbox.ledger.charged).toBe(0)

  sandbox.control({ asyncMs: 10 })
  const id = (await submit(sandbox)).body.job_id
  const { status, body } = await ended(sandbox, id)
  expect([status, body.job_id, body.status]).toEqual([200, id, 'completed'])
  expect(body.result).toEqual((await get(sandbox, '/v1/alpha/images', { query: 'desk' })).body)
  await get(sandbox, `/jobs/${id}`)
  expect(sandbox.ledger.charged).toBe(2)
  const charges = sandbox.ledger.requests.filter(({ status }) => status === 202).map(({ charged }) => charged)
  expect(charges).toEqual([0, 1])
})

test('a job that nobody asks for is charged all the same', async () => {
  await using sandbox = await startSandbox({ asyncMs: 10 })
  await submit(sandbox)
  await setTimeout(12)
  expect(sandbox.usage()).toMatchObject({ total_used: 1, remaining: 99_999 })
  expect(sandbox.ledger.summary()).toMatchObject({ charged: 1, chargedCalls: 1 })
})

test('the credits of a job are set aside while it is processed', async () => {
  await using sandbox = await startSandbox({ account: { subscription: { total: 1 } }, asyncMs: 60_000 })
  await submit(sandbox)
  expect(sandbox.usage().remaining).toBe(1)
  expect((await submit(sandbox)).status).toBe(402)
})

test.each([200, 500] as const)(
  'a failed job is reported with HTTP %i and never charged',
  async (failedJobStatus) => {
    const rules = [{ operation: 'alpha.images', do: { job: 'fail' as const } }]
    await using sandbox = await startSandbox({ failedJobStatus, asyncMs: 5, rules })
    const { job_id } = (await submit(sandbox)).body
    const { status, body } = await ended(sandbox, job_id)
    expect([status, body]).toEqual([failedJobStatus, { job_id, status: 'failed', error: 'Internal Error' }])
    expect(sandbox.ledger.charged).toBe(0)
    expect((await get(sandbox, '/v1/alpha/images', { query: 'desk' })).status).toBe(200)
  },
)

test('a stuck job is processed for ever', async () => {
  await using sandbox = await startSandbox({ asyncMs: 0, rules: [{ do: { job: 'stuck' } }] })
  const { job_id } = (await submit(sandbox)).body
  expect((await get(sandbox, `/jobs/${job_id}`)).body.status).toBe('processing')
  expect(sandbox.ledger.charged).toBe(0)
})

test('every job has its own id, and an unknown one is 404', async () => {
  await using sandbox = await startSandbox()
  const ids = await Promise.all([submit(sandbox), submit(sandbox), submit(sandbox)])
  expect(new Set(ids.map(({ body }) => body.job_id)).size).toBe(3)
  const unknown = await get(sandbox, '/jobs/job_none')
  expect([unknown.status, unknown.body]).toEqual([404, { error: 'Not Found' }])
})

test('an acceptance whose answer is lost is a job all the same, and is charged', async () => {
  await using sandbox = await startSandbox({ asyncMs: 0, rules: [{ do: { hangUp: 'after' } }] })
  await expect(submit(sandbox)).rejects.toThrow()
  expect(sandbox.ledger.charged).toBe(1)
})
