import { expect, test } from 'vitest'
import { callQuickly, staged, waitWhile } from './staged.ts'

const imagesJob = (count: number) =>
  `operation: alpha.images\nasync: always\nqueries:\n${Array.from({ length: count }, (_, index) => `  - image ${index}\n`).join('')}`

const isSubmission = ({ operation }: { operation: string | null }) => operation === 'alpha.images'

test('asynchronous jobs are submitted once, polled for nothing, and billed when they complete', async () => {
  const { sandbox, place } = await staged({ asyncMs: 300 })
  const job = await place.file('job.yaml', imagesJob(6))

  const { code, stdout } = await place.call(['run', job, '--json'])

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    tasks: { done: 6, failed: 0 },
    calls: { billed: 6, ambiguous: 0 },
    credits: { spent: 6, ambiguous: 0, unexplained: 0 },
  })
  expect(sandbox.ledger.requestsFor(isSubmission).map(({ status }) => status)).toEqual(Array(6).fill(202))
  expect(sandbox.ledger.charged).toBe(6)
  expect(place.sql("SELECT DISTINCT outcome, billed FROM calls WHERE operation = 'alpha.images'")).toEqual([
    { outcome: 'accepted', billed: 1 },
  ])
  expect(place.sql("SELECT max(credits) AS credits FROM calls WHERE operation = 'jobs.poll'")).toEqual([
    { credits: 0 },
  ])
  expect(place.sql('SELECT count(DISTINCT query) AS n FROM image_results')).toEqual([{ n: 6 }])
})

test('a job that fails is free and submitted again', async () => {
  const { sandbox, place } = await staged({
    rules: [{ operation: 'alpha.images', times: 1, do: { job: 'fail' } }],
  })
  const job = await place.file('job.yaml', imagesJob(1))

  const { code, stdout } = await place.call(['run', job, '--json'])

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ tasks: { done: 1 }, credits: { spent: 1, ambiguous: 0 } })
  expect(sandbox.ledger.requestsFor(isSubmission)).toHaveLength(2)
  expect(sandbox.ledger.charged).toBe(1)
})

test('a killed run polls the jobs that were accepted and does not submit them again', async () => {
  const { sandbox, place } = await staged({ asyncMs: 1500 })
  const job = await place.file('job.yaml', imagesJob(5))
  const { child, ended } = place.start(['run', job])
  await waitWhile(() => sandbox.ledger.requestsFor(({ path }) => path.includes('/jobs/')).length < 5)
  child.kill('SIGKILL')
  await ended

  const { code, stdout } = await place.call(['run', job, '--json'])

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    run: 1,
    tasks: { done: 5 },
    credits: { spent: 5, ambiguous: 0 },
  })
  expect(sandbox.ledger.requestsFor(isSubmission)).toHaveLength(5)
  expect(sandbox.ledger.charged).toBe(5)
})

test('async: never and auto make plain calls while answers are quick', async () => {
  const { sandbox, place } = await staged()
  const job = await place.file('job.yaml', imagesJob(3).replace('always', 'auto'))

  expect((await place.call(['run', job])).code).toBe(0)
  expect((await place.call(['run', job, '--async', 'never'])).code).toBe(0)

  expect(sandbox.ledger.requestsFor(isSubmission).map(({ status }) => status)).toEqual(Array(6).fill(200))
})

test('polls that are lost on the way say nothing of the job: it is not submitted again', async () => {
  const { sandbox, place } = await staged({
    asyncMs: 200,
    rules: [{ operation: 'jobs.poll', times: 6, do: { hangUp: 'before' } }],
  })
  const job = await place.file('job.yaml', imagesJob(1))

  const { code, stdout } = await callQuickly(place, ['run', job, '--json'])

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ tasks: { done: 1 }, credits: { spent: 1, ambiguous: 0 } })
  expect(sandbox.ledger.requestsFor(isSubmission)).toHaveLength(1)
})

test('a key that is refused while a job is polled stops the run; the job is polled later', async () => {
  const { sandbox, place } = await staged({
    asyncMs: 300,
    rules: [{ operation: 'jobs.poll', times: 1, do: { refuse: 'key' } }],
  })
  const job = await place.file('job.yaml', imagesJob(1))

  expect((await place.call(['run', job])).code).toBe(5)
  expect((await place.call(['run', job])).code).toBe(0)

  expect(sandbox.ledger.requestsFor(isSubmission)).toHaveLength(1)
  expect(sandbox.ledger.charged).toBe(1)
})

test('the pages behind a job are covered before other queries are fitted into the balance', async () => {
  const { sandbox, place } = await staged({
    account: { subscription: { total: 5 } },
    asyncMs: 1,
    rules: [{ operation: 'jobs.poll', times: 1, do: { refuse: 'key' } }],
  })
  const file = 'operation: alpha.images\nasync: always\nqueries:\n  - { query: image 0, pages: 3 }\n'
  const job = await place.file('job.yaml', file)
  expect((await place.call(['run', job])).code).toBe(5)
  // The service has charged it, which is not known here: it is set aside once more.
  await place.file(
    'job.yaml',
    `${file}${[1, 2].map((n) => `  - { query: image ${n}, priority: 5 }\n`).join('')}`,
  )

  const planned = await place.call(['plan', job, '--fit-balance', '--json'])
  const { code, stdout } = await place.call(['run', job, '--fit-balance', '--json'])

  const left = { left_out: { queries: 1, credits: 1 } }
  expect(JSON.parse(planned.stdout)).toMatchObject(left)
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ ...left, tasks: { done: 4 }, credits: { spent: 4 } })
  expect(sandbox.ledger.charged).toBe(4)
})

test('a run that is complete is so, though the key was refused for the jobs of one that was set aside', async () => {
  const { sandbox, place } = await staged({ asyncMs: 500 })
  const job = await place.file('job.yaml', imagesJob(2))
  const polls = () => sandbox.ledger.requestsFor(({ path }) => path.includes('/jobs/')).length
  sandbox.control({ rules: [{ operation: 'jobs.poll', do: { status: 503, html: true } }] })
  const killed = place.start(['run', job])
  await waitWhile(() => polls() < 2)
  killed.child.kill('SIGKILL')
  await killed.ended

  const ended = place.call(['run', job, '--fresh', '--async', 'never', '--json'])
  await waitWhile(() => place.sql("SELECT 1 FROM tasks WHERE run_id = 2 AND state = 'done'").length < 2)
  sandbox.control({ rules: [{ operation: 'jobs.poll', do: { refuse: 'key' } }] })
  const { code, stdout, stderr } = await ended

  // Whoever ran the same command again for another exit code would buy a whole new run.
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ run: 2, finish_reason: 'completed', tasks: { done: 2 } })
  expect(stderr).toContain('refused the key')
  const stateOfOld = 'SELECT state, count(*) AS n FROM tasks WHERE run_id = 1 GROUP BY state'
  expect(place.sql(stateOfOld)).toEqual([{ state: 'accepted', n: 2 }])

  sandbox.control({ rules: [] })
  expect((await place.call(['run', job, '--async', 'never'])).code).toBe(0)
  expect(place.sql(stateOfOld)).toEqual([{ state: 'done', n: 2 }])
  expect(sandbox.ledger.charged).toBe(6)
})

test('jobs of a run that was set aside are still polled', async () => {
  const { sandbox, place } = await staged({ asyncMs: 1500 })
  const job = await place.file('job.yaml', imagesJob(3))
  const { child, ended } = place.start(['run', job])
  await waitWhile(() => sandbox.ledger.requestsFor(({ path }) => path.includes('/jobs/')).length < 3)
  child.kill('SIGKILL')
  await ended

  expect((await place.call(['run', job, '--fresh'])).code).toBe(0)

  expect(sandbox.ledger.charged).toBe(6)
  expect(place.sql('SELECT credits_spent, tasks_done FROM runs ORDER BY run_id')).toEqual([
    { credits_spent: 3, tasks_done: 3 },
    { credits_spent: 3, tasks_done: 3 },
  ])
})
