import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { Sandbox } from '../../../src/sandbox/server.ts'
import { sharedPostgres } from '../../support/postgres.ts'
import { queriesCsv } from '../../support/rankline.ts'
import { staged, waitWhile } from '../staged.ts'

/** Spends a credit with the key, as another program does. */
async function spend({ url, key }: Sandbox): Promise<void> {
  const response = await fetch(`${url}/v1/alpha/search?query=other`, { headers: { 'x-api-key': key } })
  await response.arrayBuffer()
}

const held = { rules: [{ query: 'held 1', do: { refuse: 'rate' } }] } as const

test('with a queue, what other machines buy is not taken for that of another program', async () => {
  const { sandbox, place } = await staged(held)
  const queue = await (await sharedPostgres()).database()
  const env = { RANKLINE_QUEUE: queue }
  const worker = place.start(['worker'], env)
  onTestFinished(() => void worker.child.kill())
  const refusals = (): number => sandbox.ledger.requestsFor(({ status }) => status === 401).length
  /** A run beside which that happens, and what it said of the credits. */
  const runBeside = async (flags: readonly string[], happens: () => Promise<void>) => {
    sandbox.control(held)
    const before = refusals()
    const ended = place.call(['run', job, '--json', '--yes', ...flags], env)
    await waitWhile(() => refusals() === before)
    await happens()
    sandbox.control({ rules: [] })
    const { stdout } = await ended
    const { credits, spent_by_others: others } = JSON.parse(stdout)
    return { spent: credits.spent, unexplained: credits.unexplained, others: others?.credits ?? null }
  }
  const job = await place.file('held.csv', queriesCsv(1, 'held'))
  const postgres = new Client(queue)

  expect(await runBeside([], () => spend(sandbox))).toEqual({ spent: 1, unexplained: 1, others: 1 })
  await postgres.connect()
  const byAnotherMachine = async (): Promise<void> => {
    // It has a chunk, and may buy one page more of it.
    await postgres.query(
      `UPDATE rankline.chunks SET state = 'leased', granted = spent + in_doubt + 1, leased_until = clock_timestamp() + interval '1 hour'
      WHERE state = 'done'`,
    )
    await spend(sandbox)
  }
  expect(await runBeside(['--fresh'], byAnotherMachine)).toEqual({
    spent: 1,
    unexplained: null,
    others: null,
  })
  await postgres.end()
  expect(sandbox.ledger.charged).toBe(4)
})
