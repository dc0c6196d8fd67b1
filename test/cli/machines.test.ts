import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { keyHash } from '../../src/app/config.ts'
import { ownerOf } from '../../src/app/lock.ts'
import type { SandboxOptions } from '../../src/sandbox/options.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { keyLock } from '../../src/store/sqlite/connection/lock.ts'
import { type TestPostgres, testPostgres } from '../support/postgres.ts'
import { queriesCsv, type Started, type Workspace, workspace } from '../support/rankline.ts'
import { waitWhile } from './staged.ts'

let server: TestPostgres

beforeAll(async () => {
  server = await testPostgres()
})
afterAll(() => server[Symbol.asyncDispose]())

interface Machines {
  readonly sandbox: Sandbox
  readonly queue: { readonly RANKLINE_QUEUE: string }
  /** A host of its own. */
  readonly host: () => Promise<Workspace>
  /** Starts a worker, which is killed with the test. */
  readonly worker: (...args: readonly string[]) => Promise<Started>
}

/** A service, an empty queue, and hosts that share it. */
async function machines(options: SandboxOptions = {}): Promise<Machines> {
  const sandbox = await startSandbox(options)
  onTestFinished(() => sandbox.close())
  const queue = { RANKLINE_QUEUE: await server.database() }
  const host = async (): Promise<Workspace> => {
    const place = await workspace(sandbox)
    onTestFinished(() => place[Symbol.asyncDispose]())
    return place
  }
  const worker = async (...args: readonly string[]): Promise<Started> => {
    const started = (await host()).start(['worker', '--lease', '1s', ...args], queue)
    onTestFinished(async () => {
      started.child.kill('SIGKILL')
      await started.ended
    })
    return started
  }
  return { sandbox, queue, host, worker }
}

/** Instants differ between two machines; all else must not. */
const atNoon = `UPDATE observations SET observed_at = unixepoch(date('now')) * 1000;
  UPDATE answers_ SET fetched_at = unixepoch(date('now')) * 1000;
  UPDATE runs_ SET started_at = unixepoch(date('now')) * 1000, finished_at = unixepoch(date('now')) * 1000, duration_ms = 0`

const acme = `
timezone: UTC
depth: 30
targets: [acme.com, rival.com]
queries:
${Array.from({ length: 30 }, (_, index) => `  - thing ${index}`).join('\n')}
  - { query: widget, operation: beta.search }
  - { query: gadget, operation: alpha.images }
`

test('the same job gives the same report, byte for byte, on one machine, on several, and on one that only reads', async () => {
  const sites = ['acme.com', 'rival.com']
  const alone = await machines({ sites })
  const shared = await machines({ sites })
  const [one, several, reader] = [await alone.host(), await shared.host(), await shared.host()]
  await shared.worker()
  for (const [place, env] of [
    [one, {}],
    [several, shared.queue],
  ] as const) {
    await place.file('acme.yaml', acme)
    const { code, stderr } = await place.call(['run', 'acme.yaml'], env)
    expect([code, stderr]).toEqual([0, expect.anything()])
  }
  await reader.file('acme.yaml', acme)
  expect(await reader.call(['report', 'acme.yaml', '--sync'], shared.queue)).toMatchObject({ code: 0 })
  expect(shared.sandbox.ledger.charged).toBe(alone.sandbox.ledger.charged)

  const seen = async (place: Workspace): Promise<readonly string[]> => {
    place.change(atNoon)
    const texts: string[] = []
    for (const format of ['csv', 'json', 'md'])
      texts.push((await place.call(['report', 'acme.yaml', '--format', format])).stdout)
    texts.push((await place.call(['export', 'organic', '--format', 'jsonl'])).stdout)
    // The page is part of the built program.
    expect(await place.run(['report', 'acme.yaml', '--out', 'page.html'])).toMatchObject({ code: 0 })
    return [...texts, await place.read('page.html')]
  }
  const expected = await seen(one)
  expect(expected.map((text) => text.length > 1_000)).toEqual(expected.map(() => true))
  expect(await seen(several)).toEqual(expected)
  expect(await seen(reader)).toEqual(expected)
  for (const place of [several, reader])
    expect(await place.call(['ledger', 'verify'])).toMatchObject({ code: 0 })
})

test('a limit holds for the job on all hosts; raised, another host goes on with what is left', async () => {
  const { sandbox, queue, host, worker } = await machines()
  await worker()
  const [first, second] = [await host(), await host()]
  const job = (credits: number) =>
    `name: acme\nbudget: { max_credits: ${credits} }\nqueries:\n${list(40, 'query')}`
  await first.file('acme.yaml', job(10))
  await second.file('elsewhere/other.yaml', job(100))

  const stopped = await first.call(['run', 'acme.yaml', '--json'], queue)

  expect(stopped.code).toBe(4)
  expect(sandbox.ledger.charged).toBe(10)
  expect(JSON.parse(stopped.stdout)).toMatchObject({ tasks: { done: 10 }, credits: { spent: 10 } })
  const ended = await second.call(['run', 'elsewhere/other.yaml', '--json'], queue)
  expect(ended.code).toBe(0)
  expect(JSON.parse(ended.stdout)).toMatchObject({ tasks: { planned: 40, done: 40 } })
  expect(sandbox.ledger.charged).toBe(40)
  expect(second.sql('SELECT count(*) AS runs FROM runs')).toEqual([{ runs: 1 }])
  expect(await second.call(['ledger', 'verify'], queue)).toMatchObject({ code: 0 })
})

test('a coordinator that is killed costs nothing: workers finish what was released, another host goes on', async () => {
  const { sandbox, queue, host, worker } = await machines({ latencyMs: 30 })
  const [first, second] = [await host(), await host()]
  for (const place of [first, second]) await place.file('job.csv', queriesCsv(80))
  await worker()
  const run = first.start(['run', 'job.csv', '--lease', '1s'], queue)
  await waitWhile(() => sandbox.ledger.charged < 5)

  run.child.kill('SIGKILL')

  await run.ended
  const { code, stdout } = await second.call(['run', 'job.csv', '--lease', '1s', '--json'], queue)
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ tasks: { planned: 80, done: 80 } })
  expect(sandbox.ledger.charged).toBe(80)
})

test('two processes of one job take turns, and one that may not wait ends with 7', async () => {
  const { sandbox, queue, host, worker } = await machines({ latencyMs: 30 })
  const [first, second] = [await host(), await host()]
  for (const place of [first, second]) await place.file('job.csv', queriesCsv(60))
  const run = first.start(['run', 'job.csv', '--lease', '2s'], queue)
  // It has the right before it asks for the balance.
  await waitWhile(() => sandbox.ledger.requests.length === 0)

  const refused = await second.call(['run', 'job.csv', '--wait', '0'], queue)

  expect(refused).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('Another process coordinates job'),
  })
  await worker('--once')
  expect(await run.ended).toMatchObject({ code: 0 })
})

test('a queue that is drained stops its runs, loses nothing, and goes on with the same command', async () => {
  const { sandbox, queue, host, worker } = await machines({ latencyMs: 100 })
  const place = await host()
  await place.file('job.csv', queriesCsv(90))
  await worker('--concurrency', '1')
  const run = place.start(['run', 'job.csv', '--lease', '1s'], queue)
  await waitWhile(() => sandbox.ledger.charged < 3)

  expect(await place.call(['queue', 'drain'], queue)).toMatchObject({ code: 0 })

  expect(await run.ended).toMatchObject({ code: 130, stderr: expect.stringContaining('was drained') })
  expect(sandbox.ledger.charged).toBeLessThan(90)
  await worker()
  const again = await place.call(['run', 'job.csv', '--lease', '1s', '--json'], queue)
  expect(again).toMatchObject({ code: 0 })
  expect(JSON.parse(again.stdout)).toMatchObject({ run: 1, tasks: { planned: 90, done: 90 } })
  expect(sandbox.ledger.charged).toBe(90)
})

test('a run that was begun alone is not continued by machines, nor the other way round', async () => {
  const { sandbox, queue, host } = await machines()
  const place = await host()
  await place.file('job.yaml', `budget: { max_credits: 2 }\nqueries: [a, b, c, d]\n`)
  expect((await place.call(['run', 'job.yaml'])).code).toBe(4)
  await place.file('job.yaml', 'queries: [a, b, c, d]\n')

  const refused = await place.call(['run', 'job.yaml'], queue)

  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('was begun without the queue. Finish it without --queue')
  expect(sandbox.ledger.charged).toBe(2)
})

const images = `operation: alpha.images\nasync: always\nqueries:\n${list(3, 'image')}`

test('jobs that a lost worker submitted are polled by another, and submitted once', async () => {
  const { sandbox, queue, host, worker } = await machines({ asyncMs: 2_000 })
  const place = await host()
  await place.file('job.yaml', images)
  const lost = await worker()
  const run = place.start(['run', 'job.yaml', '--json'], queue)
  await waitWhile(() => sandbox.ledger.requestsFor(isPoll).length < 3)

  lost.child.kill('SIGKILL')

  await worker()
  const { code, stdout } = await run.ended
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ tasks: { done: 3 }, credits: { spent: 3, ambiguous: 0 } })
  expect(sandbox.ledger.requestsFor(isSubmission)).toHaveLength(3)
})

test('jobs of a run that was set aside are polled to their end, and nothing else is bought for it', async () => {
  const { sandbox, queue, host, worker } = await machines({ asyncMs: 3_000 })
  const place = await host()
  await place.file('job.yaml', images)
  const first = await worker()
  const run = place.start(['run', 'job.yaml', '--lease', '1s'], queue)
  await waitWhile(() => sandbox.ledger.requestsFor(isPoll).length < 3)
  for (const { child } of [first, run]) child.kill('SIGKILL')
  await Promise.all([first.ended, run.ended])
  await worker()

  const again = ['run', 'job.yaml', '--fresh', '--lease', '1s', '--json']
  const { code, stdout } = await place.call(again, queue)

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ run: 2, tasks: { done: 3 } })
  expect(sandbox.ledger.requestsFor(isSubmission)).toHaveLength(6)
  const spent = () =>
    place.sql('SELECT credits_spent AS spent, credits_ambiguous AS ambiguous FROM runs ORDER BY started_at')
  // Another worker polls them when it comes to it.
  while (JSON.stringify(spent()).includes('"spent":0')) await place.call(['sync'], queue)
  expect(spent()).toEqual([
    { spent: 3, ambiguous: 0 },
    { spent: 3, ambiguous: 0 },
  ])
})

const isPoll = ({ path }: { readonly path: string }) => path.includes('/jobs/')
const isSubmission = ({ operation }: { readonly operation: string | null }) => operation === 'alpha.images'

test('a process of a queue and one without it never collect with one key on one machine at once', async () => {
  const { sandbox, queue, host, worker } = await machines({ latencyMs: 30 })
  const place = await host()
  await place.file('job.csv', queriesCsv(3))
  const { child, ended } = await worker()
  const lock = keyLock(keyHash({ baseUrl: sandbox.url, apiKey: sandbox.key }))
  await waitWhile(() => !ownerOf(lock).includes('queue'))

  const refused = await place.call(['run', 'job.csv', '--wait', '0'])

  expect(refused).toMatchObject({ code: 7, stderr: expect.stringContaining('it works for a queue') })
  child.kill('SIGTERM')
  await ended
  expect(await place.call(['run', 'job.csv', '--wait', '0'])).toMatchObject({ code: 0 })
  expect(await place.call(['worker', '--once'], queue)).toMatchObject({ code: 0 })
})

test('a worker with nothing to do ends at once with --once, and with 0 at SIGTERM', async () => {
  const { queue, host } = await machines()
  const place = await host()
  expect(await place.call(['worker', '--once'], queue)).toMatchObject({ code: 0 })
  const { child, ended } = place.start(['worker', '--health', '0', '--metrics-file', 'worker.prom'], queue)
  let said = ''
  child.stderr?.on('data', (text: string) => {
    said += text
  })
  await waitWhile(() => !said.includes('Health: '))
  const health = await fetch(/Health: (\S+)/.exec(said)?.[1] as string)

  expect(await health.json()).toMatchObject({ status: 'ok', chunks: 0, chunks_done: 0 })
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0 })
  expect(await place.read('worker.prom')).toContain('rankline_worker_connected 1\n')
})

test('a 402 stops the run with 4, and its summary has all that workers had begun', async () => {
  const { sandbox, queue, host, worker } = await machines({
    latencyMs: [20, 400],
    rules: [{ after: 20, do: { status: 402 } }],
  })
  const place = await host()
  await place.file('job.csv', queriesCsv(120))
  await worker()

  const { code, stdout } = await place.call(['run', 'job.csv', '--json'], queue)

  expect(code).toBe(4)
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ finish_reason: 'balance', tasks: { done: 20, pending: 100 }, credits: { spent: 20, ambiguous: 0 } },
  })
  expect(sandbox.ledger.charged).toBe(20)
})

test('a key that the service refuses ends run and worker with 5, and nothing is charged', async () => {
  const { sandbox, queue, host } = await machines()
  const place = await host()
  await place.file('job.csv', queriesCsv(3))

  const refused = await place.call(['run', 'job.csv'], { ...queue, RANKLINE_API_KEY: 'wrong' })

  expect(refused.code).toBe(5)
  expect(sandbox.ledger.charged).toBe(0)
})

test('a search makes its call itself, beside the workers of the queue', async () => {
  const { sandbox, queue, host, worker } = await machines()
  const { child } = await worker()
  const place = await host()
  const lock = keyLock(keyHash({ baseUrl: sandbox.url, apiKey: sandbox.key }))
  await waitWhile(() => !ownerOf(lock).includes('queue'))

  expect(await place.call(['search', 'alpha.search', 'desk', '--wait', '0'], queue)).toMatchObject({
    code: 0,
  })
  expect(sandbox.ledger.charged).toBe(1)
  expect(place.sql('SELECT credits_spent FROM runs')).toEqual([{ credits_spent: 1 }])
  expect(child.exitCode).toBe(null)
})

test('retry buys again what failed, also where an answer was paid for and could not be used, and readers learn of it', async () => {
  const { sandbox, queue, host, worker } = await machines({
    rules: [
      { query: 'thing 1', do: { garble: true } },
      { query: 'thing 2', do: { status: 400 } },
    ],
  })
  await worker()
  const [place, reader] = [await host(), await host()]
  await place.file('job.yaml', `targets: [acme.com]\nqueries:\n${list(4, 'thing')}`)
  expect(await place.call(['run', 'job.yaml'], queue)).toMatchObject({ code: 3 })
  expect(await reader.call(['sync'], queue)).toMatchObject({ code: 0 })
  sandbox.control({ rules: [{ query: 'thing 2', do: { status: 400 } }] })

  const first = await place.call(['retry', '--json'], queue)

  expect(first.code).toBe(3)
  expect(JSON.parse(first.stdout)).toMatchObject({ tasks: { done: 3, failed: 1 }, credits: { spent: 4 } })
  sandbox.control({ rules: [] })
  const second = await place.call(['retry', '--json'], queue)
  expect(second.code).toBe(0)
  expect(JSON.parse(second.stdout)).toMatchObject({ tasks: { done: 4, failed: 0 }, credits: { spent: 5 } })
  expect(sandbox.ledger.charged).toBe(5)
  expect(await reader.call(['sync'], queue)).toMatchObject({ code: 0 })
  const rankings = 'SELECT query, target, state, rank, exactness FROM rankings ORDER BY query'
  expect(reader.sql(rankings)).toEqual(place.sql(rankings))
  expect(place.sql("SELECT count(*) AS count FROM rankings WHERE state = 'unknown'")).toEqual([{ count: 0 }])
})

test('what costs nothing needs no credits: answers of the other job, and those that are fresh enough', async () => {
  const { sandbox, queue, host, worker } = await machines({ account: { subscription: { total: 5 } } })
  await worker()
  const place = await host()
  const queries = `queries:\n${list(5, 'thing')}`
  await place.file('one.yaml', `freshness: 12h\n${queries}`)
  await place.file('two.yaml', queries)

  expect(await place.call(['run', 'one.yaml', 'two.yaml'], queue)).toMatchObject({ code: 0 })

  const again = await place.call(['run', 'one.yaml', '--fresh', '--json'], queue)
  expect(again.code).toBe(0)
  expect(JSON.parse(again.stdout)).toMatchObject({ tasks: { done: 5, reused: 5 }, credits: { spent: 0 } })
  expect(sandbox.ledger.charged).toBe(5)
})

test('an answer to another question is no fresh answer for a later run', async () => {
  const answerAs = { query: 'thing 3', times: 1, do: { answerAs: { q: 'other' } } }
  const { sandbox, queue, host, worker } = await machines({ rules: [answerAs] })
  await worker()
  const place = await host()
  await place.file('job.yaml', `freshness: 12h\nqueries:\n${list(5, 'thing')}`)
  expect(await place.call(['run', 'job.yaml'], queue)).toMatchObject({ code: 0 })

  const { stdout } = await place.call(['run', 'job.yaml', '--fresh', '--json'], queue)

  expect(JSON.parse(stdout)).toMatchObject({ tasks: { done: 5, reused: 4 }, credits: { spent: 1 } })
  expect(sandbox.ledger.charged).toBe(6)
})

test('a limit that is reached is said once, with what is left when all that was released is bought', async () => {
  const { queue, host, worker } = await machines()
  await worker()
  const place = await host()
  await place.file('job.yaml', `budget: { per_day: 3 }\nqueries:\n${list(5, 'thing')}`)

  for (const _ of ['first', 'again']) {
    const { code, stderr } = await place.call(['run', 'job.yaml'], queue)
    expect(code).toBe(4)
    expect(stderr.match(/per_day of job.*/g)).toEqual([
      expect.stringContaining('is reached: 0 of 3 credits are left'),
    ])
  }
})

test('a service whose answers cannot be used is stopped after some, over all chunks', async () => {
  const { sandbox, queue, host, worker } = await machines({ rules: [{ do: { garble: true } }] })
  await worker('--max-outage', '1s')
  const place = await host()
  await place.file('job.csv', queriesCsv(300))

  const { code, stderr } = await place.call(['run', 'job.csv', '--max-outage', '1s'], queue)

  expect([code, stderr]).toEqual([
    6,
    expect.stringContaining('answers with something that is not search results'),
  ])
  expect(sandbox.ledger.charged).toBeLessThan(150)
})

function list(count: number, word: string): string {
  return Array.from({ length: count }, (_, index) => `  - ${word} ${index}\n`).join('')
}
