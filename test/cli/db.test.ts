import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { queriesCsv, workspace } from '../support/rankline.ts'
import { testTable } from '../support/test-table.ts'
import { staged, waitWhile } from './staged.ts'

/** Slow, so that a run is under way until all else has been done beside it; then no longer. */
const slow = { latencyMs: 400 }

const isSearch = ({ operation }: { operation: string | null }) => operation === 'alpha.search'

test('a backup is made while another process collects, which does not notice', async () => {
  const { sandbox, place, job } = await staged(slow, 30)
  const { ended } = place.start(['run', job, '--concurrency', '1', '--json'])
  await waitWhile(() => sandbox.ledger.requestsFor(isSearch).length < 6)

  const backup = await place.call(['db', 'backup', 'copies.db'])
  const sentByThen = sandbox.ledger.requestsFor(isSearch).length
  sandbox.control({ latencyMs: 0 })
  const collected = await ended

  expect(backup).toMatchObject({ code: 0, stderr: '' })
  expect(backup.stdout).toMatch(/^Backed up to copies\.db: \d\S* [kM]B, 1 run\.\n$/)
  expect(sentByThen).toBeLessThan(30)
  expect(JSON.parse(collected.stdout)).toMatchObject({
    tasks: { done: 30, failed: 0 },
    calls: { ambiguous: 0 },
  })
  expect((await readdir(place.folder)).filter((name) => name.startsWith('copies'))).toEqual(['copies.db'])
  const [copied] = JSON.parse((await place.call(['--db', 'copies.db', 'runs', '--json'])).stdout)
  expect(copied).toMatchObject({ run: 1, job: 'job', finish_reason: null })
  expect(copied.tasks.done).toBeGreaterThan(0)
  expect(copied.tasks.done).toBeLessThan(30)
})

test('a backup says what it wrote as JSON, and writes over nothing', async () => {
  const { place, job } = await staged({}, 3)
  await place.call(['run', job])

  const first = await place.call(['db', 'backup', 'copy.db', '--json'])
  const second = await place.call(['db', 'backup', 'copy.db'])

  expect(JSON.parse(first.stdout)).toEqual({ file: 'copy.db', bytes: expect.any(Number), runs: 1 })
  const odd = await place.call(['db', 'backup', 'red\u001b[31m.db'])
  expect(odd.stdout).toMatch(/^Backed up to red\.db: /)
  expect(second).toMatchObject({ code: 2, stdout: '' })
  expect(second.stderr).toContain('copy.db exists already')
})

test('a check says that all is whole, also in the middle of a run, and of the copy', async () => {
  const { sandbox, place, job } = await staged(slow, 30)
  const { ended } = place.start(['run', job, '--concurrency', '1'])
  await waitWhile(() => sandbox.ledger.requestsFor(isSearch).length < 6)

  const during = await place.call(['db', 'check'])
  await place.call(['db', 'backup', 'copy.db'])
  const sentByThen = sandbox.ledger.requestsFor(isSearch).length
  sandbox.control({ latencyMs: 0 })
  await ended
  const after = await place.call(['db', 'check', '--json'])
  const copy = await place.call(['--db', 'copy.db', 'db', 'check'])

  expect(sentByThen).toBeLessThan(30)
  expect(during).toMatchObject({ code: 0, stderr: '' })
  expect(during.stdout).toMatch(
    /^data\/rankline\.db is whole: 1 run, \d+ calls, \d+ answers checked\.\n(\d calls? ha.* no result yet.*\n)?$/,
  )
  expect(JSON.parse(after.stdout)).toEqual({
    database: 'data/rankline.db',
    whole: true,
    runs: 1,
    calls: expect.any(Number),
    answers: 30,
    open_calls: 0,
    findings: [],
  })
  expect(copy.stdout).toMatch(/^copy\.db is whole: 1 run, /)
})

test('a check exits 3 where something is broken, and says what, how often and what to do', async () => {
  const { place, job } = await staged({}, 5)
  await place.call(['run', job])
  place.change("UPDATE raw_answers SET encoding = 'zip' WHERE answer_id IN (2, 4)")
  place.change('UPDATE calls_ SET billed = 0 WHERE id = (SELECT call_id FROM answers_ WHERE id = 3)')

  const told = await place.call(['db', 'check'])
  const json = await place.call(['db', 'check', '--json'])

  expect(told).toMatchObject({ code: 3, stderr: '' })
  expect(told.stdout.split('\n')).toEqual([
    'data/rankline.db is not whole.',
    '  Answers without the call that was billed for them: 1, first answer 3.',
    '  Stored bodies that cannot be unpacked: 2, first answer 2.',
    'Everything else is intact, and rankline can continue with the file. A backup lacks what was paid for since it was made: take from it only what is broken here',
    '',
  ])
  expect(json.code).toBe(3)
  expect(JSON.parse(json.stdout)).toMatchObject({
    whole: false,
    findings: [
      { what: 'Answers without the call that was billed for them', count: 1, first: 'answer 3' },
      { what: 'Stored bodies that cannot be unpacked', count: 2, first: 'answer 2' },
    ],
  })
})

test('a call that a dead process left without an end is no damage, and the next run settles it', async () => {
  const { place, job } = await staged({}, 2)
  await place.call(['run', job])
  place.change(`UPDATE runs_ SET finish_reason = 'unavailable';
    INSERT INTO calls_ (run_id, task_id, operation, sent_at, credits) VALUES (1, NULL, 'alpha.search', 0, 1)`)

  const left = await place.call(['db', 'check'])
  const json = await place.call(['db', 'check', '--json'])
  await place.call(['run', job])

  expect(left.code).toBe(0)
  expect(left.stdout.split('\n')[1]).toBe(
    '1 call has no result yet: in flight now, or left by a process that died. The next run counts those left as ambiguous.',
  )
  expect(JSON.parse(json.stdout)).toMatchObject({ whole: true, open_calls: 1, findings: [] })
  expect(JSON.parse((await place.call(['db', 'check', '--json'])).stdout)).toMatchObject({ open_calls: 0 })
})

test('a check of what is no database is refused', async () => {
  await using place = await workspace()
  const notes = await place.file(
    'notes.txt',
    'just some notes, longer than the head of a database: '.repeat(4),
  )
  const { code, stdout, stderr } = await place.call(['--db', notes, 'db', 'check'])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('notes.txt is not a SQLite database')
})

/** Lets everything that is stored have come that many days earlier. */
const aged = (days: number) => `UPDATE answers_ SET fetched_at = fetched_at - ${days * 86_400_000}`

test('a report says the same when the stored bodies are gone, and so does an export', async () => {
  const { place, job } = await staged({ sites: ['acme.com'] }, 8)
  await place.call(['run', job, '--target', 'acme.com', '--pages', '2'])
  place.change(aged(100))
  const read = async () =>
    await Promise.all([
      place.call(['report', 'job', '--format', 'csv']),
      place.call(['export', 'organic', '--format', 'jsonl']),
      place.call(['runs', '1', '--json']),
    ])
  const before = await read()

  const planned = await place.call(['db', 'prune', '--answers', '90d', '--dry-run', '--json'])
  const pruned = await place.call(['db', 'prune', '--answers', '90d'])

  expect(before[0]?.stdout.split('\n').length).toBeGreaterThan(8)
  expect(JSON.parse(planned.stdout)).toEqual({
    dry_run: true,
    bodies: 16,
    bytes: expect.any(Number),
    kept: 0,
  })
  expect(pruned.stdout).toMatch(/^Dropped 16 stored bodies, \d+\.\d kB\.\n$/)
  expect(pruned.stderr).toContain('--vacuum')
  expect(place.sql('SELECT count(*) AS n FROM raw_answers')).toEqual([{ n: 0 }])
  expect(await read()).toEqual(before)
  expect((await place.call(['db', 'check'])).code).toBe(0)
})

test('a job that uses stored answers still has them, and buys nothing', async () => {
  const { sandbox, place, job } = await staged({}, 5)
  await place.call(['run', job, '--freshness', '30d'])
  place.change(aged(10))

  const pruned = await place.call(['db', 'prune', '--answers', '7d'])
  const again = await place.call(['run', job, '--freshness', '30d', '--json'])

  expect(pruned.stdout).toBe('Dropped 0 stored bodies, 0 bytes.\n')
  expect(pruned.stderr).toContain('5 bodies of that age stay')
  expect(JSON.parse(again.stdout)).toMatchObject({ tasks: { done: 5, reused: 5 }, credits: { spent: 0 } })
  expect(sandbox.ledger.charged).toBe(5)
})

test('a stored answer whose body is gone is not used: the call is planned, and bought', async () => {
  const { place, job } = await staged({}, 5)
  await place.call(['run', job])
  place.change(aged(10))
  await place.call(['db', 'prune', '--answers', '7d'])

  const planned = await place.call(['plan', job, '--freshness', '30d', '--json'])
  const again = await place.call(['run', job, '--freshness', '30d', '--json'])

  expect(JSON.parse(planned.stdout)).toMatchObject({ credits: { min: 5, max: 5 } })
  expect(JSON.parse(again.stdout)).toMatchObject({ tasks: { done: 5, reused: 0 }, credits: { spent: 5 } })
})

test('bodies are dropped while another process collects; the file is made smaller only when none does', async () => {
  const { sandbox, place } = await staged()
  const old = await place.file('old.csv', queriesCsv(50, 'old'))
  await place.call(['run', old])
  place.change(
    `${aged(100)}; UPDATE raw_answers SET body = randomblob(50000), block_id = NULL; DELETE FROM body_blocks`,
  )
  const job = await place.file('job.csv', queriesCsv(30))
  sandbox.control(slow)
  const { ended } = place.start(['run', job, '--concurrency', '1', '--json'])
  await waitWhile(() => sandbox.ledger.requestsFor(isSearch).length < 56)

  const refused = await place.call(['db', 'prune', '--answers', '90d', '--vacuum'])
  const left = place.sql('SELECT count(*) AS n FROM raw_answers WHERE answer_id <= 50')
  const pruned = await place.call(['db', 'prune', '--answers', '90d', '--json'])
  const sentByThen = sandbox.ledger.requestsFor(isSearch).length
  sandbox.control({ latencyMs: 0 })
  const collected = await ended

  expect(refused).toMatchObject({ code: 7, stdout: '' })
  expect(refused.stderr).toContain('Nothing was dropped')
  expect(left).toEqual([{ n: 50 }])
  expect(JSON.parse(pruned.stdout)).toMatchObject({ dry_run: false, bodies: 50, bytes: 2_500_000, kept: 0 })
  expect(sentByThen).toBeLessThan(80)
  expect(JSON.parse(collected.stdout)).toMatchObject({
    tasks: { done: 30, failed: 0 },
    calls: { ambiguous: 0 },
  })
  expect(place.sql('SELECT count(*) AS n FROM raw_answers')).toEqual([{ n: 30 }])

  const before = (await stat(join(place.folder, 'data/rankline.db'))).size
  const shrunk = await place.call(['db', 'prune', '--answers', '90d', '--vacuum', '--json'])
  const after = (await stat(join(place.folder, 'data/rankline.db'))).size
  expect(JSON.parse(shrunk.stdout)).toMatchObject({ bodies: 0, file_bytes: after, free_bytes: 0 })
  expect(after).toBeLessThan(before)
  expect((await place.call(['db', 'check'])).code).toBe(0)
})

testTable([
  [['db'], 'rankline db <what> [file]: something is missing'],
  [['db', 'bakcup', 'copy.db'], "does not know 'bakcup'. Did you mean backup?"],
  [['db', 'polish'], "does not know 'polish'. Write one of backup"],
  [['db', 'backup'], 'rankline db backup <file>'],
  [['db', 'backup', 'a.db', 'b.db'], "takes no 'b.db'"],
  [['db', 'check', 'copy.db'], "rankline db check takes no 'copy.db'. Name the database with --db"],
  [['db', 'prune'], 'rankline db prune --answers 90d'],
  [['db', 'prune', '--answers', '90'], "--answers cannot be '90'; write a span such as 12h, 90d, 26w or 2y"],
  [['db', 'prune', '--answers', '0d'], "--answers cannot be '0d'"],
  [['db', 'prune', '--answers', '7d', '--answers', '9d'], '--answers is given more than once'],
  [['db', 'prune', 'x.db', '--answers', '7d'], "rankline db prune takes no 'x.db'"],
  [['db', 'prune', '--answers', '7d'], 'There is no database data/rankline.db'],
  [['db', 'prune', '--answers', '7d', '--dry-run'], 'There is no database data/rankline.db'],
  [['db', 'check', '--answers', '7d'], 'rankline db check takes no --answers'],
  [['db', 'backup', 'copy.db', '--vacuum'], 'rankline db backup takes no --vacuum'],
  [['db', 'check'], 'There is no database data/rankline.db'],
  ...[['export', 'organic'], ['report', 'acme'], ['diff', 'acme'], ['renormalise']].map(
    (args) => [args, 'There is no database data/rankline.db'] as [string[], string],
  ),
  [['db', 'backup', 'copy.db'], 'There is no database data/rankline.db'],
])('rankline %j is refused in one line, and nothing is made', async (args, words) => {
  await using place = await workspace()

  const { code, stdout, stderr } = await place.call(args)

  expect(code).toBe(2)
  expect(stdout).toBe('')
  expect(stderr).toContain(words)
  expect(stderr.trim()).not.toContain('\n')
  expect(await readdir(join(place.folder, 'data'))).toEqual([])
})
