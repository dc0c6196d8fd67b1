import { expect, onTestFinished, test } from 'vitest'
import { keyHash } from '../../src/run/config.ts'
import { turns } from '../../src/run/lock.ts'
import { keyLock } from '../../src/store/sqlite/connection/lock.ts'
import { isBillable } from '../support/judge.ts'
import type { Workspace } from '../support/rankline.ts'
import { type Stage, stage } from '../support/stage.ts'
import { aReceiver } from '../unattended/receivers.ts'
import { waitWhile } from './staged.ts'

const silent = { code: 0, stdout: '', stderr: '' }

async function aStage(): Promise<Stage> {
  const staged = await stage()
  onTestFinished(() => staged[Symbol.asyncDispose]())
  return staged
}

/** Queries that were sent to be billed, in alphabetical order. */
function asked({ ledger }: Stage['sandbox']): readonly string[] {
  return ledger
    .requestsFor(isBillable)
    .map(({ params }) => String(params.query))
    .sort()
}

/** A zone in which it is about noon: no local day ends while a test runs. */
function noonZone(): string {
  const behind = new Date().getUTCHours() - 12
  return `Etc/GMT${behind < 0 ? '-' : '+'}${Math.abs(behind)}`
}

/** All that is stored happened so many days earlier. */
function daysPass(place: Workspace, days: number): void {
  const ms = days * 86_400_000
  place.change(`UPDATE runs_ SET started_at = started_at - ${ms}, finished_at = finished_at - ${ms}, date = date(date, '-${days} days');
    UPDATE answers_ SET fetched_at = fetched_at - ${ms};
    UPDATE calls_ SET sent_at = sent_at - ${ms}, finished_at = finished_at - ${ms};
    UPDATE observations SET observed_at = observed_at - ${ms};
    UPDATE slots SET slot_at = slot_at - ${ms}, taken_at = taken_at - ${ms};`)
}

test('run --due buys what is due of the jobs of the folder and no more, and says nothing where that is nothing', async () => {
  const { place, sandbox } = await aStage()
  await place.file('compose.yaml', 'services: { web: { schedule: daily } }\n')
  await place.file('plain.yaml', 'queries: [plain desk] # every: 1d\n')
  await place.file('words.yaml', 'queries: ["every: desk"]\nfreshness: 1d\n')
  await place.file('single.yaml', 'queries: [{ query: single desk, every: 400d }]\n')
  await place.file('listed.yaml', 'queries: [{ file: listed.csv }]\n')
  await place.file('listed.csv', 'query,every\nlisted desk,400d\n')
  await place.file('tail.csv', 'query,every\ntail desk,30d\nfast desk,12h\n')
  await place.file(
    'desks.yaml',
    `timezone: ${noonZone()}\nevery: 7d\ncadence: { money: 1d }\nqueries:\n  - oak desk\n  - { query: buy desk, tags: [money] }\n  - file: tail.csv\n`,
  )
  const planned = JSON.parse((await place.call(['plan', '--due', '--json'])).stdout) as readonly object[]
  expect(planned).toMatchObject([
    { job: 'desks', queries: 4 },
    { job: 'listed', queries: 1 },
    { job: 'single', queries: 1 },
  ])
  expect(await place.call(['run', '--due', '--quiet'])).toEqual(silent)
  expect(asked(sandbox)).toEqual([
    'buy desk',
    'fast desk',
    'listed desk',
    'oak desk',
    'single desk',
    'tail desk',
  ])
  expect(await place.call(['run', '--due'])).toEqual(silent)
  expect((await place.call(['plan', '--due'])).stdout).toBe('Nothing is due.\n')

  daysPass(place, 1)
  await place.call(['run', '--due'])
  expect(asked(sandbox)).toEqual([
    'buy desk',
    'buy desk',
    'fast desk',
    'fast desk',
    'listed desk',
    'oak desk',
    'single desk',
    'tail desk',
  ])
  daysPass(place, 6)
  await place.call(['run', '--due', 'desks.yaml'])
  expect(asked(sandbox).filter((query) => query === 'oak desk')).toHaveLength(2)
  daysPass(place, 31)
  await place.call(['run', '--due'])
  expect(asked(sandbox).filter((query) => query === 'tail desk')).toHaveLength(2)
  expect(asked(sandbox)).not.toContain('plain desk')
})

test('a job that does not say when it is due is refused, and so is a folder without any', async () => {
  const { place, sandbox } = await aStage()
  await place.file('job.yaml', 'queries: [oak desk]\n')
  const named = await place.call(['run', '--due', 'job.yaml'])
  expect(named).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      "job.yaml: the job does not say when it is due; write for instance 'every: 1d'",
    ),
  })
  expect(await place.call(['run', '--due'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/No job file/),
  })
  expect(await place.call(['run'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/Name a job file/),
  })
  expect(asked(sandbox)).toEqual([])
})

test('a slot is run once, and caught up once after downtime', async () => {
  const { place, sandbox } = await aStage()
  // Its latest slot is never more than a day ago, and rarely comes while this test runs.
  const [hour, minute] = [new Date().getUTCHours(), new Date().getUTCMinutes()]
  const schedule = `${minute} ${(hour + 23) % 24} * * *`
  await place.file('job.yaml', `schedule: "${schedule}"\nqueries: [oak desk]\n`)
  const slots = () => place.sql('SELECT outcome, run_id FROM slots ORDER BY slot_at')
  await place.call(['run', '--due'])
  expect(await place.call(['run', '--due'])).toEqual(silent)
  expect(slots()).toEqual([{ outcome: 'ran', run_id: 1 }])
  daysPass(place, 3)
  await Promise.all([place.run(['run', '--due']), place.run(['run', '--due']), place.run(['run', '--due'])])
  expect(asked(sandbox)).toEqual(['oak desk', 'oak desk'])
  expect(slots()).toEqual([
    { outcome: 'ran', run_id: 1 },
    { outcome: 'ran', run_id: 2 },
  ])
})

test('a slot whose process was killed is finished by the next run --due, and nothing of it is bought twice', async () => {
  const { place, sandbox } = await aStage()
  const queries = Array.from({ length: 12 }, (_, place) => `desk ${place}`)
  await place.file('job.yaml', `schedule: "0 12 1 * *"\nqueries: [${queries.join(', ')}]\n`)
  sandbox.control({ rules: [{ query: 'desk 7', do: { latency: 60_000 } }] })
  const { child, ended } = place.start(['run', '--due', '--concurrency', '2'])
  await waitWhile(() => asked(sandbox).length < 9)
  child.kill('SIGKILL')
  await ended
  expect(place.sql('SELECT outcome FROM slots')).toEqual([{ outcome: null }])
  const answered = place.sql<{ query: string }>("SELECT query FROM tasks WHERE state = 'done'")
  sandbox.control({ rules: [] })
  expect(await place.call(['run', '--due', '--quiet'])).toEqual(silent)
  expect(place.sql('SELECT outcome, run_id FROM slots')).toEqual([{ outcome: 'ran', run_id: 1 }])
  expect(place.sql('SELECT run_id, finish_reason FROM runs')).toEqual([
    { run_id: 1, finish_reason: 'completed' },
  ])
  for (const { query } of answered) expect(asked(sandbox).filter((one) => one === query)).toHaveLength(1)
  expect(await place.call(['run', '--due'])).toEqual(silent)
})

test('where another process collects, run --due says nothing and ends; with --wait it waits', async () => {
  const { place, sandbox } = await aStage()
  await place.file('job.yaml', 'every: 1d\nqueries: [oak desk]\n')
  using _ = turns.tryCollector(keyLock(keyHash({ baseUrl: sandbox.url, apiKey: sandbox.key })))
  expect(await place.call(['run', '--due'])).toEqual(silent)
  expect(await place.call(['run', '--due', '--wait', '0'])).toMatchObject({ code: 7 })
  expect(asked(sandbox)).toEqual([])
})

test('what failed is due again three times a day, and after a 400 not at all', async () => {
  const { place, sandbox } = await aStage()
  await place.file('job.yaml', `timezone: ${noonZone()}\nevery: 1d\nqueries: [oak desk, bad desk, ok desk]\n`)
  sandbox.control({
    rules: [
      { query: 'oak desk', do: { status: 418 } },
      { query: 'bad desk', do: { status: 400 } },
    ],
  })
  const runs: number[] = []
  for (let time = 0; time < 6; time += 1) runs.push((await place.call(['run', '--due'])).code ?? -1)
  expect(runs).toEqual([3, 3, 3, 3, 0, 0])
  expect(place.sql('SELECT query, count(*) AS runs FROM tasks GROUP BY query ORDER BY query')).toEqual([
    { query: 'bad desk', runs: 1 },
    { query: 'oak desk', runs: 4 },
    { query: 'ok desk', runs: 1 },
  ])
  daysPass(place, 1)
  sandbox.control({ rules: [] })
  expect(await place.call(['run', '--due', '--quiet'])).toEqual(silent)
})

test('a run of what is due leaves the ranks of the rest as they were, each with its own day', async () => {
  const { place } = await aStage()
  await place.file(
    'job.yaml',
    `timezone: ${noonZone()}\nevery: 1d\ntargets: [northdesk.example]\nqueries:\n  - standing desk\n  - { query: oak desk, every: 7d }\n`,
  )
  interface Line {
    readonly query: string
    readonly date: string
    readonly state: string
    readonly rank: number | null
    readonly movement: string
  }
  const report = async (...args: readonly string[]): Promise<readonly Line[]> =>
    JSON.parse((await place.call(['report', 'job', '--format', 'json', ...args])).stdout) as Line[]
  await place.call(['run', '--due'])
  const [before] = await report()
  daysPass(place, 2)
  const { code } = await place.call(['run', '--due'])
  expect(code).toBe(0)
  const today = place.sql<{ date: string }>('SELECT date FROM runs_ WHERE id = 2')[0]?.date
  const [oak, standing, ...more] = await report()
  expect(more).toEqual([])
  expect(oak).toMatchObject({ query: 'oak desk', state: before?.state, rank: before?.rank, movement: 'same' })
  expect(oak?.date).not.toBe(today)
  expect(standing).toMatchObject({ query: 'standing desk', date: today })
  const metrics = JSON.parse((await place.call(['report', 'job', '--metrics', '--json'])).stdout)
  expect(JSON.stringify(metrics)).toContain('"expected":2')

  // A query that is taken out of the file is no longer reported.
  await place.file(
    'job.yaml',
    `timezone: ${noonZone()}\nevery: 1d\ntargets: [northdesk.example]\nqueries: [standing desk]\n`,
  )
  daysPass(place, 1)
  await place.call(['run', '--due'])
  expect((await report()).map(({ query }) => query)).toEqual(['standing desk'])
})

test('flags take a part of a job, and what is unfinished of the rest is not dropped', async () => {
  const { place, sandbox } = await aStage()
  await place.file(
    'job.csv',
    'query,operation,tags,volume,team\noak desk,alpha.search,money,2000,red\nash desk,beta.search,money;b,500,blue\nelm desk,alpha.news,,,red\n',
  )
  const plan = async (...args: readonly string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await place.call(['plan', 'job.csv', '--json', ...args])
    return code === 0 ? JSON.parse(stdout).queries : Object.values(JSON.parse(stderr).error).join('. ')
  }
  expect(await plan('--tag', 'money')).toBe(2)
  expect(await plan('--where', 'volume>=500', '--where', 'team=RED')).toBe(1)
  expect(await plan('--engine', 'alpha', '--limit', '1')).toBe(1)
  expect(await plan('--query', 'Elm desk')).toBe(1)
  expect(await plan('--tag', 'none')).toContain("No query is selected by --tag 'none'. Nothing was sent")
  expect(await plan('--where', 'volme>1')).toContain("no query has 'volme'. write 'volume'")
  expect(await plan('--where', 'volume>lots')).toContain("'lots', which is not a number")
  expect(await plan('--engine', 'delta')).toContain('write alpha, beta, gamma')

  expect((await place.call(['run', 'job.csv', '--max-credits', '1'])).code).toBe(4)
  expect(asked(sandbox)).toEqual(['oak desk'])
  expect((await place.call(['run', 'job.csv', '--tag', 'money'])).stderr).toContain(
    'run 1 is unfinished and has 1 query that is not selected; finish it first with: rankline resume 1',
  )
})

test('what an unfinished run of an earlier day has settled is not bought again in the new one', async () => {
  const { place, sandbox } = await aStage()
  await place.file(
    'job.yaml',
    `timezone: ${noonZone()}\nevery: 7d\nqueries: [{ query: oak desk, target: a.example, priority: 1 }, ash desk]\n`,
  )
  expect((await place.call(['run', '--due', '--max-credits', '1'])).code).toBe(4)
  daysPass(place, 1)
  expect((await place.call(['run', '--due'])).code).toBe(0)
  expect(asked(sandbox)).toEqual(['ash desk', 'oak desk'])
})

test('a run above confirm_over is refused, and its slot is skipped with the reason', async () => {
  const { place, sandbox } = await aStage()
  await place.file(
    'dear.yaml',
    'schedule: "0 12 1 * *"\nbudget: { confirm_over: 1 }\nqueries: [oak desk, ash desk]\n',
  )
  await place.file('job.yaml', 'schedule: "0 12 1 * *"\nqueries: [elm desk]\n')
  const refused = await place.call(['run', '--due', '--quiet'])
  expect(refused).toMatchObject({
    code: 4,
    stderr:
      'dear may cost 2 credits (confirm_over: 1). Nothing was sent. To buy the job now: rankline run dear.yaml --yes. For later times, add --yes or raise confirm_over\n',
  })
  expect(asked(sandbox)).toEqual(['elm desk'])
  expect(place.sql('SELECT job, outcome, reason FROM slots ORDER BY job')).toMatchObject([
    { job: 'dear', outcome: 'skipped', reason: expect.stringContaining('confirm_over') },
    { job: 'job', outcome: 'ran', reason: null },
  ])
  expect(await place.call(['run', '--due', '--yes'])).toEqual(silent)
  expect((await place.call(['run', 'dear.yaml', '--yes'])).code).toBe(0)
  expect(asked(sandbox)).toEqual(['ash desk', 'elm desk', 'oak desk'])
})

test('a run that a limit stops again is reported once; its exit code stays', async () => {
  const { place, sandbox } = await aStage()
  const job = (perDay: number): string =>
    `timezone: ${noonZone()}\nevery: 1d\nbudget: { per_day: ${perDay} }\nqueries: [oak desk, tall desk, low desk]\n`
  await place.file('desks.yaml', job(2))
  const first = await place.call(['run', '--due'])
  expect(first.code).toBe(4)
  expect(first.stdout).toContain('2 of 3 tasks done')
  expect(first.stderr).toContain('per_day of desks is reached')
  expect(await place.call(['run', '--due'])).toEqual({ code: 4, stdout: '', stderr: '' })
  await place.file('desks.yaml', job(3))
  const last = await place.call(['run', '--due'])
  expect(last.code).toBe(0)
  expect(last.stdout).toContain('3 of 3 tasks done')
  expect(asked(sandbox)).toHaveLength(3)
})

test('a file with mistakes is exit code 2 also where nothing is due of the others, and only its own switch hears of it', async () => {
  const { place } = await aStage()
  const { url, received } = await aReceiver()
  const env = { A_URL: `${url}/a`, B_URL: `${url}/b` }
  const heard = (): readonly string[] => received.splice(0).map(({ path }) => path)
  await place.file('a.yaml', 'every: 1d\nping: { url_env: A_URL }\nqueries: [oak desk]\n')
  await place.file('b.yaml', 'every: 1dd\nping: { url_env: B_URL }\nqueries: [elm desk]\n')
  const run = () => place.call(['run', '--due', '--skip-bad'], env)
  expect((await run()).code).toBe(2)
  expect(heard()).toEqual(['/a/start', '/a', '/b/fail'])
  // A mistake that stays is said once, whatever process of cron finds it.
  const again = await run()
  expect([again.code, again.stderr]).toEqual([2, ''])
  expect(heard()).toEqual(['/b/fail'])
  await place.file('b.yaml', 'every: 1x\nping: { url_env: B_URL }\nqueries: [elm desk]\n')
  expect((await run()).stderr).toMatch(/^b\.yaml:1:8: every cannot be '1x'/)
  await place.file('b.yaml', 'every: 1d\nping: { url_env: B_URL }\nqueries: [elm desk]\n')
  expect((await run()).code).toBe(0)
  await place.file('b.yaml', 'every: 1x\nping: { url_env: B_URL }\nqueries: [elm desk]\n')
  expect((await run()).stderr).toMatch(/^b\.yaml:1:8: every cannot be '1x'/)
})

test('plan --due of forty jobs is a line for each: limits only where they may stop something, and a warning once', async () => {
  const { place } = await aStage()
  const names = Array.from({ length: 40 }, (_, n) => `client-${n}`)
  for (const [n, name] of names.entries())
    await place.file(
      `${name}.yaml`,
      `every: 1d\ntargets: [acme.com]\nbudget: { per_day: ${n === 7 ? 1 : 800}, per_month: 9000 }\nqueries: [oak desk ${n}, elm desk ${n}]\n`,
    )
  const { code, stdout, stderr } = await place.call(['plan', '--due'])
  expect(code).toBe(0)
  const lines = stdout.trimEnd().split('\n')
  expect(lines.filter((line) => /^client-\d+ /.test(line))).toHaveLength(40)
  expect(lines.filter((line) => line.includes('per_'))).toEqual([
    expect.stringMatching(/^per_day of client-7: 1 of 1 credit left until /),
  ])
  expect(lines.length).toBeLessThanOrEqual(46)
  expect(stderr.trimEnd().split('\n')).toEqual([
    expect.stringMatching(
      /^client-0, client-1, client-10, client-11, client-12 and 35 more: ranks are tracked/,
    ),
  ])
  // Of one job all limits are shown.
  expect((await place.call(['plan', '--due', 'client-1.yaml'])).stdout).toMatch(/^per_month of client-1: /m)
})
