import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dueCollector } from '../../src/cli/commands/collect/schedule.ts'
import { stopSignal } from '../../src/collect/stop.ts'
import { systemClock } from '../../src/model/time.ts'
import { aJob } from '../run/build.ts'
import { queriesCsv } from '../support/rankline.ts'
import { aTerminal } from '../support/terminal.ts'
import { callQuickly, staged, waitWhile } from './staged.ts'

const isSearch = ({ operation }: { operation: string | null }) => operation === 'alpha.search'

test.each([1, 40])(
  'a service that fails on all of %i tasks ends with exit 6, and no task is spent on it',
  async (n) => {
    const { sandbox, place, job } = await staged({ rules: [{ do: { status: 500 } }] }, n)

    const down = await callQuickly(place, ['run', job, '--json', '--max-outage', '2s'])

    expect(down.code).toBe(6)
    expect(JSON.parse(down.stdout)).toMatchObject({
      finish_reason: 'unavailable',
      tasks: { planned: n, done: 0, failed: 0, pending: n },
    })
    expect(down.stderr).toContain('the service fails on alpha')
    // One probe at a time, with pauses that grow: far from eight calls for each task.
    if (n > 1) expect(sandbox.ledger.requestsFor(isSearch).length).toBeLessThan(2.5 * n)

    sandbox.control({ rules: [] })
    const up = await callQuickly(place, ['run', job, '--json'])
    expect(up.code).toBe(0)
    expect(JSON.parse(up.stdout)).toMatchObject({ run: 1, tasks: { done: n, failed: 0 } })
    expect(sandbox.ledger.charged).toBe(n)
  },
)

test('an engine that is down stops no other engine, and is asked again when it is back', async () => {
  const { sandbox, place } = await staged({ rules: [{ operation: 'gamma.search', do: { status: 500 } }] })
  const rows = Array.from(
    { length: 60 },
    (_, index) => `query ${index},${index % 2 ? 'gamma' : 'alpha'}.search`,
  )
  const job = await place.file('job.csv', `query,operation\n${rows.join('\n')}\n`)

  const ended = callQuickly(place, ['run', job, '--json', '--concurrency', '8'])
  await waitWhile(() => sandbox.ledger.requestsFor(isSearch).length < 30)
  sandbox.control({ rules: [] })
  const { code, stdout, stderr } = await ended

  expect(code).toBe(0)
  expect(JSON.parse(stdout).tasks).toMatchObject({ done: 60, failed: 0 })
  expect(stderr).toContain('gamma fails')
  expect(stderr).toContain('gamma is back')
})

test('an engine that stays down ends the run with exit 6 once the others are done', async () => {
  const { place } = await staged({ rules: [{ operation: 'gamma.search', do: { status: 500 } }] })
  const rows = Array.from(
    { length: 40 },
    (_, index) => `query ${index},${index % 2 ? 'gamma' : 'alpha'}.search`,
  )
  const job = await place.file('job.csv', `query,operation\n${rows.join('\n')}\n`)

  const { code, stdout } = await callQuickly(place, ['run', job, '--json', '--max-outage', '2s'])

  expect(code).toBe(6)
  expect(JSON.parse(stdout).tasks).toMatchObject({ done: 20, failed: 0, pending: 20 })
})

test('queries that the service cannot stand fail by themselves; the others go on', async () => {
  const { place } = await staged({ rules: [{ query: 'bad', do: { status: 500 } }] })
  const job = await place.file('job.csv', `${queriesCsv(30)}bad one\nbad two\n`)

  const { code, stdout } = await callQuickly(place, ['run', job, '--json'])

  expect(code).toBe(3)
  expect(JSON.parse(stdout).tasks).toMatchObject({ done: 30, failed: 2 })
})

test('the snapshot of an engine that is down stops new work for it before most calls have failed', async () => {
  const rules = [{ probability: 0.35, times: 12, do: { status: 500 } }]
  const { sandbox, place, job } = await staged({ rules }, 80)
  sandbox.control({ stats: { alpha: { successRate: 20 } } })

  const { code, stderr } = await callQuickly(place, ['run', job, '--concurrency', '4'])

  expect(code).toBe(0)
  expect(sandbox.ledger.requestsFor(({ operation }) => operation === 'stats')).toHaveLength(1)
  expect(stderr).toContain('alpha fails')
})

test('a service that answers with pages of something else is paid for a few of them, ends with exit 6, and is tried with one call', async () => {
  const { sandbox, place } = await staged({
    rules: [
      { operation: 'alpha.search', do: { latency: 20 } },
      { operation: 'alpha.search', do: { garble: true } },
    ],
  })
  const rows = Array.from(
    { length: 100 },
    (_, index) => `query ${index},alpha.${index % 4 ? 'search' : 'news'}`,
  )
  const job = await place.file('job.csv', `query,operation\n${rows.join('\n')}\n`)
  const run = () => callQuickly(place, ['run', job, '--json', '--max-outage', '1s', '--concurrency', '8'])
  const searches = () => sandbox.ledger.requestsFor(isSearch).length

  const first = await run()
  const paid = searches()

  expect(first.code).toBe(6)
  // Those before it stopped, those in the air then, and one probe.
  expect(paid).toBeLessThanOrEqual(20 + 7 + 1)
  expect(JSON.parse(first.stdout)).toMatchObject({
    finish_reason: 'unavailable',
    tasks: { done: 25, failed: paid, pending: 75 - paid },
    credits: { spent: 25 + paid },
  })
  expect(first.stderr).toContain(
    'alpha.search answers with something that is not search results: the answer is not JSON',
  )
  expect(first.stderr).toContain(`So did ${paid} of ${paid} answers; they were billed`)
  expect(first.stderr).not.toContain('retry')
  expect(place.sql('SELECT count(*) AS n FROM raw_answers')).toEqual([{ n: 25 + paid }])

  const second = await callQuickly(place, ['run', job, '--json'])
  expect([second.code, searches() - paid]).toEqual([6, 1])
  expect(second.stderr).toContain(
    '"hint":"One call was tried; it was billed, and its answer is stored. Ask the service',
  )

  sandbox.control({ rules: [] })
  const third = await run()
  expect(third.code).toBe(3)
  expect(JSON.parse(third.stdout).tasks).toMatchObject({ done: 100 - paid - 1, failed: paid + 1, pending: 0 })
  const again = await place.call(['retry', '1'])
  expect([again.code, sandbox.ledger.charged]).toEqual([0, 100 + paid + 1])
})

test('what few answers of no use have stopped costs the scheduler one call each time', async () => {
  const { sandbox, place } = await staged({
    rules: [{ operation: 'alpha.search', after: 30, do: { garble: true } }],
  })
  const queries = Array.from({ length: 60 }, (_, index) => `query ${index}`)
  const path = join(place.folder, 'job.yaml')
  await place.file('job.yaml', `every: 1d\nqueries: [${queries.join(', ')}]\n`)
  await place.file('key', sandbox.key)
  const searches = () => sandbox.ledger.requestsFor(isSearch).length
  expect((await place.call(['run', 'job.yaml', '--max-outage', '0s', '--concurrency', '1'])).code).toBe(6)
  expect(searches()).toBeLessThan(30 + 20)
  const files = { db: join(place.folder, 'data/rankline.db'), apiKeyFile: join(place.folder, 'key') }
  const scheduled = dueCollector({ ...files, baseUrl: sandbox.url }, aTerminal(), systemClock)
  const form = { path, settings: aJob({ name: 'job' }), isBroken: false, text: Buffer.alloc(0) }
  for (const paid of [searches() + 1, searches() + 2]) {
    const ends = await scheduled([form], stopSignal(), true)
    expect([searches(), ends.get('job')?.retry]).toEqual([paid, 'paid'])
  }
})

const waste = [
  { do: { garble: true }, rows: 'answers with something that is not search results: the answer is not JSON' },
  { do: { status: 404 }, rows: 'gives no search results: HTTP 404 (Not Found)' },
] as const

test.each(waste)(
  'an operation whose calls all end so ($do), and what waits for the rate then, cost a few calls: no more than 28 from the start',
  async ({ do: fault, rows }) => {
    // Many more than can be on their way on a slow machine, so that the run never ends before it is stopped.
    const queries = 300
    const { sandbox, place, job } = await staged(
      {
        account: { perSecond: 40, chargeFor404: true },
        latencyMs: 200,
        rules: [{ operation: 'alpha.search', do: fault }],
      },
      queries,
    )
    const run = (...flags: readonly string[]) =>
      place.call(['run', job, '--json', '--max-outage', '0s', ...flags])

    const first = await run()
    const paid = sandbox.ledger.charged

    expect(first.code).toBe(6)
    expect(paid).toBeGreaterThanOrEqual(20)
    expect(paid).toBeLessThanOrEqual(28)
    expect(first.stderr).toContain(`alpha.search ${rows}`)
    const { finish_reason, tasks, credits } = JSON.parse(first.stdout)
    expect([finish_reason, tasks.done, tasks.failed, tasks.pending]).toEqual([
      'unavailable',
      0,
      paid,
      queries - paid,
    ])
    expect(credits.spent + credits.ambiguous).toBe(paid)

    // One call finds out whether it has passed.
    expect([(await run()).code, sandbox.ledger.charged]).toEqual([6, paid + 1])
    // After answers that could be used: twenty, and those on their way then. With eight at once, that hardly depends on how slow the machine is.
    sandbox.control({ rules: [{ operation: 'alpha.search', after: 60, do: fault }] })
    expect((await run('--concurrency', '8')).code).toBe(6)
    const wasted = sandbox.ledger.charged - paid - 1 - 60
    expect(wasted).toBeLessThanOrEqual(20 + 2 * 8)
  },
)

test.each([{ cut: true }, { hangUp: 'after' }] as const)(
  'a service that bills calls and loses their answers (%o) is paid for a few of them, and ends the run with exit 6',
  async (fault) => {
    const { sandbox, place, job } = await staged({ rules: [{ operation: 'alpha.search', do: fault }] }, 100)
    const run = () => callQuickly(place, ['run', job, '--json', '--max-outage', '1s', '--concurrency', '8'])

    const lost = await run()

    expect(lost.code).toBe(6)
    expect(JSON.parse(lost.stdout)).toMatchObject({
      finish_reason: 'unavailable',
      tasks: { done: 0 },
      credits: { spent: 0, ambiguous: sandbox.ledger.charged },
    })
    // Those until it stopped, those in the air then, and one probe.
    expect(sandbox.ledger.charged).toBeLessThanOrEqual(20 + 7 + 1)
    expect(lost.stderr).toContain('Most calls to alpha are lost')

    sandbox.control({ rules: [] })
    expect(JSON.parse((await run()).stdout).tasks).toMatchObject({ pending: 0 })
  },
)
