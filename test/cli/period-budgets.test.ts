import { describe, expect, test } from 'vitest'
import type { Workspace } from '../support/rankline.ts'
import { staged, waitWhile } from './staged.ts'

const hour = 3_600_000

/** A clock that is off by as much. */
function clockOff(ms: number): Readonly<Record<string, string>> {
  const script = `const { now } = Date; Date.now = () => now() + ${ms}`
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(script)}` }
}

/** How far the clock must be set so that it shows a time of today, or of so many days later, in a far zone. */
function untilClock(localHour: number, days = 0): number {
  const local = Date.now() + 14 * hour
  const midnight = Math.floor(local / (24 * hour)) * 24 * hour
  return midnight + days * 24 * hour + localHour * hour - local
}

/** Where it is 14 hours later than in UTC. */
const far = 'timezone: Pacific/Kiritimati\n'

function queries(count: number): string {
  const lines = Array.from(
    { length: count },
    (_, index) => `  - { query: word ${index}, priority: ${index} }`,
  )
  return `queries:\n${lines.join('\n')}\n`
}

const bought = (place: Workspace) =>
  place.sql<{ query: string }>("SELECT query FROM tasks WHERE state = 'done'").map(({ query }) => query)

describe('per_day', () => {
  test('lets through the most urgent queries until it is reached, for all runs of a local day', async () => {
    const { sandbox, place } = await staged()
    const job = await place.file('acme.yaml', `${far}budget: { per_day: 5 }\n${queries(12)}`)
    const morning = untilClock(9)

    const first = await place.run(['run', job, '--json'], clockOff(morning))

    expect(first.code).toBe(4)
    expect(first.stderr).toMatch(
      /^per_day of acme is reached: 0 of 5 credits are left until \d{4}-\d\d-\d\d begins \(Pacific\/Kiritimati\)\. The rest stays open; run the same command again then, or raise the limit\.$/m,
    )
    // Said once, not once more as a warning.
    expect(first.stderr.match(/per_day/g)).toHaveLength(1)
    expect(JSON.parse(first.stdout)).toMatchObject({
      ...{ finish_reason: 'budget', limits_reached: ['per_day of acme'] },
      ...{ tasks: { done: 5, pending: 7 }, credits: { spent: 5 } },
    })
    expect(bought(place).sort()).toEqual([7, 8, 9, 10, 11].map((n) => `word ${n}`).sort())

    const evening = clockOff(untilClock(23))
    for (const again of [[], ['--fresh']]) {
      const { code, stdout } = await place.run(['run', job, ...again], evening)
      expect({ code, charged: sandbox.ledger.charged }).toEqual({ code: 4, charged: 5 })
      expect(stdout).toContain('Stopped by per_day of acme; the same command continues when that begins anew')
    }

    const next = await place.run(['run', job, '--json'], clockOff(untilClock(1, 1)))
    expect(next.code).toBe(4)
    expect(sandbox.ledger.charged).toBe(10)
    const raised = await place.run(['run', job, '--per-day', '100'], clockOff(untilClock(2, 1)))
    expect(raised.code).toBe(0)
    // Five on the first day, and the twelve of the run that began anew.
    expect(sandbox.ledger.charged).toBe(17)
  })

  test('counts what a killed process had in the air', async () => {
    const { sandbox, place } = await staged({ latencyMs: 100 })
    const job = await place.file('acme.yaml', `budget: { per_day: 8 }\n${queries(30)}`)
    const noon = clockOff(Math.floor(Date.now() / (24 * hour)) * 24 * hour + 12 * hour - Date.now())
    const { child, ended } = place.start(['run', job, '--concurrency', '4'], noon)
    await waitWhile(() => sandbox.ledger.charged < 2)
    child.kill('SIGKILL')
    await ended

    const { code } = await place.run(['run', job], noon)

    expect(code).toBe(4)
    expect(sandbox.ledger.charged).toBeGreaterThan(4)
    expect(sandbox.ledger.charged).toBeLessThanOrEqual(8)
    const [{ counted = 0 } = {}] = place.sql<{ counted: number }>(
      'SELECT sum(credits) AS counted FROM calls WHERE billed IS NOT 0',
    )
    expect(counted).toBe(8)
  })
})

test('per_month is warned of when most of it is used, and ends with the month', async () => {
  const { sandbox, place } = await staged()
  const job = await place.file(
    'acme.yaml',
    `${far}budget: { per_month: 12, max_credits: 100 }\n${queries(10)}`,
  )
  const today = untilClock(12)

  const first = await place.run(['run', job], clockOff(today))

  expect(first.code).toBe(0)
  expect(first.stderr).toMatch(
    /^per_month of acme: 10 of 12 credits are used, 2 left until \d{4}-\d\d-01 begins \(Pacific\/Kiritimati\)\.$/m,
  )
  expect((await place.run(['run', job], clockOff(today))).code).toBe(4)
  expect(sandbox.ledger.charged).toBe(12)
  const nextMonth = await place.run(['run', job, '--fresh'], clockOff(today + 32 * 24 * hour))
  expect(nextMonth.code).toBe(0)
  expect(sandbox.ledger.charged).toBe(22)
})

test('80 % of max_credits is warned of', async () => {
  const { place } = await staged()
  const job = await place.file('acme.yaml', `budget: { max_credits: 10 }\n${queries(8)}`)
  const { code, stderr } = await place.call(['run', job])
  expect(code).toBe(0)
  expect(stderr).toContain('max_credits of acme: 8 of 10 credits are used, 2 left.\n')
})
