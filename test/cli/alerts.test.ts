import { expect, test } from 'vitest'
import type { AlertMessage } from '../../src/model/settings.ts'
import type { Workspace } from '../support/rankline.ts'
import { staged } from './staged.ts'

const channels =
  'channels: { log: { type: file, path: alerts.jsonl }, other: { type: file, path: other.jsonl } }\n'
const alerts = `alerts:
  - { when: drop, by: 1, to: [log] }
  - { when: gain, by: 1 }
  - { when: run-failed }
  - { when: run-skipped, to: [log] }
`
const job = `name: acme\ntargets: [acme.com]\ndepth: 30\nqueries: [standing desk, desk lamp]\n${alerts}`

async function aJobWithAlerts() {
  const { sandbox, place } = await staged({ sites: ['acme.com'] })
  await place.file('rankline.yaml', channels)
  await place.file('acme.yaml', job)
  const run = (env = {}) => place.call(['run', 'acme.yaml', '--fresh'], env)
  return { sandbox, place, run, told: () => messagesIn(place, 'alerts.jsonl') }
}

/** What was appended to a file, one message a line. */
async function messagesIn(place: Workspace, file: string): Promise<readonly AlertMessage[]> {
  const text = await place.read(file).catch(() => '')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { readonly data: AlertMessage }).data)
}

const words = (messages: readonly AlertMessage[]) =>
  messages.map(({ run, alerts }) => [
    run,
    ...alerts.map(({ when, state, query, before }) => `${when} ${state} ${query} ${before}`),
  ])

test('each alert is sent once when it begins, all of a run in one message to a channel', async () => {
  const { place, run, told } = await aJobWithAlerts()
  expect(await run()).toMatchObject({ code: 0, stderr: '' })
  expect(await told()).toEqual([])
  // The day before, acme stood first for one query and far behind for the other.
  place.change(`UPDATE observations SET state = 'ranked', exactness = 'exact', rank =
    (SELECT CASE text WHEN 'desk lamp' THEN 0 ELSE 30 END FROM queries WHERE id = query_id)`)
  expect((await run()).code).toBe(0)
  expect((await run()).code).toBe(0)
  expect(words(await told())).toEqual([[2, 'drop open desk lamp 0', 'gain open standing desk 30']])
  expect(words(await messagesIn(place, 'other.jsonl'))).toEqual([[2, 'gain open standing desk 30']])
  expect(place.sql('SELECT run_id FROM judged_runs')).toHaveLength(3)
})

test('an alert says whose it is, where, of which page and volume, and who stands there now', async () => {
  const { sandbox, place } = await staged({ sites: ['acme.com'] })
  await place.file('rankline.yaml', channels)
  const acme = { title: 'Desks', link: 'https://acme.com/desks?srsltid=A' }
  const rival = { title: 'A rival', link: 'https://www.rival.com/' }
  const answer = (...rows: readonly object[]) => {
    const body = { organic_results: rows.map((row, index) => ({ position: index + 1, ...row })) }
    sandbox.control({ rules: [{ operation: 'alpha.search', do: { body } }] })
  }
  await place.file(
    'acme.yaml',
    `targets: [acme.com]
params: { gl: us, hl: en }
report: { client: Acme Inc. }
queries: [{ query: standing desk, tags: [money], volume: 2400 }]
alerts: [{ when: drop }, { when: lost }]
`,
  )
  answer(acme, rival)
  expect((await place.call(['run', 'acme.yaml', '--fresh'])).code).toBe(0)
  answer(rival)
  expect((await place.call(['run', 'acme.yaml', '--fresh'])).code).toBe(0)
  expect(await messagesIn(place, 'alerts.jsonl')).toMatchObject([
    {
      client: 'Acme Inc.',
      alerts: [
        {
          ...{ when: 'lost', query: 'standing desk', before: 1, now: null },
          ...{ locale: 'en-us', tags: ['money'], url: 'https://acme.com/desks', volume: 2400 },
          ...{ clicks: 684, there_now: 'rival.com', also: [{ when: 'drop' }] },
        },
      ],
    },
  ])
})

test('a crash between the end of a run and its alerts loses none: the next run tells them', async () => {
  const { place, run, told } = await aJobWithAlerts()
  await run()
  place.change("UPDATE observations SET state = 'ranked', exactness = 'exact', rank = 30")
  await run()
  const [before] = await told()
  place.change('DELETE FROM judged_runs WHERE run_id = 2; DELETE FROM alerts; DELETE FROM outbox')
  await run()
  expect(await told()).toEqual([before, before])
})

test('a run that failed, and a job that could not run, are told once, and once more when they are over', async () => {
  const { sandbox, place, run, told } = await aJobWithAlerts()
  sandbox.control({ rules: [{ operation: 'alpha.search', query: 'desk lamp', do: { status: 404 } }] })
  expect((await run()).code).toBe(3)
  expect((await run()).code).toBe(3)
  expect((await run({ RANKLINE_API_KEY: '' })).code).toBe(2)
  await place.file('acme.yaml', `dept: 3\n${job}`)
  expect((await run()).code).toBe(2)
  await place.file('acme.yaml', job)
  sandbox.control({ rules: [] })
  expect((await run()).code).toBe(0)
  const messages = await told()
  expect(words(messages)).toEqual([
    [1, 'run-failed open null null'],
    [null, 'run-skipped open null null'],
    [null, 'run-skipped open null null'],
    [3, 'run-failed over null completed_with_failures'],
    [null, 'run-skipped over null null'],
    [null, 'run-skipped over null null'],
  ])
  expect(messages.flatMap(({ alerts }) => alerts.map(({ text }) => text)).slice(1)).toEqual([
    expect.stringMatching(/^The API key is not set.* Not run: acme$/),
    expect.stringMatching(/^acme\.yaml:1:1: unknown key 'dept'.* Not run: acme$/),
    'acme completed its run',
    'The settings can be used. At work again: acme',
    expect.stringMatching(/\/acme\.yaml has no mistakes any more\. At work again: acme$/),
  ])
  const ids = messages.flatMap(({ alerts }) => alerts.map(({ id }) => id))
  expect(new Set(ids).size).toBe(3)
  expect(ids.every((id) => /^[0-9a-f]{12}$/.test(id))).toBe(true)
})

test('a job that could not run is at work again when its file runs under another name', async () => {
  const renamed = job.replace('name: acme', 'name: zeta')
  const { place, run, told } = await aJobWithAlerts()
  expect((await run()).code).toBe(0)
  await place.file('acme.yaml', `dept: 3\n${job}`)
  expect((await run()).code).toBe(2)
  await place.file('acme.yaml', renamed)
  expect((await run()).code).toBe(0)
  expect(words(await told())).toEqual([
    [null, 'run-skipped open null null'],
    [null, 'run-skipped over null null'],
  ])
  // What keeps it from running now is told of the name that it has.
  await place.file('acme.yaml', `dept: 3\n${renamed}`)
  expect((await run()).code).toBe(2)
  expect((await told()).at(-1)?.alerts[0]?.text).toMatch(/Not run: zeta$/)
})

test('a run that stopped is judged by its ranks once a later run has taken its place', async () => {
  const { place, run, told } = await aJobWithAlerts()
  await run()
  place.change("UPDATE observations SET state = 'ranked', exactness = 'exact', rank = 30")
  await place.file('acme.yaml', `${job}budget: { max_credits: 5 }\n`)
  expect((await run()).code).toBe(4)
  expect(words(await told())).toEqual([[2, 'run-failed open null null']])
  await place.file('acme.yaml', job)
  expect((await run()).code).toBe(0)
  const [, stopped, next, ...others] = await told()
  const gains = [stopped, next].flatMap((one) => one?.alerts.filter(({ when }) => when === 'gain') ?? [])
  expect([stopped?.run, next?.run, others]).toEqual([2, 3, []])
  expect(stopped?.alerts.map(({ when, state }) => [when, state])).toContainEqual(['gain', 'open'])
  expect(gains.map(({ query }) => query).sort()).toEqual(['desk lamp', 'standing desk'])
  expect(next?.alerts.at(-1)).toMatchObject({ when: 'run-failed', state: 'over', before: 'budget' })
})

test('a run that is retried is judged again, and says that it completed', async () => {
  const { sandbox, place, run, told } = await aJobWithAlerts()
  sandbox.control({ rules: [{ operation: 'alpha.search', query: 'desk lamp', do: { status: 404 } }] })
  expect((await run()).code).toBe(3)
  sandbox.control({ rules: [] })
  expect((await place.call(['retry'])).code).toBe(0)
  expect(words(await told())).toEqual([
    [1, 'run-failed open null null'],
    [1, 'run-failed over null completed_with_failures'],
  ])
})

test('what is muted is not sent; an alert that began so is told when it is no longer muted', async () => {
  const { sandbox, place, run, told } = await aJobWithAlerts()
  const fail = { rules: [{ operation: 'alpha.search', query: 'desk lamp', do: { status: 404 } }] } as const
  sandbox.control(fail)
  await run()
  const id = (await told())[0]?.alerts[0]?.id ?? ''
  expect(await place.call(['alerts', 'mute', id, '--until', '7d'])).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/^Muted until \d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC: acme did not complete/),
  })
  sandbox.control({ rules: [] })
  await run()
  sandbox.control(fail)
  await run()
  expect(await told()).toHaveLength(1)

  const [open] = place.sql<{ id: string }>("SELECT id FROM alerts WHERE state = 'open'")
  expect(open?.id).not.toBe(id)
  place.change('UPDATE alerts SET muted_until = 1')
  await run()
  expect((await told()).slice(1).map(({ alerts }) => alerts.map((one) => [one.id, one.state]))).toEqual([
    [[open?.id, 'open']],
  ])
})

test('alerts list shows what is open, what was over lately and what was not delivered; it changes nothing', async () => {
  const { sandbox, place, run } = await aJobWithAlerts()
  const empty = await place.call(['alerts', 'list'])
  expect(empty).toMatchObject({
    code: 0,
    stdout: 'No alert is open, and none was over in the last seven days.\n',
  })
  await place.file('rankline.yaml', 'channels: { log: { type: webhook, url_env: NO_URL } }\n')
  sandbox.control({ rules: [{ operation: 'alpha.search', query: 'desk lamp', do: { status: 404 } }] })
  await run()
  const { stdout } = await place.call(['alerts', 'list', 'acme'])
  expect(stdout).toMatch(/^id +job +when +state +since \(UTC\) +alert\n[0-9a-f]{12} +acme +run-failed +open /)
  expect(stdout).toContain('acme did not complete its run: 1 task failed\n')
  expect(stdout).toMatch(/\nlog +alerts +acme +waiting /)
  const { alerts, messages } = JSON.parse((await place.call(['alerts', 'list', '--json'])).stdout)
  expect(alerts).toMatchObject([
    { job: 'acme', when: 'run-failed', state: 'open', over_at: null, muted_until: null },
  ])
  expect(messages).toMatchObject([{ channel: 'log', state: 'waiting', run: 1 }])

  const wrong = [
    [['alerts', 'list', 'acne'], "There is no job 'acne'"],
    [['alerts', 'mute', 'abc', '--until', '7d'], "There is no alert and no job 'abc'"],
    [['alerts', 'mute', alerts[0].id], 'Name an alert or a job'],
    [['alerts', 'mute', alerts[0].id, '--until', 'soon'], "--until cannot be 'soon'"],
  ] as const
  for (const [args, sentence] of wrong) {
    const { code, stderr } = await place.call(args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
  }

  // One that waits for its channel, and one that was given up.
  place.change(`INSERT INTO outbox (identity, channel, kind, job, message, created_at, state, attempts, next_try_at)
    SELECT 'second', channel, kind, job, message, created_at, 'dead', 9, next_try_at FROM outbox`)
  expect(await place.call(['alerts', 'send', '--json'])).toMatchObject({ code: 3 })
  await place.file('rankline.yaml', channels)
  const sent = await place.call(['alerts', 'send', 'acme', '--json'])
  expect([sent.code, JSON.parse(sent.stdout)]).toEqual([0, { tried: 2, sent: 2, waiting: 0, dead: 0 }])
  expect(await messagesIn(place, 'alerts.jsonl')).toHaveLength(2)
  expect((await place.call(['alerts', 'send'])).stdout).toBe('Nothing waits, and nothing was given up.\n')
})

test('a job, a tag and a kind of rule are muted, for what is open and for what begins', async () => {
  const { sandbox, place, run, told } = await aJobWithAlerts()
  const mute = (...args: readonly string[]) => place.call(['alerts', 'mute', ...args])
  await run()
  place.change("UPDATE observations SET state = 'ranked', exactness = 'exact', rank = 30")
  expect((await mute('--when', 'gian', '--until', '7d')).stderr).toContain('did you mean gain')
  expect((await mute('acme', '--when', 'gain', '--until', '7d')).stderr).toContain('(0 alerts are open)')
  await run()
  expect(await told()).toEqual([])
  expect(place.sql('SELECT told FROM alerts WHERE "when" = \'gain\'')).toEqual([{ told: 0 }, { told: 0 }])
  expect((await mute('acme', '--when', 'gain', '--until', '0h')).stderr).toContain('No longer muted')
  await run()
  expect((await told()).flatMap(({ alerts }) => alerts.map(({ when, state }) => `${when} ${state}`))).toEqual(
    ['gain open', 'gain open'],
  )
  // What is open is muted, too: its end is not told.
  sandbox.control({ rules: [{ operation: 'alpha.search', query: 'desk lamp', do: { status: 404 } }] })
  await run()
  expect((await mute('acme', '--until', '7d')).stderr).toContain('(3 alerts are open)')
  sandbox.control({ rules: [] })
  await run()
  expect(place.sql(`SELECT state FROM alerts WHERE "when" = 'run-failed'`)).toEqual([{ state: 'over' }])
  expect(await told()).toHaveLength(2)
})

test('an alert about a query that the job no longer asks ends without a word', async () => {
  const { place, run, told } = await aJobWithAlerts()
  await run()
  place.change("UPDATE observations SET state = 'ranked', exactness = 'exact', rank = 30")
  await run()
  expect(words(await told())).toEqual([[2, 'gain open desk lamp 30', 'gain open standing desk 30']])
  await place.file('acme.yaml', job.replace('[standing desk, desk lamp]', '[standing desk]'))
  await run()
  expect(await told()).toHaveLength(1)
  const { alerts } = JSON.parse((await place.call(['alerts', 'list', '--json'])).stdout)
  expect(alerts).toMatchObject([
    { query: 'standing desk', state: 'open' },
    { query: 'desk lamp', state: 'over' },
  ])
})

test('an alert about a target that the job no longer has ends without a word', async () => {
  const { place, run, told } = await aJobWithAlerts()
  await run()
  place.change("UPDATE observations SET state = 'ranked', exactness = 'exact', rank = 30")
  await run()
  expect(await told()).toHaveLength(1)
  const open = async () => JSON.parse((await place.call(['alerts', 'list', '--json'])).stdout).alerts
  expect((await open()).map(({ state }: { state: string }) => state)).toEqual(['open', 'open'])
  await place.file('acme.yaml', job.replace(/targets: \[[^\]]*\]/, 'targets: [other.example]'))
  await run()
  expect((await open()).map(({ state }: { state: string }) => state)).toEqual(['over', 'over'])
  expect(await told()).toHaveLength(1)
})

test('a new target is compared from its second run on, though its history was looked up', async () => {
  const { sandbox, place } = await staged({ sites: ['acme.com', 'rival.com'] })
  await place.file('rankline.yaml', channels)
  const queries = Array.from({ length: 8 }, (_, index) => `desk ${index}`)
  const change = (when: string) => `{ when: ${when}, for: { targets: [rival.com] } }`
  const rest = `queries: [${queries}]\ndepth: 50\n`
  const rules = `alerts: [${change('drop')}, ${change('gain')}]\n${rest}`
  for (const [day, text] of [
    ['2026-03-01', `targets: [acme.com]\n${rest}`],
    ['2026-03-15', `targets: [acme.com, rival.com]\n${rules}`],
    ['2026-03-30', `targets: [acme.com, rival.com]\n${rules}`],
  ] as const) {
    await place.file('acme.yaml', text)
    sandbox.control({ date: day })
    expect((await place.call(['run', 'acme.yaml', '--fresh'])).code).toBe(0)
  }
  const ranks = `SELECT run_id, count(DISTINCT rank) AS ranks FROM rankings WHERE target = 'rival.com' AND run_id < 3 GROUP BY run_id`
  expect(place.sql(ranks)).toHaveLength(2)
  expect((await messagesIn(place, 'alerts.jsonl')).map(({ run }) => run)).toEqual([3])
})
