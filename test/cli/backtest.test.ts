import { describe, expect, test } from 'vitest'
import { madeOnce, stage } from '../support/stage.ts'

const sites = ['northdesk.example', 'risewell.example']
const texts = ['oak', 'walnut'].flatMap((kind) =>
  ['desk', 'chair', 'lamp'].map((thing) => `${kind} ${thing}`),
)
const job = (more: string, targets = 'risewell.example') =>
  `depth: 50\ntargets: [${targets}]\nqueries: [${texts.join(', ')}]\n${more}`

/** A job that looked at every page on two days. */
async function collected() {
  const staged = await stage({ sites })
  const { place, sandbox } = staged
  await place.file('job.yaml', job('paging: all\n'))
  for (const date of ['2026-03-02', '2026-03-03']) {
    sandbox.control({ date })
    expect((await place.call(['run', 'job.yaml', '--fresh'])).code).toBe(0)
  }
  const spent = sandbox.ledger.charged
  const backtest = async (...flags: readonly string[]) => {
    const { code, stdout } = await place.call(['plan', 'job.yaml', '--backtest', '--json', ...flags])
    expect(code).toBe(0)
    expect(sandbox.ledger.charged).toBe(spent)
    return JSON.parse(stdout)
  }
  return { ...staged, backtest }
}

describe('plan --backtest', () => {
  const made = madeOnce(collected)

  test('says what each policy would have cost and missed, without a call', async () => {
    const world = made()
    const { place } = world

    const document = await world.backtest()
    const { code, stdout } = await place.call(['plan', 'job.yaml', '--backtest'])

    expect(code).toBe(0)
    expect(document).toMatchObject({ job: 'job', paging: 'all', looks: 12, left_out: 0 })
    const [all, untilFound, smart] = document.policies
    const [stored] = place.sql(
      'SELECT count(rank) AS ranked, (SELECT count(*) FROM tasks) AS pages FROM rankings',
    )
    expect(all).toEqual({
      ...{ policy: 'all', credits: all.pages, ...stored, missed: 0, estimated: 0, wrong: 0 },
      ...{ top_changes: all.top_changes, top_changes_missed: 0 },
    })
    expect(untilFound).toMatchObject({ policy: 'until-found', missed: 0, estimated: 0, wrong: 0 })
    expect(smart).toMatchObject({ policy: 'smart', wrong: 0, top_changes_missed: 0 })
    expect(smart.pages).toBeLessThan(untilFound.pages)
    expect(untilFound.pages).toBeLessThan(all.pages)
    expect(stdout).toContain('job: 12 looks replayed.')
    expect(stdout).toMatch(/^all \* +60 +60 +100\.0 % /m)
  })

  test('stars the policy of the job, whatever it is, and says the same of all', async () => {
    const world = made()
    const before = await world.backtest()
    await world.place.file('job.yaml', job('paging: smart\n'))
    expect(await world.backtest()).toEqual({ ...before, paging: 'smart' })
    const { stdout } = await world.place.call(['plan', 'job.yaml', '--backtest', '--paging', 'until-found'])
    expect(stdout).toMatch(/^until-found \* /m)
  })

  test('replays for the targets that the job names now, also where a day was not watched for them', async () => {
    const world = made()
    const { place } = world
    const before = await world.backtest()
    for (const run of [2, 1]) {
      place.change(
        `DELETE FROM run_targets WHERE run_id = ${run}; DELETE FROM observations WHERE run_id = ${run}`,
      )
      expect(await world.backtest()).toEqual(before)
    }
    await place.file('job.yaml', job('paging: all\n', 'nowhere.example, risewell.example'))
    const [all] = (await world.backtest()).policies
    expect(all.ranked).toBe(before.policies[0].ranked)
  })

  test('leaves out looks of which not every page is stored, and says so', async () => {
    const world = made()
    world.place.change("UPDATE tasks_ SET state = 'failed' WHERE run_id = 1 AND page = 2 AND query_id = 1")
    expect(await world.backtest()).toMatchObject({ looks: 11, left_out: 1 })
    const { stdout } = await world.place.call(['plan', 'job.yaml', '--backtest'])
    expect(stdout).toContain('11 looks replayed. 1 look left out')
  })

  test('counts a query whose results ended before the depth', async () => {
    await using staged = await stage({ sites })
    const { place, sandbox } = staged
    const last = { organic_results: [], pagination: { current: 1, has_next_page: false } }
    sandbox.control({ rules: [{ query: 'oak desk', do: { status: 200, body: JSON.stringify(last) } }] })
    await place.file('job.yaml', job('paging: all\n'))
    await place.call(['run', 'job.yaml'])
    const { stdout } = await place.call(['plan', 'job.yaml', '--backtest', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ looks: 6, left_out: 0 })
  })

  test('says that there is nothing to replay', async () => {
    await using staged = await stage({ sites })
    const { place, sandbox } = staged
    await place.file('job.yaml', job('paging: until-found\n'))
    const before = await place.call(['plan', 'job.yaml', '--backtest'])
    expect(before).toMatchObject({ code: 0, stdout: 'job: nothing to replay. The job has not run yet.\n' })
    expect(sandbox.ledger.requests).toHaveLength(0)
  })
})

describe('how often smart looks in depth', () => {
  test.each(['0d', '7', 'weekly'])('cannot be `%s`, as a flag or in the file', async (span) => {
    await using staged = await stage()
    const { place } = staged
    await place.file('job.yaml', job('paging: smart\n'))
    const flag = await place.call(['plan', 'job.yaml', `--deep-every=${span}`])
    expect(flag).toMatchObject({ code: 2, stdout: '' })
    expect(flag.stderr).toMatch(/^--deep-every: .*write a time span such as 30m, 12h, 7d or 2w\n$/)
    await place.file('job.yaml', job(`deep_every: '${span}'\n`))
    const file = await place.call(['plan', 'job.yaml'])
    expect(file).toMatchObject({ code: 2, stdout: '' })
    expect(file.stderr).toMatch(/^job\.yaml:4:\d+: .*write a time span such as 30m, 12h, 7d or 2w\n$/)
  })

  test('is kept with the run, the flag before the file', async () => {
    await using staged = await stage()
    const { place } = staged
    await place.file('job.yaml', 'paging: smart\ntargets: [acme.com]\ndeep_every: 2w\nqueries: [a]\n')
    await place.call(['run', 'job.yaml'])
    await place.call(['run', 'job.yaml', '--deep-every', '36h'])
    const kept = place.sql("SELECT settings ->> 'deepEveryMs' / 3600000 AS hours FROM runs_ ORDER BY id")
    expect(kept).toEqual([{ hours: 14 * 24 }, { hours: 36 }])
  })
})

test('what a plan expects is the share that the last runs with the same paging used', async () => {
  await using staged = await stage({ sites })
  const { place, sandbox } = staged
  await place.file('job.yaml', job(''))
  const credits = async (paging: string) => {
    const { stdout } = await place.call(['plan', 'job.yaml', '--json', '--paging', paging])
    return JSON.parse(stdout).credits
  }
  expect(await credits('until-found')).toMatchObject({ min: 6, expected: 30, max: 30 })
  await place.call(['run', 'job.yaml', '--paging', 'until-found', '--fresh'])
  const used = sandbox.ledger.charged
  expect(used).toBeLessThan(30)
  expect(await credits('until-found')).toMatchObject({ min: 6, expected: used, max: 30 })
  expect(await credits('smart')).toMatchObject({ min: 6, expected: 30, max: 30 })
})
