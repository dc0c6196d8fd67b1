import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Workspace } from '../support/rankline.ts'
import { callAt, staged } from './staged.ts'

const acme = `targets: [acme.com]
report: { client: Acme Inc. }
alerts: [{ when: coverage, below: 100 }]
queries: [{ query: standing desk, tags: [money] }, secret project]
`
const other = 'targets: [rival.com]\nqueries: [standing desk, desk lamp]\n'
const hour = 3_600_000

/** Two clients that share a query, each with a run; acme with two. */
async function twoClients() {
  const { sandbox, place } = await staged({ sites: ['acme.com', 'rival.com'] })
  await place.file('acme.yaml', acme)
  await place.file('other.yaml', other)
  expect((await place.call(['run', 'acme.yaml', 'other.yaml'])).code).toBe(0)
  expect((await place.call(['run', 'acme.yaml', '--fresh'])).code).toBe(0)
  return { sandbox, place }
}

const json = async (place: Workspace, ...args: readonly string[]) => {
  const { code, stdout, stderr } = await place.call([...args, '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}
const credits = (rows: readonly { readonly job: string; readonly credits: number }[]) =>
  Object.fromEntries(rows.map((row) => [row.job, row.credits]))

test('what is stored of a removed client goes, and the books balance: calls, credits and what others share stay', async () => {
  const { place } = await twoClients()
  const before = await json(place, 'ledger', '--by', 'job')
  expect(credits(before)).toEqual({ acme: 3.5, other: 1.5 })
  const byRun = await json(place, 'ledger', '--by', 'run')
  const report = await json(place, 'report', 'other')
  place.change(`INSERT INTO slots (job, slot_at, taken_at, outcome) VALUES ('acme', 1, 1, 'ran');
    INSERT INTO alerts (id, identity, job, "when", state, opened_at, text) VALUES ('a', '["acme"]', 'acme', 'coverage', 'open', 1, 'x');
    INSERT INTO outbox (identity, channel, kind, job, message, created_at, state, next_try_at)
      VALUES ('alerts:acme:1:log', 'log', 'alerts', 'acme', '{"job":"acme"}', 1, 'waiting', 1)`)

  const dry = await json(place, 'job', 'remove', 'acme', '--dry-run')
  expect(dry).toMatchObject({
    ...{ job: 'acme', dry_run: true, kept: { calls: expect.any(Number), credits: 4, shared_answers: 1 } },
    removed: { runs: 2, queries: 1, observations: 4, answers: 3, alerts: 1, messages: 1, slots: 1 },
  })
  expect(await json(place, 'ledger', '--by', 'job')).toEqual(before)
  const unasked = await place.call(['job', 'remove', 'acme'])
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
  expect(await json(place, 'job', 'list')).toMatchObject([
    { job: 'acme', runs: 2 },
    { job: 'other', runs: 1 },
  ])

  const removed = await json(place, 'job', 'remove', 'acme', '--yes', '--metrics-file', 'metrics.prom')
  expect(removed).toEqual({ ...dry, dry_run: false })

  expect(credits(await json(place, 'ledger', '--by', 'job'))).toEqual({ '(removed)': 3.5, other: 1.5 })
  expect(await json(place, 'ledger', '--by', 'run')).toEqual(byRun)
  expect((await place.call(['ledger', 'verify'])).code).toBe(0)
  expect(await place.call(['db', 'check'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('is whole'),
  })
  expect((await place.call(['renormalise'])).code).toBe(0)
  expect((await place.call(['db', 'check'])).code).toBe(0)
  expect(await json(place, 'report', 'other')).toEqual(report)
  expect(await json(place, 'report', '--all')).toMatchObject([{ job: 'other' }])
  expect(await place.read('metrics.prom')).not.toContain('acme')
  expect((await place.call(['db', 'prune', '--vacuum'])).code).toBe(0)
  const file = await readFile(join(place.folder, 'data/rankline.db'), 'latin1')
  expect(file).not.toContain('secret project')
  expect(file).not.toContain('Acme Inc.')
  for (const table of ['slots', 'alerts', 'outbox', 'observations', 'jobs'])
    expect(
      place.sql(`SELECT * FROM ${table}`).filter((row) => JSON.stringify(row).includes('"acme"')),
    ).toEqual([])
  const shared = { job: '(removed)', query: 'standing desk' }
  expect(place.sql("SELECT DISTINCT job, query FROM organic_results WHERE job <> 'other'")).toEqual([shared])
  const exported = await place.call(['export', 'organic', '--format', 'csv'])
  expect(exported.stdout).not.toContain('(removed)')
  expect((await place.call(['job', 'remove', 'acme', '--yes'])).stderr).toContain('it has not run')

  // The last one who used the shared answer takes it along.
  await json(place, 'job', 'remove', 'other', '--yes')
  expect(
    place.sql(
      'SELECT 1 FROM tasks_ UNION ALL SELECT 1 FROM queries UNION ALL SELECT 1 FROM answers_ UNION ALL SELECT 1 FROM links UNION ALL SELECT 1 FROM items UNION ALL SELECT 1 FROM item_hashes UNION ALL SELECT 1 FROM link_hashes',
    ),
  ).toEqual([])
  expect(await json(place, 'ledger', '--by', 'run')).toEqual(byRun)
  expect((await place.call(['db', 'check'])).code).toBe(0)
  // The files are still there: their jobs begin anew.
  expect((await place.call(['run', 'acme.yaml'])).code).toBe(0)
  expect(await json(place, 'job', 'list')).toMatchObject([
    { job: 'acme', runs: 1 },
    { job: 'other', runs: 0 },
  ])
})

test('a renamed job keeps its history, its alerts and its messages', async () => {
  const { place } = await twoClients()
  place.change(`INSERT INTO alerts (id, identity, job, "when", state, opened_at, text)
      VALUES ('a', '["acme","[1]",null,null]', 'acme', 'coverage', 'open', 1, 'x');
    INSERT INTO alerts (id, identity, job, "when", state, opened_at, text, stopped)
      VALUES ('b', '["cause","key",""]', 'acme', 'run-failed', 'open', 1, 'x', '[{"job":"acme","isStopped":true},{"job":"other","isStopped":true}]');
    INSERT INTO slots (job, slot_at, taken_at, outcome) VALUES ('acme', 1, 1, 'ran');
    INSERT INTO outbox (identity, channel, kind, job, message, created_at, state, next_try_at)
      VALUES ('digest:acme:1:log', 'log', 'report', 'acme', '{"job":"acme"}', 1, 'waiting', 1)`)
  expect((await place.call(['job', 'rename', 'acme', 'other'])).stderr).toContain(
    "There is a job 'other' already",
  )
  expect((await place.call(['job', 'rename', 'acne', 'globex'])).stderr).toContain('Did you mean acme?')
  expect((await place.call(['job', 'rename', 'acme', 'a/b'])).stderr).toContain('without slashes')

  const { code, stdout } = await place.call([
    'job',
    'rename',
    'acme',
    'globex',
    '--metrics-file',
    'metrics.prom',
  ])
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining("Write 'name: globex' into acme.yaml"),
  })
  expect(await place.read('metrics.prom')).not.toContain('acme')
  expect(place.sql('SELECT job, identity, stopped FROM alerts ORDER BY id')).toEqual([
    { job: 'globex', identity: '["globex","[1]",null,null]', stopped: null },
    {
      ...{ job: 'globex', identity: '["cause","key",""]' },
      stopped: '[{"job":"globex","isStopped":true},{"job":"other","isStopped":true}]',
    },
  ])
  expect(place.sql('SELECT job, identity, message FROM outbox')).toEqual([
    { job: 'globex', identity: 'digest:globex:1:log', message: '{"job":"globex"}' },
  ])
  expect(place.sql('SELECT job FROM slots')).toEqual([{ job: 'globex' }])
  expect(credits(await json(place, 'ledger', '--by', 'job'))).toEqual({ globex: 3.5, other: 1.5 })
  expect((await place.call(['db', 'check'])).code).toBe(0)

  // The file still says acme, without a name of its own.
  const plan = await place.call(['plan', 'acme.yaml'])
  expect(plan.stdout + plan.stderr).toContain("write 'name: globex'")
  await place.file('acme.yaml', `name: globex\n${acme}`)
  const again = await place.call(['plan', 'acme.yaml'])
  expect(again.stdout + again.stderr).not.toContain("write 'name:")
  expect((await place.call(['run', 'acme.yaml', '--fresh'])).code).toBe(0)
  expect(await json(place, 'job', 'list')).toMatchObject([{ job: 'globex', runs: 3 }, { job: 'other' }])
})

test('a paused job is left out by run --due, is no problem, runs by hand, and catches nothing up', async () => {
  const { place } = await staged({ sites: ['acme.com'] })
  await place.file('acme.yaml', `schedule: "0 * * * *"\n${acme}`)
  expect((await place.call(['run', '--due'])).code).toBe(0)
  const runs = () => place.sql('SELECT run_id FROM runs').length
  expect(runs()).toBe(1)
  expect((await place.call(['job', 'pause', 'acme.yaml'])).stdout).toContain('acme is paused')
  expect((await place.call(['job', 'pause', 'acme'])).stdout).toContain('already')

  expect(await callAt(place, 5 * hour, 'run', '--due')).toMatchObject({ code: 0, stdout: '' })
  expect(runs()).toBe(1)
  const status = await callAt(place, 50 * hour, 'status', '--json')
  expect(status.code).toBe(0)
  expect(JSON.parse(status.stdout)).toMatchObject({
    ...{ level: 'ok', problems: [] },
    jobs: [{ job: 'acme', paused_at: expect.any(String), next_slot: null }],
  })
  expect((await place.call(['status'])).stdout).toMatch(/^acme +paused /m)
  expect((await place.call(['job', 'list'])).stdout).toMatch(/^acme +paused /m)
  const byHand = await place.call(['run', 'acme.yaml', '--fresh'])
  expect(byHand).toMatchObject({ code: 0, stdout: expect.any(String) })
  expect(runs()).toBe(2)

  // Resumed in the middle of an hour: the time at its beginning is not caught up, the next one is run.
  const untilNext = hour - (Date.now() % hour)
  expect((await callAt(place, 0, 'job', 'resume', 'acme')).stdout).toContain('not caught up')
  await callAt(place, 0, 'run', '--due')
  expect(runs()).toBe(2)
  await callAt(place, untilNext + 60_000, 'run', '--due', '--trust-clock')
  expect(runs()).toBe(3)
})
