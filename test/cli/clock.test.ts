import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/server.ts'
import type { Workspace } from '../support/rankline.ts'
import { callAt, staged, waitWhile } from './staged.ts'

const hour = 3_600_000
const day = 24 * hour
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
    const { sandbox, place, job } = await staged({}, 20)
    expect((await place.call(['run', job])).code).toBe(0)
    sandbox.control({ latencyMs: 160 })
    const run = await runWhileClockIsSet(place, sandbox, by, 28)
    sandbox.control({ latencyMs: 0 })
    // The clock was set in between.
    const { duration_ms, started_at, finished_at } = run
    expect(Math.abs(Date.parse(finished_at) - Date.parse(started_at) - by)).toBeLessThan(hour)
    expect(duration_ms).toBeGreaterThan(0)
    expect(duration_ms).toBeLessThan(hour)
    const shown = JSON.parse((await place.call(['runs', '2', '--json'])).stdout)
    expect(shown.duration_ms).toBe(duration_ms)

    const after = await place.run(['run', job, '--fresh', '--trust-clock'], clockOff(by))
    expect(after.code).toBe(0)
    expect(after.stdout).not.toMatch(/spent by others|not counted/)

    expect(sandbox.ledger.charged).toBe(60)
    const { code, stdout } = await place.call(['ledger', 'verify'])
    expect(stdout).toMatch(/\nThe service counted 60 credits, and so does this ledger\.\n$/)
    expect(code).toBe(0)
  },
)

/** The time as a service tells it whose clock is ahead by so much. */
const dateAhead = (ms: number): string => new Date(Date.now() + ms).toUTCString()

test('a clock that the service contradicts by more than a day makes no run, takes no slot and tells nobody, unless it is trusted', async () => {
  const { sandbox, place } = await staged()
  const job = await place.file(
    'acme.yaml',
    'schedule: "* * * * *"\nalerts: [{ when: run-skipped }]\ntargets: [acme.com]\nqueries: [standing desk]\n',
  )
  await place.file('rankline.yaml', 'channels: { log: { type: file, path: alerts.jsonl } }\n')
  sandbox.control({ dateHeader: dateAhead(-400 * day) })
  const wrong =
    /^rankline: The clock of this machine is 400 days ahead of that of the service: .+ add --trust-clock$/m
  for (const args of [
    ['run', job],
    ['run', '--due'],
    ['search', 'alpha.search', 'lamp'],
  ]) {
    const { code, stderr } = await place.call(args)
    expect([args, code]).toEqual([args, 2])
    expect(stderr).toMatch(wrong)
  }
  for (const table of ['runs', 'slots', 'alerts', 'outbox', 'answers'])
    expect([table, place.sql(`SELECT count(*) AS n FROM ${table}`)]).toEqual([table, [{ n: 0 }]])
  const planned = await place.call(['plan', job])
  expect(planned).toMatchObject({ code: 0, stderr: expect.stringContaining('400 days ahead') })

  const trusted = await place.call(['run', job, '--trust-clock'])
  expect(trusted).toMatchObject({ code: 0, stderr: expect.stringContaining('400 days ahead') })
  // A key that is refused is tried once, though its answer was asked for before the run.
  sandbox.control({ dateHeader: 'now', account: { keyActive: false } })
  const asked = sandbox.ledger.requests.length
  expect((await place.call(['run', job, '--fresh'])).code).toBe(5)
  expect(sandbox.ledger.requests.length).toBe(asked + 1)
})

test.each([
  ['ten minutes', () => dateAhead(10 * 60_000 + 9_000), /10 min behind/],
  ['nothing', () => null, null],
  ['no date', () => 'soon', null],
  ['the beginning of time', () => new Date(0).toUTCString(), null],
  ['its end', () => 'Fri, 31 Dec 9999 23:59:59 GMT', null],
])('a service whose Date says %s stops nobody', async (_, dateHeader, line) => {
  const { sandbox, place, job } = await staged({}, 1)
  sandbox.control({ dateHeader: dateHeader() })
  const { code, stderr } = await place.call(['run', job])
  expect(code).toBe(0)
  if (line === null) expect(stderr).not.toContain('clock')
  else expect(stderr).toMatch(line)
})

test('what was stored while the clock was a year ahead is not fresh, not the last day, and nothing is compared with it', async () => {
  const { sandbox, place } = await staged({ sites: ['acme.com'] })
  const job = await place.file(
    'acme.yaml',
    'targets: [acme.com]\ndepth: 10\nfreshness: 12h\nevery: 1d\nqueries: [standing desk, lamp]\n',
  )
  for (const ahead of [-2 * day, -day, 400 * day])
    expect((await callAt(place, ahead, 'run', job)).code).toBe(0)
  const planned = await place.call(['plan', job, '--json'])
  expect(JSON.parse(planned.stdout)).toMatchObject({ credits: { min: 2 } })
  const status = JSON.parse((await place.call(['status', '--json'])).stdout)
  expect(Date.parse(status.jobs[0].last_run.started_at)).toBeLessThan(Date.now())
  expect((await place.call(['run', job, '--due'])).code).toBe(0)
  expect(sandbox.ledger.charged).toBe(8)

  const [today, yesterday] = [0, day].map((ago) => new Date(Date.now() - ago).toISOString().slice(0, 10))
  const rows = JSON.parse((await place.call(['report', job, '--json'])).stdout)
  expect(rows.map(({ date, previous_date }: Record<string, string>) => [date, previous_date])).toEqual([
    [today, yesterday],
    [today, yesterday],
  ])
  const ranks = Object.fromEntries(rows.map(({ query, rank }: Record<string, string>) => [query, rank]))
  const table = (await place.call(['report', job])).stdout
  for (const [query, rank] of Object.entries(ranks))
    expect(table).toMatch(new RegExp(`${query} .*acme\\.com +${rank ?? '>10'}\\b`))
  const [diff] = JSON.parse((await place.call(['diff', job, '--query', 'lamp', '--json'])).stdout)
  expect([diff.from.date, diff.to.date]).toEqual([yesterday, today])
})

test('what is young by the last run stays, however far ahead the clock is', async () => {
  const { sandbox, place, job } = await staged({}, 3)
  expect((await callAt(place, -100 * day, 'run', job)).code).toBe(0)
  expect((await place.call(['run', job])).code).toBe(0)
  const prune = ['db', 'prune', '--answers', '90d']
  sandbox.control({ dateHeader: dateAhead(0) })
  expect(await callAt(place, 730 * day, ...prune)).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('730 days ahead of that of the service') },
  })
  sandbox.control({ dateHeader: null })
  const kept = await callAt(place, 730 * day, ...prune)
  expect(kept.stdout).toMatch(/^Dropped 3 stored bodies/)
  expect(kept.stderr).toMatch(/^Ages count from .+ UTC, when the last run ended: .+ add --trust-clock$/m)
  const dropped = await callAt(place, 730 * day, ...prune, '--trust-clock')
  expect(dropped.stdout).toMatch(/^Dropped 3 stored bodies/)
})
