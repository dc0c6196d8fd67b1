import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/server.ts'
import { queriesCsv, type Workspace } from '../support/rankline.ts'
import { staged, waitWhile } from './staged.ts'

const hour = 3_600_000
const file = 'the-clock-is-set'

/** A clock that is off by as much as soon as a file is there. */
function clockOff(by: number): Readonly<Record<string, string>> {
  const script = `import { existsSync } from 'node:fs'; const { now } = Date; Date.now = () => now() + (existsSync('${file}') ? ${by} : 0)`
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(script)}` }
}

/** Runs a job of 100 queries, in the middle of which the clock is set. */
async function runWhileClockIsSet(place: Workspace, sandbox: Sandbox, by: number, at = 40) {
  const job = await place.file('job.csv', queriesCsv(100))
  const { ended } = place.start(['run', job, '--json', '--concurrency', '4'], clockOff(by))
  await waitWhile(() => sandbox.ledger.charged < at)
  await place.file(file, '')
  const { code, stdout, stderr } = await ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('bug') })
  return JSON.parse(stdout)
}

test.each([
  ['back', -2 * hour],
  ['forward', 25 * hour],
])('a run whose clock is set %s in mid-run took as long as it took', async (_, by) => {
  const { sandbox, place } = await staged({ latencyMs: 30 })
  const { duration_ms, started_at, finished_at } = await runWhileClockIsSet(place, sandbox, by)
  // The clock was set in between.
  expect(Math.abs(Date.parse(finished_at) - Date.parse(started_at) - by)).toBeLessThan(hour)
  expect(duration_ms).toBeGreaterThan(0)
  expect(duration_ms).toBeLessThan(hour)
  const shown = JSON.parse((await place.run(['runs', '1', '--json'])).stdout)
  expect(shown.duration_ms).toBe(duration_ms)
})

test.each([
  ['back', -2 * hour],
  ['forward', 25 * hour],
])('a clock that is set %s in mid-run leaves the books as exact as they were', async (_, by) => {
  const { sandbox, place, job } = await staged({ latencyMs: 30 }, 100)
  expect((await place.run(['run', job])).code).toBe(0)
  await runWhileClockIsSet(place, sandbox, by, 140)
  const after = await place.run(['run', job, '--fresh'], clockOff(by))
  expect(after.code).toBe(0)
  expect(after.stdout).not.toMatch(/spent by others|not counted/)

  expect(sandbox.ledger.charged).toBe(300)
  const { code, stdout } = await place.run(['ledger', 'verify'])
  expect(stdout).toMatch(/\nThe service counted 300 credits, and so does this ledger\.\n$/)
  expect(code).toBe(0)
})
