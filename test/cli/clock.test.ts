import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/server.ts'
import type { Workspace } from '../support/rankline.ts'
import { staged, waitWhile } from './staged.ts'

const hour = 3_600_000
const file = 'the-clock-is-set'

/** A clock that is off by as much as soon as a file is there. */
function clockOff(by: number): Readonly<Record<string, string>> {
  const script = `import { existsSync } from 'node:fs'; const { now } = Date; Date.now = () => now() + (existsSync('${file}') ? ${by} : 0)`
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(script)}` }
}

/** Runs the job once more; the clock is set when so many credits are charged. */
async function runWhileClockIsSet(place: Workspace, sandbox: Sandbox, by: number, at: number) {
  const { ended } = place.start(['run', 'job.csv', '--json', '--concurrency', '4'], clockOff(by))
  await waitWhile(() => sandbox.ledger.charged < at)
  await place.file(file, '')
  const { code, stdout, stderr } = await ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('bug') })
  return JSON.parse(stdout)
}

test.each([
  ['back', -2 * hour],
  ['forward', 25 * hour],
])(
  'a run whose clock is set %s in mid-run took as long as it took, and leaves the books exact',
  async (_, by) => {
    const { sandbox, place, job } = await staged({ latencyMs: 30 }, 100)
    expect((await place.call(['run', job])).code).toBe(0)
    const run = await runWhileClockIsSet(place, sandbox, by, 140)
    // The clock was set in between.
    const { duration_ms, started_at, finished_at } = run
    expect(Math.abs(Date.parse(finished_at) - Date.parse(started_at) - by)).toBeLessThan(hour)
    expect(duration_ms).toBeGreaterThan(0)
    expect(duration_ms).toBeLessThan(hour)
    const shown = JSON.parse((await place.call(['runs', '2', '--json'])).stdout)
    expect(shown.duration_ms).toBe(duration_ms)

    const after = await place.run(['run', job, '--fresh'], clockOff(by))
    expect(after.code).toBe(0)
    expect(after.stdout).not.toMatch(/spent by others|not counted/)

    expect(sandbox.ledger.charged).toBe(300)
    const { code, stdout } = await place.call(['ledger', 'verify'])
    expect(stdout).toMatch(/\nThe service counted 300 credits, and so does this ledger\.\n$/)
    expect(code).toBe(0)
  },
)
