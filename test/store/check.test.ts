import { createHash } from 'node:crypto'
import { chmod, copyFile, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { UsageError } from '../../src/model/errors.ts'
import { backUp } from '../../src/store/sqlite/maintenance/backup.ts'
import { checkDatabase } from '../../src/store/sqlite/maintenance/check.ts'
import { testTable } from '../support/test-table.ts'
import { aBody } from './answers.ts'
import { aFolder, aStore, hour, noon, plan } from './build.ts'
import { breakPage, overwrite } from './damage.ts'
import { aFinishedRun, aRunUnderWay, aWholeDatabase } from './whole-database.ts'

/** Of a database and its write-ahead log. */
function hashes(path: string): Promise<readonly string[]> {
  return Promise.all(
    [path, `${path}-wal`].map(async (file) =>
      createHash('sha256')
        .update(await readFile(file))
        .digest('hex'),
    ),
  )
}

test('what rankline has written is whole, also in the middle of a run', async () => {
  const { path } = await aWholeDatabase()
  expect(await checkDatabase(path)).toEqual({
    ...{ runs: 4, calls: 15, answers: 8 },
    ...{ openCalls: 1, isDamaged: false, findings: [] },
  })
})

test('what a dead process left, and what was put right or closed after it, is whole', async () => {
  const { store, path } = await aStore()
  await aFinishedRun(store)
  await aRunUnderWay(store)
  expect((await checkDatabase(path)).findings).toEqual([])
  await store.finishRun(2, 'crashed', noon)
  expect((await checkDatabase(path)).findings).toEqual([])
  await store.recover([2], noon + hour)
  await store.closeRun(2, noon + hour)
  expect((await checkDatabase(path)).findings).toEqual([])
})

test('a backup of what is whole is whole', async () => {
  const { path } = await aWholeDatabase()
  const copy = join(await aFolder(), 'copy.db')
  await backUp(path, copy)
  expect(await checkDatabase(copy)).toEqual(await checkDatabase(path))
})

test('a check changes nothing, and sees what stands in the write-ahead log only', async () => {
  const { store, path } = await aStore()
  await aFinishedRun(store)
  expect((await stat(`${path}-wal`)).size).toBeGreaterThan(0)
  const before = await hashes(path)

  expect((await checkDatabase(path)).runs).toBe(1)

  expect(await hashes(path)).toEqual(before)
  await plan(store, { queries: [{}] })
  expect((await checkDatabase(path)).runs).toBe(2)
})

test('a check leaves the write-ahead log of a dead process to whoever goes on', async () => {
  const { store, path } = await aStore()
  await aFinishedRun(store)
  const left = join(await aFolder(), 'left.db')
  for (const end of ['', '-wal']) await copyFile(`${path}${end}`, `${left}${end}`)
  const before = await hashes(left)

  expect((await checkDatabase(left)).runs).toBe(1)

  expect(await hashes(left)).toEqual(before)
})

describe('damage to the file', () => {
  const torn = 'Places where SQLite finds the file damaged'

  testTable(['items', 'answers_', 'tasks_', 'calls_', 'texts', 'texts_hash', 'observations'])(
    'in a page of %s is found',
    async (table) => {
      const { path } = await aWholeDatabase()
      await breakPage(path, table)
      const { findings } = await checkDatabase(path)
      expect(findings[0]).toMatchObject({ what: torn, first: expect.stringMatching(/^(Tree|Page) /) })
    },
  )

  test('in a page of bodies is found, and that it hides more', async () => {
    const { path } = await aWholeDatabase()
    await breakPage(path, 'raw_answers')
    const whats = (await checkDatabase(path)).findings.map(({ what }) => what)
    expect(whats).toContain(torn)
    expect(whats).toContain('Checks that the damage kept from finishing')
  })

  test('in a body that cannot be read holds back no other one', async () => {
    const { path, exec } = await aWholeDatabase()
    exec(`
      UPDATE raw_answers SET body = randomblob(20000) WHERE answer_id = 2;
      UPDATE raw_answers SET encoding = 'zstd' WHERE answer_id = 3`)
    await breakPage(path, 'raw_answers', 'overflow')
    expect((await checkDatabase(path)).findings).toContainEqual({
      what: 'Stored bodies that cannot be unpacked',
      count: 2,
      first: 'answer 2',
    })
  })

  testTable([
    ['a body', aBody, 'Stored bodies that cannot be unpacked'],
    ['a text', Buffer.from('1 hour ago'), 'Texts that do not match their checksum'],
    ['a link', Buffer.from('https://f.example/'), 'Links that do not match their checksum'],
    ['a result', Buffer.from('kept apart'), 'Results that do not match their checksum'],
  ])('of one bit in %s is found, which SQLite does not see', async (_, bytes, what) => {
    const { path } = await aWholeDatabase()
    const at = (await readFile(path)).lastIndexOf(bytes) + bytes.length - 1
    await overwrite(path, at, Buffer.from([(bytes.at(-1) as number) ^ 1]))
    expect((await checkDatabase(path)).findings).toMatchObject([{ what, count: 1 }])
  })
})

describe('what cannot be checked is refused in one sentence, with exit code 2', () => {
  async function refusal(path: string): Promise<string> {
    const error = await checkDatabase(path).then(
      () => null,
      (error: unknown) => error,
    )
    expect(error).toBeInstanceOf(UsageError)
    return (error as UsageError).message
  }

  test('a file that is cut off', async () => {
    const { path } = await aWholeDatabase()
    await truncate(path, (await stat(path)).size / 2)
    expect(await refusal(path)).toBe(
      `${path} is damaged. Restore it from a backup, or name another file with --db.`,
    )
  })

  test('a file whose head is spoiled', async () => {
    const { path } = await aWholeDatabase()
    await overwrite(path, 0, Buffer.alloc(16))
    expect(await refusal(path)).toContain('is not a SQLite database')
  })

  test('a file that is not there, and is not made', async () => {
    const path = join(await aFolder(), 'rankline.db')
    expect(await refusal(path)).toBe(
      `There is no database ${path}. Name the file with --db, or make one with: rankline run <job file>`,
    )
    await expect(stat(path)).rejects.toThrow('ENOENT')
  })

  test('a file with nothing in it', async () => {
    const path = join(await aFolder(), 'rankline.db')
    await writeFile(path, '')
    expect(await refusal(path)).toContain('is empty')
    expect((await stat(path)).size).toBe(0)
  })

  test('one that an older rankline has written, which stays as it is', async () => {
    const { path, exec, sql } = await aWholeDatabase()
    exec('UPDATE __drizzle_migrations SET created_at = 1; DROP VIEW rankings')
    expect(await refusal(path)).toContain('was last written by an older rankline')
    expect(sql("SELECT name FROM sqlite_schema WHERE name = 'rankings'")).toEqual([])
  })

  test('one that a newer rankline has written', async () => {
    const { path, exec } = await aWholeDatabase()
    exec("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('x', 9e15)")
    expect(await refusal(path)).toContain('was written by a newer rankline')
  })

  test.skipIf(process.getuid?.() === 0)('one that may not be read', async () => {
    const { path } = await aWholeDatabase()
    await chmod(path, 0)
    expect(await refusal(path)).toContain('cannot be opened')
  })
})
