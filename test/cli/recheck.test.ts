import { expect, test } from 'vitest'
import type { AlertMessage } from '../../src/model/settings/alert.ts'
import type { Workspace } from '../support/rankline.ts'
import { callAt, staged, waitWhile } from './staged.ts'

const job = `name: acme
targets: [acme.com]
queries: [{ query: standing desk, tags: [money] }, desk lamp, oak desk]
alerts: [{ when: drop, by: 3, recheck: true }]
`

/** An answer in which acme.com has that rank. */
const acmeAt = (rank: number) => ({
  body: {
    search_parameters: { engine: 'google' },
    organic_results: Array.from({ length: 10 }, (_, index) => ({
      position: index + 1,
      title: 'A page',
      link: index + 1 === rank ? 'https://acme.com/desks' : `https://site${index}.example/`,
      snippet: '',
    })),
    pagination: { current: 1, next: null },
  },
})

const isSearch = ({ operation }: { operation: string | null }) => operation === 'alpha.search'

/** A job of three queries that ran once; acme.com was second for all of them. */
async function aJob(text = job) {
  const { sandbox, place } = await staged()
  await place.file('rankline.yaml', 'channels: { log: { type: file, path: alerts.jsonl } }\n')
  await place.file('acme.yaml', text)
  /** The ranks of each call about the standing desk in turn, the last one for good. */
  const ranks = (...inTurn: readonly number[]) => {
    const last = inTurn.length - 1
    const desk = inTurn.map((rank, index) => ({
      ...{ operation: 'alpha.search', query: 'standing desk', do: acmeAt(rank) },
      ...(index === last ? {} : { times: 1 }),
    }))
    sandbox.control({ rules: [...desk, { operation: 'alpha.search', do: acmeAt(2) }] })
  }
  ranks(2)
  const run = (...more: readonly string[]) => place.call(['run', 'acme.yaml', '--fresh', '--json', ...more])
  const first = await run()
  expect(first.code).toBe(0)
  const balance: number = JSON.parse(first.stdout).credits.balance_after
  return { sandbox, place, balance, run, ranks, told: () => told(place) }
}

/** Runs a job in which the standing desk falls, and kills the process while its second look is in the air. */
async function killSecondLook(
  { sandbox, place }: Pick<Awaited<ReturnType<typeof aJob>>, 'sandbox' | 'place'>,
  stall: 'before' | 'after',
): Promise<void> {
  sandbox.control({
    rules: [
      { operation: 'alpha.search', query: 'standing desk', after: 1, do: { stall } },
      { operation: 'alpha.search', query: 'standing desk', do: acmeAt(9) },
      { operation: 'alpha.search', do: acmeAt(2) },
    ],
  })
  const started = place.start(['run', 'acme.yaml', '--fresh'])
  await waitWhile(() => sandbox.ledger.requestsFor(isSearch).length < 7 && started.child.exitCode === null)
  started.child.kill('SIGKILL')
  await started.ended
}

async function told(place: Workspace): Promise<readonly string[]> {
  const lines = (await place.read('alerts.jsonl').catch(() => '')).split('\n').filter((line) => line !== '')
  return lines
    .map((line) => (JSON.parse(line) as { readonly data: AlertMessage }).data)
    .flatMap(({ run, alerts }) =>
      alerts.map((one) => `${run}: ${one.when} ${one.state} ${one.before}→${one.now}`),
    )
}

const bought = (place: Workspace) =>
  place
    .sql<{ run_id: number; credits_spent: number }>('SELECT run_id, credits_spent FROM runs')
    .map(({ run_id, credits_spent }) => [run_id, credits_spent])

test('a rank that falls once and recovers is looked at again, and not told', async () => {
  const { sandbox, place, run, ranks, told } = await aJob()
  ranks(9, 2)
  const { code, stdout, stderr } = await run()
  expect([code, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ run: 2, finish_reason: 'completed', tasks: { planned: 3, done: 3 }, credits: { spent: 3 } },
    recheck: { run: 3, queries: 1, credits: 1 },
  })
  expect(await told()).toEqual([])
  expect(bought(place)).toEqual([
    [1, 3],
    [2, 3],
    [3, 1],
  ])
  expect(sandbox.ledger.charged).toBe(7)

  // The later look speaks for the day; both are stored, and the rest of the job is still reported.
  const desk = `SELECT run_id, rank FROM rankings WHERE query = 'standing desk' ORDER BY run_id`
  expect(place.sql(desk)).toEqual([
    { run_id: 1, rank: 2 },
    { run_id: 2, rank: 9 },
    { run_id: 3, rank: 2 },
  ])
  const report = await place.call(['report', 'acme', '--format', 'json'])
  const rows = JSON.parse(report.stdout) as readonly { readonly query: string; readonly rank: number }[]
  expect(rows.map(({ query, rank }) => [query, rank]).sort()).toEqual([
    ['desk lamp', 2],
    ['oak desk', 2],
    ['standing desk', 2],
  ])
  const status = JSON.parse((await place.call(['status', '--json'])).stdout)
  expect(status.jobs).toMatchObject([{ job: 'acme', last_run: { run: 2 } }])
})

test('a rank that stays down is told by the same command, and by no later one', async () => {
  const { sandbox, place, run, ranks, told } = await aJob()
  ranks(9)
  const { code, stdout } = await place.call(['run', 'acme.yaml', '--fresh'])
  expect(code).toBe(0)
  expect(stdout).toContain('\n  1 query was looked at again for alerts, 1 credit\n')
  expect(await told()).toEqual(['3: drop open 2→9'])
  expect(JSON.parse((await run()).stdout).recheck).toBeUndefined()
  expect(await told()).toEqual(['3: drop open 2→9'])
  ranks(2)
  expect((await run()).code).toBe(0)
  expect(await told()).toEqual(['3: drop open 2→9', '5: drop over 2→2'])
  expect(sandbox.ledger.charged).toBe(3 + 3 + 1 + 3 + 3)
  expect(place.sql('SELECT * FROM rechecks')).toEqual([{ run_id: 3, of_run: 2 }])
  expect((await place.call(['ledger', 'verify'])).code).toBe(0)
})

test('killed during the second look, the ordinary rule decides: the next run is that look', async () => {
  const stage = await aJob()
  const { sandbox, place, run, ranks, told } = stage
  await killSecondLook(stage, 'after')
  expect(await told()).toEqual([])
  expect(place.sql('SELECT run_id, finish_reason FROM runs WHERE run_id > 1')).toEqual([
    { run_id: 2, finish_reason: 'completed' },
    { run_id: 3, finish_reason: null },
  ])

  ranks(9)
  // The second look is not gone on with: the run of the day is complete, and is bought again as a whole.
  const again = await place.call(['run', 'acme.yaml'])
  expect(again.code).toBe(0)
  expect(again.stderr).toContain('already finished for today (run 2)')
  expect(await told()).toEqual(['4: drop open 2→9'])
  expect(JSON.parse((await run()).stdout).recheck).toBeUndefined()
  expect(sandbox.ledger.charged).toBe(3 + 3 + 1 + 3 + 3)
  expect(place.sql('SELECT sum(credits_spent) AS spent, sum(credits_ambiguous) AS lost FROM runs')).toEqual([
    { spent: 12, lost: 1 },
  ])
})

test('resume finishes a second look whose process was killed, and tells what it confirms', async () => {
  const stage = await aJob()
  const { place, ranks, told } = stage
  await killSecondLook(stage, 'before')
  ranks(9)
  expect((await place.call(['resume'])).code).toBe(0)
  expect(await told()).toEqual(['3: drop open 2→9'])
  expect(bought(place)).toEqual([
    [1, 3],
    [2, 3],
    [3, 1],
  ])
})

test('a run that is retried is looked at again once, and what the second look took back is not told again', async () => {
  const plain = job.replace('alerts: [', 'alerts: [{ when: lost }, { when: run-failed }, ')
  const { sandbox, place, told } = await aJob(plain)
  const calls = (lamp: object, desk: readonly object[]) =>
    sandbox.control({
      rules: [
        { operation: 'alpha.search', query: 'desk lamp', do: lamp as { status: number } },
        ...desk.map((answer) => ({
          ...{ operation: 'alpha.search', query: 'standing desk', times: 1 },
          do: answer as { status: number },
        })),
        { operation: 'alpha.search', do: acmeAt(2) },
      ],
    })
  calls({ status: 404 }, [acmeAt(0)])
  expect((await place.call(['run', 'acme.yaml', '--fresh'])).code).toBe(3)
  const before = [
    '2: run-failed open null→completed_with_failures',
    '2: lost open 2→null',
    '3: lost over 2→2',
  ]
  expect(await told()).toEqual(before)
  calls(acmeAt(9), [])
  expect(JSON.parse((await place.call(['retry', '2', '--json'])).stdout)).toMatchObject({
    ...{ run: 2, finish_reason: 'completed' },
  })
  expect(await told()).toEqual([...before, '2: run-failed over completed_with_failures→completed'])
  expect(bought(place)).toEqual([
    [1, 3],
    [2, 3],
    [3, 1],
  ])
})

test('run --due looks again, too; what it left out still rests', async () => {
  const { place, ranks, told } = await aJob(
    `${job.replace('oak desk', '{ query: oak desk, every: month }')}every: 1d\n`,
  )
  ranks(9)
  const dayLater = await callAt(place, 25 * 3_600_000, 'run', '--due', 'acme.yaml', '--json')
  expect(JSON.parse(dayLater.stdout)).toMatchObject({
    ...{ run: 2, tasks: { planned: 2 }, recheck: { run: 3, queries: 1, credits: 1 } },
  })
  expect(await told()).toEqual(['3: drop open 2→9'])
  const resting = `SELECT run_id, text, last_run FROM resting_queries JOIN queries ON id = query_id ORDER BY run_id, text`
  expect(place.sql(resting)).toEqual([
    { run_id: 2, text: 'oak desk', last_run: 1 },
    { run_id: 3, text: 'desk lamp', last_run: 2 },
    { run_id: 3, text: 'oak desk', last_run: 1 },
  ])
})

test('a second look that fails or stops changes nothing of how the run ended: the next run decides', async () => {
  const troubles = [
    [{ status: 404 }, '1 task of the second look for alerts failed', null],
    [{ refuse: 'key' }, 'the second look for alerts stopped (auth)', expect.any(Number)],
  ] as const
  for (const [trouble, line, closedAt] of troubles) {
    const { sandbox, place, run, ranks, told } = await aJob()
    sandbox.control({
      rules: [
        { operation: 'alpha.search', query: 'standing desk', times: 1, do: acmeAt(9) },
        { operation: 'alpha.search', query: 'standing desk', do: trouble },
        { operation: 'alpha.search', do: acmeAt(2) },
      ],
    })
    const { code, stdout, stderr } = await run()
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { run: 2, recheck: { queries: 1, credits: 0 } }])
    expect(stderr).toBe(`acme: ${line}; the next run decides.\n`)
    expect(place.sql('SELECT closed_at FROM runs_ WHERE id = 3')).toEqual([{ closed_at: closedAt }])
    ranks(9)
    expect(JSON.parse((await run()).stdout)).toMatchObject({ run: 4, credits: { spent: 3 } })
    expect(await told()).toEqual(['4: drop open 2→9'])
  }
})

test('where the budget does not cover it, the second look is left out with one line', async () => {
  const limits: readonly (readonly [budget: (balance: number) => string, shared: string, leaves: string])[] =
    [
      [() => 'max_credits: 3', '', 'max_credits of acme leaves 0'],
      [() => 'per_day: 6', '', 'per_day of acme leaves 0'],
      [(balance) => `keep: ${balance - 3}`, '', 'the balance leaves 0'],
      [
        () => 'keep: 0',
        'budget: { by_tag: { money: { per_month: 2 } } }',
        'per_month of the tag money in rankline.yaml leaves 0',
      ],
    ]
  for (const [budget, shared, leaves] of limits) {
    const { sandbox, place, balance, run, ranks, told } = await aJob()
    await place.file('rankline.yaml', `${await place.read('rankline.yaml')}${shared}\n`)
    await place.file('acme.yaml', `${job}budget: { ${budget(balance)} }\n`)
    ranks(9)
    const { code, stdout, stderr } = await run()
    expect([leaves, code, JSON.parse(stdout).recheck]).toEqual([leaves, 0, undefined])
    expect(stderr).toContain(
      `acme: 1 query is not looked at again for alerts: that may cost 1 credit, and ${leaves}.`,
    )
    expect([sandbox.ledger.charged, await told()]).toEqual([6, []])
  }
})

test('the price of second looks is in the plan and counts for confirm_over', async () => {
  const { place } = await staged()
  await place.file('acme.yaml', `${job}depth: 30\nbudget: { confirm_over: 9 }\n`)
  const plan = await place.call(['plan', 'acme.yaml', '--json'])
  expect(JSON.parse(plan.stdout)).toMatchObject({
    credits: { min: 3, expected: 9, max: 18 },
    rechecks: { credits: 9 },
  })
  expect(plan.stderr).toContain('acme may cost 18 credits (confirm_over: 9)')
  expect((await place.call(['plan', 'acme.yaml'])).stdout).toContain(
    'Of the most, 9 credits are for second looks that alerts may ask for.',
  )
  const refused = await place.call(['run', 'acme.yaml'])
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('may cost 18 credits')])

  await place.file('acme.yaml', `${job.replace(', recheck: true', '')}depth: 30\n`)
  const without = JSON.parse((await place.call(['plan', 'acme.yaml', '--json'])).stdout)
  expect([without.credits.max, without.rechecks]).toEqual([9, undefined])
})
