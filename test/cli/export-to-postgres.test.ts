import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { writeResults } from '../../bench/many-results.ts'
import { openPostgres, type Postgres } from '../../src/machines/postgres/connection.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { loadedBy } from '../support/loaded.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { type Workspace, workspace } from '../support/rankline.ts'
import { testTable } from '../support/test-table.ts'

let url: string
let postgres: Postgres
let sandbox: Sandbox
let place: Workspace
beforeAll(async () => {
  url = await (await sharedPostgres()).database()
  postgres = await openPostgres(url)
  sandbox = await startSandbox({})
  place = await workspace(sandbox)
  await place.file(
    'desks.csv',
    'query,operation,team\noak desk,alpha.search,A\noak desk,alpha.news,\noak desk,alpha.ai,A\n',
  )
  expect((await place.call(['run', 'desks.csv'])).code).toBe(0)
}, 60_000)
afterAll(async () => {
  await place[Symbol.asyncDispose]()
  await sandbox.close()
  await postgres[Symbol.asyncDispose]()
})

const countOf = async (table: string) =>
  (await postgres.query<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`))[0]?.rows
const schemas = async () =>
  (await postgres.query<{ name: string }>('SELECT nspname AS name FROM pg_namespace')).map(({ name }) => name)

describe('export --to', () => {
  test('makes the table, then brings only what is new', async () => {
    const first = await place.call(['export', 'organic', '--to', url])
    const stored = place.sql<{ rows: number }>('SELECT count(*) AS rows FROM organic_results')[0]?.rows
    expect(first).toMatchObject({ code: 0, stdout: '' })
    expect(first.stderr).toMatch(
      new RegExp(
        `^Written: rankline_export\\.organic, ${stored} rows\nNext cursor: organic-\\d+-[0-9a-f]{8}\n$`,
      ),
    )
    expect(await countOf('rankline_export.organic')).toBe(stored)

    const again = await place.call(['export', 'organic', '--to', url])
    expect(again.stderr).toMatch(/^Written: rankline_export\.organic, 0 rows\nNext cursor: organic-/)
    await place.file('more.csv', 'query\nash desk\n')
    await place.call(['run', 'more.csv'])
    const more = await place.call(['export', 'organic', '--to', url])
    expect(more.stderr).toMatch(/organic, 10 rows\n/)
    expect(await countOf('rankline_export.organic')).toBe((stored ?? 0) + 10)
    const everything = await place.call(['export', 'organic', '--to', url, '--since', 'organic-0'])
    expect(everything.stderr).toContain(`organic, ${(stored ?? 0) + 10} rows`)
    expect(await countOf('rankline_export.organic')).toBe((stored ?? 0) + 10)
  })

  test('gives every kind its table, with types, keys and comments', async () => {
    const kinds = ['organic', 'news', 'videos', 'images', 'references', 'suggestions', 'related', 'calls']
    for (const kind of kinds)
      expect((await place.call(['export', kind, '--to', `${url}/typed`])).code).toBe(0)
    const columns = await postgres.query<Record<'of' | 'name' | 'type' | 'meaning', string>>(
      `SELECT c.relname AS of, a.attname AS name, format_type(a.atttypid, NULL) AS type, col_description(c.oid, a.attnum) AS meaning
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
      WHERE c.relnamespace = 'typed'::regnamespace AND c.relkind = 'r' ORDER BY c.relname, a.attnum`,
    )
    expect([...new Set(columns.map(({ of }) => of))]).toEqual([...kinds, 'positions'].sort())
    expect(columns.filter(({ meaning }) => !meaning)).toEqual([])
    const typesOf = (kind: string) =>
      Object.fromEntries(columns.filter(({ of }) => of === kind).map(({ name, type }) => [name, type]))
    expect(typesOf('organic')).toMatchObject({
      ...{ task_id: 'bigint', place: 'integer', run_id: 'bigint', query: 'text', page: 'integer' },
      ...{ fetched_at: 'timestamp with time zone', params: 'jsonb', label_team: 'text' },
    })
    const keys = await postgres.query<{ key: string }>(
      `SELECT pg_get_constraintdef(oid) AS key FROM pg_constraint WHERE connamespace = 'typed'::regnamespace AND contype = 'p' ORDER BY 1`,
    )
    expect(keys.map(({ key }) => key)).toEqual([
      'PRIMARY KEY (call_id)',
      'PRIMARY KEY (kind, filter)',
      ...Array(7).fill('PRIMARY KEY (task_id, place)'),
    ])
    const undescribed = await postgres.query(
      `SELECT relname FROM pg_class WHERE relnamespace = 'typed'::regnamespace AND relkind = 'r' AND obj_description(oid) IS NULL`,
    )
    expect(undescribed).toEqual([])
    expect(await countOf('typed."references"')).toBeGreaterThan(0)
  })

  test('that is killed half way leaves nothing; the next one writes everything once', async () => {
    const db = join(place.folder, 'many.db')
    await writeResults(db, 20_000)
    const args = ['export', 'organic', '--db', db, '--to', `${url}/killed`]
    const { child } = place.start(args)
    const written = async () =>
      (await postgres.query<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes'))[0]
        ?.bytes ?? 0
    const before = await written()
    await vi.waitUntil(async () => (await written()) > before + 1_000_000, { timeout: 20_000, interval: 1 })
    child.kill('SIGKILL')
    await once(child, 'close')
    expect(await schemas()).not.toContain('killed')
    const { code, stderr } = await place.call(args)
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('organic, 20,000 rows'),
    })
    expect(await countOf('killed.organic')).toBe(20_000)
  })

  test('makes tables of which the docs ask a question', async () => {
    const page = readFileSync(new URL('../../docs/exports.md', import.meta.url), 'utf8')
    const [, question = ''] = page.match(/^## Into Postgres, for BI$.*?^```sql\n(.*?)^```/ms) ?? []
    await place.call(['export', 'organic', '--to', url])
    const asked = question.replace("'acme'", "'desks'").replace("r.params ->> 'gl' = 'us'", 'true')
    expect(asked).not.toBe(question)
    expect((await postgres.query(asked)).length).toBeGreaterThan(0)
  })

  test('loads Postgres only where it is asked for', async () => {
    const ofPostgres = (loaded: ReadonlySet<string>) =>
      [...loaded].filter((name) => name === 'pg' || name.startsWith('src/machines/'))
    expect(ofPostgres(await loadedBy(place, ['export', 'organic', '--out', 'loaded.csv']))).toEqual([])
    expect(ofPostgres(await loadedBy(place, ['export', 'organic', '--to', url]))).toContain('pg')
  })
})

describe('a mistake is one sentence, and nothing is written', () => {
  const told = async (args: readonly string[], code: number, sentence: RegExp) => {
    const ended = await place.call(['export', 'organic', ...args])
    expect(ended).toMatchObject({ code, stdout: '' })
    expect(ended.stderr).toMatch(sentence)
    expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(ended.stderr).not.toContain('secret')
  }

  testTable<[readonly string[], RegExp]>([
    [['--out', 'a.csv'], /--to writes a table, and --out is for files/],
    [['--format', 'csv'], /--format is for files/],
    [['--json'], /--json is for files/],
    [['--raw'], /--raw is for files/],
    [['--cursor-file', 'a.cursor'], /--to keeps the cursor beside the table\. Leave out --cursor-file/],
    [['--since', 'news-1'], /news-1 is a cursor of the export 'news'/],
    [['--run', '999'], /There is no run 999/],
    [['--job', 'nobody'], /There is no job 'nobody'/],
  ])('%j', async (args, sentence) => {
    await told([...args, '--to', `${url}/mistaken`], 2, sentence)
    expect(await schemas()).not.toContain('mistaken')
  })

  testTable<[string, number, (to: string) => string, RegExp]>([
    [
      'no server',
      6,
      (to) => to.replace(/:\d+\//, ':1/'),
      /The database cannot be reached: nothing listens at 127\.0\.0\.1:1\. .* run the same command again$/m,
    ],
    [
      'a wrong password',
      2,
      (to) => to.replace('secret', 'wrong'),
      /refuses user 'tester' with this password\. Check both in --to/,
    ],
    [
      'no password',
      2,
      (to) => to.replace(':secret', ''),
      /asks for the password of user 'tester', and none was given\. Set PGPASSWORD/,
    ],
    [
      'no database',
      2,
      (to) => `${to}_missing`,
      /There is no database '.*_missing' at .*\. Name another one in --to/,
    ],
    ['the queue', 2, (to) => `${to}/rankline`, /names the schema rankline/],
    ['no address', 2, () => 'data/rankline.db', /Write it like postgres:\/\/user@host\/database\/schema$/m],
  ])('%s', async (_, code, change, sentence) => {
    await told(['--to', change(url)], code, sentence)
  })

  test('where the user may not make the schema, and where its table is of someone else', async () => {
    await postgres.query(`CREATE ROLE bi LOGIN PASSWORD 'secret'`)
    await postgres.query('CREATE SCHEMA theirs')
    await postgres.query('CREATE TABLE theirs.organic (id integer PRIMARY KEY)')
    const asBi = url.replace('tester', 'bi')
    const create =
      /does not let bi make the schema mine\. Let the owner .*: CREATE SCHEMA "mine" AUTHORIZATION "bi"$/m
    await told(['--to', `${asBi}/mine`], 2, create)
    await told(
      ['--to', `${asBi}/theirs`],
      2,
      /permission denied for schema theirs\. Let the owner grant that/,
    )
    await told(['--to', `${url}/theirs`], 2, /has a table theirs\.organic that is not of rankline/)
    expect(await schemas()).not.toContain('mine')

    await postgres.query('CREATE SCHEMA mine AUTHORIZATION bi')
    expect((await place.call(['export', 'organic', '--to', `${asBi}/mine`])).code).toBe(0)
  })

  test('where the schema has the rows of another database', async () => {
    const other = join(place.folder, 'other.db')
    await writeResults(other, 1000)
    expect((await place.call(['export', 'organic', '--db', other, '--to', `${url}/other`])).code).toBe(0)
    const another = /The schema other has the rows of another database/
    await told(['--to', `${url}/other`], 2, another)
    await told(['--to', `${url}/other`, '--since', 'organic-0'], 2, another)
    await told(['--to', `${url}/other`, '--job', 'desks'], 2, another)
    expect(await countOf('other.organic')).toBe(1000)
  })
})
