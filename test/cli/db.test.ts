import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { queriesCsv, workspace } from '../support/rankline.ts'

const isSearch = ({ operation }: { operation: string | null }) => operation === 'alpha.search'

test('a backup is made while another process collects, which does not notice', async () => {
  await using sandbox = await startSandbox({ latencyMs: 20 })
  await using place = await workspace(sandbox)
  const job = await place.file('job.csv', queriesCsv(300))
  const { ended } = place.start(['run', job, '--concurrency', '4', '--json'])
  while (sandbox.ledger.requestsFor(isSearch).length < 20)
    await new Promise((resolve) => setTimeout(resolve, 5))

  const backup = await place.run(['db', 'backup', 'copies.db'])
  const sentByThen = sandbox.ledger.requestsFor(isSearch).length
  const collected = await ended

  expect(backup).toMatchObject({ code: 0, stderr: '' })
  expect(backup.stdout).toMatch(/^Backed up to copies\.db: \d\S* [kM]B, 1 run\.\n$/)
  expect(sentByThen).toBeLessThan(300)
  expect(JSON.parse(collected.stdout)).toMatchObject({
    tasks: { done: 300, failed: 0 },
    calls: { ambiguous: 0 },
  })
  expect((await readdir(place.folder)).filter((name) => name.startsWith('copies'))).toEqual(['copies.db'])
  const [copied] = JSON.parse((await place.run(['--db', 'copies.db', 'runs', '--json'])).stdout)
  expect(copied).toMatchObject({ run: 1, job: 'job', finish_reason: null })
  expect(copied.tasks.done).toBeGreaterThan(0)
  expect(copied.tasks.done).toBeLessThan(300)
})

test('a backup says what it wrote as JSON, and writes over nothing', async () => {
  await using sandbox = await startSandbox()
  await using place = await workspace(sandbox)
  const job = await place.file('job.csv', queriesCsv(3))
  await place.run(['run', job])

  const first = await place.run(['db', 'backup', 'copy.db', '--json'])
  const second = await place.run(['db', 'backup', 'copy.db'])

  expect(JSON.parse(first.stdout)).toEqual({ file: 'copy.db', bytes: expect.any(Number), runs: 1 })
  expect(second).toMatchObject({ code: 2, stdout: '' })
  expect(second.stderr).toContain('copy.db exists already')
})

test('a check says that all is whole, also in the middle of a run, and of the copy', async () => {
  await using sandbox = await startSandbox({ latencyMs: 20 })
  await using place = await workspace(sandbox)
  const job = await place.file('job.csv', queriesCsv(200))
  const { ended } = place.start(['run', job, '--concurrency', '4'])
  while (sandbox.ledger.requestsFor(isSearch).length < 20)
    await new Promise((resolve) => setTimeout(resolve, 5))

  const during = await place.run(['db', 'check'])
  await place.run(['db', 'backup', 'copy.db'])
  const sentByThen = sandbox.ledger.requestsFor(isSearch).length
  await ended
  const after = await place.run(['db', 'check', '--json'])
  const copy = await place.run(['--db', 'copy.db', 'db', 'check'])

  expect(sentByThen).toBeLessThan(200)
  expect(during).toMatchObject({ code: 0, stderr: '' })
  expect(during.stdout).toMatch(/^data\/rankline\.db is whole: 1 run, \d+ calls, \d+ answers checked\.\n$/)
  expect(JSON.parse(after.stdout)).toEqual({
    database: 'data/rankline.db',
    whole: true,
    runs: 1,
    calls: expect.any(Number),
    answers: 200,
    findings: [],
  })
  expect(copy.stdout).toMatch(/^copy\.db is whole: 1 run, /)
})

test('a check exits 3 where something is broken, and says what, how often and what to do', async () => {
  await using sandbox = await startSandbox()
  await using place = await workspace(sandbox)
  const job = await place.file('job.csv', queriesCsv(5))
  await place.run(['run', job])
  place.change("UPDATE raw_answers SET body = x'00' WHERE answer_id IN (2, 4)")
  place.change('UPDATE calls_ SET billed = 0 WHERE id = (SELECT call_id FROM answers_ WHERE id = 3)')

  const told = await place.run(['db', 'check'])
  const json = await place.run(['db', 'check', '--json'])

  expect(told).toMatchObject({ code: 3, stderr: '' })
  expect(told.stdout.split('\n')).toEqual([
    'data/rankline.db is not whole.',
    '  Answers without the call that was billed for them: 1, first answer 3.',
    '  Stored bodies that cannot be unpacked: 2, first answer 2.',
    'Keep the file as it is, and go on with the newest backup that is whole: rankline --db <backup> db check',
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

test('a check of what is no database is refused', async () => {
  await using place = await workspace()
  const notes = await place.file(
    'notes.txt',
    'just some notes, longer than the head of a database: '.repeat(4),
  )
  const { code, stdout, stderr } = await place.run(['--db', notes, 'db', 'check'])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('notes.txt is no SQLite database')
})

test.each([
  [['db'], 'rankline db <what> [file]: something is missing'],
  [['db', 'bakcup', 'copy.db'], "does not know 'bakcup'. Did you mean backup?"],
  [['db', 'polish'], "does not know 'polish'. Write one of backup"],
  [['db', 'backup'], 'rankline db backup <file>'],
  [['db', 'backup', 'a.db', 'b.db'], "takes no 'b.db'"],
  [['db', 'check', 'copy.db'], "rankline db check takes no 'copy.db'. Name the database with --db"],
  [['db', 'check'], 'There is no database data/rankline.db'],
  [['db', 'backup', 'copy.db'], 'There is no database data/rankline.db'],
])('rankline %j is refused in one line, and nothing is made', async (args, words) => {
  await using place = await workspace()

  const { code, stdout, stderr } = await place.run(args)

  expect(code).toBe(2)
  expect(stdout).toBe('')
  expect(stderr).toContain(words)
  expect(stderr.trim()).not.toContain('\n')
  expect(await readdir(join(place.folder, 'data'))).toEqual([])
})
