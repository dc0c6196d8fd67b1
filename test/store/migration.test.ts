import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openRuns } from '../../src/run/open-stored.ts'
import { needsMigration } from '../../src/store/sqlite/connection/database.ts'
import { checkDatabase } from '../../src/store/sqlite/maintenance/check.ts'
import { applicationId, migrationsFolder } from '../../src/store/sqlite/migrate.ts'
import { moveResults } from '../../src/store/sqlite/migration-steps.ts'
import journal from '../../src/store/sqlite/migrations/meta/_journal.json' with { type: 'json' }
import { openReader, openStore } from '../../src/store/sqlite/open.ts'
import { triggers, views } from '../../src/store/sqlite/views.ts'
import { aJob } from '../run/build.ts'
import { testTable } from '../support/test-table.ts'
import { begin, settlement } from './answers.ts'
import { aFolder, hour, lease, noon } from './build.ts'
import { resultsOfBefore } from './results-of-before.ts'
import { aWholeDatabase } from './whole-database.ts'

const newest = String(journal.entries.length - 1).padStart(4, '0')

/** A database as it was after that many migrations, with a row in each of its tables. */
async function earlier(migrations: number): Promise<string> {
  const path = join(await aFolder(), 'rankline.db')
  const db = new Database(path)
  db.pragma(`application_id = ${applicationId}`)
  db.exec('CREATE TABLE __drizzle_migrations (id INTEGER PRIMARY KEY, hash TEXT, created_at NUMERIC)')
  for (const { tag, when } of journal.entries.slice(0, migrations)) {
    db.exec(readFileSync(join(migrationsFolder, `${tag}.sql`), 'utf8'))
    db.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)').run(tag, when)
  }
  fill(db)
  db.close()
  return path
}

/** What an earlier rankline had stored: a run with a billed call, a call in the air and an asynchronous job. */
function fill(db: Database.Database): void {
  const settings = JSON.stringify(aJob()).replaceAll("'", "''")
  db.exec(`
    INSERT INTO jobs VALUES ('acme', '/jobs/acme.yaml');
    INSERT INTO runs_ (id, job, group_id, settings, date, started_at, plan_number, planned_min, planned_max)
      VALUES (1, 'acme', 1, '${settings}', '2026-03-01', ${noon}, 1, 3, 3);
    INSERT INTO queries VALUES (1, x'01', 'alpha.search', 'a', '{}'), (2, x'02', 'alpha.search', 'b', '{}'),
      (3, x'03', 'alpha.images', 'c', '{}');
    INSERT INTO run_queries (run_id, query_id, pages, tags, labels, targets, plan_number)
      SELECT 1, id, 1, '["head"]', '{}', '[]', 1 FROM queries;
    INSERT INTO tasks_ (id, run_id, query_id, page, state, ready, priority, credits, answer_id)
      VALUES (1, 1, 1, 1, 'done', 1, 0, 1, 1), (2, 1, 2, 1, 'sent', 1, 0, 1, NULL), (3, 1, 3, 1, 'accepted', 1, 0, 1, NULL);
    INSERT INTO calls_ (id, run_id, task_id, operation, sent_at, finished_at, http_status, outcome, billed, credits)
      VALUES (1, 1, 1, 'alpha.search', ${noon}, ${noon + 9}, 200, 'answered', 1, 1),
        (2, 1, 2, 'alpha.search', ${noon}, NULL, NULL, NULL, NULL, 1),
        (3, 1, 3, 'alpha.images', ${noon}, ${noon + 9}, 202, 'accepted', 0, 1);
    INSERT INTO async_jobs VALUES (3, 3, 'j-1', ${noon + 9});
    INSERT INTO hosts VALUES (1, 'a.example', 'a.example');
    INSERT INTO links VALUES (1, 7, 'https://a.example/', NULL, 1);
    INSERT INTO texts VALUES (1, 8, 'A');
    INSERT INTO answers_ (id, query_id, page, run_id, call_id, fetched_at, normaliser) VALUES (1, 1, 1, 1, 1, ${noon + 9}, 1);
    INSERT INTO raw_answers VALUES (1, 'deflate', x'00ff');
    INSERT INTO results (answer_id, kind, place, position, link_id, title_id) VALUES (1, 1, 1, 1, 1, 1);
    INSERT INTO dated_details (answer_id, kind, place) VALUES (1, 1, 1);
    INSERT INTO image_details (answer_id, kind, place, width) VALUES (1, 1, 1, 640);
    INSERT INTO targets VALUES (1, 'a.example', 'domain');
    INSERT INTO run_targets VALUES (1, 1, 'a.example', 1, 1);
    INSERT INTO observations VALUES (1, 1, 1, ${noon + 9}, 'ranked', 1, 'exact', 10, 1, 1);
    INSERT INTO usage_readings (run_id, key_hash, read_at, remaining, total_used, record)
      VALUES (1, 'k', ${noon - 9}, 50, 7, '{}'), (1, 'k', ${noon + 99}, 49, 8, '{}');
  `)
}

/** Every row of every table, as its columns name it. */
function everything(path: string): Map<string, Record<string, unknown>[]> {
  const db = new Database(path, { readonly: true })
  try {
    const tables = db
      .prepare<[], { name: string }>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB '__drizzle*' AND name NOT GLOB 'sqlite_*'",
      )
      .all()
    return new Map(
      tables.map(({ name }) => [
        name,
        db.prepare<[], Record<string, unknown>>(`SELECT * FROM "${name}"`).all(),
      ]),
    )
  } finally {
    db.close()
  }
}

test('a database of the first migration keeps every row, and a copy of what it was', async () => {
  const path = await earlier(1)
  const before = everything(path)
  expect([...before].filter(([, rows]) => rows.length === 0)).toEqual([])

  await (await openStore(path))[Symbol.asyncDispose]()

  const after = everything(path)
  for (const [table, rows] of before) {
    // They are lists of items now.
    if (table === 'results') continue
    expect(after.get(table)).toHaveLength(rows.length)
    for (const [index, { paging_final: _, ...row }] of rows.entries())
      expect(after.get(table)?.[index]).toMatchObject(row)
  }
  expect(everything(`${path}.before-migration-${newest}`)).toEqual(before)
})

describe('results that are rows of a table become lists of items', () => {
  const publicly = (path: string) => {
    const db = new Database(path, { readonly: true })
    try {
      return new Map(
        Object.keys(views).map((view) => [view, db.prepare(`SELECT * FROM ${view}`).raw().all().map(String)]),
      )
    } finally {
      db.close()
    }
  }
  const asBefore = (path: string) => {
    const db = new Database(path)
    resultsOfBefore(db)
    return db
  }

  test('and every view says what it said', async () => {
    const { path } = await aWholeDatabase()
    const before = publicly(path)
    asBefore(path).close()
    await (await openStore(path))[Symbol.asyncDispose]()
    expect(publicly(path)).toEqual(before)
    expect((await checkDatabase(path)).findings).toEqual([])
    // Texts that are in items now are not kept beside them.
    expect(
      everything(path)
        .get('texts')
        ?.map(({ text }) => text),
    ).not.toContain('x')
  })

  test('also where that was interrupted, with the one copy of what there was', async () => {
    const { path } = await aWholeDatabase()
    const before = publicly(path)
    const db = asBefore(path)
    const { tag, when } = journal.entries.find((one) =>
      one.tag.endsWith('_items'),
    ) as (typeof journal.entries)[0]
    db.exec(readFileSync(join(migrationsFolder, `${tag}.sql`), 'utf8'))
    db.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)').run(tag, when)
    // The half that was moved.
    db.exec(`CREATE TEMP TABLE later AS SELECT * FROM results WHERE answer_id > 2;
      DELETE FROM results WHERE answer_id > 2`)
    moveResults(db)
    db.exec('INSERT INTO results SELECT * FROM temp.later')
    const moved = db.prepare('SELECT count(*) FROM items').pluck().get()
    db.close()

    await (await openStore(path))[Symbol.asyncDispose]()

    expect(moved).toBeGreaterThan(0)
    expect(publicly(path)).toEqual(before)
    expect((await checkDatabase(path)).findings).toEqual([])
    const texts = everything(path)
      .get('items')
      ?.map(({ id, ...said }) => JSON.stringify(said))
    expect(new Set(texts).size).toBe(texts?.length)
    expect(readdirSync(dirname(path)).filter((name) => name.includes('before-migration'))).toEqual([])
  })
})

test.each([false, true])(
  'that the disk has no room for it is said before anything is changed, also where that was interrupted (%s)',
  async (wasInterrupted) => {
    const path = await earlier(1)
    const db = new Database(path)
    // As every rankline leaves its database.
    db.pragma('journal_mode = WAL')
    const when = journal.entries.find(({ tag }) => tag.endsWith('_items'))?.when
    if (wasInterrupted)
      db.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)').run('items', when)
    db.close()
    const folder = dirname(path)
    const file = openSync(path, 'r+')
    // More pages than a disk has, none of which takes any room.
    const pages = Math.floor((4 * statfsSync(folder).blocks * statfsSync(folder).bsize) / 4096)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(pages)
    ftruncateSync(file, pages * 4096)
    writeSync(file, count, 0, 4, 28)
    closeSync(file)
    const bytes = () => {
      const read = Buffer.alloc(1_000_000)
      const opened = openSync(path, 'r')
      readSync(opened, read, 0, read.length, 0)
      closeSync(opened)
      return { read: read.toString('latin1'), size: statSync(path).size, names: readdirSync(folder) }
    }
    const before = bytes()

    const error = await openStore(path).catch((reason: unknown) => reason)

    expect(error).toMatchObject({
      exitCode: 6,
      message: expect.stringMatching(
        /^[^.]*\.db was written by an older rankline, and to bring it up to date takes \d+ MB of room.*, but its disk has \d+ MB: make room, then run the same command again; nothing was changed\.$/,
      ),
    })
    expect(String(error).includes('a copy of it')).toBe(!wasInterrupted)
    expect(bytes()).toEqual(before)
  },
)

test('a copy from before keeps no later one from being made, and half a copy is none', async () => {
  const path = await earlier(1)
  const copy = `${path}.before-migration-${newest}`
  for (const name of [`${path}.before-migration`, copy, `${copy}-2.partial`]) writeFileSync(name, 'old')
  chmodSync(path, 0o600)
  const before = everything(path)

  await (await openStore(path))[Symbol.asyncDispose]()

  expect(readFileSync(copy, 'utf8')).toBe('old')
  expect(everything(`${copy}-2`)).toEqual(before)
  expect(statSync(`${copy}-2`).mode & 0o777).toBe(0o600)
  expect(existsSync(`${copy}-2.partial`)).toBe(false)
})

describe('a database of an older rankline is read as it is now, and stays as it was', () => {
  testTable([
    ['for everything', openReader],
    ['for its runs alone', openRuns],
  ] as const)('%s', async (_, open) => {
    const path = await earlier(1)
    const files = () =>
      readdirSync(dirname(path)).map((name) => [name, readFileSync(join(dirname(path), name), 'latin1')])
    const before = files()
    {
      await using store = await open(path)
      expect(await store.runs({})).toHaveLength(1)
    }
    expect(files()).toEqual(before)
    expect(needsMigration(path)).toBe(true)
  })
})

test('a view of another build is read as this one has it, and stays as it is', async () => {
  const path = await earlier(1)
  await (await openStore(path))[Symbol.asyncDispose]()
  expect(needsMigration(path)).toBe(false)
  const before = made(path, 'DROP VIEW calls; CREATE VIEW calls AS SELECT 1 AS call_id, 2 AS sent_at')
  expect(needsMigration(path)).toBe(true)

  {
    await using store = await openReader(path)
    using snapshot = store.snapshot()
    expect([...snapshot.rows('calls', ['call_id'], { after: 0 })]).toEqual([[1], [2], [3]])
  }
  expect(made(path)).toEqual(before)
})

test('what was collected before goes on and is added up; nothing is said of who paid for it', async () => {
  const path = await earlier(1)
  await using store = await openStore(path)
  expect(await store.shares('tag', {})).toEqual([
    { group: 'head', calls: 3, billed: 1, free: 1, ambiguous: 0, credits: 1, creditsAmbiguous: 0, shared: 0 },
  ])
  expect(await store.lastUsage('k')).toMatchObject({ askedAt: noon + 99, readAt: noon + 99, totalUsed: 8 })
  expect(await store.keysRead()).toEqual(['k'])
  expect([...store.charges('k')]).toEqual([])
  expect([...store.readings('k')]).toEqual([])
  expect(await store.recover([1], noon + hour)).toBe(1)
  expect(await store.acceptedJobs([1])).toMatchObject([{ jobId: 'j-1', acceptedAt: noon + 9 }])

  const [task] = await lease(store, 1)
  if (task === undefined) throw new Error('no task')
  await store.settleCall(await begin(store, task, noon + hour), settlement({ finishedAt: noon + hour }), null)
  await store.saveUsage({
    ...{ runId: 1, keyHash: 'k', askedAt: noon + 2 * hour, readAt: noon + 2 * hour },
    ...{ remaining: 40, totalUsed: 17, record: '{}' },
  })
  expect([...store.charges('k')]).toMatchObject([{ from: noon + hour, certain: true }])
  expect([...store.readings('k')]).toMatchObject([{ totalUsed: 17 }])
})

test('what was stored before is exported, and what comes then is new', async () => {
  const path = await earlier(1)
  const db = new Database(path)
  db.exec('UPDATE results SET place = 0')
  db.close()
  await using store = await openStore(path)
  {
    using snapshot = store.snapshot()
    expect([...snapshot.rows('organic_results', ['query', 'title'], { after: 0 })]).toEqual([['a', 'A']])
    expect([...snapshot.rows('calls', ['call_id'], { after: 0 })]).toEqual([[1], [2], [3]])
    expect([snapshot.newest('organic_results'), snapshot.newest('calls')]).toEqual([1, 3])
  }
  await store.recover([1], noon + hour)
  using snapshot = store.snapshot()
  expect([...snapshot.rows('calls', ['call_id'], { after: 3 })]).toEqual([[2]])
})

test('SQLite is told how tables are shaped, unless somebody had them measured', async () => {
  const shapeOf = (path: string) => {
    const db = new Database(path)
    try {
      return db.prepare("SELECT stat FROM sqlite_stat1 WHERE idx = 'runs_job'").pluck().all()
    } finally {
      db.close()
    }
  }
  const [path, measured] = [await earlier(1), await earlier(1)]
  const db = new Database(measured)
  db.exec('ANALYZE')
  db.close()
  for (const one of [path, measured]) await (await openStore(one))[Symbol.asyncDispose]()
  expect(shapeOf(path)).toEqual(['10000 300 1'])
  expect(shapeOf(measured)).toEqual(['1 1 1'])
})

test('triggers are made anew where they are missing or another text', async () => {
  const path = await earlier(1)
  const texts = () => {
    const db = new Database(path)
    try {
      return db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name").all()
    } finally {
      db.close()
    }
  }
  await (await openStore(path))[Symbol.asyncDispose]()
  const made = texts()
  expect(made).toHaveLength(7)
  const db = new Database(path)
  db.exec(`DROP TRIGGER deliver_task; DROP TRIGGER deliver_call;
    CREATE TRIGGER deliver_call AFTER UPDATE ON calls_ BEGIN SELECT 1; END`)
  db.close()
  await (await openStore(path))[Symbol.asyncDispose]()
  expect(texts()).toEqual(made)
})

/** Names and texts of views and triggers, but for what `change` does to them before they are read. */
function made(path: string, change = ''): readonly unknown[] {
  const db = new Database(path)
  try {
    db.exec(change)
    return db
      .prepare("SELECT name, sql FROM sqlite_schema WHERE type IN ('view', 'trigger') ORDER BY name")
      .all()
  } finally {
    db.close()
  }
}

describe('a database that is opened', () => {
  const opened = async (path: string): Promise<string> => {
    await using store = await openStore(path)
    expect(await store.runs({})).toHaveLength(1)
    return path
  }
  const all = [...Object.keys(views), ...Object.keys(triggers)].sort()

  test('has every view and trigger, though an earlier program wrote it', async () => {
    expect(made(await opened(await earlier(1)))).toMatchObject(all.map((name) => ({ name })))
  })

  testTable([
    ['dropped', ''],
    ['those of another build', '; CREATE VIEW runs AS SELECT 1 AS old'],
  ])('has them again where they were %s', async (_, instead) => {
    const path = await opened(await earlier(1))
    const before = made(path)
    const dropped = [
      ...Object.keys(views).map((name) => `DROP VIEW ${name}`),
      ...Object.keys(triggers).map((name) => `DROP TRIGGER ${name}`),
    ].join('; ')
    expect(made(path, dropped + instead).length).toBeLessThan(2)
    expect(made(await opened(path))).toEqual(before)
  })
})

testTable([
  ['the depth asked for was reached', 'depth'],
  ['every target was found', 'found'],
  ['the page is empty', 'ended'],
  ['the service has no next page', 'ended'],
  ['page 12 failed', 'failed'],
  ['the page repeats page 1', 'broke'],
  ['the service names no page after it', 'broke'],
  ['the next page that the service names is no later one', 'broke'],
  [null, null],
])('paging that had ended because %s is known as %s', async (because, kind) => {
  const path = await earlier(2)
  const db = new Database(path)
  db.prepare('UPDATE run_queries SET paging_end = ? WHERE query_id = 1').run(because)
  db.close()
  await using store = await openStore(path)
  expect(store.storedQuery(1, 1).end).toEqual(because === null ? null : { because, kind })
})
