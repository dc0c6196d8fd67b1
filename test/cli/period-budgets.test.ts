import { describe, expect, test } from 'vitest'
import type { Workspace } from '../support/rankline.ts'
import { callAt, staged, waitWhile } from './staged.ts'

const hour = 3_600_000

/** The environment of a process whose clock is off by as much. */
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

function queries(count: number, word = 'word'): string {
  const lines = Array.from(
    { length: count },
    (_, index) => `  - { query: ${word} ${index}, priority: ${index} }`,
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

    const first = await callAt(place, morning, 'run', job, '--json')

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

    const evening = untilClock(23)
    for (const again of [[], ['--fresh']]) {
      const { code, stdout } = await callAt(place, evening, 'run', job, ...again)
      expect({ code, charged: sandbox.ledger.charged }).toEqual({ code: 4, charged: 5 })
      expect(stdout).toContain('Stopped by per_day of acme; the same command continues when that begins anew')
    }

    const next = await callAt(place, untilClock(1, 1), 'run', job, '--json')
    expect(next.code).toBe(4)
    expect(sandbox.ledger.charged).toBe(10)
    const raised = await callAt(place, untilClock(2, 1), 'run', job, '--per-day', '100')
    expect(raised.code).toBe(0)
    // Five on the first day, and the twelve of the run that began anew.
    expect(sandbox.ledger.charged).toBe(17)
  })

  test('that covers no call on any day is said as that: to wait does not help', async () => {
    const { sandbox, place } = await staged()
    const job = await place.file('acme.yaml', `budget: { per_day: 0 }\n${queries(2)}`)
    const { code, stdout, stderr } = await place.call(['run', job])
    expect([code, sandbox.ledger.charged]).toEqual([4, 0])
    expect(stderr).toContain(
      'per_day of acme allows 0 credits, and a call costs 1: it covers none, on any day. Raise it, then run the same command again.',
    )
    expect(stdout).toContain('the same command continues when that begins anew, or is raised')
  })

  test('counts what a killed process had in the air', async () => {
    const { sandbox, place } = await staged({ latencyMs: 100 })
    const job = await place.file('acme.yaml', `budget: { per_day: 8 }\n${queries(30)}`)
    const noon = untilClock(12)
    const { child, ended } = place.start(['run', job, '--concurrency', '4'], clockOff(noon))
    await waitWhile(() => sandbox.ledger.charged < 2)
    child.kill('SIGKILL')
    await ended

    const { code } = await callAt(place, noon, 'run', job)

    expect(code).toBe(4)
    expect(sandbox.ledger.charged).toBeGreaterThan(4)
    expect(sandbox.ledger.charged).toBeLessThanOrEqual(8)
    const [{ counted = 0 } = {}] = place.sql<{ counted: number }>(
      'SELECT sum(credits) AS counted FROM calls WHERE billed IS NOT 0',
    )
    expect(counted).toBe(8)
  })
})

test('a run that goes on past midnight counts each credit on the day on which it was sent', async () => {
  const { sandbox, place } = await staged({ latencyMs: 30 })
  const job = await place.file('acme.yaml', `${far}budget: { per_day: 20 }\n${queries(60)}`)
  // Late in the evening until the file is there, and then early in the morning.
  const [evening, morning] = [untilClock(22), untilClock(2, 1)]
  const script = `import { existsSync } from 'node:fs'; const { now } = Date; Date.now = () => now() + (existsSync('morning') ? ${morning} : ${evening})`
  const clock = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(script)}` }
  const { ended } = place.start(['run', job, '--concurrency', '4'], clock)
  await waitWhile(() => sandbox.ledger.charged < 8)
  await place.file('morning', '')
  const { code } = await ended

  expect(code).toBe(4)
  const days = place.sql<{ credits: number }>(
    "SELECT sum(credits) AS credits FROM calls WHERE billed = 1 GROUP BY date(sent_at, '+14 hours') ORDER BY 1",
  )
  expect(days).toHaveLength(2)
  for (const { credits } of days) expect(credits).toBeLessThanOrEqual(20)
  // All of the new day, and what was sent on the old one.
  expect(Math.max(...days.map(({ credits }) => credits))).toBe(20)
  expect(sandbox.ledger.charged).toBe(days.reduce((sum, { credits }) => sum + credits, 0))
})

test('per_month is warned of when most of it is used, and ends with the month', async () => {
  const { sandbox, place } = await staged()
  const job = await place.file(
    'acme.yaml',
    `${far}budget: { per_month: 12, max_credits: 100 }\n${queries(10)}`,
  )
  const today = untilClock(12)

  const first = await callAt(place, today, 'run', job)

  expect(first.code).toBe(0)
  expect(first.stderr).toMatch(
    /^per_month of acme: 10 of 12 credits are used, 2 left until \d{4}-\d\d-01 begins \(Pacific\/Kiritimati\)\.$/m,
  )
  expect((await callAt(place, today, 'run', job)).code).toBe(4)
  expect(sandbox.ledger.charged).toBe(12)
  const nextMonth = await callAt(place, today + 32 * 24 * hour, 'run', job, '--fresh')
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

describe('rankline.yaml', () => {
  test('limits all jobs of its folder together where they are fitted into the balance', async () => {
    const { sandbox, place } = await staged()
    await place.file('rankline.yaml', 'defaults: { timezone: Pacific/Kiritimati }\nbudget: { per_day: 6 }\n')
    await place.file('a.yaml', queries(4, 'a'))
    await place.file('b.yaml', queries(4, 'b'))
    const both = ['a.yaml', 'b.yaml', '--fit-balance', '--json']

    const plan = await callAt(place, untilClock(12), 'plan', ...both)
    const run = await callAt(place, untilClock(12), 'run', ...both)

    const none = { queries: 0, credits: 0 }
    const one = { queries: 1, credits: 1 }
    expect(JSON.parse(plan.stdout)).toMatchObject([{ left_out: one }, { left_out: one }])
    expect(JSON.parse(run.stdout)).toMatchObject([{ left_out: one }, { left_out: one }])
    expect([run.code, sandbox.ledger.charged]).toEqual([0, 6])
    // Each by itself would fit.
    const alone = await callAt(place, untilClock(12, 1), 'plan', 'b.yaml', '--fit-balance', '--json')
    expect(JSON.parse(alone.stdout)).toMatchObject({ left_out: none })
  })

  test('limits all jobs of its folder together, whichever command collects them', async () => {
    const { sandbox, place } = await staged()
    await place.file('rankline.yaml', 'defaults: { timezone: Pacific/Kiritimati }\nbudget: { per_day: 9 }\n')
    await place.file('a.yaml', queries(4, 'a'))
    await place.file('b.yaml', queries(4, 'b'))
    await place.file('c.yaml', queries(4, 'c'))
    // A workspace of its own; without that file its jobs would be jobs of this one.
    await place.file('elsewhere/rankline.yaml', '')
    await place.file('elsewhere/d.yaml', queries(4, 'd'))
    const noon = untilClock(12)

    expect((await callAt(place, noon, 'run', 'a.yaml')).code).toBe(0)
    const both = await callAt(place, noon, 'run', 'b.yaml', 'c.yaml', '--json')
    expect(both.code).toBe(4)
    expect(
      both.stderr.match(/^per_day in rankline\.yaml is reached: 0 of 9 credits are left until /gm),
    ).toHaveLength(1)
    expect(sandbox.ledger.charged).toBe(9)
    expect((await callAt(place, noon, 'run', 'elsewhere/d.yaml')).code).toBe(0)

    const plan = await callAt(place, noon, 'plan', 'b.yaml', 'c.yaml', '--json')
    const limit = { limit: 'per_day', of: 'folder', credits: 9, used: 9, left: 0 }
    expect(JSON.parse(plan.stdout)).toMatchObject([
      { credits: { covered: 0 }, limits: [limit] },
      { credits: { covered: 0 }, limits: [limit] },
    ])
    expect(
      plan.stderr.match(/per_day in rankline.yaml: 9 of 9 credits are used, 0 left until/g),
    ).toHaveLength(1)

    const next = await callAt(place, untilClock(12, 1), 'run', 'b.yaml', 'c.yaml')
    expect(next.code).toBe(0)
    expect(sandbox.ledger.charged).toBe(16)
  })

  test('limits the queries of a tag in all jobs, and lets others through', async () => {
    const { sandbox, place } = await staged()
    await place.file(
      'rankline.yaml',
      'budget: { by_tag: { acme: { per_month: 5 }, rival: { per_month: 100 } } }\n',
    )
    const tagged = Array.from(
      { length: 4 },
      (_, n) => `  - { query: acme ${n}, priority: 5, tags: [acme, rival] }`,
    )
    const others = ['  - { query: other, tags: [rival] }', '  - plain']
    await place.file('a.yaml', `queries:\n${[...tagged, ...others].join('\n')}\n`)
    await place.file('b.yaml', `pages: 2\nqueries:\n${[...tagged, ...others].join('\n')}\n`)

    expect((await callAt(place, untilClock(12), 'run', 'a.yaml')).code).toBe(0)
    expect(sandbox.ledger.charged).toBe(6)
    const { code, stdout, stderr } = await callAt(place, untilClock(12), 'run', 'b.yaml', '--json')

    expect(code).toBe(4)
    expect(stderr).toMatch(
      /^per_month of the tag acme in rankline\.yaml is reached: 0 of 5 credits are left until /m,
    )
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ finish_reason: 'budget', limits_reached: ['per_month of the tag acme in rankline.yaml'] },
      tasks: { done: 5, pending: 7 },
    })
    const done = place.sql<{ query: string; n: number }>(
      "SELECT query, count(*) AS n FROM tasks WHERE run_id = 2 AND state = 'done' GROUP BY query ORDER BY query",
    )
    expect(done).toEqual([
      { query: 'acme 0', n: 1 },
      { query: 'other', n: 2 },
      { query: 'plain', n: 2 },
    ])
    const plan = await callAt(place, untilClock(12), 'plan', 'b.yaml')
    expect(plan.stdout).toMatch(/per_month of the tag acme in rankline\.yaml: 0 of 5 credits left until /)
    expect(plan.stdout).toMatch(/per_month of the tag rival in rankline\.yaml: 92 of 100 credits left until /)

    await place.file('rankline.yaml', 'budget: { by_tag: { acme: { per_month: 12 } } }\n')
    expect((await callAt(place, untilClock(12), 'resume')).code).toBe(0)
    expect(sandbox.ledger.charged).toBe(18)
  })
})
