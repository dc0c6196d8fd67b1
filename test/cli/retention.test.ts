import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stopSignal } from '../../src/collect/stop.ts'
import type { LastValidJob } from '../../src/unattended/scheduler/job-files.ts'
import { retention, withRetention } from '../../src/unattended/scheduler/retention.ts'
import { madeOnce, stage } from '../support/stage.ts'
import { callAt, staged } from './staged.ts'

const day = 24 * 3_600_000

/** A job that ran a hundred and fifty days ago, and today. */
async function twoRuns() {
  const world = await stage({ sites: ['acme.com', 'rival.com'] })
  const { place, sandbox } = world
  const yaml = (targets: string) =>
    `targets: [${targets}]\npages: 2\nqueries: [standing desk, lamp, { query: chair, operation: alpha.ai }]\n`
  const job = await place.file('acme.yaml', yaml('acme.com').replace('lamp', 'lamp, former'))
  expect((await callAt(place, -150 * day, 'run', job)).code).toBe(0)
  const oldDay = new Date(Date.now() - 150 * day).toISOString().slice(0, 10)
  sandbox.control({ date: new Date().toISOString().slice(0, 10) })
  await place.file(job, yaml('acme.com'))
  expect((await place.call(['run', job])).code).toBe(0)
  const count = (table: string) => place.sql<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]?.n ?? 0
  return { ...world, job, yaml, oldDay, count }
}

const made = madeOnce(twoRuns)

test('retention drops old results with all that only they name, and changes no rank, run, call or report', async () => {
  const { place, job, oldDay, count } = made()
  const cursor = ['export', 'organic', '--out', 'new.csv', '--cursor-file', 'organic.cursor']
  expect((await place.call(cursor)).code).toBe(0)
  const kept = () => ({
    rankings: place.sql('SELECT * FROM rankings'),
    runs: place.sql('SELECT * FROM runs'),
    calls: place.sql('SELECT * FROM calls'),
    tasks: place.sql('SELECT * FROM tasks'),
  })
  const before = kept()
  const reportOf = (date: string) => place.call(['report', job, '--date', date, '--format', 'csv'])
  const reports = [await reportOf(oldDay), (await place.call(['report', job, '--format', 'csv'])).stdout]
  const rows = place.sql('SELECT * FROM organic_results WHERE run_id = 2')
  const [texts, links] = [count('texts'), count('links')]
  await place.file('rankline.yaml', 'keep: { results: 90d }\n')

  const dry = await place.call(['db', 'prune', '--dry-run', '--json'])
  const { dry_run, results } = JSON.parse(dry.stdout)
  expect({ dry_run, answers: results.answers, kept: results.kept }).toEqual({
    ...{ dry_run: true, answers: 7, kept: 0 },
  })
  expect(count('organic_results WHERE run_id = 1')).toBeGreaterThan(0)
  const pruned = await place.call(['db', 'prune', '--json'])

  expect(pruned.code).toBe(0)
  expect(JSON.parse(pruned.stdout).results).toMatchObject({ answers: 7, results: results.results })
  for (const view of ['organic_results', 'ai_references', 'related_searches'])
    expect(count(`${view} WHERE run_id = 1`)).toBe(0)
  expect(count('raw_answers')).toBe(5)
  expect(place.sql('SELECT ai_markdown FROM answers WHERE run_id = 1 AND ai_markdown IS NOT NULL')).toEqual(
    [],
  )
  expect(kept()).toEqual(before)
  expect(place.sql('SELECT * FROM organic_results WHERE run_id = 2')).toEqual(rows)
  expect([await reportOf(oldDay), (await place.call(['report', job, '--format', 'csv'])).stdout]).toEqual(
    reports,
  )
  expect(count('texts')).toBeLessThan(texts)
  expect(count('links')).toBeLessThan(links)
  expect((await place.call(['db', 'check'])).code).toBe(0)
  expect((await place.call(cursor)).code).toBe(0)
  expect((await place.read('new.csv')).trim().split('\n')).toHaveLength(1)

  // Nothing of it comes back, and what was said stays.
  expect((await place.call(['renormalise'])).code).toBe(0)
  expect(kept()).toEqual(before)
  expect(count('organic_results WHERE run_id = 1')).toBe(0)
  expect((await place.call(['db', 'check'])).code).toBe(0)
  const diff = await place.call(['diff', job, '--query', 'lamp'])
  expect(diff.stdout).toContain('pages 1 to 2 were pruned')
  const explained = await place.call(['report', job, '--explain', 'lamp', '--date', oldDay])
  expect(explained.stdout).toContain('The results were pruned')
  const again = JSON.parse((await place.call(['db', 'prune', '--json'])).stdout)
  expect(again.results).toEqual({ answers: 0, results: 0, kept: 0, texts: 0, links: 0 })
})

test('a target that is new is unknown where the results are gone, and found where they are', async () => {
  const { place, job, yaml } = made()
  expect((await place.call(['db', 'prune', '--results', '90d'])).code).toBe(0)
  await place.file(job, yaml('acme.com, rival.com'))
  expect((await place.call(['run', job])).code).toBe(0)
  const rival = place.sql<{ run_id: number; state: string }>(
    "SELECT run_id, state FROM rankings WHERE target = 'rival.com' AND operation = 'alpha.search' ORDER BY run_id",
  )
  expect(rival.filter(({ run_id }) => run_id === 1).map(({ state }) => state)).toEqual([
    'unknown',
    'unknown',
    'unknown',
  ])
  expect(rival.filter(({ run_id }) => run_id === 2).every(({ state }) => state !== 'unknown')).toBe(true)
  expect((await place.call(['db', 'check'])).code).toBe(0)
})

test('a run that is not complete keeps its results, and goes on with them', async () => {
  const { place } = await staged({ sites: ['acme.com'] })
  const job = await place.file('acme.yaml', 'pages: 2\nqueries: [a, b]\n')
  expect((await callAt(place, -150 * day, 'run', job, '--max-credits', '3')).code).toBe(4)
  const { stdout, stderr } = await place.call(['db', 'prune', '--results', '90d'])
  expect(stdout).toContain('Dropped 0 results of 0 answers; ranks stay.')
  expect(stderr).toContain('3 answers of that age keep theirs: a run may still need them.')
  expect((await place.call(['run', job])).code).toBe(0)
  expect(place.sql('SELECT max(rank) AS last FROM organic_results GROUP BY query')).toEqual([
    { last: 20 },
    { last: 20 },
  ])
})

test('after runs it is done once a day, as long as every folder of the database agrees', async () => {
  const { place, count } = made()
  const database = join(place.folder, 'data/rankline.db')
  const keep = { answersMs: 200 * day, resultsMs: 90 * day }
  const now = Date.now()
  expect(await retention.daily(database, [], now)).toBeNull()
  expect(await retention.daily(database, [keep, { answersMs: null, resultsMs: null }], now)).toBeNull()
  expect(existsSync(`${database}.pruned`)).toBe(false)
  const longer = { answersMs: null, resultsMs: 200 * day }
  expect(await retention.daily(database, [keep, longer], now)).toMatchObject({
    bodies: null,
    results: { answers: 0 },
  })
  expect(await retention.daily(database, [keep], now + day / 2)).toBeNull()
  expect(count('organic_results WHERE run_id = 1')).toBeGreaterThan(0)
  expect(await retention.daily(database, [keep], now + day)).toMatchObject({ results: { answers: 7 } })
  expect(await retention.daily(database, [keep], now)).not.toBeNull()
})

test('a clock that is years ahead drops nothing that is young by the last run, unless the service agrees with it', async () => {
  const { place, count } = made()
  const database = join(place.folder, 'data/rankline.db')
  const keep = { answersMs: null, resultsMs: 90 * day }
  const ahead = Date.now() + 730 * day
  expect(await retention.daily(database, [keep], ahead)).toMatchObject({ results: { answers: 7 } })
  expect(count('organic_results WHERE run_id = 2')).toBeGreaterThan(0)
  expect(await retention.daily(database, [keep], ahead + day, true)).toMatchObject({
    results: { answers: 5 },
  })
})

test('the scheduler does it after runs by the file of their folder, and with a mistake in that file it drops nothing', async () => {
  const { place, job, count } = made()
  const logged: string[] = []
  const ends = new Map()
  const collect = withRetention(async () => ends, {
    ...{ database: join(place.folder, 'data/rankline.db'), clock: { wall: () => Date.now() } },
    log: (line) => void logged.push(line),
  })
  const forms = [{ settings: { file: join(place.folder, job) } }] as unknown as readonly LastValidJob[]
  await place.file('rankline.yaml', 'keep: { results: soon }\n')
  expect(await collect(forms, stopSignal(), false)).toBe(ends)
  expect(logged).toEqual([])
  expect(count('organic_results WHERE run_id = 1')).toBeGreaterThan(0)
  await place.file('rankline.yaml', 'keep: { results: 90d }\n')
  expect(await collect(forms, stopSignal(), false)).toBe(ends)
  expect(count('organic_results WHERE run_id = 1')).toBe(0)
  expect(logged).toEqual([
    expect.stringMatching(/^Retention: dropped \d+ results of 7 answers; ranks stay\.$/),
  ])
})

test('what is to be dropped is said by flags, else by rankline.yaml', async () => {
  const { place } = made()
  const none = await place.call(['db', 'prune'])
  expect(none.code).toBe(2)
  expect(none.stderr).toContain('rankline db prune --answers 90d, or keep: { answers: 90d } in rankline.yaml')
  expect((await place.call(['db', 'prune', '--results', '2q'])).stderr).toContain("--results cannot be '2q'")
  await place.file('rankline.yaml', 'keep: { answers: 90d, results: 1y }\n')
  const byFile = await place.call(['db', 'prune', '--dry-run'])
  expect(byFile.stdout).toMatch(
    /^Would drop 7 stored bodies, .*\nWould drop 0 results of 0 answers; ranks stay\.\n$/,
  )
  const byOption = await place.call(['db', 'prune', '--dry-run', '--answers', '1y'])
  expect(byOption.stdout).toMatch(/^Would drop 0 stored bodies, 0 bytes\.\n$/)
})
