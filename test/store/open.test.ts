import { chmod, copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { UsageError } from '../../src/model/errors.ts'
import { needsMigration } from '../../src/store/sqlite/connection/database.ts'
import { applicationId, rejectForeignDatabase } from '../../src/store/sqlite/migrate.ts'
import journal from '../../src/store/sqlite/migrations/meta/_journal.json' with { type: 'json' }
import { openReader, openStore } from '../../src/store/sqlite/open.ts'
import { aFile, aFolder, aStore, plan } from './build.ts'

async function refusal(path: string): Promise<UsageError> {
  const error = await openStore(path).then(
    () => null,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(UsageError)
  return error as UsageError
}

describe('a database that cannot be used is refused in one sentence, with exit code 2', () => {
  test('a missing folder, with the command that makes it', async () => {
    const folder = await aFolder()
    const { message, exitCode } = await refusal(join(folder, 'no/such/rankline.db'))
    expect(message).toContain(`mkdir -p ${join(folder, 'no/such')}`)
    expect(message).not.toContain('\n')
    expect(exitCode).toBe(2)
  })

  test('a folder', async () => {
    const folder = await aFolder()
    const { message, exitCode } = await refusal(folder)
    expect(message).toBe(
      `${folder} is a folder. Name a database file with --db, for instance ${folder}/rankline.db`,
    )
    expect(exitCode).toBe(2)
    expect(await readdir(folder)).toEqual([])
  })

  test('a file that is no database, which stays as it is', async () => {
    const path = join(await aFolder(), 'notes.txt')
    const text = 'just some notes, more than a header of SQLite is long: '.repeat(5)
    await writeFile(path, text)
    const { message, exitCode } = await refusal(path)
    expect(message).toBe(`${path} is not a SQLite database. Name another file with --db.`)
    expect(exitCode).toBe(2)
    expect(await readFile(path, 'utf8')).toBe(text)
  })

  test('one that a newer rankline has written, which stays as it is', async () => {
    const path = join(await aFolder(), 'rankline.db')
    await (await openStore(path))[Symbol.asyncDispose]()
    const db = new Database(path)
    db.prepare("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('x', 9e15)").run()
    db.exec('DROP VIEW rankings')
    db.close()
    const { message, exitCode } = await refusal(path)
    expect(message).toMatch(
      /^\S+ was written by a newer rankline: its schema is version \d+, this one knows \d+\. Update rankline, or name another/,
    )
    expect(exitCode).toBe(2)
    const after = new Database(path, { readonly: true })
    expect(after.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'rankings'").all()).toEqual([])
    after.close()
  })

  test.skipIf(process.getuid?.() === 0)('one that may not be written', async () => {
    const path = join(await aFolder(), 'rankline.db')
    await (await openStore(path))[Symbol.asyncDispose]()
    await chmod(path, 0o400)
    expect((await refusal(path)).message).toContain('cannot be')
  })
})

describe('a database is opened', () => {
  test('again and again, and keeps what is in it', async () => {
    const path = join(await aFolder(), 'rankline.db')
    for (let turn = 1; turn <= 3; turn++) {
      await using store = await openStore(path)
      await plan(store, { queries: [{ text: `query ${turn}` }] })
      expect(await store.runs({})).toHaveLength(turn)
    }
  })

  test('by two at once, where neither is there yet', async () => {
    const path = join(await aFolder(), 'rankline.db')
    const stores = await Promise.all([openStore(path), openStore(path)])
    await plan(stores[0], { queries: [{}] })
    expect(await stores[1].runs({})).toHaveLength(1)
    for (const store of stores) await store[Symbol.asyncDispose]()
  })

  test('in memory, for nobody else', async () => {
    await using store = await openStore(':memory:')
    await plan(store, { queries: [{}] })
    expect(await store.runs({})).toHaveLength(1)
  })

  test('from an empty file', async () => {
    const path = join(await aFolder(), 'empty.db')
    await writeFile(path, '')
    await using store = await openStore(path)
    expect(await store.jobNames()).toEqual([])
  })

  test('with a name that holds spaces, quotes and letters of other scripts', async () => {
    const folder = join(await aFolder(), `it's "an odd" фолдер`)
    await mkdir(folder)
    await using store = await openStore(join(folder, '日本 1%.db'))
    expect(await store.jobNames()).toEqual([])
  })
})

describe('a database that a process was making when it was killed', () => {
  test('is undone by a command that only reads, which then finds it empty', async () => {
    const path = await halfMade()
    await expect(openReader(path)).rejects.toThrow(`${path} is empty: rankline has stored nothing in it.`)
    expect(await readdir(dirname(path))).toEqual(['rankline.db'])
  })

  test('is made by the next one that writes', async () => {
    const path = await halfMade()
    expect(needsMigration(path)).toBe(true)
    await using store = await openStore(path)
    expect(await store.runs({})).toEqual([])
  })
})

/** The file of a database of one page and the journal of the change that was to follow, which is on the disk in part. */
async function halfMade(): Promise<string> {
  const folder = await aFolder()
  const making = join(await aFolder(), 'making.db')
  const db = new Database(making)
  db.exec('VACUUM')
  db.pragma('cache_size = 1')
  db.exec('BEGIN IMMEDIATE; CREATE TABLE words (word TEXT)')
  const insert = db.prepare('INSERT INTO words VALUES (?)')
  for (let row = 0; row < 100; row++) insert.run('x'.repeat(3_000))
  await copyFile(making, join(folder, 'rankline.db'))
  await copyFile(`${making}-journal`, join(folder, 'rankline.db-journal'))
  db.close()
  return join(folder, 'rankline.db')
}

test('a database that another process makes at this moment is not taken for that of another program', async () => {
  const path = join(await aFolder(), 'rankline.db')
  const [other, db] = [new Database(path), new Database(path)]
  other.pragma('journal_mode = WAL')
  const pragma = db.pragma.bind(db)
  db.pragma = (text, options) => {
    const value = pragma(text, options)
    if (text === 'application_id')
      other.exec(`BEGIN; PRAGMA application_id = ${applicationId}; CREATE TABLE runs_ (id); COMMIT`)
    return value
  }
  expect(rejectForeignDatabase(db, path)).toBeNull()
  for (const one of [db, other]) one.close()
})

test('what is acknowledged survives a loss of power: every open syncs fully and keeps a write-ahead log', async () => {
  const path = join(await aFolder(), 'rankline.db')
  for (let turn = 1; turn <= 3; turn++) {
    const pragmas = await pragmasOf(path)
    expect(pragmas).toEqual({ journal: 'wal', synchronous: 2 })
  }
})

/** Pragmas hold for one connection only: they are read through the one that the store opens. */
async function pragmasOf(path: string): Promise<{ journal: unknown; synchronous: unknown }> {
  const { prepare } = Database.prototype
  const opened = new Set<Database.Database>()
  Database.prototype.prepare = function (this: Database.Database, source: string) {
    opened.add(this)
    return prepare.call(this, source)
  } as typeof prepare
  try {
    await using _ = await openStore(path)
    const [db] = opened as Set<Database.Database>
    return {
      journal: db?.pragma('journal_mode', { simple: true }),
      synchronous: db?.pragma('synchronous', { simple: true }),
    }
  } finally {
    Database.prototype.prepare = prepare
  }
}

test('migrations follow each other: their times increase in the order of their numbers', () => {
  const { entries } = journal
  expect(entries.map(({ idx }) => idx)).toEqual(entries.map((_, index) => index))
  const times = entries.map(({ when }) => when)
  expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
})

test('tables of small rows under a key that is no number have no row numbers beside it', async () => {
  const { sql } = await aStore()
  const without = sql<{ name: string }>(
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND wr = 1 ORDER BY name",
  )
  expect(without.map(({ name }) => name)).toEqual([
    'click_days',
    'click_rows',
    'continuations',
    'dated_details',
    'image_details',
    'imported_answers_',
    'imported_observations',
    'item_hashes',
    'link_hashes',
    'observations',
    'rank_counts_',
    'resting_queries',
    'run_queries',
    'run_targets',
    'shared_calls',
    'shared_jobs',
    'volumes_',
  ])
})

test('a view whose text has changed is made anew; the others are left alone', async () => {
  const { path, exec, sql } = await aStore()
  exec('DROP VIEW tasks; CREATE VIEW tasks AS SELECT 1 AS old')
  await using store = await openStore(path)
  expect(await store.runs({})).toEqual([])
  expect(sql('SELECT * FROM tasks')).toEqual([])
  expect(sql('SELECT name FROM pragma_table_info(?)', 'tasks')[0]).toEqual({ name: 'task_id' })
})

test('a new database has pages of 8 KB, and one that has smaller ones keeps them', async () => {
  const { path, sql, exec } = await aFile('new', async () => {})
  expect(sql('PRAGMA page_size')).toEqual([{ page_size: 8192 }])
  exec('PRAGMA journal_mode = DELETE; PRAGMA page_size = 4096; VACUUM')
  const store = await openStore(path)
  await plan(store, { queries: [{}] })
  await store[Symbol.asyncDispose]()
  expect(sql('PRAGMA page_size')).toEqual([{ page_size: 4096 }])
  expect(sql('SELECT count(*) AS tasks FROM tasks')).toEqual([{ tasks: 1 }])
})
