import { test } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { queriesCsv, workspace } from '../support/rankline.ts'

// The service counts calls when they arrive, and here it shares a process with the tests: where the machine stops that for a moment, calls of
// two windows arrive together. A limiter that sends too many does so every time.
const again = { retry: 2 }

// Both of them mostly wait, so they wait side by side.
test.concurrent(
  '400 queries at 40 per second and 20 to 200 ms of latency meet no refusal and use 90 % of the limit',
  again,
  async ({ expect }) => {
    await using sandbox = await startSandbox({ account: { perSecond: 40 }, latencyMs: [20, 200] })
    await using place = await workspace(sandbox)
    const job = await place.file('job.csv', queriesCsv(400))

    const { code } = await place.run(['run', job])

    expect(code).toBe(0)
    expect(sandbox.ledger.refusals).toBe(0)
    expect(sandbox.ledger.maxInWindow(1000)).toBeLessThanOrEqual(40)
    const sent = sandbox.ledger.requestsFor(({ operation }) => operation === 'alpha.search')
    expect(sent).toHaveLength(400)
    const seconds = ((sent.at(-1)?.at ?? 0) - (sent[0]?.at ?? 0)) / 1000
    expect(sent.length / (seconds * 40)).toBeGreaterThan(0.9)
  },
)

test.concurrent(
  '230 queries with 40 per second and 200 per minute allowed: 190 to 200 are sent in 12 s, none refused',
  again,
  async ({ expect }) => {
    await using sandbox = await startSandbox({ account: { perSecond: 40, perMinute: 200 } })
    await using place = await workspace(sandbox)
    const job = await place.file('job.csv', queriesCsv(230))

    const { child, ended } = place.start(['run', job, '--json'])
    const stop = setTimeout(() => child.kill('SIGINT'), 12_000)
    const { code, stdout } = await ended
    clearTimeout(stop)

    expect(code).toBe(130)
    expect(sandbox.ledger.refusals).toBe(0)
    const sent = sandbox.ledger.requestsFor(({ operation }) => operation === 'alpha.search').length
    expect(sent).toBeGreaterThanOrEqual(190)
    expect(sent).toBeLessThanOrEqual(200)
    const document = JSON.parse(stdout)
    expect(document).toMatchObject({
      finish_reason: 'interrupted',
      tasks: { planned: 230, done: sent, pending: 230 - sent, failed: 0 },
      credits: { spent: sandbox.ledger.charged, ambiguous: 0 },
    })
  },
)
