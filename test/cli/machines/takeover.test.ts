import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { openJournal } from '../../../src/machines/postgres/open.ts'
import { keyHash } from '../../../src/run/config.ts'
import { queriesCsv } from '../../support/rankline.ts'
import { waitWhile } from '../staged.ts'
import { list, machines } from './machines.ts'

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
  for (const place of [first, second]) await place.file('job.csv', queriesCsv(6))
  const run = first.start(['run', 'job.csv', '--lease', '2s'], queue)
  // It has the right before it asks for the balance.
  await waitWhile(() => sandbox.ledger.requests.length === 0)

  const refused = await second.call(['run', 'job.csv', '--wait', '0'], queue)

  expect(refused).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('Another process coordinates job'),
  })
  await worker()
  expect(await run.ended).toMatchObject({ code: 0 })
})

test('a run whose plan waits for its turn brings the plans that other hosts publish meanwhile', async () => {
  const { sandbox, queue, host, worker } = await machines()
  const [first, second] = [await host(), await host()]
  await first.file('one.csv', queriesCsv(3))
  await second.file('two.csv', queriesCsv(2))
  await worker()
  await using journal = await openJournal(queue.RANKLINE_QUEUE)
  const jobs = [{ keyHash: keyHash({ baseUrl: sandbox.url, apiKey: sandbox.key }), job: 'two' }]
  const other = { id: randomUUID(), name: 'another host', leaseMs: 60_000 }
  await journal.plans.coordinate(jobs, other)
  const run = second.start(['run', 'two.csv'], queue)
  let said = ''
  run.child.stderr?.on('data', (text: string) => {
    said += text
  })
  await waitWhile(() => !said.includes('another host'))
  expect(await first.call(['run', 'one.csv'], queue)).toMatchObject({ code: 0 })

  await journal.plans.leave(jobs, other.id)

  expect(await run.ended).toMatchObject({ code: 0 })
  expect(second.sql('SELECT job, tasks_done FROM runs ORDER BY job')).toEqual([
    { job: 'one', tasks_done: 3 },
    { job: 'two', tasks_done: 2 },
  ])
})

test('a queue that is drained stops its runs, loses nothing, and goes on with the same command', async () => {
  const { sandbox, queue, host, worker } = await machines({ latencyMs: 1_000 })
  const place = await host()
  await place.file('job.csv', queriesCsv(75))
  await worker({ concurrency: 1 })
  const run = place.start(['run', 'job.csv', '--lease', '1s'], queue)
  await waitWhile(() => sandbox.ledger.charged < 1)

  expect(await place.call(['queue', 'drain'], queue)).toMatchObject({ code: 0 })

  expect(await run.ended).toMatchObject({ code: 130, stderr: expect.stringContaining('was drained') })
  expect(sandbox.ledger.charged).toBeLessThan(75)
  sandbox.control({ latencyMs: 0 })
  await worker()
  const again = await place.call(['run', 'job.csv', '--lease', '1s', '--json'], queue)
  expect(again).toMatchObject({ code: 0 })
  expect(JSON.parse(again.stdout)).toMatchObject({ run: 1, tasks: { planned: 75, done: 75 } })
  expect(sandbox.ledger.charged).toBe(75)
})

const images = `operation: alpha.images\nasync: always\nqueries:\n${list(3, 'image')}`

test('jobs that a lost worker submitted are polled by another, and submitted once', async () => {
  const { sandbox, queue, host, worker, workerProcess } = await machines({ asyncMs: 2_000 })
  const place = await host()
  await place.file('job.yaml', images)
  const lost = await workerProcess()
  const ended = place.call(['run', 'job.yaml', '--json'], queue)
  await waitWhile(() => sandbox.ledger.requestsFor(isPoll).length < 3)

  lost.child.kill('SIGKILL')

  await worker()
  const { code, stdout } = await ended
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ tasks: { done: 3 }, credits: { spent: 3, ambiguous: 0 } })
  expect(sandbox.ledger.requestsFor(isSubmission)).toHaveLength(3)
})

test('jobs of a run that was set aside are polled to their end, and nothing else is bought for it', async () => {
  const { sandbox, queue, host, worker, workerProcess } = await machines({ asyncMs: 3_000 })
  const place = await host()
  await place.file('job.yaml', images)
  const first = await workerProcess()
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
