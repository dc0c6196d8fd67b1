import { statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseMetrics } from '../../support/prometheus.ts'
import { queriesCsv } from '../../support/rankline.ts'
import { type Stage, stage } from '../../support/stage.ts'

let here: Stage
beforeEach(async () => {
  here = await stage({ account: { subscription: { total: 20 } } })
})
afterEach(() => here[Symbol.asyncDispose]())

async function metrics(file = 'rankline.prom'): Promise<Readonly<Record<string, number>>> {
  const samples = parseMetrics(await here.place.read(file))
  return Object.fromEntries(
    samples.map(({ name, labels, value }) => [
      [name.replace('rankline_', ''), ...Object.values(labels)].join(' '),
      value,
    ]),
  )
}

test('after each run the file tells of all jobs, also after one that stopped for money', async () => {
  const { place } = here
  await place.file('first.csv', queriesCsv(3))
  const queries = Array.from({ length: 30 }, (_, index) => `word ${index}`)
  await place.file(
    'second.yaml',
    `alerts: [{ when: coverage, below: 90 }]\nqueries: [${queries.join(', ')}]\n`,
  )
  const first = await place.call(['run', 'first.csv', '--metrics-file', 'rankline.prom'])
  expect(first).toMatchObject({ code: 0, stderr: '' })
  const started = Date.now() / 1000
  expect(await metrics()).toEqual({
    'last_success_timestamp_seconds first': expect.closeTo(started, -2),
    'last_run_timestamp_seconds first': expect.closeTo(started, -2),
    'run_credits first': 3,
    'run_tasks first done': 3,
    'run_tasks first failed': 0,
    'run_tasks first pending': 0,
    'coverage_ratio first': 1,
    balance_credits: 17,
    'alerts_open first': 0,
  })

  expect((await place.call(['run', 'second.yaml'], { RANKLINE_METRICS: 'rankline.prom' })).code).toBe(4)
  const after = await metrics()
  expect(after).toMatchObject({
    'run_credits first': 3,
    'alerts_open first': 0,
    'alerts_open second': 1,
    'run_tasks second done': 17,
    'run_tasks second pending': 13,
    'coverage_ratio second': expect.closeTo(17 / 30),
    balance_credits: 0,
  })
  expect(after).toHaveProperty('last_run_timestamp_seconds second')
  expect(after).not.toHaveProperty('last_success_timestamp_seconds second')
})

test('another user may read the file, whatever the mask of the process', async () => {
  const { place } = here
  await place.file('job.csv', queriesCsv(1))
  const mask = process.umask(0o077)
  const { code } = await place
    .call(['run', 'job.csv', '--metrics-file', 'rankline.prom'])
    .finally(() => process.umask(mask))
  expect(code).toBe(0)
  expect(statSync(join(place.folder, 'rankline.prom')).mode & 0o777).toBe(0o644)
})

test.each([
  [['--metrics-file', 'no/such/rankline.prom'], {}, 'The folder no/such, for --metrics-file, does not exist'],
  [
    [],
    { RANKLINE_METRICS: 'no/such/rankline.prom' },
    'The folder no/such, for RANKLINE_METRICS, does not exist',
  ],
  [['--metrics-file', ''], {}, '--metrics-file is empty'],
  [['--metrics-file', 'job.csv'], {}, 'job.csv is there and is not a file of metrics'],
] as const)(
  'a file that cannot be written is refused before anything is sent: %j %j',
  async (flags, env, why) => {
    const { place, sandbox } = here
    await place.file('job.csv', queriesCsv(1))
    const { code, stderr } = await place.call(['run', 'job.csv', ...flags], env)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(why) })
    expect(sandbox.ledger.requests).toEqual([])
  },
)
