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

test.each([
  [['db'], 'rankline db <what> [file]: something is missing'],
  [['db', 'bakcup', 'copy.db'], "does not know 'bakcup'. Did you mean backup?"],
  [['db', 'polish'], "does not know 'polish'. Write one of backup"],
  [['db', 'backup'], 'rankline db backup <file>'],
  [['db', 'backup', 'a.db', 'b.db'], "takes no 'b.db'"],
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
