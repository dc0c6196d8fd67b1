import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { turns } from '../../src/run/lock.ts'
import { databaseLock } from '../../src/store/sqlite/connection/lock.ts'
import { breakPage } from '../store/damage.ts'
import { queriesCsv, workspace } from '../support/rankline.ts'
import { staged } from './staged.ts'

const queries = 'queries: [a, b, c]\n'
const fresh = 'freshness_of_runs: { warn_after: 26h, error_after: 50h }\n'

/** Runs that ended so long ago, in hours. */
const olderBy = (hours: number, job: string): string =>
  `UPDATE runs_ SET started_at = started_at - ${hours} * 3600000, finished_at = finished_at - ${hours} * 3600000
    WHERE job = '${job}'`

test('where the default database is missing nothing has run, and nothing is made; one that is named must be there', async () => {
  await using place = await workspace()
  await place.file('acme.yaml', `schedule: "0 6 * * *"\n${queries}`)
  await place.file('broken.yaml', `depht: 3\n${queries}`)
  const { code, stdout, stderr } = await place.call(['status'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^Nothing has run yet\. Start with: rankline run <job file>\n/)
  // For a minute a day it is due now.
  expect(stdout).toMatch(/^acme +ok +never +- +never +(now|in \d+ \w+) /m)
  const json = await place.call(['status', '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({ jobs: [{ job: 'acme' }, { job: 'broken' }], problems: [] })
  expect((await place.call(['status', '--db', 'data/no.db'])).code).toBe(2)
  expect((await place.call(['status'], { RANKLINE_DB: 'no.db' })).code).toBe(2)
  expect((await place.call(['runs'])).stderr).toContain('There are no runs yet')
})

test('a workspace where all is well is exit 0, and --quiet says nothing of it', async () => {
  const { place } = await staged()
  await place.file('acme.yaml', `schedule: "* * * * *"\n${fresh}${queries}`)
  await place.file('compose.yaml', 'services: {}\n')
  await place.file('folder.yaml/job.csv', 'query\na\n')
  await place.call(['run', 'acme.yaml'])
  const { code, stdout, stderr } = await place.call(['status'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^All is well: 1 job\.\n/)
  expect(stdout).toMatch(/^acme +ok +just now +100 % +done +(now|in 0 min) +- +3 +3$/m)
  expect(stdout).toMatch(/^Spent: 3 today, 3 this month\.$/m)
  expect(await place.call(['status', '--quiet'])).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('a last good run that is too old is exit 3, then 6', async () => {
  const { place } = await staged()
  await place.file('acme.yaml', `${fresh}${queries}`)
  await place.call(['run', 'acme.yaml'])
  place.change(olderBy(27, 'acme'))
  const warned = await place.call(['status'])
  expect(warned.code).toBe(3)
  expect(warned.stdout).toMatch(/^1 warning in 1 job:\n\nwarning +acme: The last good run ended 27 h ago/)
  place.change(olderBy(27, 'acme'))
  const failed = await place.call(['status', '--quiet'])
  expect(failed.code).toBe(6)
  expect(failed.stdout).toMatch(/^1 error in 1 job:\n\nerror +acme: The last good run ended 54 h ago/)
})

test('without freshness_of_runs, scheduled times that nothing came of are an error, until a slot or a run answers them', async () => {
  const { place } = await staged()
  await place.file('acme.yaml', `schedule: "* * * * *"\n${queries}`)
  await place.call(['run', 'acme.yaml'])
  place.change(olderBy(5, 'acme'))
  const missed = await place.call(['status', '--json'])
  expect(missed.code).toBe(6)
  expect(JSON.parse(missed.stdout).problems).toMatchObject([
    {
      level: 'error',
      job: 'acme',
      kind: 'stale',
      text: expect.stringContaining('since its scheduled time 4 h ago'),
    },
  ])
  place.change(`INSERT INTO slots (job, slot_at, taken_at, outcome)
    VALUES ('acme', unixepoch() / 60 * 60000, unixepoch() * 1000, 'nothing-due')`)
  expect((await place.call(['status'])).code).toBe(0)
})

test('how runs ended: some failed, the key was refused, no money is left, the process was killed, one is at work', async () => {
  const { sandbox, place } = await staged({ account: { subscription: { total: 20 } } })
  await place.file('acme.yaml', queries)
  const levels = async (): Promise<readonly unknown[]> => {
    const { code, stdout } = await place.call(['status', '--json'])
    const { problems } = JSON.parse(stdout) as { problems: { kind: string; text: string; level: string }[] }
    return [code, ...problems.filter(({ kind }) => kind === 'run').map(({ text }) => text)]
  }
  sandbox.control({ rules: [{ operation: 'alpha.search', times: 1, do: { status: 400 } }] })
  await place.call(['run', 'acme.yaml'])
  expect(await levels()).toEqual([6, expect.stringContaining('1 of 3 tasks of run 1 failed')])
  await place.call(['run', 'acme.yaml', '--fresh'], { RANKLINE_API_KEY: 'wrong-key' })
  expect(await levels()).toEqual([6, expect.stringContaining('Run 2 stopped: the key was refused')])
  await place.call(['run', 'acme.yaml'])
  expect(await levels()).toEqual([3])
  await place.file('big.csv', queriesCsv(40))
  await place.call(['run', 'big.csv'])
  expect(await levels()).toEqual([
    6,
    expect.stringMatching(/^Run 3 stopped: the balance covers no more \(1[0-9] of 40/),
  ])
  place.change("UPDATE runs_ SET finish_reason = NULL, finished_at = NULL WHERE job = 'big'")
  expect(await levels()).toEqual([6, expect.stringContaining('Run 3 was killed')])
  using lock = turns.tryCollector(databaseLock(join(place.folder, 'data/rankline.db')))
  expect(lock).not.toBeNull()
  const running = await place.run(['status', '--json'])
  expect(JSON.parse(running.stdout).jobs).toContainEqual(
    expect.objectContaining({ job: 'big', running: true }),
  )
})

test('why a time was skipped, open alerts, messages and a file that is gone are told', async () => {
  const { place } = await staged()
  await place.file('acme.yaml', `schedule: "0 6 * * *"\n${queries}`)
  await place.file('gone.yaml', `schedule: "0 6 * * *"\n${queries}`)
  await place.call(['run', 'acme.yaml', 'gone.yaml'])
  await rm(join(place.folder, 'gone.yaml'))
  const ms = 'unixepoch() * 1000'
  place.change(`
    INSERT INTO slots (job, slot_at, taken_at, outcome, reason)
      VALUES ('acme', ${ms} + 2000, ${ms} + 2000, 'skipped', 'another process was collecting');
    INSERT INTO alerts (id, identity, job, "when", state, opened_at, text, muted_until)
      VALUES ('a', 'a', 'acme', 'lost', 'open', 1, 'a: acme.com is lost.', NULL),
        ('b', 'b', 'acme', 'lost', 'open', 1, 'muted', ${ms} + 60000), ('c', 'c', 'acme', 'lost', 'over', 1, 'over', NULL);
    INSERT INTO outbox (identity, channel, kind, job, message, created_at, state, attempts, next_try_at, last_error)
      VALUES ('m', 'mail', 'alerts', 'acme', '{}', ${ms}, 'dead', 8, 0, 'error 550'),
        ('n', 'chat', 'alerts', 'acme', '{}', ${ms}, 'waiting', 1, 0, 'connection refused'),
        ('o', 'chat', 'alerts', 'acme', '{}', ${ms}, 'waiting', 0, 0, NULL),
        ('p', 'chat', 'alerts', 'acme', '{}', 1, 'sent', 0, 0, NULL)`)
  const { code, stdout } = await place.call(['status', '--json'])
  expect(code).toBe(3)
  const document = JSON.parse(stdout)
  expect(
    document.problems.map(({ kind, text }: { kind: string; text: string }) => `${kind}: ${text}`),
  ).toEqual([
    expect.stringMatching(/^messages: 1 message to mail was given up \(error 550\)/),
    expect.stringMatching(/^messages: 1 message to chat is not delivered yet \(connection refused\)/),
    'slot: Its time just now was skipped: another process was collecting',
    expect.stringMatching(/^job-file: Its file gone\.yaml is gone/),
  ])
  expect(document).toMatchObject({
    jobs: [
      {
        job: 'acme',
        level: 'warning',
        file: 'acme.yaml',
        next_slot: expect.stringMatching(/T06:00:00\.000Z$/),
        last_good_run: { run: 1, coverage: 1 },
        last_slot: { outcome: 'skipped', reason: 'another process was collecting' },
        // A column, not a warning.
        open_alerts: [{ id: 'a' }, { id: 'b' }],
      },
      { job: 'gone', next_slot: null },
    ],
    messages: { waiting: 1, dead: 1 },
    spent_today: 3,
  })
})

test('a broken file is named with its place, one that jobs share once; a CSV file is read where a time was missed', async () => {
  const { place } = await staged()
  const job = `schedule: "* * * * *"\nqueries: [{ file: list.csv }]\n`
  await place.file('a.yaml', job)
  await place.file('b.yaml', job)
  await place.file('list.csv', 'query\ndesk\n')
  await place.call(['run', 'a.yaml', 'b.yaml'])
  place.change(`${olderBy(5, 'a')}; ${olderBy(5, 'b')}`)
  await place.file('list.csv', 'query,locaton\ndesk,Austin\n')
  const problems = async () => {
    const { code, stdout } = await place.call(['status'])
    return [code, stdout.slice(0, stdout.indexOf('\njob ')).replaceAll(/\s+/g, ' ')]
  }
  expect(await problems()).toEqual([
    6,
    expect.stringMatching(
      /^1 error in 2 jobs: error list\.csv:1: column 'locaton'.*; that stops 2 jobs: a, b\. Mend it $/,
    ),
  ])
  await place.file('rankline.yaml', 'defaluts: {}\n')
  expect(await problems()).toEqual([
    6,
    "1 error in 2 jobs: error rankline.yaml:1:1: unknown key 'defaluts'; write 'defaults'. The 2 jobs that use it are not run until it is mended ",
  ])
})

test('a hostile name paints nothing and stays on its line', async () => {
  const { place } = await staged()
  await place.file('job.csv', queriesCsv(2))
  await place.call(['run', 'job.csv'])
  place.change("UPDATE runs_ SET job = 'a' || char(27) || '[31mb' || char(10) || char(8238) || 'c'")
  const { code, stdout } = await place.call(['status'])
  expect(code).toBe(0)
  for (const sign of ['\u001b', '\u202e']) expect(stdout).not.toContain(sign)
  expect(stdout).toMatch(/^ab c +ok /m)
})

test('before and after it the database is the same file, byte for byte', async () => {
  const { place, job } = await staged({}, 2)
  await place.call(['run', job])
  const file = join(place.folder, 'data/rankline.db')
  const before = await readFile(file)
  expect((await place.call(['status'])).code).toBe(0)
  expect((await readFile(file)).equals(before)).toBe(true)
})

test('a damaged database is an error that says what to do', async () => {
  const { place } = await staged()
  await place.file('acme.yaml', queries)
  await place.call(['run', 'acme.yaml'])
  await breakPage(join(place.folder, 'data/rankline.db'), 'answers', 'overflow').catch(() =>
    breakPage(join(place.folder, 'data/rankline.db'), 'items'),
  )
  const { code, stdout } = await place.call(['status'])
  expect(code).toBe(6)
  expect(stdout).toMatch(/^error +The database data\/rankline\.db is damaged\. Restore it from a backup/m)
})
