import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { staged } from './staged.ts'

const tracked = (queries: readonly string[], name = 'tracked') =>
  `name: ${name}\ntargets: [acme.com]\nqueries:\n${queries.map((query) => `  - ${query}\n`).join('')}`

test('a finished run is not continued: the same command begins a new one', async () => {
  const { place, job } = await staged({}, 3)
  await place.call(['run', job])

  const { stdout } = await place.call(['run', job, '--json'])

  expect(JSON.parse(stdout)).toMatchObject({ run: 2, credits: { spent: 3 } })
})

test('going on follows the edited file: what is done stays, what is no longer asked is dropped, what is new is added', async () => {
  const { sandbox, place } = await staged({ account: { subscription: { total: 3 } } })
  const job = await place.file('job.csv', 'query,priority\na,9\nb,8\nc,7\nd,1\ne,1\n')
  expect((await place.call(['run', job])).code).toBe(4)
  sandbox.control({ topUp: { credits: 10 } })
  await place.file('job.csv', 'query,priority\nb,8\nc,7\ne,1\nf,1\n')

  const { code, stdout } = await place.call(['run', job, '--json'])

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ run: 1, tasks: { planned: 5, done: 5 }, credits: { spent: 5 } })
  expect(place.sql('SELECT query FROM tasks ORDER BY 1').map(({ query }) => query)).toEqual([
    'a',
    'b',
    'c',
    'e',
    'f',
  ])
})

test('a job with targets is continued on its own day only; an older run is closed with what is open unknown', async () => {
  const { sandbox, place } = await staged({ account: { subscription: { total: 2 } } })
  const job = await place.file('job.yaml', tracked(['a', 'b', 'c']))
  expect((await place.call(['run', job])).code).toBe(4)
  sandbox.control({ topUp: { credits: 10 } })
  const db = new Database(join(place.folder, 'data/rankline.db'))
  db.prepare("UPDATE runs_ SET date = '2020-01-01'").run()
  db.close()

  const { stdout } = await place.call(['run', job, '--json'])

  expect(JSON.parse(stdout)).toMatchObject({ run: 2, tasks: { planned: 3, done: 3 } })
  const states = place.sql("SELECT query, state FROM rankings WHERE date = '2020-01-01' ORDER BY query")
  expect(states.map(({ state }) => state)).toEqual(['absent', 'absent', 'unknown'])
  expect((await place.call(['resume'])).stderr).toContain('No run is unfinished')
  expect((await place.call(['resume', '1'])).stderr).toContain('A later run took the place of run 1')
  expect((await place.call(['resume', '2'])).stderr).toContain('Run 2 is finished, and nothing in it failed')
})

test('--fresh begins anew', async () => {
  const { place, job } = await staged({}, 4)
  expect((await place.call(['run', job, '--max-credits', '2'])).code).toBe(4)

  const { code, stdout } = await place.call(['run', job, '--fresh', '--json'])

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ run: 2, credits: { spent: 4 } })
})

test('several jobs are one piece of work: the same call is bought once, and finished ones are only shown again', async () => {
  const { sandbox, place } = await staged()
  const a = await place.file('a.csv', 'query\nshared\nonly a\n')
  const b = await place.file('b.yaml', 'budget: { max_credits: 1 }\nqueries: [shared, only b, also b]\n')

  const first = await place.call(['run', a, b, '--json'])

  expect(first.code).toBe(4)
  const [runA, runB] = JSON.parse(first.stdout)
  expect(runA).toMatchObject({ job: 'a', finish_reason: 'completed', tasks: { done: 2 } })
  expect(runB).toMatchObject({ job: 'b', finish_reason: 'budget' })
  expect(runB.tasks.done).toBe(runB.tasks.reused + runB.credits.spent)
  const charged = sandbox.ledger.charged
  expect(charged).toBe(runA.credits.spent + runB.credits.spent)

  await place.file('b.yaml', 'budget: { max_credits: 3 }\nqueries: [shared, only b, also b]\n')
  const second = await place.call(['run', a, b, '--json'])
  expect(second.code).toBe(0)
  const [againA, againB] = JSON.parse(second.stdout)
  expect(againA).toMatchObject({ run: runA.run, credits: { spent: runA.credits.spent } })
  expect(againB).toMatchObject({ run: runB.run, finish_reason: 'completed', tasks: { done: 3 } })
  expect(sandbox.ledger.charged).toBe(4)
  expect(
    place.sql("SELECT job, count(*) AS n FROM organic_results WHERE query = 'shared' GROUP BY job"),
  ).toEqual([
    { job: 'a', n: 10 },
    { job: 'b', n: 10 },
  ])

  const third = await place.call(['run', a, b, '--json'])
  expect(JSON.parse(third.stdout).map(({ run }: { run: number }) => run)).not.toContain(runA.run)
})

test('a stored answer that is fresh enough is used again and costs nothing', async () => {
  const { sandbox, place } = await staged()
  const job = await place.file('job.yaml', 'freshness: 1h\ndepth: 20\ntargets: [acme.com]\nqueries: [a, b]\n')
  await place.call(['run', job])
  expect(sandbox.ledger.charged).toBe(4)
  const plan = await place.call(['plan', job, '--json'])
  expect(JSON.parse(plan.stdout)).toMatchObject({ tasks: { reused: 4 }, credits: { min: 0, max: 0 } })

  const { stdout } = await place.call(['run', job, '--json'])

  expect(JSON.parse(stdout)).toMatchObject({
    run: 2,
    tasks: { planned: 4, done: 4, reused: 4 },
    calls: { billed: 0 },
    credits: { spent: 0 },
  })
  expect(sandbox.ledger.charged).toBe(4)
  expect(
    place.sql('SELECT run_id, query, rank, link FROM organic_results WHERE run_id = 2 ORDER BY 2, 3'),
  ).toEqual(
    place.sql('SELECT 2 AS run_id, query, rank, link FROM organic_results WHERE run_id = 1 ORDER BY 2, 3'),
  )
  expect(place.sql('SELECT run_id, state, depth FROM rankings ORDER BY 1')).toHaveLength(4)
})

test('the same query in several rows is bought once; tags and labels of all rows are kept', async () => {
  const { sandbox, place } = await staged()
  const job = await place.file(
    'job.csv',
    'query,tags,client,target\ndesk,a,Acme,acme.com\ndesk,b;a,Rival,rival.com\n',
  )

  expect((await place.call(['run', job])).code).toBe(0)

  expect(sandbox.ledger.charged).toBe(1)
  expect(place.sql('SELECT target, tags FROM rankings ORDER BY 1')).toEqual([
    { target: 'acme.com', tags: 'a;b' },
    { target: 'rival.com', tags: 'a;b' },
  ])
  const { stdout } = await place.call(['export', 'organic', '--format', 'jsonl'])
  expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({
    query: 'desk',
    rank: 1,
    label_client: 'Acme; Rival',
  })
})
