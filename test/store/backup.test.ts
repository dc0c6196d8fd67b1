import { writeFileSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { UsageError } from '../../src/model/errors.ts'
import { backUp, restore } from '../../src/store/sqlite/maintenance/backup.ts'
import { openReader, openStore } from '../../src/store/sqlite/open.ts'
import { aTarget } from '../run/build.ts'
import { webPage, work } from './answers.ts'
import { aFolder, aStore, plan } from './build.ts'
import { breakPage } from './damage.ts'

/** A store with a run in it, and an empty folder for copies. */
async function aHistory() {
  const temp = await aStore()
  const queries = Array.from({ length: 40 }, (_, n) => ({ text: `query ${n}` }))
  const run = await plan(temp.store, { job: { targets: [aTarget('c.example')] }, queries })
  await work(temp.store, run, ({ text }) => (text === 'query 7' ? null : webPage('abc')))
  const folder = await aFolder()
  return { ...temp, queries, folder, to: join(folder, 'copy.db') }
}

function contents(path: string): Record<string, unknown> {
  const db = new Database(path, { readonly: true })
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')").pluck().all()
  const rows = tables.map((name) => [name, db.prepare(`SELECT * FROM "${name}"`).all()])
  const all = { ...Object.fromEntries(rows), id: db.pragma('application_id') }
  db.close()
  return all
}

async function refusal(copying: Promise<unknown>): Promise<string> {
  const error = await copying.then(
    () => null,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(UsageError)
  return (error as UsageError).message
}

describe('a backup', () => {
  test('holds everything in one file that needs no other, and leaves the database as it is', async () => {
    const { path, folder, to } = await aHistory()
    const before = contents(path)

    const copied = await backUp(path, to)

    expect(copied).toEqual({ bytes: (await stat(to)).size, runs: 1 })
    expect(await readdir(folder)).toEqual(['copy.db'])
    expect(contents(to)).toEqual(before)
    expect(contents(path)).toEqual(before)
    expect(await readdir(folder)).toEqual(['copy.db'])
  })

  test('holds what stands in the write-ahead log only, and what has no end yet', async () => {
    const { store, path, queries, to } = await aHistory()
    await plan(store, { queries })
    expect((await backUp(path, to)).runs).toBe(2)
  })

  test('is a store to go on with', async () => {
    const { path, to } = await aHistory()
    await backUp(path, to)
    await using copy = await openStore(to)
    const run = await plan(copy, { queries: [{ text: 'one more' }] })
    await work(copy, run, () => webPage('a'))
    expect((await copy.tally(run.id)).tasks).toMatchObject({ planned: 1, done: 1 })
  })

  test('of a backup is a backup', async () => {
    const { path, folder, to } = await aHistory()
    await backUp(path, to)
    await backUp(to, join(folder, 'second.db'))
    expect(contents(join(folder, 'second.db'))).toEqual(contents(path))
  })

  test('may be read by nobody who may not read the database', async () => {
    const { path, to } = await aHistory()
    await chmod(path, 0o600)
    await backUp(path, to)
    expect((await stat(to)).mode & 0o777).toBe(0o600)
  })

  test('goes to a name with spaces, quotes and letters of other scripts', async () => {
    const { path, folder } = await aHistory()
    const to = join(folder, `it's "a copy" 日本 1%.db`)
    await backUp(path, to)
    expect(await readdir(folder)).toEqual([`it's "a copy" 日本 1%.db`])
  })
})

describe('a backup that cannot be made says so and leaves nothing behind', () => {
  test('because there is a file of that name, which stays as it is', async () => {
    const { path, folder, to } = await aHistory()
    await writeFile(to, 'mine')
    expect(await refusal(backUp(path, to))).toBe(
      `${to} exists already, and a backup never takes the place of a file. Name another file, or remove this one first`,
    )
    expect(await readFile(to, 'utf8')).toBe('mine')
    expect(await readdir(folder)).toEqual(['copy.db'])
  })

  test('because somebody made a file of that name while it was copied, which stays as it is', async () => {
    const { path, folder, to } = await aHistory()
    const copying = backUp(path, to)
    writeFileSync(to, 'mine')
    expect(await refusal(copying)).toContain('exists already')
    expect(await readFile(to, 'utf8')).toBe('mine')
    expect(await readdir(folder)).toEqual(['copy.db'])
  })

  test('because the name is that of a link to nowhere', async () => {
    const { path, to } = await aHistory()
    await symlink('/no/such/file', to)
    expect(await refusal(backUp(path, to))).toContain('exists already')
  })

  test('because the name is that of the database', async () => {
    const { path } = await aHistory()
    expect(await refusal(backUp(path, path))).toContain('exists already')
  })

  test('because the folder is missing, or is what was named', async () => {
    const { path, folder } = await aHistory()
    expect(await refusal(backUp(path, join(folder, 'no/copy.db')))).toContain(`mkdir -p ${folder}/no`)
    await mkdir(join(folder, 'sub'))
    expect(await refusal(backUp(path, join(folder, 'sub')))).toContain('is a folder. Name a file in it')
    expect(await refusal(backUp(path, ' '))).toContain('is empty')
    expect(await readdir(folder)).toEqual(['sub'])
  })

  test.skipIf(process.getuid?.() === 0)('because the folder may not be written', async () => {
    const { path, folder, to } = await aHistory()
    await chmod(folder, 0o500)
    expect(await refusal(backUp(path, to))).toContain('its folder may not be written')
    await chmod(folder, 0o700)
  })

  test('because the database is damaged', async () => {
    const { store, path, folder, to } = await aHistory()
    await store[Symbol.asyncDispose]()
    await breakPage(path, 'items')
    expect(await refusal(backUp(path, to))).toBe(
      `${path} is damaged. Restore it from a backup, or name another file with --db.`,
    )
    expect(await readdir(folder)).toEqual([])
  })

  test('because there is no database, or none of rankline', async () => {
    const { folder, to } = await aHistory()
    const notes = join(folder, 'notes.txt')
    expect(await refusal(backUp(notes, to))).toContain('There is no database')
    expect(await refusal(backUp(folder, to))).toContain('is a folder. Name a database file with --db')
    await writeFile(notes, '')
    expect(await refusal(backUp(notes, to))).toContain('is empty: rankline has stored nothing in it')
    const other = new Database(notes)
    other.exec('CREATE TABLE x (y)')
    other.close()
    expect(await refusal(backUp(notes, to))).toContain('is the database of another program')
    expect(await readdir(folder)).toEqual(['notes.txt'])
  })
})

describe('a backup that is put back', () => {
  test('is the database again, and what it replaces is kept whole, with what stood in its log only', async () => {
    const { store, path, queries, to } = await aHistory()
    await backUp(path, to)
    const saved = contents(to)
    await plan(store, { queries })
    const later = contents(path)
    await store[Symbol.asyncDispose]()

    const restored = await restore(to, path, 'then')

    expect(restored).toEqual({
      bytes: (await stat(path)).size,
      runs: 1,
      before: `${path}.before-restore-then`,
    })
    expect(contents(path)).toEqual(saved)
    expect(contents(`${path}.before-restore-then`)).toEqual(later)
    await (await openStore(path))[Symbol.asyncDispose]()
    expect(contents(to)).toEqual(saved)
  })

  test('takes the place of a damaged database, of one with the log of another, and of none', async () => {
    const { store, path, to, folder } = await aHistory()
    await backUp(path, to)
    const saved = contents(to)
    await store[Symbol.asyncDispose]()
    writeFileSync(path, 'no database')
    writeFileSync(`${path}-wal`, Buffer.alloc(4_096))
    const { before } = await restore(to, path, 'then')
    expect(contents(path)).toEqual(saved)
    expect([await readFile(before ?? '', 'utf8'), (await stat(`${before}-wal`)).size]).toEqual([
      'no database',
      4_096,
    ])
    const elsewhere = join(folder, 'new.db')
    expect(await restore(to, elsewhere, 'then')).toMatchObject({ before: null })
    expect(contents(elsewhere)).toEqual(saved)
  })

  test('changes nothing where it is not whole, no database, or the database itself', async () => {
    const { path, to } = await aHistory()
    const before = contents(path)
    await backUp(path, to)
    await breakPage(to, 'queries')
    expect(await refusal(restore(to, path, 'then'))).toContain('is not whole, and nothing was changed')
    expect(await refusal(restore(`${to}.missing`, path, 'then'))).toContain('.missing. Check the path')
    expect(await refusal(restore(path, path, 'then'))).toContain('is the database itself')
    expect(contents(path)).toEqual(before)
  })

  test('by hand, beside the log of another database, is refused before the two are mixed', async () => {
    const { path, to } = await aHistory()
    await backUp(path, to)
    writeFileSync(`${to}-wal`, Buffer.alloc(4_096))
    for (const open of [openStore, openReader])
      await expect(open(to)).rejects.toMatchObject({
        exitCode: 6,
        message: expect.stringContaining(`${to}-wal. Move that log away`),
      })
    expect((await stat(`${to}-wal`)).size).toBe(4_096)
  })
})
