import { performance } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { queriesCsv, workspace } from '../support/rankline.ts'
import { jobsAsked, moment, spokenOrEnded } from '../support/turns.ts'

test('when the one that collects is killed, the next one sends within a second', async () => {
  await using sandbox = await startSandbox({ latencyMs: 200 })
  await using place = await workspace(sandbox)
  const [mine, next] = [
    await place.file('a.csv', queriesCsv(50, 'first')),
    await place.file('b.csv', queriesCsv(3, 'next')),
  ]
  const owner = place.start(['run', mine, '--concurrency', '2'])
  while (!jobsAsked(sandbox.ledger).includes('first')) await moment()
  const waiting = place.start(['run', next])
  await spokenOrEnded(waiting)

  const killedAt = performance.now()
  owner.child.kill('SIGKILL')
  while (!jobsAsked(sandbox.ledger).includes('next') && waiting.child.exitCode === null) await moment()
  const tookMs = performance.now() - killedAt

  expect(tookMs).toBeLessThan(1000)
  const { code, stderr } = await waiting.ended
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('Waiting') })
  expect(owner.child.signalCode).toBe('SIGKILL')
})
